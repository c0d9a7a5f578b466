// The rollout's own plan, made by the caller from what the caller may read: for clusters that no status names. Pure.
import type { Hold } from '../api/hold.ts';
import type { MemberCluster } from '../api/member-cluster.ts';
import type { Placement } from '../api/placement.ts';
import type { PlacementFamily } from '../hub/families.ts';
import { newestComplete } from '../hub/newest-snapshot.ts';
import type { HubBinding, HubPolicySnapshot, HubResourceSnapshot } from '../hub/placement-sources.ts';
import { rolling } from '../hub/planners/rolling.ts';
import { memberFactsOf, rowsOf } from '../hub/planners/rows.ts';
import { rollingLimitsOf } from '../hub/rolling-limits.ts';

export interface PlanInput {
  readonly family: PlacementFamily;
  readonly placement: Placement;
  readonly bindings: readonly HubBinding[];
  readonly snapshots: readonly HubResourceSnapshot[];
  /** undefined = they may not be read: then all count as reachable, so that nobody is blamed without proof. */
  readonly members: readonly MemberCluster[] | undefined;
  readonly policySnapshot: HubPolicySnapshot | undefined;
  readonly now: number;
}

/** What holds one cluster; undefined = nothing does, or staged update runs set the pace. */
export function holdNow(cluster: string, input: PlanInput): Hold | undefined {
  const { family, placement, bindings, members, policySnapshot, now } = input;
  const snapshot = newestComplete(input.snapshots)?.metadata.name;
  if (snapshot === undefined || (placement.spec.strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate')
    return undefined;
  const known = members && new Map(members.map((each) => [each.metadata.name, each]));
  const rows = rowsOf({
    placement,
    bindings,
    source: family.bindings,
    snapshot,
    member(name) {
      if (known === undefined) return { reachable: true, labels: {} };
      const member = known.get(name);
      return member && memberFactsOf(member);
    },
  });
  const limits = rollingLimitsOf({ family, spec: placement.spec, policySnapshot });
  const { holds } = rolling({ rows, limits, state: undefined, now });
  return rows.filter((row) => row.cluster === cluster).flatMap(({ key }) => holds[key] ?? [])[0];
}
