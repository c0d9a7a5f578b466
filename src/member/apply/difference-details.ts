// The blocks of a Work's status that describe how an object on the member differs: pure.
//
// Guarantee: equal differences give an equal block, including times, so nothing is written while nothing changes.
// Differs from KubeFleet, where observationTime changes with every comparison. A block that replaces another one is at
// least one second newer; the time of the first observation stays.
import { type FieldDifference, omittedDetails } from '../../api/selected-resource.ts';
import type { ManifestCondition } from '../../api/work.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import type { Outcome } from './outcome.ts';

type Details = Pick<ManifestCondition, 'driftDetails' | 'diffDetails'>;

export function differenceDetails(outcome: Outcome, before: ManifestCondition | undefined, now: number): Details {
  const { drifts, diffs } = outcome;
  return {
    ...(drifts === undefined ? {} : { driftDetails: driftDetails(outcome, drifts, before?.driftDetails, now) }),
    ...(diffs === undefined ? {} : { diffDetails: diffDetails(outcome, diffs, before?.diffDetails, now) }),
  };
}

function driftDetails(
  { generation }: Outcome,
  drifts: readonly FieldDifference[],
  before: ManifestCondition['driftDetails'],
  now: number,
): NonNullable<ManifestCondition['driftDetails']> {
  const isSame =
    before?.observedInMemberClusterGeneration === generation && deepEqual(before.observedDrifts ?? [], drifts);
  if (before !== undefined && isSame) return before;
  const observationTime = later(before?.observationTime, now);
  return {
    observationTime,
    observedInMemberClusterGeneration: generation,
    firstDriftedObservedTime: before?.firstDriftedObservedTime ?? observationTime,
    observedDrifts: [...drifts],
  };
}

function diffDetails(
  { generation, uid }: Outcome,
  diffs: readonly FieldDifference[],
  before: ManifestCondition['diffDetails'],
  now: number,
): NonNullable<ManifestCondition['diffDetails']> {
  const isAbsent = uid === undefined && diffs[0]?.path === '/';
  const present = isAbsent ? undefined : generation;
  const isSame = before?.observedInMemberClusterGeneration === present && deepEqual(before?.observedDiffs ?? [], diffs);
  if (before !== undefined && isSame) return before;
  const observationTime = later(before?.observationTime, now);
  return {
    observationTime,
    ...(present === undefined ? {} : { observedInMemberClusterGeneration: present }),
    firstDiffedObservedTime: before?.firstDiffedObservedTime ?? observationTime,
    observedDiffs: [...diffs],
  };
}

const SECOND = 1000;

/** Times have whole seconds, and a reader must be able to distinguish the two reports. */
const later = (before: string | undefined, now: number): string =>
  kubeTime(before === undefined ? now : Math.max(now, Date.parse(before) + SECOND));

/** One entry in place of the list, for a Work that would be too large otherwise. */
export function withoutDetails(entry: ManifestCondition): ManifestCondition {
  const { driftDetails: drift, diffDetails: diff, backReportedStatus: _dropped, ...kept } = entry;
  return {
    ...kept,
    ...(drift === undefined
      ? {}
      : { driftDetails: { ...drift, observedDrifts: omittedDetails(drift.observedDrifts ?? []) } }),
    ...(diff === undefined
      ? {}
      : { diffDetails: { ...diff, observedDiffs: omittedDetails(diff.observedDiffs ?? []) } }),
  };
}
