// What became of one manifest, and the words for what stood in the way.
import type { ApplyCause } from '../../api/apply-cause.ts';
import type { KubeObject } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import type { ManifestReason } from '../../api/work.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Verdict } from '../availability/verdict.ts';
import { describe, type Identifier, type Refusal } from './manifest.ts';

export interface Outcome {
  readonly identifier: Identifier;
  /** Absent = applied. */
  readonly refusal?: Refusal;
  /** Only of what was applied. */
  readonly verdict?: Verdict;
  /** Only of what was applied: what there is to say about that all the same. */
  readonly note?: string;
  /** Only of what was applied: the code behind the note. */
  readonly cause?: ApplyCause;
  /** What others changed on the member. */
  readonly drifts?: readonly FieldDifference[];
  /** How it differs, of an object that is not ours or only reported on. */
  readonly diffs?: readonly FieldDifference[];
  /** Of the live object; 0 if there is none, or if its kind has none. */
  readonly generation: number;
  readonly uid?: string;
  /** Only of what was applied, with reportBackStrategy Mirror. */
  readonly observedStatus?: ObservedStatus;
}

export interface ObservedStatus {
  readonly apiVersion: string;
  readonly kind: string;
  readonly status: unknown;
}

const LONGEST_MESSAGE = 1024;

export const clipped = (text: string, max = LONGEST_MESSAGE): string =>
  text.length <= max ? text : `${text.slice(0, max - 1)}…`;

export const refused = (
  identifier: Identifier,
  { reason, message, cause, drifts, diffs }: Refusal,
  generation = 0,
): Outcome => ({
  identifier,
  refusal: { reason, message: clipped(message), cause },
  ...(drifts === undefined ? {} : { drifts }),
  ...(diffs === undefined ? {} : { diffs }),
  generation,
});

export function failedToFind(identifier: Identifier, error: unknown): Refusal {
  return {
    reason: 'FailedToFindObjInMemberCluster',
    message: `cannot read ${describe(identifier)}: ${messageOf(error)}`,
  };
}

/** It does not exist, or is not ours, and for a while nothing is done about it: another client would undo that too. */
export function undone(identifier: Identifier, doing: Doing, restUntil: number): Refusal {
  const what = describe(identifier);
  const at = kubeTime(restUntil);
  const cause: ApplyCause = { code: 'UndoneRepeatedly' };
  return doing === 'create'
    ? {
        cause,
        reason: 'ManifestApplyFailed',
        message: `${what} is deleted on the member repeatedly; it is created again at ${at}`,
      }
    : {
        cause,
        reason: 'FailedToTakeOver',
        message: `${what} loses our owner reference on the member repeatedly; it is taken over again at ${at}`,
      };
}

/** It exists and is ours, but not as we left it. For a while that stays so: another client would undo it again. */
export const changedBack = (
  identifier: Identifier,
  restUntil: number,
  managers: readonly string[] = [],
): Pick<Outcome, 'note' | 'cause'> => {
  const by = clipped(managers.map((each) => `"${each}"`).join(', '));
  return {
    note: `${describe(identifier)} is changed on the member repeatedly${by === '' ? '' : ` by ${by}`}; it is corrected at ${kubeTime(restUntil)}`,
    cause: { code: 'ChangedRepeatedly', ...(by === '' ? {} : { by }) },
  };
};

/** The server did not store what was written. Writing it again would change nothing. */
export const changedOnAdmission = (
  identifier: Identifier,
  found: readonly FieldDifference[],
): Pick<Outcome, 'note' | 'cause'> => ({
  note: clipped(
    `${describe(identifier)} is applied, but the member's API server changes ${namedPaths(found)} (an admission webhook or policy); change the manifest accordingly, or exempt the object there`,
  ),
  cause: { code: 'ChangedOnAdmission' },
});

const MAX_PATHS_NAMED = 3;

export const namedPaths = (found: readonly FieldDifference[]): string => {
  const paths = found.slice(0, MAX_PATHS_NAMED).map(({ path }) => path);
  const more = found.length - paths.length;
  return more === 0 ? paths.join(', ') : `${paths.join(', ')} and ${more} more`;
};

/** Not a refusal: what is placed is placed. undefined = no finalizer of others keeps it, so it will soon be deleted. */
export function heldBack(identifier: Identifier, { metadata }: KubeObject): Outcome | undefined {
  const held = (metadata.finalizers ?? []).filter((each) => !OF_THE_CLUSTER.includes(each));
  if (held.length === 0) return undefined;
  const by = clipped(held.join(', '));
  return {
    identifier,
    note: clipped(`${describe(identifier)} is no longer placed and is being deleted; it is kept by finalizer ${by}`),
    cause: { code: 'BeingDeleted', by },
    generation: metadata.generation ?? 0,
  };
}

/** Garbage collection removes these itself. */
const OF_THE_CLUSTER: readonly string[] = ['foregroundDeletion', 'orphan'];

/** It is there and ours, and was there before. */
export const keptLater = (identifier: Identifier): string =>
  `${describe(identifier)} was on the member before and was taken over: it is released, not deleted, when it is no longer placed`;

/** What was tried: on an object that is not there, or on one that is. */
type Doing = 'create' | 'patch' | 'apply';

interface Tried {
  /** Of the live object. */
  readonly managers?: readonly Manager[];
  /** Of the live object and the write together. */
  readonly bytes?: () => number;
}

/** Why the member's API server did not take it, with what a person can do where we know that. */
export function applyFailure(
  identifier: Identifier,
  doing: Doing,
  error: unknown,
  { managers = [], bytes = () => 0 }: Tried = {},
): Refusal {
  const what = describe(identifier);
  const because = (message: string, code?: ApplyCause['code']): Refusal => ({
    reason: 'ManifestApplyFailed' satisfies ManifestReason,
    message,
    ...(code === undefined ? {} : { cause: { code } }),
  });
  if (!(error instanceof ApiError)) return because(`cannot write ${what}: ${messageOf(error)}`);
  if (isMissingNamespace(error, identifier)) {
    const message = `cannot create ${what}: the member has no namespace "${identifier.namespace}": a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly brings it, and this follows by itself`;
    return because(message, 'NamespaceMissing');
  }
  if (isFieldConflict(error)) {
    const by = contenders(error, managers);
    const fields = [...new Set((error.details?.causes ?? []).flatMap(({ field }) => field ?? []))].join(', ');
    const message = `cannot apply ${what}: ${fields} ${by === '' ? 'belongs to another field manager' : `is managed by ${by}`}; remove the fields from the manifest, or set serverSideApplyConfig.force to take them over`;
    return { ...because(message), cause: { code: 'FieldConflict', ...(by === '' ? {} : { by: clipped(by) }) } };
  }
  const fixed = doing !== 'create' && error.code === 422 ? fixedFields(error) : [];
  if (fixed.length > 0) {
    const fields = fixed.join(', ');
    const message = `cannot change ${what}: ${fields} cannot be changed on an existing object (${said(identifier, error)}); change it back, give the object another name, or delete it on the member so that it is created again`;
    return because(message, 'FieldImmutable');
  }
  if (isAboveServerLimit(error, bytes)) {
    const message = `cannot store ${what} on the member: with the data that others have in it, it is larger than the API server allows (${said(identifier, error)}); make it smaller or split it`;
    return because(message, 'AboveServerLimit');
  }
  return because(`the member refused ${what}: ${said(identifier, error)}`);
}

/** Below this no API server refuses an object for its size. */
const HARMLESS_BYTES = 2 ** 20;

/** API servers pass on the refusal of etcd as an internal error without a reason, so the size of what was written decides. */
const isAboveServerLimit = ({ code }: ApiError, bytes: () => number): boolean =>
  code === 413 || (code === 500 && bytes() > HARMLESS_BYTES);

/** Another manager owns a field and `force` is not set: nothing that a second try would change. */
export const isFieldConflict = ({ details }: ApiError): boolean =>
  (details?.causes ?? []).some(({ reason }) => reason === 'FieldManagerConflict');

/** The managers whose set of fields has a contested one. */
function contenders({ details }: ApiError, managers: readonly Manager[]): string {
  const paths = (details?.causes ?? []).map(({ field = '' }) => field.replace(/\[[^\]]*\]/g, '').split('.'));
  const found = managers.filter(({ fields }) =>
    paths.some((path) => path.every((name) => name === '' || fields.includes(`"f:${name}"`))),
  );
  return [...new Set(found.map(({ name }) => `"${name}"`))].join(', ');
}

/** Of a live object. */
export interface Manager {
  readonly name: string;
  /** As Kubernetes writes them. */
  readonly fields: string;
}

/** A cause without a field is a policy's, which may say what it likes. */
const fixedFields = ({ details }: ApiError): readonly string[] => [
  ...new Set(
    (details?.causes ?? []).flatMap(({ message, field }) => (field && IMMUTABLE.test(message) ? [field] : [])),
  ),
];

/** Only by the words: the reason FieldValueForbidden is also that of fields which do not go together. */
const IMMUTABLE =
  /immutable|(?:may|can) ?not (?:be )?(?:change|modif)|may not add or remove|updates to .* are forbidden/i;

/** What a server says about a Secret may quote what is in it. */
function said({ kind, group = '' }: Identifier, error: ApiError): string {
  if (kind !== 'Secret' || group !== '') return error.message;
  const fields = (error.details?.causes ?? [])
    .flatMap(({ field, reason }) => (field ? [`${field} ${reason}`] : []))
    .join(', ');
  return `${error.code} ${error.reason}${fields === '' ? '' : `: ${fields}`}`;
}

export const isMissingNamespace = (error: unknown, { namespace }: Identifier): boolean =>
  error instanceof ApiError && error.code === 404 && namespace !== undefined && error.details?.kind === 'namespaces';
