// The interface of a strategy by which a placement's own rollout moves its bindings. A strategy is one pure file in
// this folder and one row of table.ts: its limits come from the spec of the placement, its plan from the rows.
import type { ObjectRef } from '../../api/object.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { RolloutState } from '../../api/rollout-state.ts';
import type { EventText } from '../../runtime/actions.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import type { Plan, Row } from '../planners/planner.ts';

export interface LimitsInput {
  readonly family: Pick<PlacementFamily, 'binding'>;
  readonly spec: HubPlacement['spec'];
  /** The latest one, if there is one. */
  readonly policySnapshot: HubPolicySnapshot | undefined;
  readonly placement: ObjectRef;
  /** undefined = the hub does not serve ClusterGroups, or they cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
}

export interface PlannedPartition {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly maxUnavailable: number;
}

/** A plan that the rollout of a placement carries out. */
export interface BindingPlan<State = unknown> extends Plan<State> {
  /** Rows that should move and may not yet: they are reported as waiting. */
  readonly stale: readonly string[];
  /** Rows that have the newest content: they are reported as started. */
  readonly upToDate: readonly string[];
  /**
   * Its removals depend on a result of the scheduler that its moves may change: they are carried out once nothing else
   * is left to do.
   */
  readonly removesLast?: boolean;
  /** The progress, for the status. */
  readonly rollout?: RolloutState;
  /** The partitions of a partitioned rollout in order, for forecasts. */
  readonly partitions?: readonly PlannedPartition[];
  /** The numbers of the plan, for the log. */
  readonly summary: string;
}

/** The status as it was reported before, and the new one. */
export interface StatusTurn {
  readonly before: PlacementStatus | undefined;
  readonly after: PlacementStatus;
  readonly bindings: readonly HubBinding[];
}

export interface Strategy {
  plan(input: LimitsInput & { readonly rows: readonly Row[]; readonly now: number }): BindingPlan;
  /** Events about the limits themselves. */
  news(input: LimitsInput & StatusTurn): readonly EventText[];
}

/** Hides the type of its limits. */
export const strategyWith = <Limits>(of: {
  limitsOf(input: LimitsInput): Limits;
  plan(input: { readonly rows: readonly Row[]; readonly limits: Limits; readonly now: number }): BindingPlan;
  news?(turn: StatusTurn, limits: Limits): readonly EventText[];
}): Strategy => ({
  plan: ({ rows, now, ...input }) => of.plan({ rows, limits: of.limitsOf(input), now }),
  news: (input) => of.news?.(input, of.limitsOf(input)) ?? [],
});
