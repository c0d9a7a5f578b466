// Garbage collection by owner references. It keeps one small index, from the uid of an owner to the keys of its
// dependents, and reads everything else on demand, so an object without owners costs nothing.
import type { OwnerReference } from '../../api/object.ts';
import type { Cluster } from '../cluster.ts';
import { keyOf, type Stored } from '../store/store.ts';
import type { Loop } from './loop.ts';
import {
  controller,
  headOf,
  kindOf,
  mayMention,
  partsOf,
  type Remove,
  release,
  replaceObject,
  resourceAt,
} from './objects.ts';
import { type Dependent, FOREGROUND, isOrphaning, isWaiting, judge, ORPHAN, type OwnerState } from './ownership.ts';

const CALLER = controller('generic-garbage-collector');

export function garbageCollector(cluster: Cluster, remove: Remove): Loop {
  /** uid of an owner to the keys of the objects that reference it. */
  const dependents = new Map<string, Set<string>>();
  /** Key to the references in the index. */
  const references = new Map<string, readonly OwnerReference[]>();
  /** uid to key of owners that wait for their dependents. */
  const waiting = new Map<string, string>();
  /** Keys of objects with owners of kinds that are not served: evaluated again when kinds are added. */
  const unresolved = new Set<string>();

  function index(key: string, owners: readonly OwnerReference[]): void {
    for (const { uid } of references.get(key) ?? []) {
      const keys = dependents.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) dependents.delete(uid);
    }
    if (owners.length === 0) {
      references.delete(key);
      unresolved.delete(key);
      return;
    }
    references.set(key, owners);
    for (const { uid } of owners) {
      const keys = dependents.get(uid) ?? new Set();
      keys.add(key);
      dependents.set(uid, keys);
    }
  }

  function dependentsOf(uid: string): readonly Dependent[] {
    const found: Dependent[] = [];
    for (const key of dependents.get(uid) ?? []) {
      const object = headOf(cluster, key)?.object();
      const own = object?.metadata.ownerReferences?.filter((each) => each.uid === uid) ?? [];
      if (object !== undefined && own.length > 0) found.push({ key, object, references: own });
    }
    return found;
  }

  function stateOf(reference: OwnerReference, namespace: string): OwnerState {
    const found = kindOf(cluster, reference);
    // A cluster-scoped object cannot have a namespaced owner, so such a reference is invalid.
    if (found === undefined || (namespace === '' && found.resource.namespaced)) return 'unknown';
    const { group, plural } = found.resource.keptAs ?? found.resource;
    const key = keyOf(group, plural, found.resource.namespaced ? namespace : '', reference.name);
    const owner = headOf(cluster, key)?.object();
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'gone';
    return isWaiting(owner) ? 'waiting' : 'present';
  }

  return {
    name: 'garbage collector',

    reset() {
      dependents.clear();
      references.clear();
      waiting.clear();
      unresolved.clear();
    },

    notice({ key, stored, deleted, isOld }, want) {
      const isRelevant = !isOld || mayMention(stored, 'ownerReferences') || mayMention(stored, 'deletionTimestamp');
      if (!isRelevant) return;
      const { metadata } = stored.object();
      const { uid = '', ownerReferences: owners = [] } = metadata;
      const before = references.get(key);
      // Owners that wait for this object may have waited for this change.
      const wake = (refs: readonly OwnerReference[]) => {
        if (waiting.size === 0) return;
        for (const reference of refs) {
          const owner = waiting.get(reference.uid);
          if (owner !== undefined) want(owner);
        }
      };
      if (deleted) {
        if (before !== undefined) {
          index(key, []);
          wake(before);
        }
        waiting.delete(uid);
        for (const dependent of dependents.get(uid) ?? []) want(dependent);
        return;
      }
      if (before !== undefined || owners.length > 0) {
        if (before === undefined || !isSame(before, owners)) {
          index(key, owners);
          if (owners.length > 0) want(key);
          if (before !== undefined) wake(before);
        }
        wake(owners);
      }
      if (metadata.deletionTimestamp === undefined) return;
      if (isOrphaning(stored.object())) want(key);
      else if (isWaiting(stored.object())) {
        waiting.set(uid, key);
        want(key);
        for (const dependent of dependents.get(uid) ?? []) want(dependent);
      }
    },

    noticeKinds(want) {
      for (const key of unresolved) want(key);
    },

    async work(key) {
      const stored = headOf(cluster, key);
      if (stored === undefined) return;
      const object = stored.object();
      const { uid = '', ownerReferences = [] } = object.metadata;
      const { namespace } = partsOf(key);
      const owners = ownerReferences.map((reference) => ({
        uid: reference.uid,
        state: stateOf(reference, namespace),
      }));
      if (owners.some(({ state }) => state === 'unknown')) unresolved.add(key);
      else unresolved.delete(key);
      const judgement = judge({ object, owners, dependents: () => dependentsOf(uid) });
      switch (judgement.do) {
        case 'remove':
          if (judgement.unblock) await unblock(cluster, stored);
          await removeObject(cluster, remove, key, { uid, propagation: judgement.propagation });
          return;
        case 'disown':
          await setOwners(
            cluster,
            stored,
            ownerReferences.filter((each) => !judgement.uids.includes(each.uid)),
          );
          return;
        case 'orphan dependents':
          await Promise.all(dependentsOf(uid).map((dependent) => disown(cluster, dependent.key, uid)));
          await releaseNow(cluster, key, ORPHAN);
          return;
        case 'release':
          await releaseNow(cluster, key, FOREGROUND);
          return;
        case 'wait for dependents':
        case 'nothing':
          return;
      }
    },
  };
}

const isSame = (a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(
      (each, place) =>
        each.uid === b[place]?.uid &&
        each.name === b[place]?.name &&
        each.kind === b[place]?.kind &&
        each.apiVersion === b[place]?.apiVersion &&
        each.blockOwnerDeletion === b[place]?.blockOwnerDeletion,
    ));

async function setOwners(cluster: Cluster, stored: Stored, owners: readonly OwnerReference[]): Promise<void> {
  const object = stored.object();
  const { ownerReferences: _, ...metadata } = object.metadata;
  const value = { ...object, metadata: owners.length > 0 ? { ...metadata, ownerReferences: owners } : metadata };
  await replaceObject(cluster, stored, value);
}

async function disown(cluster: Cluster, key: string, uid: string): Promise<void> {
  const stored = headOf(cluster, key);
  const owners = stored?.object().metadata.ownerReferences ?? [];
  const left = owners.filter((each) => each.uid !== uid);
  if (stored !== undefined && left.length < owners.length) await setOwners(cluster, stored, left);
}

async function unblock(cluster: Cluster, stored: Stored): Promise<void> {
  const owners = stored.object().metadata.ownerReferences ?? [];
  if (!owners.some((each) => each.blockOwnerDeletion)) return;
  await setOwners(
    cluster,
    stored,
    owners.map((each) => (each.blockOwnerDeletion ? { ...each, blockOwnerDeletion: false } : each)),
  );
}

async function releaseNow(cluster: Cluster, key: string, finalizer: string): Promise<void> {
  const stored = headOf(cluster, key);
  if (stored !== undefined) await release(cluster, stored, finalizer);
}

async function removeObject(
  cluster: Cluster,
  remove: Remove,
  key: string,
  { uid, propagation }: { uid: string; propagation: 'Background' | 'Foreground' | 'Orphan' },
): Promise<void> {
  const parts = partsOf(key);
  const resource = resourceAt(cluster, parts);
  if (resource === undefined) return;
  const { namespace, name } = parts;
  const at = { resource, version: resource.stored, namespace, name };
  await remove(cluster, at, { propagation, preconditions: { uid } }, CALLER);
}
