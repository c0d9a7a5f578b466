// How long a cluster takes, for forecasts. Pure.
import type { Binding } from '../../api/binding.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';

export type DurationFrom = 'given' | 'history' | 'unknown';

export interface ClusterDuration {
  readonly durationMs: number;
  readonly durationFrom: DurationFrom;
}

/**
 * The median of the last durations of the clusters, from applied to available, because the start of a move is not
 * recorded.
 */
export function durationOf(bindings: readonly KubeObject[], given: number | undefined): ClusterDuration {
  if (given !== undefined) return { durationMs: given, durationFrom: 'given' };
  const took = bindings
    .flatMap((each) => {
      const { conditions } = (each as Binding).status ?? {};
      const [applied, available] = ['Applied', 'Available'].map((type) => conditionOf(conditions, type));
      if (applied?.status !== 'True' || available?.status !== 'True') return [];
      return [Date.parse(available.lastTransitionTime) - Date.parse(applied.lastTransitionTime)];
    })
    .filter((ms) => ms >= 0)
    .toSorted((a, b) => a - b);
  const median = took[Math.floor(took.length / 2)];
  return median === undefined
    ? { durationMs: 0, durationFrom: 'unknown' }
    : { durationMs: median, durationFrom: 'history' };
}
