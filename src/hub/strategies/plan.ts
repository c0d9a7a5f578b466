// The plan of a placement's own rollout from what is known: the rollout carries it out, the status and `flotilla why` explain with it.
import type { Hold } from '../../api/hold.ts';
import { refTo } from '../../runtime/actions.ts';
import type { PlacementFamily } from '../families.ts';
import type { Orders } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import type { Row } from '../planners/planner.ts';
import { type MemberFacts, rowsOf } from '../planners/rows.ts';
import type { BindingPlan } from './strategy.ts';
import { strategyOf } from './table.ts';

export interface PlanInput {
  readonly family: PlacementFamily;
  readonly placement: Pick<HubPlacement, 'spec' | 'metadata'>;
  readonly bindings: readonly HubBinding[];
  readonly orders: Orders;
  /** The latest one, if there is one. */
  readonly policySnapshot: HubPolicySnapshot | undefined;
  member(cluster: string): MemberFacts | undefined;
  /** undefined = they cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  readonly now: number;
}

export interface Planned {
  readonly rows: readonly Row[];
  readonly plan: BindingPlan;
}

/** undefined = its own rollout moves nothing. */
export function planOf(input: PlanInput): Planned | undefined {
  const { family, placement, bindings, orders, policySnapshot, member, groups, now } = input;
  const strategy = strategyOf(placement);
  if (strategy === undefined) return undefined;
  const rows = rowsOf({ bindings, source: family.bindings, orders, member });
  const about = refTo(family.placement, placement);
  const plan = strategy.plan({ family, spec: placement.spec, policySnapshot, placement: about, groups, rows, now });
  return { rows, plan: placement.spec.strategy?.paused === true ? paused(rows, plan, about) : plan };
}

/** Nothing moves and nothing is removed; what is under way is finished, so what is not available yet keeps its own hold. */
function paused(rows: readonly Row[], plan: BindingPlan, placement: Hold['subject']): BindingPlan {
  const waiting = [...plan.move, ...plan.stale, ...plan.remove];
  const leaving = rows.filter(({ state, deleting }) => state === 'unscheduled' && !deleting).map(({ key }) => key);
  const hold: Hold = {
    code: 'Paused',
    subject: placement,
    on: placement,
    facts: {},
    next: 'set spec.strategy.paused to false (flotilla resume)',
  };
  return {
    ...plan,
    move: [],
    remove: [],
    stale: [...plan.stale, ...plan.move],
    holds: { ...plan.holds, ...Object.fromEntries([...waiting, ...leaving].map((key) => [key, hold])) },
    ...(plan.rollout === undefined ? {} : { rollout: { ...plan.rollout, paused: true } }),
    summary: `paused; ${plan.summary}`,
  };
}
