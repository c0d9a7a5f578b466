// What garbage collection does with one object, given its owners and its dependents. Pure.
//
// The rules of Kubernetes: an object goes when all its owners are gone; references to gone owners are dropped while another owner is
// there. An owner deleted in the foreground waits for the dependents that block it. An owner deleted as an orphan-maker loses its
// dependents first. An owner that cannot be judged (its kind is not served, or the reference crosses a border that references must
// not cross) keeps its dependents.
import type { KubeObject, OwnerReference } from '../../api/object.ts';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export type OwnerState =
  | 'present'
  | 'gone'
  /** Being deleted in the foreground: waits for us. */
  | 'waiting'
  /** Cannot be judged: must not lead to a deletion. */
  | 'unknown';

export interface Dependent {
  readonly key: string;
  readonly object: KubeObject;
  /** Its references to the object in question. */
  readonly references: readonly OwnerReference[];
}

export type Judgement =
  | { readonly do: 'nothing' }
  /** Delete it. `unblock` first: its dependents wait for it while it waits for them. */
  | { readonly do: 'remove'; readonly propagation: 'Background' | 'Foreground' | 'Orphan'; readonly unblock: boolean }
  /** Drop the references to these owners. */
  | { readonly do: 'disown'; readonly uids: readonly string[] }
  /** Take the references to it from its dependents, then the finalizer from it. */
  | { readonly do: 'orphan dependents' }
  /** Nothing waits any longer. */
  | { readonly do: 'release' }
  /** Its blocking dependents must go first. */
  | { readonly do: 'wait for dependents' };

const has = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false;

/** Deleted in the foreground, waiting for its dependents. */
export const isWaiting = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && has(object, FOREGROUND);

/** Deleted, and its dependents are to stay. */
export const isOrphaning = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && has(object, ORPHAN);

export function judge(input: {
  readonly object: KubeObject;
  readonly owners: readonly { readonly uid: string; readonly state: OwnerState }[];
  /** Lazily, since most objects have owners that are simply there. */
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
    // A circle of owners that wait for each other would wait for ever: this one stops blocking.
    const unblock = dependents().some((each) => isWaiting(each.object));
    return { do: 'remove', propagation: 'Foreground', unblock };
  }
  const propagation = has(object, ORPHAN) ? 'Orphan' : has(object, FOREGROUND) ? 'Foreground' : 'Background';
  return { do: 'remove', propagation, unblock: false };
}
