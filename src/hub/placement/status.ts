// The status of a placement from what is known. For now only whether it is scheduled: the rest is being built.
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { type PlacementStatus, placementConditionType } from '../../api/placement.ts';
import type { PlacementStatusInput } from './status-input.ts';

export function placementStatus(input: PlacementStatusInput): PlacementStatus {
  const { kind, placement, previous, selection, policySnapshot, delivered, holds, now } = input;
  const { generation = 0 } = placement.metadata;
  const type = placementConditionType(kind, 'Scheduled');
  const decided = conditionOf(policySnapshot?.status?.conditions, 'Scheduled');
  const isCurrent =
    decided !== undefined &&
    holds.length === 0 &&
    decided.observedGeneration === policySnapshot?.metadata.generation &&
    (policySnapshot?.status?.observedCRPGeneration ?? 0) >= generation;
  const said =
    selection.state === 'invalid'
      ? { status: 'False' as const, reason: 'InvalidResourceSelectors', message: selection.message }
      : isCurrent
        ? { status: decided.status, reason: decided.reason, message: decided.message }
        : { status: 'Unknown' as const, reason: 'SchedulePending', message: 'the scheduler has not decided yet' };
  const scheduled = nextCondition(
    conditionOf(previous?.conditions, type),
    { type, ...said, observedGeneration: generation },
    now,
  );
  return {
    ...previous,
    conditions: [scheduled, ...(previous?.conditions ?? []).filter((each) => each.type !== type)],
    ...(selection.state === 'invalid' || delivered === undefined
      ? {}
      : { selectedResources: [...delivered.resources] }),
  };
}
