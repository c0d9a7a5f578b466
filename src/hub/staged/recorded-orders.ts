// The desired state of the clusters of a run, as recorded when it started: later changes of the placement are for the
// next run.
import { masterSnapshotName } from '../../api/names.ts';
import type { StageClusterStatus, StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { applyStrategyOf } from '../orders/apply-strategy.ts';
import { isDecided, type Order, type Orders } from '../orders/order.ts';
import type { Overrides } from '../overrides/overriding.ts';
import type { HubPlacement } from '../placement-sources.ts';

/** Clusters outside its stages get the same revision without overrides; the run does not move them. */
export function recordedOrders(status: StagedUpdateRunStatus, placement: HubPlacement): Orders {
  const { resourceSnapshotIndexUsed: index = '', appliedStrategy, stagesStatus = [] } = status;
  const snapshot = masterSnapshotName(placement.metadata.name ?? '', Number(index));
  const orders = new Map(
    stagesStatus.flatMap(({ clusters }) =>
      clusters.map((cluster): [string, Order] => [
        cluster.clusterName,
        { snapshot, applyStrategy: appliedStrategy ?? applyStrategyOf(placement), ...overridesIn(cluster) },
      ]),
    ),
  );
  const others: Order = { snapshot, applyStrategy: applyStrategyOf(placement) };
  return (cluster) => orders.get(cluster) ?? others;
}

/** The part of an order that the run records for each cluster; absent = none. */
export const overridesIn = ({
  clusterResourceOverrideSnapshots,
  resourceOverrideSnapshots,
  overrideValues,
}: Overrides | StageClusterStatus): Overrides => ({
  ...(clusterResourceOverrideSnapshots === undefined ? {} : { clusterResourceOverrideSnapshots }),
  ...(resourceOverrideSnapshots === undefined ? {} : { resourceOverrideSnapshots }),
  ...(overrideValues === undefined ? {} : { overrideValues }),
});

/** Why the desired state of some clusters is unknown. */
export const undecidedIn = (orders: Orders, clusters: readonly string[]) =>
  clusters.flatMap((cluster) => {
    const order = orders(cluster);
    return isDecided(order) ? [] : [order.undecided];
  });
