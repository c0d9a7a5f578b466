// Carries out the rolling plan of one placement on its bindings.
// Guarantee: a binding's spec changes only by a plan that saw its present state; new copies are written before old ones are deleted.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import type { PlacementEventReason } from '../../api/placement.ts';
import { InvariantError } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import { ascertain, patch, patchStatus, refTo, remove, seen, tell as tellOf } from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import { applyStrategyOf, replacing } from '../apply-strategy.ts';
import { bindingSentence } from '../binding-sentences.ts';
import type { PlacementFamily } from '../families.ts';
import { isLasting } from '../lasting-failure.ts';
import { type NotSupported, notSupportedHold } from '../not-supported.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import { rolling } from '../planners/rolling.ts';
import { type MemberFacts, rowsOf } from '../planners/rows.ts';
import { rollingLimitsOf } from '../rolling-limits.ts';

export interface Observed {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly bindings: readonly HubBinding[];
  /** The newest resource snapshot, once all of it is there. */
  readonly newest: HubResourceSnapshot | undefined;
  readonly policySnapshot: HubPolicySnapshot | undefined;
  /** What it uses that is not built yet: then nothing moves. */
  readonly unbuilt?: NotSupported;
  member(cluster: string): MemberFacts | undefined;
  /** What stopped the last pass over this placement. */
  readonly failure?: Failure;
  readonly now: number;
}

const STARTED = 'RolloutStarted';

export function decide(observed: Observed): Decision {
  const { family, placement, bindings, newest, now } = observed;
  checkLive(bindings);
  if (observed.unbuilt !== undefined) {
    const hold = notSupportedHold(refTo(family.placement, placement), observed.unbuilt);
    return idle(`${observed.unbuilt.what} is not supported yet`, { holds: [hold] });
  }
  const pushed = pushStrategy(observed);
  if (pushed.length > 0) {
    const because = `${pushed.length} bindings get another way of applying`;
    return { steps: [pushed, [pushNews(observed, pushed.length)]], holds: [], because };
  }
  if (newest === undefined) return idle('no complete resource snapshot yet; its creation wakes us');
  const snapshot = newest.metadata.name ?? '';

  const rows = rowsOf({ placement, bindings, source: family.bindings, snapshot, member: observed.member });
  const limits = rollingLimitsOf({ family, spec: placement.spec, policySnapshot: observed.policySnapshot });
  const plan = rolling({ rows, limits, state: undefined, now });
  const byName = new Map(bindings.map((binding) => [binding.metadata.name ?? '', binding]));
  const bindingOf = (key: string) => byName.get(key) as HubBinding;

  const strategy = applyStrategyOf(placement);
  const tell = (key: string, started: boolean): readonly Action[] => sayStarted(observed, bindingOf(key), started);
  const told = [...plan.stale.flatMap((key) => tell(key, false)), ...plan.upToDate.flatMap((key) => tell(key, true))];
  const moved = plan.move.map((key) =>
    patch(
      seen(family.bindings, bindingOf(key)),
      {
        spec: {
          state: 'Bound',
          resourceSnapshotName: snapshot,
          clusterResourceOverrideSnapshots: null,
          resourceOverrideSnapshots: null,
          ...strategyPatch(bindingOf(key), strategy),
        },
      },
      `moves ${bindingOf(key).spec.targetCluster} to ${snapshot}`,
    ),
  );
  const refused = plan.move.flatMap((key) => sayRefused(observed, bindingOf(key)));
  if (refused.length > 0) {
    return { steps: [refused], holds: Object.values(plan.holds), because: 'says what keeps clusters from moving' };
  }
  // Who is behind would move clusters back to what was the newest once.
  const certain = [ascertain(seen(family.resourceSnapshots, newest), `makes sure that ${snapshot} is the newest`)];
  const { figures } = plan;
  // Who goes because the scheduler finds no more clusters goes by itself, in a pass of its own: while others are told of or moved, it may find one.
  const isByWord = figures.target < (limits.target ?? figures.target);
  const goes = isByWord && told.length + moved.length > 0 ? [] : plan.remove;
  const removed = goes.map((key) =>
    remove(seen(family.bindings, bindingOf(key)), `takes ${bindingOf(key).spec.targetCluster} out`),
  );
  const isPutOff = goes.length < plan.remove.length;
  return {
    steps: [told, ...(moved.length === 0 ? [] : [certain, moved]), removed].filter((step) => step.length > 0),
    holds: Object.values(plan.holds),
    ...(isPutOff ? { again: 'at once' as const } : againAfter(moved, removed)),
    ...(plan.wakeAt === undefined ? {} : { wakeAt: plan.wakeAt }),
    because:
      `${moved.length} move, ${removed.length} go, ${plan.stale.length} wait: ${figures.ready} ready of ${figures.target}, ` +
      `${figures.minAvailable} must stay, ${figures.canBeReady} of ${figures.target + figures.maxSurge} placed`,
  };
}

/** What has moved is still to be told to the work generator; what is only told changes no plan. */
function againAfter(moved: readonly Action[], removed: readonly Action[]): Pick<Decision, 'again'> {
  if (moved.length > 0) return { again: 'at once' };
  return removed.length > 0 ? {} : { again: 'later' };
}

/** One that was given up is no rival of the one that counts: it waits to be taken away, by us. */
function checkLive(bindings: readonly HubBinding[]): void {
  const live = new Set<string>();
  for (const { metadata, spec } of bindings) {
    if (metadata.deletionTimestamp !== undefined || spec.state === 'Unscheduled') continue;
    if (live.has(spec.targetCluster)) throw new InvariantError(`two live bindings point at "${spec.targetCluster}"`);
    live.add(spec.targetCluster);
  }
}

/**
 * Reaches every cluster at once: it is about how, not what. A binding that is only scheduled gets it when it is bound.
 * Differs from KubeFleet: one that was given up gets it only if it is taken back. Applied anew it would count as down until its member has
 * answered, and what is down goes for free: a copy that still serves would be gone before its successor is there.
 */
function pushStrategy({ family, placement, bindings }: Observed): readonly Action[] {
  const strategy = applyStrategyOf(placement);
  return bindings.flatMap((binding) => {
    const change = strategyPatch(binding, strategy);
    const isMeant = binding.metadata.deletionTimestamp === undefined && binding.spec.state === 'Bound';
    if (!isMeant || Object.keys(change).length === 0) return [];
    return [patch(seen(family.bindings, binding), { spec: change }, 'hands the new apply strategy on')];
  });
}

/** It goes round the budget, so it is told. */
function pushNews({ family, placement }: Observed, count: number): Action {
  const clusters = count === 1 ? '1 cluster' : `${count} clusters`;
  return tellOf(family.placements, placement, {
    type: 'Normal',
    reason: 'PlacementApplyStrategyChanged' satisfies PlacementEventReason,
    message: `The new apply strategy goes to ${clusters} at once`,
  });
}

function strategyPatch({ spec }: HubBinding, strategy: ApplyStrategy): object {
  return deepEqual(spec.applyStrategy, strategy) ? {} : { applyStrategy: replacing(spec.applyStrategy, strategy) };
}

/** Without numbers: those change with every cluster that moves, and would cost a write on each that waits. */
function sayStarted(observed: Observed, binding: HubBinding, started: boolean): readonly Action[] {
  const old = conditionOf(binding.conditions, STARTED);
  const status = started ? 'True' : 'False';
  if (old?.status === status && old.observedGeneration === binding.metadata.generation) return [];
  const reason = started ? STARTED : 'RolloutNotStartedYet';
  const { targetCluster } = binding.spec;
  const because = started ? `says that ${targetCluster} is under way` : `says that ${targetCluster} waits`;
  return [say(observed, binding, { status, reason, message: bindingSentence(reason) }, because)];
}

/** What the hub's own server did not take is said once; then it is tried again. */
function sayRefused(observed: Observed, binding: HubBinding): readonly Action[] {
  const { failure } = observed;
  if (failure === undefined || !isLasting(failure)) return [];
  const message = `the hub does not take the newest revision for this cluster: ${failure.message}`;
  if (conditionOf(binding.conditions, STARTED)?.message === message) return [];
  const said = { status: 'False', reason: 'RolloutNotStartedYet', message } as const;
  return [say(observed, binding, said, `says why ${binding.spec.targetCluster} waits`)];
}

type Said = Pick<Finding, 'status' | 'reason' | 'message'>;

function say({ family, now }: Observed, binding: HubBinding, said: Said, because: string): Action {
  const { generation } = binding.metadata;
  const finding: Finding = {
    type: STARTED,
    ...said,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const condition: Condition = nextCondition(conditionOf(binding.conditions, STARTED), finding, now);
  const conditions = [condition, ...binding.conditions.filter(({ type }) => type !== STARTED)];
  return patchStatus(seen(family.bindings, binding), { conditions }, because);
}
