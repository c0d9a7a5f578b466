// Whether the placement's holds resolve themselves, or a user has to act.
import { BLOCKING } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { ClusterProgress, Stage } from './placement-progress.ts';

/** `Waits`: for a user or for a time. */
export type Label = 'Blocked' | 'Updating' | 'Waits';

/** A healthy cluster usually becomes available within this time. */
const SOON_MS = 60_000;

const FAILED: readonly unknown[] = ['failed', 'diff-failed', 'unreachable'];

/** Holds of a rollout in progress: one cluster waits for another. */
const PASSING: readonly string[] = [
  'BatchGate',
  'BudgetUsed',
  'BundleWindow',
  'EarlierPartition',
  'MaxNew',
  'NotAvailable',
  'PartitionWindow',
  'PredecessorLeaving',
  'RemovalPending',
  'SurgeUsed',
];

/** `clusters`: those of the placement; one that cannot start blocks a rollout at once. */
export function labelOf(
  { code, on, facts, since }: Pick<HoldEntry, 'code' | 'on' | 'facts' | 'since'>,
  now: number,
  clusters: readonly Pick<ClusterProgress, 'cluster' | 'cannotStart'>[],
): Label {
  if (BLOCKING.includes(code) || code === 'Unreachable' || FAILED.includes(facts?.['cause'])) return 'Blocked';
  if (clusters.some(({ cluster, cannotStart }) => cannotStart && cluster === on?.name)) return 'Blocked';
  if (!PASSING.includes(code)) return 'Waits';
  const age = since === undefined ? 0 : now - Date.parse(since);
  return age < SOON_MS ? 'Updating' : 'Blocked';
}

const FAILED_STAGES: readonly Stage[] = ['ApplyFailed', 'OverrideFailed', 'CompareFailed'];

/** The cluster needs a user. One that is not available yet gets some time, unless its Pods cannot start. */
export const isFailing = (
  { stage, since, cannotStart }: Pick<ClusterProgress, 'stage' | 'since' | 'cannotStart'>,
  now: number,
): boolean =>
  FAILED_STAGES.includes(stage) ||
  (stage === 'NotAvailable' && (cannotStart === true || (since !== undefined && now - since >= SOON_MS)));
