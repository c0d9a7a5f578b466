// The decision of garbage collection about one object, from its owners and dependents. Pure.
//
// The rules of Kubernetes: an object is deleted when all its owners are; references to deleted owners are dropped while
// another owner exists. An owner deleted in the foreground waits for its blocking dependents. An owner deleted with
// Orphan first loses its dependents. An owner that cannot be evaluated (its kind is not served, or the reference
// crosses namespaces) keeps its dependents.
import type { KubeObject, OwnerReference } from '../../api/object.ts';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export type OwnerState =
  | 'present'
  | 'gone'
  /** Being deleted in the foreground: waits for us. */
  | 'waiting'
  /** Cannot be evaluated, so it must not cause a deletion. */
  | 'unknown';

export interface Dependent {
  readonly key: string;
  readonly object: KubeObject;
  /** Its references to the owner in question. */
  readonly references: readonly OwnerReference[];
}

export type Judgement =
  | { readonly do: 'nothing' }
  /** Delete it. `unblock` first: its dependents wait for it, and it waits for them. */
  | { readonly do: 'remove'; readonly propagation: 'Background' | 'Foreground' | 'Orphan'; readonly unblock: boolean }
  /** Drop the references to these owners. */
  | { readonly do: 'disown'; readonly uids: readonly string[] }
  /** Remove the references to it from its dependents, then its finalizer. */
  | { readonly do: 'orphan dependents' }
  /** Nothing blocks it any more. */
  | { readonly do: 'release' }
  /** Its blocking dependents must be deleted first. */
  | { readonly do: 'wait for dependents' };

const has = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false;

/** Deleted in the foreground, and waiting for its dependents. */
export const isWaiting = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && has(object, FOREGROUND);

/** Deleted, and its dependents should stay. */
export const isOrphaning = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && has(object, ORPHAN);

export function judge(input: {
  readonly object: KubeObject;
  readonly owners: readonly { readonly uid: string; readonly state: OwnerState }[];
  /** Lazy, because most objects have owners that exist. */
  dependents(): readonly Dependent[];
}): Judgement {
  const { object, owners, dependents } = input;
  if (isOrphaning(object)) return { do: 'orphan dependents' };
  if (isWaiting(object)) {
    const isBlocked = dependents().some(({ references }) =>
      references.some((each) => each.blockOwnerDeletion === true),
    );
    return { do: isBlocked ? 'wait for dependents' : 'release' };
  }
  if (object.metadata.deletionTimestamp !== undefined || owners.length === 0) return { do: 'nothing' };
  const uidsOf = (...states: OwnerState[]) =>
    owners.filter(({ state }) => states.includes(state)).map(({ uid }) => uid);
  const keep = uidsOf('present', 'unknown');
  const drop = uidsOf('gone', 'waiting');
  if (drop.length === 0) return { do: 'nothing' };
  if (keep.length > 0) return uidsOf('unknown').length > 0 ? { do: 'nothing' } : { do: 'disown', uids: drop };
  const isAwaited = uidsOf('waiting').length > 0;
  if (isAwaited && dependents().length > 0) {
    // Owners that wait for each other in a circle would wait forever, so this one stops blocking.
    const unblock = dependents().some((each) => isWaiting(each.object));
    return { do: 'remove', propagation: 'Foreground', unblock };
  }
  const propagation = has(object, ORPHAN) ? 'Orphan' : has(object, FOREGROUND) ? 'Foreground' : 'Background';
  return { do: 'remove', propagation, unblock: false };
}
