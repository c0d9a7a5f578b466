// Bindings as planners see them.

import type { Labels } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson } from '../../base/json.ts';
import { seen } from '../../runtime/actions.ts';
import type { Source } from '../../runtime/controller.ts';
import { applyStrategyOf } from '../apply-strategy.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { judge } from './health.ts';
import type { Revision, Row } from './planner.ts';

export interface MemberFacts {
  readonly reachable: boolean;
  readonly labels: Labels;
}

export interface RowsInput {
  readonly placement: Pick<HubPlacement, 'spec'>;
  readonly bindings: readonly HubBinding[];
  readonly source: Source<HubBinding>;
  /** Name of the newest resource snapshot. */
  readonly snapshot: string;
  member(cluster: string): MemberFacts | undefined;
}

const STATES = { Scheduled: 'scheduled', Bound: 'bound', Unscheduled: 'unscheduled' } as const;

/** Ordered by name, which is the order of clusters. */
export function rowsOf({ placement, bindings, source, snapshot, member }: RowsInput): readonly Row[] {
  const wants: Revision = { snapshot, overrides: '', strategy: canonicalJson(applyStrategyOf(placement)) };
  return bindings
    .map((binding): Row => {
      const { metadata, spec } = binding;
      const facts = member(spec.targetCluster);
      return {
        key: metadata.name ?? '',
        cluster: spec.targetCluster,
        binding: seen(source, binding),
        state: STATES[spec.state],
        deleting: metadata.deletionTimestamp !== undefined,
        ...(spec.resourceSnapshotName === '' ? {} : { has: revisionOf(binding) }),
        wants,
        ...judge(binding),
        reachable: facts?.reachable ?? false,
        labels: facts?.labels ?? {},
      };
    })
    .sort(by(({ key }) => key));
}

const revisionOf = ({ spec }: HubBinding): Revision => ({
  snapshot: spec.resourceSnapshotName,
  overrides: overridesOf(spec),
  strategy: spec.applyStrategy === undefined ? '' : canonicalJson(spec.applyStrategy),
});

/** Both lists in order; absent and empty are the same, and the same text as "none wanted". */
const overridesOf = ({
  clusterResourceOverrideSnapshots: cluster = [],
  resourceOverrideSnapshots: namespaced = [],
}: HubBinding['spec']): string =>
  cluster.length === 0 && namespaced.length === 0 ? '' : canonicalJson({ cluster, namespaced });
