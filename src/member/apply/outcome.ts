// The outcome of one manifest, and the messages for its failures.
import type { ApplyCause } from '../../api/apply-cause.ts';
import type { KubeObject } from '../../api/object.ts';
import type { FieldDifference } from '../../api/selected-resource.ts';
import type { ManifestReason } from '../../api/work.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { available, type Verdict } from '../availability/verdict.ts';
import { describe, type Identifier, type Refusal } from './manifest.ts';

export interface Outcome {
  readonly identifier: Identifier;
  /** Absent = applied. */
  readonly refusal?: Refusal;
  /** Only for applied objects. */
  readonly verdict?: Verdict;
  /** Only for applied objects: a message although the apply succeeded. */
  readonly note?: string;
  /** Only for applied objects: the code behind the note. */
  readonly cause?: ApplyCause;
  /** Changes by other clients on the member. */
  readonly drifts?: readonly FieldDifference[];
  /** Differences of an object that is not ours or only reported on. */
  readonly diffs?: readonly FieldDifference[];
  /** Generation of the live object; 0 if it does not exist, or if its kind has no generation. */
  readonly generation: number;
  readonly uid?: string;
  /** Only for applied objects with reportBackStrategy Mirror. */
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

/**
 * The object does not exist or is not ours. Nothing is written for a while, because another client would undo that,
 * too.
 */
export function undone(identifier: Identifier, doing: Doing, backOffUntil: number): Refusal {
  const what = describe(identifier);
  const at = kubeTime(backOffUntil);
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

/**
 * The object exists and is ours, and another client changed it. Nothing is written for a while, because that client
 * would change it again.
 */
export const changedBack = (
  identifier: Identifier,
  backOffUntil: number,
  managers: readonly string[] = [],
): Pick<Outcome, 'note' | 'cause'> => {
  const by = clipped(managers.map((each) => `"${each}"`).join(', '));
  return {
    note: `${describe(identifier)} is changed on the member repeatedly${by === '' ? '' : ` by ${by}`}; it is corrected at ${kubeTime(backOffUntil)}`,
    cause: { code: 'ChangedRepeatedly', ...(by === '' ? {} : { by }) },
  };
};

/** The server stored something different from what was written. Another write would have the same result. */
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

/**
 * This is not a refusal, because the placed objects are applied. undefined = only Kubernetes' own finalizers are left,
 * so the object will soon be deleted.
 */
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

/** The garbage collector removes these finalizers itself. */
const OF_THE_CLUSTER: readonly string[] = ['foregroundDeletion', 'orphan'];

/** The object exists and is ours, and it existed before it was placed. */
export const keptLater = (identifier: Identifier): string =>
  `${describe(identifier)} was on the member before and was taken over: it is released, not deleted, when it is no longer placed`;

/** It was applied, and comparePatches allow it to be missing. */
export const leftDeleted = (identifier: Identifier): Outcome => ({
  identifier,
  verdict: available,
  note: `${describe(identifier)} was deleted on the member; comparePatches leave it deleted until its manifest changes`,
  generation: 0,
});

/** The attempted write: creation of an object, or a change of an existing one. */
type Doing = 'create' | 'patch' | 'apply';

interface Tried {
  /** Field managers of the live object. */
  readonly managers?: readonly Manager[];
  /** Size of the live object plus the write. */
  readonly bytes?: () => number;
}

/** Why the member's API server rejected the write, with a next step where one is known. */
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

/** No API server rejects a smaller object because of its size. */
const HARMLESS_BYTES = 2 ** 20;

/** API servers report a refusal by etcd as an internal error without a reason, so the size of the write decides. */
const isAboveServerLimit = ({ code }: ApiError, bytes: () => number): boolean =>
  code === 413 || (code === 500 && bytes() > HARMLESS_BYTES);

/** Another manager owns a field and `force` is not set: a retry would fail, too. */
export const isFieldConflict = ({ details }: ApiError): boolean =>
  (details?.causes ?? []).some(({ reason }) => reason === 'FieldManagerConflict');

/** The managers that own one of the conflicting fields. */
function contenders({ details }: ApiError, managers: readonly Manager[]): string {
  const paths = (details?.causes ?? []).map(({ field = '' }) => field.replace(/\[[^\]]*\]/g, '').split('.'));
  const found = managers.filter(({ fields }) =>
    paths.some((path) => path.every((name) => name === '' || fields.includes(`"f:${name}"`))),
  );
  return [...new Set(found.map(({ name }) => `"${name}"`))].join(', ');
}

/** A field manager of a live object. */
export interface Manager {
  readonly name: string;
  /** The field set as JSON. */
  readonly fields: string;
}

/** A cause without a field comes from an admission policy, whose message can be anything. */
const fixedFields = ({ details }: ApiError): readonly string[] => [
  ...new Set(
    (details?.causes ?? []).flatMap(({ message, field }) => (field && IMMUTABLE.test(message) ? [field] : [])),
  ),
];

/** Only the message tells: other validation errors use the reason FieldValueForbidden, too. */
const IMMUTABLE =
  /immutable|(?:may|can) ?not (?:be )?(?:change|modif)|may not add or remove|updates to .* are forbidden/i;

/** The error message for a Secret may quote its content, so only code, reason and fields are reported. */
function said({ kind, group = '' }: Identifier, error: ApiError): string {
  if (kind !== 'Secret' || group !== '') return error.message;
  const fields = (error.details?.causes ?? [])
    .flatMap(({ field, reason }) => (field ? [`${field} ${reason}`] : []))
    .join(', ');
  return `${error.code} ${error.reason}${fields === '' ? '' : `: ${fields}`}`;
}

export const isMissingNamespace = (error: unknown, { namespace }: Identifier): boolean =>
  error instanceof ApiError && error.code === 404 && namespace !== undefined && error.details?.kind === 'namespaces';
