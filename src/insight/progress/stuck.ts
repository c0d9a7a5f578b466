// Whether what a placement waits for passes by itself, or a person has to look.
import { BLOCKING } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';

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

export function labelOf({ code, facts, since }: HoldEntry, now: number): Label {
  if (BLOCKING.includes(code) || code === 'Unreachable' || FAILED.includes(facts?.['cause'])) return 'Blocked';
  if (!PASSING.includes(code)) return 'Waits';
  const age = since === undefined ? 0 : now - Date.parse(since);
  return age < SOON_MS ? 'Updating' : 'Blocked';
}
