// How many revisions are kept, and which go. What a binding names is never deleted, whatever the limit: the cluster still runs it.
//
// Differs from KubeFleet: there a referenced snapshot goes too, and the old ones are deleted before the new one is made, so that a crash in
// between can leave none and the count starts again. Here the new one is created first, so there is always one to count on from; and a snapshot
// that was kept only for a binding goes when the binding has moved on.
import { byNumber } from '../../base/compare.ts';

export const DEFAULT_HISTORY_LIMIT = 10;

export interface Revision<T> {
  readonly index: number;
  /** The objects that make it up. */
  readonly items: readonly T[];
  readonly isReferenced: boolean;
}

/** What goes: all but the newest, as many as the limit says, and but those that are referenced. */
export function expired<T>(revisions: readonly Revision<T>[], limit = DEFAULT_HISTORY_LIMIT): readonly T[] {
  if (revisions.length <= limit) return [];
  const oldestFirst = revisions.toSorted((a, b) => byNumber(a.index, b.index));
  return oldestFirst
    .slice(0, -Math.max(1, limit))
    .filter(({ isReferenced }) => !isReferenced)
    .flatMap(({ items }) => items);
}

/** One above everything that was ever seen. */
export const nextIndex = (seen: readonly (number | undefined)[]): number =>
  seen.reduce<number>((highest, index) => Math.max(highest, index ?? -1), -1) + 1;
