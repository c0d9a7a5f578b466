// Computes the status of a placement. Pure: equal input gives an equal status, and unchanged conditions keep their
// times. Start at `placementStatus`; cluster-status.ts has the part of one cluster, aggregate.ts the aggregation.
import { BLOCKING, type Hold, sentenceOf } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import {
  type PlacementCondition,
  type PlacementReason,
  type PlacementStatus,
  placementConditionType,
  STALLED,
} from '../../api/placement.ts';
import { refTo } from '../../runtime/actions.ts';
import { families, type PlacementFamily } from '../families.ts';
import { usesGroups } from '../groups/terms.ts';
import { isScheduledNow, resourceIndexOf } from '../placement-sources.ts';
import { memberFactsOf } from '../planners/rows.ts';
import { holdOf, summariseHolds } from '../status/holds-summary.ts';
import { planOf } from '../strategies/plan.ts';
import type { BindingPlan } from '../strategies/strategy.ts';
import { isExternal } from '../strategies/table.ts';
import { aggregate, type Told } from './aggregate.ts';
import { type ClusterState, clusterStates, unpickedStates } from './cluster-status.ts';
import { progressOf } from './stalled.ts';
import type { PlacementStatusInput } from './status-input.ts';

export function placementStatus(input: PlacementStatusInput): PlacementStatus {
  const plan = planNow(input);
  return withProgress(input, plan, statusWith(input, plan));
}

/** For a rollout with a deadline: the time of its last progress, and whether it is stalled. */
function withProgress(
  { previous, placement, now }: PlacementStatusInput,
  plan: BindingPlan | undefined,
  status: PlacementStatus,
): PlacementStatus {
  const progress = progressOf({
    previous,
    revision: status.observedResourceIndex ?? '',
    plan,
    deadlineSeconds: placement.spec.strategy?.partitioned?.progressDeadlineSeconds,
    generation: placement.metadata.generation,
    now,
  });
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== STALLED);
  if (progress === undefined || status.rollout === undefined) return { ...status, conditions };
  return {
    ...status,
    conditions: [...conditions, progress.condition],
    rollout: { ...status.rollout, lastProgressTime: progress.lastProgressTime },
  };
}

function statusWith(input: PlacementStatusInput, plan: BindingPlan | undefined): PlacementStatus {
  const { previous, selection } = input;
  const rollout = plan?.rollout === undefined ? {} : { rollout: plan.rollout };
  if (selection.state === 'invalid') {
    // Placed objects stay and rollouts continue; only the new selectors are not applied.
    const scheduled = told('Scheduled', 'False', 'InvalidResourceSelectors', selection.message);
    return pruned({
      ...previous,
      conditions: [...replaced(input, [scheduled])],
      holds: [...holdsOf(input, plan)],
      rollout: plan?.rollout,
    });
  }
  const holds = holdsOf(input, plan);
  const scheduled = scheduledOf(input, holds);
  const byRuns = isExternal(input.placement);
  const selected = clusterStates(input);
  if (scheduled.status === 'Unknown') {
    const index = byRuns ? (previous?.observedResourceIndex ?? '') : indexOf(input);
    const stopped = stoppedBy(input, holds);
    const reached = stopped === undefined || selected.length === 0 ? [scheduled] : [scheduled, stopped];
    return pruned({
      conditions: [...(stopped === undefined ? replaced(input, [scheduled]) : only(input, reached, index))],
      observedResourceIndex: index,
      selectedResources: [...(input.delivered?.resources ?? previous?.selectedResources ?? [])],
      // Differs from KubeFleet: a hold of the whole placement does not empty the cluster list, because users want to
      // see then what the clusters have.
      placementStatuses: isHeld(input) ? selected.map(({ state }) => state) : [],
      holds: [...holds],
      ...rollout,
    });
  }
  const progress = byRuns ? external(input, selected) : { index: indexOf(input), told: aggregate(input, selected) };
  const stopped = stoppedBy(input, holds);
  const reached = stopped === undefined ? progress.told.map(withCulprit(input, holds)) : [stopped];
  const conditions = selected.length === 0 ? [scheduled] : [scheduled, ...reached];
  return pruned({
    conditions: [...only(input, conditions, progress.index)],
    observedResourceIndex: progress.index,
    selectedResources: byRuns && progress.index === '' ? [] : [...(input.delivered?.resources ?? [])],
    placementStatuses: [...selected, ...unpickedStates(input, selected.length)].map(({ state }) => state),
    holds: [...holds],
    ...rollout,
  });
}

const told = (
  condition: PlacementCondition,
  status: 'True' | 'False' | 'Unknown',
  reason: PlacementReason,
  message: string,
): Told => ({ condition, status, reason, message });

function indexOf({ latestSnapshot }: PlacementStatusInput): string {
  const index = latestSnapshot && resourceIndexOf(latestSnapshot);
  return index === undefined ? '' : String(index);
}

// ---- conditions

function finding({ kind, placement }: PlacementStatusInput, { condition, status, reason, message }: Told): Finding {
  const { generation } = placement.metadata;
  return {
    type: placementConditionType(kind, condition),
    status,
    reason,
    message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

const next = (input: PlacementStatusInput, each: Told, previous = input.previous) => {
  const found = finding(input, each);
  return nextCondition(conditionOf(previous?.conditions, found.type), found, input.now);
};

/**
 * Exactly these conditions, plus the one about the copy (mirror.ts). Transition times are kept only within one
 * revision.
 */
function only(input: PlacementStatusInput, all: readonly Told[], index: string) {
  const { previous } = input;
  const mirror = placementConditionType(input.kind, 'StatusSynced');
  const kept = (previous?.conditions ?? []).filter(({ type }) => type === mirror);
  const ofRevision = (previous?.observedResourceIndex ?? '') === index ? previous : { conditions: [] };
  const told = all.map((each) => next(input, each, each.condition === 'Scheduled' ? previous : ofRevision));
  return [...told, ...kept];
}

/** Replaces these conditions; the others stay, and their older observedGeneration shows it. */
function replaced(input: PlacementStatusInput, all: readonly Told[]) {
  const fresh = all.map((each) => next(input, each));
  const types = new Set(fresh.map(({ type }) => type));
  return [...fresh, ...(input.previous?.conditions ?? []).filter(({ type }) => !types.has(type))];
}

function scheduledOf(input: PlacementStatusInput, holds: readonly HoldEntry[]): Told {
  const { placement, policySnapshot, selection } = input;
  const pending = (message: string) => told('Scheduled', 'Unknown', 'SchedulePending', message);
  const first = input.holds.find(isBlocking);
  if (first !== undefined)
    return pending(
      inWords(
        input,
        holds.find(({ code }) => code === first.code),
      ) ?? sentenceOf(first),
    );
  const said = conditionOf(policySnapshot?.status?.conditions, 'Scheduled');
  const isCurrent =
    said !== undefined &&
    said.status !== 'Unknown' &&
    said.observedGeneration === policySnapshot?.metadata.generation &&
    isScheduledNow(placement, policySnapshot);
  const lacksGroups = input.groups === undefined && usesGroups(placement.spec.policy);
  if (!isCurrent && lacksGroups)
    return pending('ClusterGroups cannot be read: install the CRDs of this version (flotilla crds hub)');
  if (!isCurrent) return pending('the scheduler has not decided yet');
  const notes = selection.state === 'selected' ? selection.notes : [];
  return told('Scheduled', said.status, said.reason as PlacementReason, [said.message, ...notes].join('; '));
}

/**
 * The placement as a whole is blocked, so its clusters do not have what it asks for now, and no condition may be True.
 * Differs from KubeFleet, where conditions stay True and `kubectl wait` succeeds although the change is not rolled out.
 */
function stoppedBy(input: PlacementStatusInput, holds: readonly HoldEntry[]): Told | undefined {
  const [first] = input.holds;
  if (first === undefined) return undefined;
  const entry = holds.find(({ code }) => code === first.code);
  return told('RolloutStarted', 'Unknown', 'RolloutStartedUnknown', inWords(input, entry) ?? sentenceOf(first));
}

/** A revision that is still to come does not change the scheduling. */
const isBlocking = ({ code }: Hold): boolean => BLOCKING.includes(code);

const isHeld = ({ holds }: PlacementStatusInput): boolean => holds.some(isBlocking);

/** The message of a condition that is not True names the hold that blocks the rollout. */
const withCulprit =
  (input: PlacementStatusInput, holds: readonly HoldEntry[]) =>
  (each: Told): Told => {
    if (each.condition !== 'RolloutStarted' || each.status === 'True') return each;
    const gate = holds.find(({ code }) => GATES.includes(code));
    const words = inWords(input, gate);
    return words === undefined ? each : { ...each, message: `${each.message}: ${words}` };
  };

const GATES: readonly string[] = ['BudgetUsed', 'SurgeUsed', 'PredecessorLeaving'];

function inWords({ kind, placement }: PlacementStatusInput, entry: HoldEntry | undefined): string | undefined {
  return entry && sentenceOf(holdOf(entry, refTo(kind, placement)));
}

// ---- holds

const familyOf = ({ kind }: PlacementStatusInput): PlacementFamily =>
  families.find(({ placement }) => placement.kind === kind.kind) as PlacementFamily;

/** The holds of the placement as a whole, then those of its clusters, from the plan of the rollout, computed again. */
function holdsOf(input: PlacementStatusInput, plan: BindingPlan | undefined): readonly HoldEntry[] {
  return summariseHolds([...input.holds, ...Object.values(plan?.holds ?? {})]);
}

function planNow(input: PlacementStatusInput): BindingPlan | undefined {
  const { placement, bindings, orders, members, groups, freezes, policySnapshot, now } = input;
  // Only an invalid spec stops a rollout; with any other hold it continues.
  const isStopped = input.holds.some(({ code }) => code === 'SpecInvalid');
  if (orders === undefined || isStopped) return undefined;
  const memberOf = new Map(members.map((member) => [member.metadata.name, member]));
  const planned = planOf({
    family: familyOf(input),
    placement,
    bindings,
    orders,
    policySnapshot,
    member(cluster) {
      const member = memberOf.get(cluster);
      return member && memberFactsOf(member);
    },
    groups,
    freezes,
    heldOn: input.heldOn,
    now,
  });
  return planned?.plan;
}

// ---- external

/** Staged update runs decide the revision of each cluster: while clusters differ, there is no common status. */
function external(
  input: PlacementStatusInput,
  selected: readonly ClusterState[],
): { readonly index: string; readonly told: readonly Told[] } {
  const indexes = new Set(selected.map(({ state }) => state.observedResourceIndex ?? ''));
  const [index = ''] = indexes;
  const reason = 'RolloutControlledByExternalController';
  const run = familyOf(input).placement.namespaced ? 'StagedUpdateRun' : 'ClusterStagedUpdateRun';
  const unknown = (message: string) => [told('RolloutStarted', 'Unknown', reason, message)];
  if (indexes.size > 1) {
    return {
      index: '',
      told: unknown(`clusters are at different revisions: see the ${run} objects of this placement`),
    };
  }
  if (index === '') {
    return { index, told: unknown(`nothing has been rolled out yet: a ${run} for this placement starts it`) };
  }
  const waiting = selected.find(({ said }) => said('RolloutStarted') === 'Unknown');
  if (waiting !== undefined) {
    return { index, told: unknown(`cluster "${waiting.cluster}" has not been reached: see the ${run} objects`) };
  }
  return { index, told: aggregate(input, selected) };
}

/** Empty fields are left out. */
function pruned({ holds = [], observedResourceIndex = '', ...status }: PlacementStatus): PlacementStatus {
  return {
    ...status,
    ...(observedResourceIndex === '' ? {} : { observedResourceIndex }),
    ...(holds.length === 0 ? {} : { holds }),
  };
}
