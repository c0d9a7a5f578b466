// The result of an applied configuration: server-side apply for the verbs, and kubectl's migration from client-side
// apply. Pure.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { canonicalJson, isObject } from '../../base/json.ts';
import { conflictStatus } from '../managed-fields/conflict-status.ts';
import { difference, type FieldSet, isEmpty } from '../managed-fields/field-set.ts';
import { type FieldType, objectType } from '../managed-fields/field-type.ts';
import { BadManagedFields, decodeOwners, encodeOwners, type Owners } from '../managed-fields/managers.ts';
import { apply, BEFORE_FIRST_APPLY, type FieldConflict, ownersAfterUpdate } from '../managed-fields/ownership.ts';
import { compare, fieldsOf } from '../managed-fields/typed-fields.ts';
import { faultsOf, faultText } from '../managed-fields/typed-merge.ts';
import type { At, Caller } from './call.ts';
import { type ManagedFields, managerAt, nothingOf, versionsAt } from './field-owners.ts';

interface ApplyInput {
  readonly at: At;
  /** In the version of the request; absent = the apply creates it. */
  readonly live: KubeObject | undefined;
  readonly config: unknown;
  readonly force: boolean;
  readonly caller: Caller;
  readonly now: number;
}

export interface ApplyOutcome {
  readonly object: KubeObject;
  readonly managedFields: ManagedFields;
}

/** Pure. Throws 400 for a body of another kind, 409 with one cause per conflict. */
export function appliedTo({ at, live, config: body, force, caller, now }: ApplyInput): ApplyOutcome {
  const versions = versionsAt(at);
  const { resource, version } = at;
  const kind = { apiVersion: apiVersionOf(resource.group, version.version), kind: resource.kind, type: versions.type };
  const config = checkConfig(kind, body);
  const nothing = nothingOf(at);
  const { managedFields, ...metadata } = live?.metadata ?? {};
  const base: KubeObject = live === undefined ? nothing : { ...live, metadata };
  const time = kubeTime(now);
  const by = managerAt(at, caller.manager, 'Apply');
  let owners = ownersOf(managedFields);
  if (live !== undefined && owners.size === 0) {
    const first = managerAt(at, BEFORE_FIRST_APPLY, 'Update');
    const created = { versions, owners, old: nothing, next: base, apiVersion: by.apiVersion };
    owners = ownersAfterUpdate(created, first, time);
  }
  const application = { versions, owners, live: base, config, by, force, time };
  let applied = apply(application);
  if ('conflicts' in applied) {
    const left = unexplained(at, base, caller.manager, applied.conflicts);
    if (left.length > 0) throw conflictStatus(left);
    applied = apply({ ...application, force: true });
    if ('conflicts' in applied) throw conflictStatus(applied.conflicts);
  }
  const object = caller.manager === KUBECTL ? withLastApplied(applied.object, config) : applied.object;
  return { object, managedFields: encodeOwners(applied.owners) };
}

interface ConfigKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: FieldType;
}

/** The body as a configuration of a kind. Throws if it is invalid. */
export function checkConfig(wanted: ConfigKind, body: unknown): KubeObject {
  const config = isObject(body) ? body : {};
  const { apiVersion, kind } = config;
  if (apiVersion !== wanted.apiVersion || kind !== wanted.kind) {
    const stated = (value: unknown) => (typeof value === 'string' ? value : '');
    throw badRequest(`invalid object type: ${kindText(stated(apiVersion), stated(kind))}`);
  }
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const faults = faultsOf(wanted.type, { ...config, metadata });
  if (faults.length > 0) {
    const { name = '', namespace = '' } = metadata as KubeObject['metadata'];
    const what = `${namespace}/${name}; ${kindText(wanted.apiVersion, wanted.kind)}`;
    throw new ApiError(500, '', `failed to create typed patch object (${what}): ${faultText(faults)}`);
  }
  return { ...config, metadata } as unknown as KubeObject;
}

const kindText = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;

export function ownersOf(managedFields: ManagedFields | undefined): Owners {
  try {
    return decodeOwners(managedFields);
  } catch (error) {
    if (!(error instanceof BadManagedFields)) throw error;
    throw new ApiError(500, '', `failed to decode managed fields: ${error.message}`);
  }
}

// ---- kubectl's migration from client-side to server-side apply

const KUBECTL = 'kubectl';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** The conflicts that remain when kubectl may take the fields of its own last client-side apply. */
function unexplained(
  at: At,
  live: KubeObject,
  manager: string,
  conflicts: readonly FieldConflict[],
): readonly FieldConflict[] {
  const own = manager === KUBECTL ? lastAppliedFields(at, live) : undefined;
  if (own === undefined) return conflicts;
  return conflicts.flatMap(({ owner, fields }) => {
    const left = difference(fields, own);
    return isEmpty(left) ? [] : [{ owner, fields: left }];
  });
}

/** The fields that have not changed since client-side apply. */
function lastAppliedFields({ resource, version }: At, live: KubeObject): FieldSet | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  if (!text) return undefined;
  let last: unknown;
  try {
    last = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(last) || last['apiVersion'] !== apiVersionOf(resource.group, version.version)) return undefined;
  const type = objectType(version.schema);
  if (faultsOf(type, last).length > 0) return undefined;
  const { added, modified, removed } = compare(type, last, live);
  return difference(difference(difference(fieldsOf(type, last), modified), added), removed);
}

/** Updates the annotation of client-side apply, if it exists. */
function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const annotations = object.metadata.annotations;
  if (!annotations?.[LAST_APPLIED]) return object;
  const { annotations: stated, ...metadata } = config.metadata;
  const { [LAST_APPLIED]: _last, ...others } = stated ?? {};
  const kept = stated === undefined ? metadata : { ...metadata, annotations: others };
  const value = `${canonicalJson({ ...config, metadata: kept })}\n`;
  const { [LAST_APPLIED]: _old, ...rest } = annotations;
  const next = { ...annotations, [LAST_APPLIED]: value };
  const size = Object.entries(next).reduce(
    (sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text),
    0,
  );
  return { ...object, metadata: { ...object.metadata, annotations: size > MAX_ANNOTATION_BYTES ? rest : next } };
}
