// The blocks of a Work's status that say how an object on the member differs: pure.
//
// Guarantee: the same differences give the same block, times included, so nothing is written while nothing changes. Differs from KubeFleet,
// where observationTime moves with every look. A block that replaces another is at least one second younger; the first time stays.
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

/** Times have whole seconds: a reader must be able to tell the two reports apart. */
const later = (before: string | undefined, now: number): string =>
  kubeTime(before === undefined ? now : Math.max(now, Date.parse(before) + SECOND));

/** One entry in place of the list, where the Work would be too large. */
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
