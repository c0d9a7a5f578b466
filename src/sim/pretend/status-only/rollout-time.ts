// Computes how long a Deployment's rollout takes, and its first step, by simulating it: the same arithmetic, without
// Pods.
import { byNumber } from '../../../base/compare.ts';
import { type Budget, newestSize, olderSizes, type Sized } from '../rules/rolling.ts';

export interface Start {
  readonly replicas: number;
  readonly budget: Budget;
  /** Available Pods of older templates. */
  readonly older: number;
  /** Available Pods of the newest template. */
  readonly newest: number;
  /** From creation to available, for the k-th new Pod; Infinity = never. */
  availableAfterMs(k: number): number;
}

export interface Played {
  /** Counts after the first step. */
  readonly first: { readonly older: number; readonly newest: number; readonly available: number };
  /** Until all Pods are new and available; Infinity = never. */
  readonly durationMs: number;
}

export function playRollout({ replicas, budget, older: before, newest: had, availableAfterMs }: Start): Played {
  let now = 0;
  let older = before;
  let newest = had;
  let ready = had;
  let made = 0;
  /** When created Pods become available, ascending. */
  let coming: number[] = [];
  let first: Played['first'] | undefined;
  for (;;) {
    ready += coming.filter((at) => at <= now).length;
    coming = coming.filter((at) => at > now);
    for (;;) {
      const old: Sized = { name: 'older', size: older, available: older, isBehind: false, annotatedMax: undefined };
      const size = newestSize(replicas, budget, newest, [old]);
      if (size < newest) {
        ready = Math.min(ready, size);
        coming = coming.slice(0, size - ready);
      }
      for (let k = newest; k < size; k++) coming.push(now + availableAfterMs(made++));
      newest = size;
      const gone = coming.filter((at) => at <= now).length;
      ready += gone;
      coming = coming.filter((at) => at > now).toSorted(byNumber);
      const next =
        olderSizes(replicas, budget, { ...old, name: 'newest', size: newest, available: ready }, [old]).get('older') ??
        older;
      if (next === older && newestSize(replicas, budget, newest, [{ ...old, size: next }]) === newest) break;
      older = next;
    }
    first ??= { older, newest, available: older + ready };
    if (older === 0 && newest === replicas && ready === replicas) return { first, durationMs: now };
    const [soonest] = coming;
    if (soonest === undefined || !Number.isFinite(soonest)) return { first, durationMs: Number.POSITIVE_INFINITY };
    now = soonest;
  }
}
