// Aggregates the conditions of all clusters into those of the placement. For each step in order: Unknown if any cluster
// is Unknown, else False if any is False. Steps after the first unfinished one are left out.
import { conditionOf } from '../../api/next-condition.ts';
import type { PlacementCondition, PlacementReason } from '../../api/placement.ts';
import { type ClusterState, expectedTypes } from './cluster-status.ts';
import type { PlacementStatusInput } from './status-input.ts';

export interface Told {
  readonly condition: PlacementCondition;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: PlacementReason;
  readonly message: string;
}

type Step = Exclude<PlacementCondition, 'Scheduled' | 'StatusSynced'>;
type Sentence = readonly [reason: PlacementReason, message: (count: string) => string];

const STEPS: Readonly<Record<Step, Readonly<Record<'True' | 'False' | 'Unknown', Sentence>>>> = {
  RolloutStarted: {
    True: ['RolloutStarted', (n) => `the rollout has reached all ${n}`],
    False: ['RolloutNotStartedYet', (n) => `the rollout has not reached ${n}`],
    Unknown: ['RolloutStartedUnknown', (n) => `of ${n} it is not known yet whether the rollout has reached them`],
  },
  Overridden: {
    True: ['OverriddenSucceeded', (n) => `overrides have been applied for ${n}`],
    False: ['OverriddenFailed', (n) => `overrides failed for ${n}`],
    Unknown: ['OverriddenPending', (n) => `overrides are still to be applied for ${n}`],
  },
  WorkSynchronized: {
    True: ['WorkSynchronized', (n) => `the Works for ${n} are up to date`],
    False: ['WorkNotSynchronizedYet', (n) => `the Works for ${n} could not be updated`],
    Unknown: ['WorkSynchronizedUnknown', (n) => `the Works for ${n} are being updated`],
  },
  Applied: {
    True: ['ApplySucceeded', (n) => `everything has been applied on ${n}`],
    False: ['ApplyFailed', (n) => `not everything could be applied on ${n}: see failedPlacements`],
    Unknown: ['ApplyPending', (n) => `${n} have not reported yet`],
  },
  Available: {
    True: ['ResourceAvailable', (n) => `everything is available on ${n}`],
    False: ['ResourceNotAvailableYet', (n) => `not everything is available on ${n}: see failedPlacements`],
    Unknown: ['ResourceAvailableUnknown', (n) => `of ${n} it is not known yet whether everything is available`],
  },
  DiffReported: {
    True: ['DiffReportingCompleted', (n) => `differences have been reported for ${n}`],
    False: ['DiffReportingIncompleteOrFailed', (n) => `differences could not be reported for ${n}`],
    Unknown: ['DiffReportingPending', (n) => `differences are still to be reported for ${n}`],
  },
};

const UNDER_WAY = (n: string) => `no report of ${n} on the newest content yet`;

/** The reason says that applying failed, because other tools expect it; the message says that it is in progress. */
const isUnderWay = (condition: Step, selected: readonly ClusterState[]): boolean =>
  condition === 'Applied' &&
  selected
    .map(({ state }) => conditionOf(state.conditions, condition))
    .every((said) => said?.status === 'True' || said?.reason === 'ApplyInProgress');

export function aggregate(input: PlacementStatusInput, selected: readonly ClusterState[]): readonly Told[] {
  const all: Told[] = [];
  for (const condition of expectedTypes(input.placement)) {
    const statuses = selected.map(({ said }) => said(condition) ?? 'Unknown');
    const status = statuses.includes('Unknown') ? 'Unknown' : statuses.includes('False') ? 'False' : 'True';
    const count = statuses.filter((each) => each === status).length;
    const [reason, message] = STEPS[condition][status];
    const clusters = `${count} cluster${count === 1 ? '' : 's'}`;
    const isPlain =
      condition === 'Overridden' && status === 'True' && !selected.some(({ isOverridden }) => isOverridden);
    if (isPlain)
      all.push({
        condition,
        status,
        reason: 'NoOverrideSpecified',
        message: `no overrides apply to ${clusters}`,
      });
    else
      all.push({
        condition,
        status,
        reason,
        message: (status === 'False' && isUnderWay(condition, selected) ? UNDER_WAY : message)(clusters),
      });
    if (status !== 'True') break;
  }
  return all;
}
