// Objects that are given back instead of deleted: always those of the cluster itself; and those that existed before and
// were taken over, if the placement says so (flotilla.dev/keep-taken-over).
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { isClusterOwned } from '../../api/cluster-owned.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/object.ts';
import { RBAC_GROUP } from '../../api/resources.ts';
import type { Target } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import { anyResourceOf, type Identifier, isSilent } from './manifest.ts';
import { isSameOwner, namesAppliedWork, ownersOf } from './ownership.ts';
import { targetOf } from './targets.ts';

export const keepsTakenOver = ({ annotations: notes }: Pick<ObjectMeta, 'annotations'>): boolean =>
  notes?.[annotations.keepTakenOver] === 'true';

/** The placement is deleted, and its objects stay. */
export const abandons = ({ annotations: notes }: Pick<ObjectMeta, 'annotations'>): boolean =>
  notes?.[annotations.abandon] === 'true';

/**
 * The object existed before any Work placed it: an object left behind by a Work has a reference to an AppliedWork, or
 * our annotations.
 */
export const wasThereBefore = (live: KubeObject): boolean =>
  !ownersOf(live).some(namesAppliedWork) &&
  live.metadata.annotations?.[annotations.lastApplied] === undefined &&
  live.metadata.annotations?.[annotations.specHash] === undefined;

export const isTakenOver = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.annotations?.[annotations.takenOver] === 'true';

/** The object stays on the member when the Work no longer contains it. */
export const isGivenBack = (identifier: Identifier, live: Pick<KubeObject, 'metadata'>, keeps: boolean): boolean =>
  isClusterOwned(identifier, live.metadata) || (keeps && isTakenOver(live));

/** Removes our owner reference and annotations; the rest of the object stays as applied. */
export async function giveBack(
  client: WorkerClient,
  at: Target,
  live: KubeObject,
  owner: OwnerReference,
): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const ownerReferences = ownersOf(live).filter((each) => !isSameOwner(each, owner));
  const marks = {
    [annotations.takenOver]: null,
    [annotations.lastApplied]: null,
    [annotations.specHash]: null,
    [annotations.metadataHash]: null,
  };
  const body = { metadata: { uid, resourceVersion, ownerReferences, annotations: marks } } as unknown as Json;
  await client.call('member', { verb: 'patch', at, patch: { type: 'merge', body }, manager: fieldManagers.apply });
}

/**
 * Runs before garbage collection of an AppliedWork. Returns true if the object was given back; throws if that cannot be
 * determined.
 */
export async function giveBackOne(
  client: WorkerClient,
  catalogue: LiveCatalogue,
  identifier: Identifier,
  {
    owner,
    keeps,
    isAll = false,
  }: { readonly owner: OwnerReference; readonly keeps: boolean; readonly isAll?: boolean },
): Promise<boolean> {
  const resource = anyResourceOf(catalogue, identifier);
  if (identifier.name === undefined) return false;
  if (resource === undefined) {
    if (!isSilent(catalogue, identifier)) return false;
    throw new ApiError(503, 'ServiceUnavailable', `the API server of group ${identifier.group ?? ''} does not respond`);
  }
  // Objects that Kubernetes itself owns are cluster-scoped or in namespaces that receive no placed objects, except
  // RBAC.
  if (!keeps && !isAll && resource.namespaced && resource.group !== RBAC_GROUP) return false;
  const at = targetOf(resource, identifier);
  try {
    const { object } = await client.call('member', { verb: 'get', at });
    if (object === undefined || !(isAll || isGivenBack(identifier, object, keeps))) return false;
    if (!ownersOf(object).some((each) => isSameOwner(each, owner))) return false;
    await giveBack(client, at, object, owner);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return false;
    throw error;
  }
}
