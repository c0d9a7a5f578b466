// The rollout of one placement: carries out the plan of its strategy on the bindings (orders/carry-out.ts), whichever
// strategy it is. Guarantee: the spec of a binding changes only by a plan that observed its present state; new copies
// are written before old ones are deleted.
import type { Hold } from '../../api/hold.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { PlacementEventReason } from '../../api/placement.ts';
import { type SpecProblem, specProblemHold } from '../../api/spec-problem.ts';
import { InvariantError } from '../../base/errors.ts';
import { assertUnchanged, patch, recordEvent, refTo, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import { bindingSentence } from '../bindings/binding-sentences.ts';
import { isLasting } from '../bindings/lasting-failure.ts';
import type { PlacementFamily } from '../families.ts';
import { type FreezeFacts, frozenIn } from '../freezes/frozen.ts';
import { applyStrategyOf } from '../orders/apply-strategy.ts';
import { carryOut, reportStarted } from '../orders/carry-out.ts';
import { isDecided, type Order, type Orders, strategyPatch } from '../orders/order.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import type { MemberFacts } from '../planners/rows.ts';
import { planOf } from '../strategies/plan.ts';

export interface Observed {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly bindings: readonly HubBinding[];
  /** The newest resource snapshot, once its group is complete. */
  readonly newest: HubResourceSnapshot | undefined;
  /** The desired state of the clusters with it. */
  readonly orders: Orders | undefined;
  readonly policySnapshot: HubPolicySnapshot | undefined;
  /** Why the spec is invalid: nothing moves. */
  readonly specProblem?: SpecProblem;
  member(cluster: string): MemberFacts | undefined;
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  /** Why a cluster waits for other placements; absent = the placement has no dependencies. */
  readonly heldOn?: (cluster: string) => Hold | undefined;
  /** Absent = there are no freezes. */
  readonly freezes?: readonly FreezeFacts[];
  /** The error of the last reconcile of this placement. */
  readonly failure?: Failure;
  readonly now: number;
}

const STARTED = 'RolloutStarted';

export function decide(observed: Observed): Decision {
  const { family, placement, bindings, newest, orders, now } = observed;
  checkLive(bindings);
  if (observed.specProblem !== undefined) {
    const hold = specProblemHold(refTo(family.placement, placement), observed.specProblem);
    return idle(observed.specProblem.message, { holds: [hold] });
  }
  const pushed = pushStrategy(observed);
  if (pushed.length > 0) {
    const because = `${pushed.length} bindings get another way of applying`;
    return { steps: [pushed, [pushNews(observed, pushed.length)]], holds: [], because };
  }
  const planned = orders && planOf({ ...observed, orders });
  if (newest === undefined || orders === undefined || planned === undefined)
    return idle('no complete resource snapshot yet; its creation wakes us');
  const { plan } = planned;
  const byName = new Map(bindings.map((binding) => [binding.metadata.name ?? '', binding]));
  const bindingOf = (key: string) => byName.get(key) as HubBinding;
  const refused = plan.move.flatMap((key) => sayRefused(observed, bindingOf(key)));
  if (refused.length > 0) {
    return { steps: [refused], holds: Object.values(plan.holds), because: 'reports what blocks the clusters' };
  }
  const snapshot = newest.metadata.name ?? '';
  const carry = (removals: readonly string[]) =>
    carryOut({
      family,
      binding: bindingOf,
      plan: {
        move: plan.move,
        ...(plan.batch === undefined ? {} : { batch: plan.batch }),
        remove: removals,
        started: plan.upToDate,
        waiting: plan.stale,
      },
      order: (binding) => orderOf(orders, binding),
      messages: MESSAGES,
      // A hub with a stale cache would move clusters back to an outdated revision.
      guard: assertUnchanged(seen(family.resourceSnapshots, newest), `makes sure that ${snapshot} is the newest`),
      guards: 'moves',
      releases: 'with the move',
      now,
    });
  const all = carry(plan.remove);
  const isPutOff = plan.removesLast === true && all.removals.length > 0 && all.reports.length + all.moves.length > 0;
  const { steps, moves, removals } = isPutOff ? carry([]) : all;
  return {
    steps,
    holds: Object.values(plan.holds),
    ...(isPutOff ? { again: 'at once' as const } : againAfter(moves, removals)),
    ...(plan.wakeAt === undefined ? {} : { wakeAt: plan.wakeAt }),
    because: `${moves.length} updated, ${removals.length} removed, ${plan.stale.length} waiting: ${plan.summary}`,
  };
}

const MESSAGES = {
  RolloutStarted: bindingSentence('RolloutStarted'),
  RolloutNotStartedYet: bindingSentence('RolloutNotStartedYet'),
};

/** A planner never moves a row whose desired state is undecided. */
function orderOf(orders: Orders, { spec }: HubBinding): Order {
  const order = orders(spec.targetCluster);
  if (!isDecided(order)) throw new InvariantError(`the desired state of cluster "${spec.targetCluster}" is unknown`);
  return order;
}

/** Moved bindings still have to be reported, at once; a reported condition alone changes no plan. */
function againAfter(moved: readonly Action[], removed: readonly Action[]): Pick<Decision, 'again'> {
  if (moved.length > 0) return { again: 'at once' };
  return removed.length > 0 ? {} : { again: 'later' };
}

/** An unscheduled binding is no duplicate: it waits to be removed. */
function checkLive(bindings: readonly HubBinding[]): void {
  const live = new Set<string>();
  for (const { metadata, spec } of bindings) {
    if (metadata.deletionTimestamp !== undefined || spec.state === 'Unscheduled') continue;
    if (live.has(spec.targetCluster)) throw new InvariantError(`two live bindings point at "${spec.targetCluster}"`);
    live.add(spec.targetCluster);
  }
}

/**
 * Sent to every cluster at once, because it changes how objects are applied, not the content; a binding that is only
 * scheduled gets it when it is bound. Differs from KubeFleet: an unscheduled binding gets it only if it is picked
 * again. While it is applied it would count as unavailable, and unavailable copies may be removed without budget: a
 * serving copy would be deleted before its replacement exists.
 */
function pushStrategy({ family, placement, bindings, member, freezes = [], now }: Observed): readonly Action[] {
  if (placement.spec.strategy?.paused === true) return [];
  const strategy = applyStrategyOf(placement);
  const frozen = frozenIn(freezes, refTo(family.placement, placement), now);
  return bindings.flatMap((binding) => {
    const change = strategyPatch(binding.spec, strategy);
    const isMeant = binding.metadata.deletionTimestamp === undefined && binding.spec.state === 'Bound';
    if (!isMeant || Object.keys(change).length === 0) return [];
    const { targetCluster } = binding.spec;
    if (frozen?.by(targetCluster, member(targetCluster)?.labels) !== undefined) return [];
    return [patch(seen(family.bindings, binding), { spec: change }, 'hands the new apply strategy on')];
  });
}

/** The change bypasses the budget, so an Event reports it. */
function pushNews({ family, placement }: Observed, count: number): Action {
  const clusters = count === 1 ? '1 cluster' : `${count} clusters`;
  return recordEvent(family.placements, placement, {
    type: 'Normal',
    reason: 'PlacementApplyStrategyChanged' satisfies PlacementEventReason,
    message: `The new apply strategy goes to ${clusters} at once`,
  });
}

/** A refusal of the hub's API server is reported once; then the write is retried. */
function sayRefused(observed: Observed, binding: HubBinding): readonly Action[] {
  const { failure } = observed;
  if (failure === undefined || !isLasting(failure)) return [];
  const message = `the hub's API server refuses the newest revision for this cluster: ${failure.message}`;
  if (conditionOf(binding.conditions, STARTED)?.message === message) return [];
  const said = { status: 'False', reason: 'RolloutNotStartedYet', message } as const;
  return [reportStarted(observed, binding, said, `reports why ${binding.spec.targetCluster} waits`)];
}
