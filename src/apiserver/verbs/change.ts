// The common part of update and patch: a draft of the whole object replaces the old one, or nothing is written because
// nothing changed.
import type { KubeObject } from '../../api/object.ts';
import { badRequest, conflict, invalid, invalidValue, modified } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual, mutableCopy } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, ServedResource } from '../registry.ts';
import { unsaved } from '../represent.ts';
import { METADATA_FIELDS } from '../status-keeps.ts';
import type { Stored } from '../store/store.ts';
import { admit, fillDefaults, writeContext } from './admit.ts';
import type { At, Caller, Written } from './call.ts';
import { commit, unchanged } from './commit.ts';
import { isSameButTimes, type ManagedFields, setManagedFields, trackedFields } from './field-owners.ts';
import { hasAny, isSame } from './metadata.ts';

/** `applied`: the owners after an apply; otherwise the write is tracked here. */
export async function change(
  cluster: Cluster,
  at: At,
  draft: Draft,
  old: Stored,
  caller: Caller,
  applied?: ManagedFields,
): Promise<Written> {
  const { resource } = at;
  const before = old.object();
  const context = writeContext(cluster, at, caller, 'update');
  const tracked = asTracked(at, draft);
  const next =
    at.subresource === 'status' ? withStatus(resource, before, draft) : withoutStatus(resource, before, draft);
  const sent = draft.metadata.managedFields;
  carryMetadata(next, before);
  fillDefaults(at, next, applied ? 'keep' : 'delete');
  if (tracked) fillDefaults(at, tracked, 'delete');
  const owners = applied ?? trackedFields({ at, before, next: tracked ?? next, sent, caller, now: context.now });
  setManagedFields(next, owners);
  resource.behaviour.drop?.(next);
  resource.behaviour.prepare?.(next, before, context);
  if (resource.behaviour.countsGeneration && isNewGeneration(at, next, before)) {
    next.metadata.generation = (before.metadata.generation ?? 0) + 1;
  }
  const admitted = admit(at, next, before, context);
  const value = admitted as KubeObject;
  if (isSame(value, before) || isSameButOwnersTimes(value, before))
    return { stored: await unchanged(cluster, old), created: false };
  if (isFinished(resource, value)) {
    await commit(cluster, at, { key: old.key, expect: old.revision, value: undefined }, caller);
    // The response contains the object without its last finalizer, at its old revision, as on a real server.
    return {
      stored: unsaved(old.key, { ...value, metadata: { ...value.metadata, resourceVersion: String(old.revision) } }),
      created: false,
    };
  }
  const stored = await commit(cluster, at, { key: old.key, expect: old.revision, value }, caller);
  return { stored, created: false };
}

function isSameButOwnersTimes(value: KubeObject, before: KubeObject): boolean {
  const { managedFields } = before.metadata;
  if (managedFields === undefined || !isSameButTimes(value.metadata.managedFields, managedFields)) return false;
  return isSame({ ...value, metadata: { ...value.metadata, managedFields } }, before);
}

/**
 * A deleted object is removed when nothing keeps it: no finalizer, no reason of its kind, no grace period that a
 * kubelet must end.
 */
export const isFinished = (resource: ServedResource, object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined &&
  (object.metadata.finalizers ?? []).length === 0 &&
  !resource.behaviour.holdsDeletion?.(object) &&
  (object.metadata.deletionGracePeriodSeconds ?? 0) === 0;

/** The name in the body must be that in the URL. */
export function checkName(at: At, draft: Draft): void {
  const { name } = draft.metadata;
  if (name === at.name) return;
  if (name === undefined || name === '') {
    throw badRequest(`the name of the object (${at.name} based on URL) was undeterminable: name must be provided`);
  }
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${at.name})`);
}

/** Optimistic concurrency: a write with a resourceVersion applies to that revision only. */
export function checkRevision(at: At, draft: Draft, old: Stored): void {
  const { resource, name = '' } = at;
  const asked = draft.metadata.resourceVersion;
  if (asked === undefined || asked === '' || asked === '0') {
    if (resource.behaviour.unconditionalUpdate) return;
    const causes = [invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')];
    throw invalid({ group: resource.group, kind: resource.plural }, name, causes);
  }
  if (!/^\d+$/.test(asked)) throw new ApiError(500, '', `strconv.ParseUint: parsing "${asked}": invalid syntax`);
  if (asked !== String(old.revision)) throw modified(resource, name);
}

export function checkUid(at: At, draft: Draft, old: Stored): void {
  const { uid } = draft.metadata;
  const actual = old.object().metadata.uid;
  if (uid === undefined || uid === '' || uid === actual) return;
  throw conflict(
    at.resource,
    at.name ?? '',
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`,
  );
}

/**
 * The object as sent, for kinds where the client becomes the owner of fields that are not written, as on a real server.
 */
function asTracked({ resource, subresource }: At, draft: Draft): Draft | undefined {
  const { custom, hasStatus, versions, behaviour } = resource;
  if (subresource === 'status') return behaviour.statusKeeps?.areOwned ? (mutableCopy(draft) as Draft) : undefined;
  return custom && hasStatus && versions.length > 1 ? (mutableCopy(draft) as Draft) : undefined;
}

/** The main endpoint does not change the status if it is a subresource. */
function withoutStatus(resource: ServedResource, before: KubeObject, draft: Draft): Draft {
  if (!resource.hasStatus) return draft;
  if (before.status === undefined) delete draft.status;
  else draft.status = mutableCopy(before.status);
  return draft;
}

/** /status changes only the status and metadata, except the metadata that the kind keeps. */
function withStatus({ behaviour }: ServedResource, before: KubeObject, draft: Draft): Draft {
  const next = mutableCopy(before) as Draft;
  if (draft.status === undefined) delete next.status;
  else next.status = draft.status;
  for (const field of METADATA_FIELDS) {
    if (behaviour.statusKeeps?.fields.includes(field)) continue;
    delete next.metadata[field];
    if (draft.metadata[field] !== undefined) Object.assign(next.metadata, { [field]: draft.metadata[field] });
  }
  return next;
}

/** Keeps the metadata that only the server may change. */
function carryMetadata(draft: Draft, before: KubeObject): void {
  const { labels, annotations, finalizers, ownerReferences } = draft.metadata;
  const {
    name,
    generateName,
    namespace,
    uid,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  } = before.metadata;
  draft.metadata = {
    name,
    ...(generateName ? { generateName } : {}),
    ...(namespace ? { namespace } : {}),
    uid,
    ...(generation === undefined ? {} : { generation }),
    creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    ...(hasAny(labels) ? { labels } : {}),
    ...(hasAny(annotations) ? { annotations } : {}),
    ...(finalizers && finalizers.length > 0 ? { finalizers } : {}),
    ...(ownerReferences && ownerReferences.length > 0 ? { ownerReferences } : {}),
  };
}

/**
 * The generation counts changes of the desired state: anything outside metadata, and outside status if that is a
 * subresource.
 */
function isNewGeneration({ resource, subresource }: At, next: Draft, before: KubeObject): boolean {
  if (resource.behaviour.annotationsCount && subresource === undefined) {
    if (!deepEqual(next.metadata.annotations ?? {}, before.metadata.annotations ?? {})) return true;
  }
  for (const field of new Set([...Object.keys(next), ...Object.keys(before)])) {
    if (field === 'metadata' || field === 'apiVersion' || field === 'kind') continue;
    if (field === 'status' && resource.hasStatus) continue;
    if (!deepEqual(next[field], before[field])) return true;
  }
  return false;
}
