// The gates of a run: an approval or a wait. Guarantees: no approval is requested or accepted before the status records
// that its turn has come. A wait starts when the last cluster was seen to be done, never before any of them became
// available, and is never shorter than configured.
import type { Stage, StageTask } from '../../api/staged-update-strategy.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Row } from './planner.ts';
import { gateWords, hasWanted } from './staged-holds.ts';
import { hasCome, isDone, type Pass } from './staged-pass.ts';
import type { Gate } from './staged-plan.ts';
import { fail, holdLater } from './staged-status.ts';
import { isTrue, type StageTree, sinceOf, type TaskTree } from './staged-tree.ts';

interface At {
  readonly stage: StageTree;
  readonly when: Gate['when'];
  readonly mayAct: boolean;
}

/** Whether the gate is approved. */
export function isApproved(pass: Pass, task: TaskTree, { stage, when, mayAct }: At): boolean {
  const { limits, tell, say, found } = pass;
  if (isTrue(task, 'ApprovalRequestApproved')) return true;
  const name = task.approvalRequestName ?? '';
  const approval = limits.approval(name, stage.stageName);
  if (approval.state === 'foreign') {
    const message = `${limits.approvalRequest.kind} "${name}" exists and is about something else: delete it, and create a new run`;
    fail(pass, stage, { blame: 'internal', message, requests: [name] });
    return false;
  }
  if (approval.state === 'absent') {
    if (mayAct) found.ask.push({ name, stage: stage.stageName, when });
  } else if (approval.state === 'stale') {
    if (mayAct && !approval.isDeleting) found.discard.push(name);
  } else {
    const words = `the approval ${when} the stage is requested`;
    tell.task(task, 'ApprovalRequestCreated', 'True', 'StageTaskApprovalRequestCreated', words);
  }
  if (approval.state === 'accepted') {
    const words = `the approval ${when} the stage is granted`;
    tell.task(task, 'ApprovalRequestApproved', 'True', 'StageTaskApprovalRequestApproved', words);
    return true;
  }
  if (approval.state === 'approved' && mayAct) found.accept.push(name);
  found.gates.push(say.approvalMissing(name, stage, when, 'hint' in approval ? approval.hint : undefined));
  return false;
}

/** NaN = the duration is invalid. */
export const waitMs = ({ waitTime = '' }: Pick<StageTask, 'waitTime'>): number => parseDuration(waitTime) ?? Number.NaN;

interface After {
  readonly stage: StageTree;
  readonly spec: Stage | undefined;
}

/** Whether the wait after the stage is over. */
export function hasElapsed(pass: Pass, task: TaskTree, { stage, spec }: After): boolean {
  const { tell, say, found } = pass;
  if (isTrue(task, 'WaitTimeElapsed')) return true;
  const wait = spec?.afterStageTasks?.find(({ type }) => type === 'TimedWait');
  const since = Math.max(sinceOf(stage, 'Progressing'), lastAvailable(pass, stage));
  // The API stores times in whole seconds, rounded down: wait until the end of the second, so that the gate never opens
  // early.
  const until = since + waitMs(wait ?? {}) + 999;
  if (hasCome(pass, until)) {
    const words = `${wait?.waitTime} have passed since the last cluster`;
    tell.task(task, 'WaitTimeElapsed', 'True', 'AfterStageTaskWaitTimeElapsed', words);
    return true;
  }
  found.gates.push(say.timedWait(stage, wait?.waitTime ?? '', { since, until }));
  return false;
}

/**
 * The latest transition of Available among the clusters of the stage. The status of the run can be edited, so the wait
 * does not rely on it alone. Differs from KubeFleet: there the wait is counted from the status, even if a cluster has
 * since become unavailable and available again.
 */
function lastAvailable({ updates }: Pass, { clusters }: StageTree): number {
  const rows = clusters.flatMap(({ clusterName }) => updates.get(clusterName) ?? []);
  return Math.max(0, ...rows.filter((row) => hasWanted(row) && reportsAvailable(row)).map((row) => row.since));
}

/** Its health and the time of it come from the condition Available. */
const reportsAvailable = (row: Row): boolean => isDone(row) || row.health === 'starting';

/** The run waits before or after this stage. */
export function waitAt(pass: Pass, stage: StageTree): void {
  const { tree, tell, found } = pass;
  const words = `stage "${stage.stageName}" waits ${found.gates.map(gateWords).join(' and ')}`;
  tell.stage(stage, 'Progressing', 'False', 'StageUpdatingWaiting', words);
  tell.run(tree, 'Progressing', 'False', 'UpdateRunWaiting', words);
  holdLater(pass, stage);
}
