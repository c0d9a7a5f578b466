// Whether what a placement waits for passes by itself, or a person has to look.
import { BLOCKING } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { ClusterProgress, Stage } from './placement-progress.ts';

/** `Waits`: a person, or the clock, decides when it goes on. */
export type Label = 'Blocked' | 'Updating' | 'Waits';

/** A healthy cluster makes way within this time, most often. */
const SOON_MS = 60_000;

const FAILED: readonly unknown[] = ['failed', 'diff-failed', 'unreachable'];

/** Of a rollout that moves: one cluster waits for another. */
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

/** `clusters`: of the placement; one that cannot start blocks a rollout at once. */
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

/** A cluster that a person has to look at. One that is not available yet is given time, unless its Pods cannot start. */
export const isFailing = (
  { stage, since, cannotStart }: Pick<ClusterProgress, 'stage' | 'since' | 'cannotStart'>,
  now: number,
): boolean =>
  FAILED_STAGES.includes(stage) ||
  (stage === 'NotAvailable' && (cannotStart === true || (since !== undefined && now - since >= SOON_MS)));
