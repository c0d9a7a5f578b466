// How many revisions are kept, and which are deleted. A revision that a binding references is never deleted, whatever
// the limit: the cluster still runs it.
//
// Differs from KubeFleet: there a referenced snapshot is deleted too, and old ones are deleted before the new one is
// created, so that a crash in between can leave none and the index restarts. Here the new one is created first, and a
// snapshot that was kept only for a binding is deleted once the binding has moved on.
import { byNumber } from '../../base/compare.ts';

export const DEFAULT_HISTORY_LIMIT = 10;

export interface Revision<T> {
  readonly index: number;
  /** The snapshots of the revision. */
  readonly items: readonly T[];
  readonly isReferenced: boolean;
}

/** The items of the oldest revisions beyond the limit, except referenced ones. */
export function expired<T>(revisions: readonly Revision<T>[], limit = DEFAULT_HISTORY_LIMIT): readonly T[] {
  if (revisions.length <= limit) return [];
  const oldestFirst = revisions.toSorted((a, b) => byNumber(a.index, b.index));
  return oldestFirst
    .slice(0, -Math.max(1, limit))
    .filter(({ isReferenced }) => !isReferenced)
    .flatMap(({ items }) => items);
}

/** One above the highest index ever seen. */
export const nextIndex = (seen: readonly (number | undefined)[]): number =>
  seen.reduce<number>((highest, index) => Math.max(highest, index ?? -1), -1) + 1;
