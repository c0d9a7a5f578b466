// Deletes a Work: first the placed objects, then the Work's finalizer.
//
// The AppliedWork is deleted in the foreground, so the member's garbage collector deletes what only it owns, and
// removes its owner reference from objects with other owners; no list of ours can be wrong. A live read confirms that
// the AppliedWork no longer exists: with a stale cache the finalizer would be removed too early, and no agent would
// come back for the rest.
import type { AppliedWork } from '../../api/applied-work.ts';
import { appliedWork } from '../../api/applied-work.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { fieldManagers, finalizers } from '../../api/names.ts';
import type { Answer } from '../../api/transport.ts';
import { type Work, work } from '../../api/work.ts';
import { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { mapLimit } from '../../base/map-limit.ts';
import type { WorkerClient, WorkResult } from '../../runtime/controller.ts';
import type { AgentWork } from '../sources.ts';
import { anyResourceOf, type Identifier, identityOf } from './manifest.ts';
import { isSameOwner, ownersOf } from './ownership.ts';
import { stillOwned } from './preparation.ts';
import type { Siblings } from './siblings.ts';
import { abandons, giveBackOne, keepsTakenOver } from './taken-over.ts';
import { targetOf } from './targets.ts';
import { ownerReferenceTo } from './wanted.ts';

export interface Going {
  /** Its finalizers, and the metadata that its writes are conditional on. */
  readonly item: AgentWork;
  /** The AppliedWork of the same name, if the cache has one. */
  readonly record: AppliedWork | undefined;
  /** The full Work, with the objects that its status names. */
  whole(): Promise<Work | undefined>;
  readonly catalogue: LiveCatalogue;
  readonly siblings?: Siblings;
  /** A deletion that takes longer counts as stuck. */
  readonly patienceMs: number;
  readonly now: number;
}

export async function endWork(client: WorkerClient, going: Going): Promise<WorkResult> {
  const { item, now, patienceMs } = going;
  const { name = '', namespace, finalizers: held = [] } = item.metadata;
  if (!held.includes(finalizers.workCleanup))
    return rest('it does not exist here, or only other clients have finalizers on it');
  const record = going.record ?? (await recordOnMember(client, name));
  // The AppliedWork belongs to another hub.
  if (record === undefined || record.spec.workNamespace !== namespace) {
    await removeFinalizer(client, item, held);
    return rest('all placed objects are deleted');
  }
  const { uid = '', deletionTimestamp } = record.metadata;
  if (deletionTimestamp === undefined && (await isHandingOver(client, going, record)))
    return { ...rest('waits until another Work of the binding has taken its objects over'), wakeAt: now + patienceMs };
  if (deletionTimestamp === undefined) {
    const isAbandoned = await giveBackAll(client, going, record);
    const at = { resource: appliedWork, name };
    const { object } = await ignoringNotFound(
      client.call('member', { verb: 'delete', at, uid, propagation: isAbandoned ? 'Orphan' : 'Foreground' }),
    );
    if (object?.metadata.deletionTimestamp !== undefined) return waiting(now + patienceMs);
    await removeFinalizer(client, item, held);
    return rest('nothing was placed');
  }
  const stuckAt = Date.parse(deletionTimestamp) + patienceMs;
  if (now < stuckAt) return waiting(stuckAt);
  const freed = await unblock(client, going, record);
  return { holds: [], wakeAt: now + patienceMs, because: `the deletion is stuck; ${freed} objects no longer block it` };
}

const rest = (because: string): WorkResult => ({ holds: [], because });

const waiting = (wakeAt: number): WorkResult => ({
  holds: [],
  wakeAt,
  because: 'waits until all placed objects are deleted',
});

async function recordOnMember(client: WorkerClient, name: string): Promise<AppliedWork | undefined> {
  const at = { resource: appliedWork, name };
  return (await ignoringNotFound(client.call('member', { verb: 'get', at }))).object as AppliedWork | undefined;
}

const ignoringNotFound = (call: Promise<Answer>): Promise<Answer> =>
  call.catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === 'NotFound') return { warnings: [] };
    throw error;
  });

async function removeFinalizer(client: WorkerClient, { metadata }: AgentWork, held: readonly string[]): Promise<void> {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  const kept = held.filter((each) => each !== finalizers.workCleanup);
  await ignoringNotFound(
    client.call('hub', {
      verb: 'patch',
      at: { resource: work, namespace, name },
      patch: { type: 'merge', body: { metadata: { uid, resourceVersion, finalizers: kept } } },
      manager: fieldManagers.apply,
    }),
  );
}

/** Garbage collection would delete objects that another Work of the binding is about to take over. */
async function isHandingOver(client: WorkerClient, going: Going, record: AppliedWork): Promise<boolean> {
  const { catalogue, siblings } = going;
  if (siblings === undefined) return false;
  const claimed = namedBy(await going.whole(), record).filter((each) => siblings.isClaimed(each));
  const owner = ownerReferenceTo(record.metadata.name ?? '', record.metadata.uid ?? '');
  return (await stillOwned({ client, catalogue }, claimed, owner)).length > 0;
}

// ---- objects that stay

const AT_A_TIME = 4;

/** All objects that may exist on the member because of the Work, without duplicates. */
function namedBy(known: Work | undefined, record: AppliedWork): readonly Identifier[] {
  const named = [
    ...(known?.status?.manifestConditions ?? []).map(({ identifier }) => identifier),
    ...(record.status?.appliedResources ?? []),
  ];
  return [...new Map(named.map((identifier) => [identityOf(identifier), identifier])).values()];
}

/**
 * Garbage collection would delete a kept object with the AppliedWork, so its owner reference is removed first. Returns
 * true if all objects stay, including those that no record names.
 */
async function giveBackAll(client: WorkerClient, { catalogue, whole }: Going, record: AppliedWork): Promise<boolean> {
  const known = await whole();
  const owner = ownerReferenceTo(record.metadata.name ?? '', record.metadata.uid ?? '');
  const keeps = known !== undefined && keepsTakenOver(known.metadata);
  const isAll = known !== undefined && abandons(known.metadata);
  await mapLimit(namedBy(known, record), AT_A_TIME, (identifier) =>
    giveBackOne(client, catalogue, identifier, { owner, keeps, isAll }),
  );
  return isAll;
}

// ---- stuck

/**
 * Removes blockOwnerDeletion from objects that have other owners, so they no longer block the deletion of our
 * AppliedWork. Nothing is force-deleted.
 */
async function unblock(client: WorkerClient, { catalogue, whole }: Going, record: AppliedWork): Promise<number> {
  const each = namedBy(await whole(), record);
  const freed = await mapLimit(each, AT_A_TIME, (identifier) => free(client, catalogue, identifier, record));
  return freed.filter((did) => did).length;
}

async function free(
  client: WorkerClient,
  catalogue: LiveCatalogue,
  identifier: Identifier,
  record: AppliedWork,
): Promise<boolean> {
  const resource = anyResourceOf(catalogue, identifier);
  if (resource === undefined || identifier.name === undefined) return false;
  const at = targetOf(resource, identifier);
  const owner = ownerReferenceTo(record.metadata.name ?? '', record.metadata.uid ?? '');
  try {
    const { object } = await client.call('member', { verb: 'get', at });
    const owners = object === undefined ? [] : ownersOf(object);
    const blocks = owners.some((reference) => isSameOwner(reference, owner) && reference.blockOwnerDeletion === true);
    if (object === undefined || owners.length < 2 || !blocks) return false;
    const { uid, resourceVersion } = object.metadata;
    const changed = owners.map((reference) =>
      isSameOwner(reference, owner) ? { ...reference, blockOwnerDeletion: false } : reference,
    );
    const body = { metadata: { uid, resourceVersion, ownerReferences: changed } } as unknown as Json;
    await client.call('member', { verb: 'patch', at, patch: { type: 'merge', body }, manager: fieldManagers.apply });
    return true;
  } catch (error) {
    // The next reconcile retries.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
