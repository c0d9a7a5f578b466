// How often the status of a run is written. Guarantees: at most ten times within any second; progress of clusters is
// coalesced for 100 ms; a turn (a change of a stage, a gate or the run itself) is written as soon as the rate allows,
// because the next stage waits for it.
import type { Condition } from '../../api/conditions.ts';
import { type StagedUpdateRunStatus, stagesIn, tasksOf } from '../../api/staged-update-run.ts';
import type { Rule } from '../../runtime/due.ts';
import { STATUS_INTERVAL_MS } from '../status/status-rule.ts';

type Status = StagedUpdateRunStatus | undefined;

/** For a change of a stage, a gate or the run itself. */
export const TURN_WRITES: Rule = { perSecond: 10 };
/** For progress of clusters. */
export const PROGRESS_WRITES: Rule = { ...TURN_WRITES, gapMs: STATUS_INTERVAL_MS };

/** Whether a stage, a gate or the run itself has changed; a change of clusters alone does not count. */
export const isTurn = (before: Status, after: StagedUpdateRunStatus): boolean =>
  before === undefined || turnsOf(before) !== turnsOf(after);

const turnsOf = (status: StagedUpdateRunStatus): string =>
  [status, ...stagesIn(status).flatMap((stage) => [stage, ...tasksOf(stage)])]
    .map(({ conditions }) => saidIn(conditions))
    .join('|');

const saidIn = (conditions: readonly Condition[] = []): string =>
  conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).join();
