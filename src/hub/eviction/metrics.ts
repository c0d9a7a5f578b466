// The outcomes of evictions, as in KubeFleet: a gauge whose value is the time of the outcome. Its series are removed
// with the eviction.
import { Gauge, type Registry } from 'prom-client';
import { conditionOf } from '../../api/next-condition.ts';
import { type HubEviction, isTerminal } from '../eviction-source.ts';
import { registered } from '../status/registered.ts';

export interface EvictionMetrics {
  /** Records the present state of all evictions of one placement. */
  looked(placement: string, evictions: readonly HubEviction[]): void;
}

export const noEvictionMetrics: EvictionMetrics = { looked() {} };

const NAME = 'fleet_workload_eviction_complete';

type Labels = Record<'name' | 'isCompleted' | 'isValid', string>;

export function evictionMetrics(registry: Registry): EvictionMetrics {
  const gauge = registered(registry, NAME, () => {
    const labelNames: (keyof Labels)[] = ['name', 'isCompleted', 'isValid'];
    return new Gauge({
      name: NAME,
      help: 'When an eviction reached its final state.',
      labelNames,
      registers: [registry],
    });
  });
  const known = new Map<string, readonly Labels[]>();
  return {
    looked(placement, evictions) {
      const series = evictions.filter(isTerminal).map((each) => {
        const valid = conditionOf(each.conditions, 'Valid');
        const last = conditionOf(each.conditions, 'Executed') ?? valid;
        const isValid = valid === undefined ? 'unknown' : String(valid.status === 'True');
        const labels: Labels = { name: each.metadata.name ?? '', isCompleted: 'true', isValid };
        gauge.set(labels, Date.parse(last?.lastTransitionTime ?? '') / 1000 || 0);
        return labels;
      });
      const names = new Set(series.map(({ name }) => name));
      for (const labels of known.get(placement) ?? []) if (!names.has(labels.name)) gauge.remove(labels);
      if (series.length === 0) known.delete(placement);
      else known.set(placement, series);
    },
  };
}
