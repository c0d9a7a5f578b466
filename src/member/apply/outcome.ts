// What became of one manifest, and the words for what stood in the way.
import type { ManifestReason } from '../../api/work.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Verdict } from '../availability/verdict.ts';
import { describe, type Identifier, type Refusal } from './manifest.ts';

export interface Outcome {
  readonly identifier: Identifier;
  /** Absent = applied. */
  readonly refusal?: Refusal;
  /** Only of what was applied. */
  readonly verdict?: Verdict;
  /** Of the live object; 0 if there is none, or if its kind has none. */
  readonly generation: number;
  readonly uid?: string;
}

const LONGEST_MESSAGE = 1024;

export const clipped = (text: string, most = LONGEST_MESSAGE): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

export const refused = (identifier: Identifier, { reason, message }: Refusal, generation = 0): Outcome => ({
  identifier,
  refusal: { reason, message: clipped(message) },
  generation,
});

export function failedToFind(identifier: Identifier, error: unknown): Refusal {
  return {
    reason: 'FailedToFindObjInMemberCluster',
    message: `cannot read ${describe(identifier)}: ${messageOf(error)}`,
  };
}

/** Why the member's API server did not take it, with what a person can do where we know that. */
export function applyFailure(identifier: Identifier, error: unknown): Refusal {
  return { reason: 'ManifestApplyFailed' satisfies ManifestReason, message: sentence(identifier, error) };
}

function sentence(identifier: Identifier, error: unknown): string {
  const what = describe(identifier);
  if (!(error instanceof ApiError)) return `cannot write ${what}: ${messageOf(error)}`;
  if (isMissingNamespace(error, identifier)) {
    return `cannot create ${what}: the member has no namespace "${identifier.namespace}": a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly brings it, and this follows by itself`;
  }
  const causes = error.details?.causes ?? [];
  const fixed = causes.filter(({ message, reason }) => IMMUTABLE.test(message) || reason === 'FieldValueForbidden');
  if (error.code === 422 && fixed.length > 0) {
    const fields = [...new Set(fixed.map(({ field }) => field ?? 'a field'))].join(', ');
    return `cannot change ${what}: ${fields} cannot be changed on an existing object (${said(identifier, error)}); change it back, give the object another name, or delete it on the member so that it is created anew`;
  }
  return `the member refused ${what}: ${said(identifier, error)}`;
}

const IMMUTABLE = /immutable|may not change|cannot be changed|updates to .* are forbidden/i;

/** What a server says about a Secret may quote what is in it. */
function said({ kind, group = '' }: Identifier, error: ApiError): string {
  if (kind !== 'Secret' || group !== '') return error.message;
  const fields = (error.details?.causes ?? []).map(({ field = '', reason }) => `${field} ${reason}`).join(', ');
  return `${error.code} ${error.reason}${fields === '' ? '' : `: ${fields}`}`;
}

const isMissingNamespace = ({ code, details, message }: ApiError, { namespace }: Identifier): boolean =>
  code === 404 &&
  namespace !== undefined &&
  (details?.kind === 'namespaces' || message.includes(`namespaces "${namespace}"`));
