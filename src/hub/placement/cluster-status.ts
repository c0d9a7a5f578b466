// The part of a placement's status for one cluster: the conditions of its binding, as far as they concern the newest
// revision and the present generation of the binding.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { withName } from '../../api/object.ts';
import type { ClusterReason, PlacementCondition, PlacementStatus } from '../../api/placement.ts';
import { kubeTime } from '../../base/clock.ts';
import { isDecided, revisionOf, revisionOn } from '../orders/order.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { resourceIndexOf } from '../placement-sources.ts';
import { isExternal } from '../strategies/table.ts';
import type { PlacementStatusInput } from './status-input.ts';

type Entry = NonNullable<PlacementStatus['placementStatuses']>[number];
type Step = Exclude<PlacementCondition, 'Scheduled' | 'StatusSynced'>;

export interface ClusterState {
  readonly cluster: string;
  readonly state: Entry;
  readonly isOverridden: boolean;
  said(step: Step): Condition['status'] | undefined;
}

const APPLIED: readonly Step[] = ['RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available'];
const REPORTED: readonly Step[] = ['RolloutStarted', 'Overridden', 'WorkSynchronized', 'DiffReported'];

export const expectedTypes = ({ spec }: Pick<HubPlacement, 'spec'>): readonly Step[] =>
  spec.strategy?.applyStrategy?.type === 'ReportDiff' ? REPORTED : APPLIED;

const UNKNOWN: Readonly<Record<Step, readonly [ClusterReason, string]>> = {
  RolloutStarted: ['RolloutStartedUnknown', 'the rollout has not reached this cluster yet'],
  Overridden: ['OverriddenPending', 'the overrides are still to be applied'],
  WorkSynchronized: ['WorkSynchronizedUnknown', 'the Works of the cluster are being updated'],
  Applied: ['ApplyPending', 'the cluster has not reported yet'],
  Available: ['ResourceAvailableUnknown', 'it is not known yet whether everything is available'],
  DiffReported: ['DiffReportingPending', 'the differences are still to be reported'],
};

/** One for each picked cluster, in the order of the decisions. */
export function clusterStates(input: PlacementStatusInput): readonly ClusterState[] {
  const decisions = input.policySnapshot?.status?.targetClusters ?? [];
  const policy = input.policySnapshot?.metadata.name;
  const bindings = new Map(
    input.bindings
      .filter(
        ({ metadata, spec }) =>
          metadata.deletionTimestamp === undefined && spec.schedulingPolicySnapshotName === policy,
      )
      .map((binding) => [binding.spec.targetCluster, binding]),
  );
  const before = new Map((input.previous?.placementStatuses ?? []).map((entry) => [entry.clusterName ?? '', entry]));
  const stamp = kubeTime(input.now);
  return decisions
    .filter(({ selected }) => selected)
    .map(({ clusterName, reason }) =>
      stateOf(input, {
        stamp,
        cluster: clusterName,
        reason,
        binding: bindings.get(clusterName),
        before: before.get(clusterName),
      }),
    );
}

interface ClusterInput {
  /** The current time. */
  readonly stamp: string;
  readonly cluster: string;
  readonly reason: string;
  readonly binding: HubBinding | undefined;
  readonly before: Entry | undefined;
}

interface Finding {
  readonly type: string;
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
}

function stateOf(input: PlacementStatusInput, { stamp, cluster, reason, binding, before }: ClusterInput): ClusterState {
  const { generation } = input.placement.metadata;
  const found: Finding[] = [{ type: 'Scheduled', status: 'True', reason: 'Scheduled', message: reason }];
  found.push(...stepsOf(input, binding));
  const index = indexOf(input, binding);
  const isSameRevision = (before?.observedResourceIndex ?? '') === index;
  const conditions = found.map(({ type, status, reason: why, message }): Condition => {
    const last = conditionOf(before?.conditions, type);
    const isSame = last?.status === status && (isSameRevision || type === 'Scheduled');
    const lastTransitionTime = isSame ? last.lastTransitionTime : stamp;
    // A single object literal: the status of a thousand clusters has six thousand conditions, and copies would dominate
    // its cost.
    return generation === undefined
      ? { type, status, reason: why, message, lastTransitionTime }
      : { type, status, reason: why, message, observedGeneration: generation, lastTransitionTime };
  });
  const said = (step: Step) => conditionOf(conditions, step)?.status;
  const { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] } = binding?.spec ?? {};
  const isOverridden = said('RolloutStarted') === 'True' && wide.length + narrow.length > 0;
  return {
    cluster,
    isOverridden,
    said,
    state: {
      clusterName: cluster,
      ...(index === '' ? {} : { observedResourceIndex: index }),
      ...(isOverridden && wide.length > 0 ? { applicableClusterResourceOverrides: [...wide] } : {}),
      ...(isOverridden && narrow.length > 0 ? { applicableResourceOverrides: [...narrow] } : {}),
      ...listsOf(binding, said),
      conditions,
    },
  };
}

function stepsOf(
  { placement, latestSnapshot, orders }: PlacementStatusInput,
  binding: HubBinding | undefined,
): readonly Finding[] {
  const unknown = (step: Step): Finding => {
    const [reason, message] = UNKNOWN[step];
    return { type: step, status: 'Unknown', reason, message };
  };
  if (binding === undefined) return [unknown('RolloutStarted')];
  const fresh = (step: Step): Condition | undefined => {
    const condition = conditionOf(binding.conditions, step);
    return condition?.observedGeneration === binding.metadata.generation ? condition : undefined;
  };
  const isLatest = binding.spec.resourceSnapshotName === latestSnapshot?.metadata.name && hasOverrides(binding, orders);
  if (!isExternal(placement) && !isLatest) {
    const started = fresh('RolloutStarted');
    if (started?.status !== 'False') return [unknown('RolloutStarted')];
    return [{ type: 'RolloutStarted', status: 'False', reason: 'RolloutNotStartedYet', message: started.message }];
  }
  const found: Finding[] = [];
  for (const step of expectedTypes(placement)) {
    const condition = fresh(step);
    if (condition === undefined || condition.status === 'Unknown') return [...found, unknown(step)];
    found.push({ type: step, status: condition.status, reason: condition.reason, message: condition.message });
    if (condition.status === 'False') break;
  }
  return found;
}

/** It has the desired overrides, as far as they are known. */
function hasOverrides({ spec }: HubBinding, orders: PlacementStatusInput['orders']): boolean {
  const order = orders?.(spec.targetCluster);
  if (order === undefined || !isDecided(order)) return true;
  return revisionOf(order).overrides === (revisionOn(spec)?.overrides ?? '');
}

/** RollingUpdate: the newest index; External: the index that the cluster is on. */
function indexOf(
  { placement, latestSnapshot, resourceSnapshots }: PlacementStatusInput,
  binding: HubBinding | undefined,
): string {
  if (binding === undefined) return '';
  const snapshot = isExternal(placement)
    ? resourceSnapshots.find(({ metadata }) => metadata.name === binding.spec.resourceSnapshotName)
    : latestSnapshot;
  const index = snapshot && resourceIndexOf(snapshot);
  return index === undefined ? '' : String(index);
}

function listsOf(binding: HubBinding | undefined, said: ClusterState['said']): Partial<Entry> {
  if (binding === undefined) return {};
  const isFailed = (['Applied', 'Available', 'DiffReported'] as const).some((step) => said(step) === 'False');
  const isJudged = ['True', 'False'].includes(said('Applied') ?? '');
  const { failedPlacements, driftedPlacements, diffedPlacements } = binding;
  return {
    ...(isFailed && failedPlacements !== undefined ? { failedPlacements } : {}),
    ...(isJudged && driftedPlacements !== undefined ? { driftedPlacements } : {}),
    ...((isFailed || said('DiffReported') === 'True') && diffedPlacements !== undefined ? { diffedPlacements } : {}),
  };
}

/** Clusters that should have been picked but were not: without a name, each with the reason of one rejected cluster. */
export function unpickedStates(input: PlacementStatusInput, picked: number): readonly Pick<ClusterState, 'state'>[] {
  const { placement, policySnapshot, previous, now } = input;
  const { policy } = placement.spec;
  const wanted =
    policy?.placementType === 'PickN'
      ? (policy.numberOfClusters ?? 0)
      : policy?.placementType === 'PickFixed'
        ? (policy.clusterNames?.length ?? 0)
        : 0;
  const refused = (policySnapshot?.status?.targetClusters ?? []).filter(({ selected }) => !selected);
  const before = (previous?.placementStatuses ?? []).filter(({ clusterName = '' }) => clusterName === '');
  const { generation } = placement.metadata;
  return refused.slice(0, Math.max(0, wanted - picked)).map(({ clusterName, reason }, at) => {
    const message = withName(clusterName, reason);
    const finding = { type: 'Scheduled', status: 'False' as const, reason: 'ScheduleFailed', message };
    const condition = nextCondition(
      conditionOf(before[at]?.conditions, 'Scheduled'),
      { ...finding, ...(generation === undefined ? {} : { observedGeneration: generation }) },
      now,
    );
    return { state: { conditions: [condition] } };
  });
}
