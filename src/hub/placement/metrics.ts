// The progress of each placement as one gauge, as in KubeFleet; its value is the time of the last evaluation. Differs
// from KubeFleet: there series are removed only with the placement, and every edit adds more; here those of earlier
// generations are removed too.
import { Gauge, type Registry } from 'prom-client';
import { conditionOf } from '../../api/next-condition.ts';
import { placementConditionType } from '../../api/placement.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { registered } from '../status/registered.ts';
import { expectedTypes } from './cluster-status.ts';

export interface PlacementMetrics {
  looked(family: Pick<PlacementFamily, 'placement'>, placement: HubPlacement, now: number): void;
  /** The placement was deleted. */
  forget(placement: PlacementName): void;
}

type PlacementName = { readonly namespace?: string; readonly name: string };

export const noPlacementMetrics: PlacementMetrics = { looked() {}, forget() {} };

const NAME = 'fleet_workload_placement_status_last_timestamp_seconds';

type Labels = Record<'namespace' | 'name' | 'generation' | 'conditionType' | 'status' | 'reason', string>;

interface Known {
  readonly generation: string;
  readonly series: Map<string, Labels>;
}

export function placementMetrics(registry: Registry): PlacementMetrics {
  const gauge = registered(registry, NAME, () => {
    const help = 'When a placement was last seen with this as its first condition that is not True, or Completed.';
    const labelNames: (keyof Labels)[] = ['namespace', 'name', 'generation', 'conditionType', 'status', 'reason'];
    return new Gauge({ name: NAME, help, labelNames, registers: [registry] });
  });
  const known = new Map<string, Known>();
  const keyOf = ({ namespace = '', name }: PlacementName) => `${namespace}/${name}`;

  function forget(placement: PlacementName): void {
    const key = keyOf(placement);
    for (const labels of known.get(key)?.series.values() ?? []) gauge.remove(labels);
    known.delete(key);
  }

  return {
    looked(family, placement, now) {
      const { namespace = '', name = '', generation: number = 0 } = placement.metadata;
      const generation = String(number);
      const at = { namespace, name };
      if (known.get(keyOf(at))?.generation !== generation) forget(at);
      const labels: Labels = { ...at, generation, ...firstOpen(family, placement) };
      const own = known.get(keyOf(at)) ?? { generation, series: new Map<string, Labels>() };
      own.series.set(`${labels.conditionType} ${labels.status} ${labels.reason}`, labels);
      known.set(keyOf(at), own);
      gauge.set(labels, now / 1000);
    },
    forget,
  };
}

/** Conditions of earlier generations are ignored. */
function firstOpen(
  { placement: kind }: Pick<PlacementFamily, 'placement'>,
  placement: HubPlacement,
): Pick<Labels, 'conditionType' | 'status' | 'reason'> {
  for (const step of ['Scheduled', ...expectedTypes(placement)] as const) {
    const type = placementConditionType(kind, step);
    const condition = conditionOf(placement.conditions, type);
    const isFresh = condition?.observedGeneration === placement.metadata.generation;
    if (condition === undefined || !isFresh) return { conditionType: type, status: 'nil', reason: 'nil' };
    if (condition.status !== 'True') return { conditionType: type, status: condition.status, reason: condition.reason };
  }
  return { conditionType: 'Completed', status: 'True', reason: 'Completed' };
}
