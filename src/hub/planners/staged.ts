// Staged update: which clusters of a run move now, which gates are requested, and how far the run is.
// Guarantees: never more than `maxConcurrency` clusters of a stage are in progress. Nothing is done for a stage before
// everything ahead of it is done and recorded in the run, so that neither a crash nor an edit opens a gate. A stopping
// run starts nothing.
//
// The state is the status of the run itself. The plan fills it in as far as the observed state allows, through any
// number of stages; actions (moving a cluster, requesting an approval, removing a binding) wait until the recorded
// status shows that their turn has come.
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Planner } from './planner.ts';
import { hasElapsed, isApproved, waitAt } from './staged-gates.ts';
import { rivalWords, waysPast } from './staged-holds.ts';
import { begin, type Pass, planOf } from './staged-pass.ts';
import type { Rival, StagedLimits, StagedPlan } from './staged-plan.ts';
import { removeLast } from './staged-removal.ts';
import { finish, holdLater, progress, waitForThaw } from './staged-status.ts';
import { stop } from './staged-stop.ts';
import { conditionIn, isTrue, type StageTree } from './staged-tree.ts';
import { walk } from './staged-walk.ts';

export const staged: Planner<StagedLimits, StagedUpdateRunStatus, StagedPlan> = (input) => {
  const pass = begin(input);
  if (input.limits.state === 'Run') run(pass);
  else if (input.limits.state === 'Stop') stop(pass);
  else waitForStart(pass);
  return planOf(pass);
};

function waitForStart({ limits, found }: Pass): void {
  found.gates.push({ code: 'RunNotStarted', subject: limits.run, on: limits.run, facts: {}, next: limits.howToStart });
}

function run(pass: Pass): void {
  const { rival } = pass.limits;
  if (rival !== undefined) {
    waitFor(pass, rival);
    return;
  }
  for (const [at, stage] of pass.stages.entries()) {
    if (isTrue(stage, 'Succeeded')) continue;
    if (goThrough(pass, stage, at) === 'held') return;
  }
  removeLast(pass);
}

function waitFor({ tree, tell, say, found }: Pass, rival: Rival): void {
  found.gates.push(say.otherRun(rival));
  const words = `${rivalWords(rival)}: ${waysPast(rival).join(', or ')}`;
  tell.run(tree, 'Progressing', 'False', 'UpdateRunWaiting', words);
}

function goThrough(pass: Pass, stage: StageTree, at: number): 'done' | 'held' {
  const { state, limits, tell, found } = pass;
  const recorded = state.stagesStatus ?? [];
  const was = recorded[at];
  const spec = limits.strategy.stages[at];
  if (stage.clusters.length === 0) {
    finish(pass, stage, 'empty');
    return 'done';
  }
  const isReached =
    recorded.slice(0, at).every((each) => isTrue(each, 'Succeeded')) && conditionIn(state, 'Progressing') !== undefined;
  const [before] = stage.beforeStageTaskStatus ?? [];
  if (before !== undefined && !isApproved(pass, before, { stage, when: 'before', mayAct: isReached })) {
    if (!found.isOver) waitAt(pass, stage);
    return 'held';
  }
  const [wasBefore] = was?.beforeStageTaskStatus ?? [];
  const mayMove = isReached && (wasBefore === undefined || isTrue(wasBefore, 'ApprovalRequestApproved'));
  const isRecordedDone = was?.clusters.every((each) => isTrue(each, 'Succeeded')) ?? false;
  stage.startTime ??= tell.stamp;
  // Not set again for a stage whose clusters are done: its wait is counted from the time of this condition.
  if (!isRecordedDone)
    tell.stage(stage, 'Progressing', 'True', 'StageUpdatingStarted', 'clusters of the stage are under way');
  const { underWay, frozen, hasFailed } = walk(pass, stage, { spec, mayMove });
  if (hasFailed) return 'held';
  if (underWay.length + frozen.length > 0) {
    if (underWay.length > 0) progress(pass, stage, underWay);
    else waitForThaw(pass, stage, frozen);
    holdLater(pass, stage);
    return 'held';
  }
  const after = stage.afterStageTaskStatus ?? [];
  if (after.length > 0) {
    tell.stage(stage, 'Progressing', 'False', 'StageUpdatingWaiting', 'the clusters of the stage are done');
    const mayAct = isReached && isRecordedDone;
    const open = after.filter((task) =>
      task.type === 'TimedWait'
        ? !hasElapsed(pass, task, { stage, spec })
        : !isApproved(pass, task, { stage, when: 'after', mayAct }),
    );
    if (found.isOver) return 'held';
    if (open.length > 0) {
      waitAt(pass, stage);
      return 'held';
    }
  }
  finish(pass, stage);
  return 'done';
}
