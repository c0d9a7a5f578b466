// The plan of the rollout, computed from what the caller may read: for clusters that the status does not list. Pure.
import type { Hold } from '../../api/hold.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { Placement } from '../../api/placement.ts';
import type { PlacementFamily } from '../../hub/families.ts';
import type { FreezeFacts } from '../../hub/freezes/frozen.ts';
import { newestComplete } from '../../hub/orders/newest-snapshot.ts';
import { type Overriding, ordersFor } from '../../hub/orders/orders-for.ts';
import type { HubBinding, HubPolicySnapshot, HubResourceSnapshot } from '../../hub/placement-sources.ts';
import type { ClusterGroupFacts } from '../../hub/planners/partitioned.ts';
import { memberFactsOf } from '../../hub/planners/rows.ts';
import { planOf } from '../../hub/strategies/plan.ts';

export interface PlanInput {
  readonly family: PlacementFamily;
  readonly placement: Placement;
  readonly bindings: readonly HubBinding[];
  readonly snapshots: readonly HubResourceSnapshot[];
  /** undefined = they may not be read: all count as reachable, so that no member is blamed without proof. */
  readonly members: readonly MemberCluster[] | undefined;
  readonly policySnapshot: HubPolicySnapshot | undefined;
  /** undefined = they cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  readonly freezes?: readonly FreezeFacts[] | undefined;
  /** Absent = no override is in force. */
  readonly overriding?: Overriding | undefined;
  readonly now: number;
}

/** The hold of one cluster; undefined = it has none, or staged update runs move it. */
export function holdNow(cluster: string, input: PlanInput): Hold | undefined {
  const { family, placement, bindings, members, policySnapshot, groups, freezes, overriding, now } = input;
  const snapshot = newestComplete(input.snapshots)?.metadata.name;
  if (snapshot === undefined) return undefined;
  const known = members && new Map(members.map((each) => [each.metadata.name, each]));
  const planned = planOf({
    family,
    placement,
    bindings,
    orders: ordersFor({ placement, snapshot, overriding }),
    policySnapshot,
    member(name) {
      if (known === undefined) return { reachable: true, labels: {} };
      const member = known.get(name);
      return member && memberFactsOf(member);
    },
    groups,
    freezes,
    now,
  });
  if (planned === undefined) return undefined;
  const { rows, plan } = planned;
  return rows.filter((row) => row.cluster === cluster).flatMap(({ key }) => plan.holds[key] ?? [])[0];
}
