// Staged update: which clusters of a run move now, which gates are asked, and how far the run is.
// Guarantees: of a stage never more than `maxConcurrency` clusters are under way; nothing is done for a stage before what comes before it is
// done and stands recorded in the run, so that a crash or a change of mind in between opens no gate; a run that is to stop starts nothing.
//
// The state is the run's own status. The plan fills it in as far as what is seen allows, through any number of stages; only what reaches out
// (moving a cluster, asking for an approval, removing a binding) waits until the record says that its turn has come.
import type { Hold } from '../../api/hold.ts';
import { CLIENT_ERROR_MARKER } from '../../api/names.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Stage } from '../../api/staged-update-strategy.ts';
import { countAtLeastOne } from '../../base/int-or-percent.ts';
import { waitMs } from '../staged/stages.ts';
import {
  type ClusterTree,
  isFalse,
  isTrue,
  type RunTree,
  type StageTree,
  said,
  sinceOf,
  skippedIn,
  type TaskTree,
  teller,
  treeOf,
} from '../staged/status-tree.ts';
import type { Planner, Row } from './planner.ts';
import { causeOf, gateWords, hasWanted, named, rivalWords, silence, stagedHolds, waysPast } from './staged-holds.ts';
import type { Gate, StagedLimits, StagedPlan } from './staged-plan.ts';

type Input = Parameters<Planner<StagedLimits, StagedUpdateRunStatus>>[0];

export const staged: Planner<StagedLimits, StagedUpdateRunStatus, StagedPlan> = (input) => {
  const pass = begin(input);
  if (input.limits.state === 'Run') pass.run();
  else if (input.limits.state === 'Stop') pass.stop();
  else pass.waitForStart();
  return pass.plan();
};

const isDone = ({ health }: Row): boolean => health === 'available' || health === 'untracked' || health === 'diffed';

function begin({ rows, limits, state, now }: Input) {
  const tree: RunTree = treeOf(state, limits.generation);
  const stages = tree.stagesStatus ?? [];
  const recorded = state.stagesStatus ?? [];
  const tell = teller(limits.generation, now);
  const say = stagedHolds(limits);
  const updates = new Map<string, Row>();
  const removals = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.state === 'unscheduled') removals.set(row.cluster, [...(removals.get(row.cluster) ?? []), row]);
    else if (!row.deleting) updates.set(row.cluster, row);
  }

  const move: string[] = [];
  const release: string[] = [];
  const remove: string[] = [];
  const ask: Gate[] = [];
  const discard: string[] = [];
  const accept: string[] = [];
  const holds: Record<string, Hold> = {};
  const gates: Hold[] = [];
  const wakes: number[] = [];
  let failure: StagedPlan['failure'];
  let isOver = false;

  const wakeAt = (moment: number): void => {
    if (moment > now) wakes.push(moment);
  };

  // ---- how it ends

  function fail(stage: StageTree, blame: 'user' | 'internal', message: string, ...rests: readonly Row[]): void {
    failure = { blame, message, rows: rests.map(({ key }) => key) };
    const words = blame === 'user' ? `${CLIENT_ERROR_MARKER}: ${message}` : message;
    tell.stage(stage, 'Progressing', 'False', 'StageUpdatingFailed', message);
    tell.stage(stage, 'Succeeded', 'False', 'StageUpdatingFailed', message);
    stage.endTime = tell.stamp;
    tell.run(tree, 'Progressing', 'False', 'UpdateRunFailed', words);
    tell.run(tree, 'Succeeded', 'False', 'UpdateRunFailed', words);
    isOver = true;
  }

  function succeed(): void {
    const skipped = skippedIn(tree);
    const message = `all stages are done${skipped.length === 0 ? '' : `; skipped: ${skipped.length} (${named(skipped)})`}`;
    tell.run(tree, 'Progressing', 'False', 'UpdateRunSucceeded', message);
    tell.run(tree, 'Succeeded', 'True', 'UpdateRunSucceeded', message);
    isOver = true;
  }

  function finish(stage: StageTree): void {
    tell.stage(stage, 'Progressing', 'False', 'StageUpdatingSucceeded', 'the stage is done');
    tell.stage(stage, 'Succeeded', 'True', 'StageUpdatingSucceeded', 'the stage is done');
    stage.startTime ??= tell.stamp;
    stage.endTime = tell.stamp;
  }

  // ---- clusters

  function skip(cluster: ClusterTree, cause: string): void {
    tell.cluster(
      cluster,
      'Succeeded',
      'True',
      'ClusterUpdatingSkipped',
      `the run goes on without the cluster: ${cause}`,
    );
  }

  function succeeded(cluster: ClusterTree): void {
    tell.cluster(
      cluster,
      'Succeeded',
      'True',
      'ClusterUpdatingSucceeded',
      'the cluster has the revision, and it works',
    );
  }

  function started(cluster: ClusterTree): void {
    tell.cluster(cluster, 'Started', 'True', 'ClusterUpdatingStarted', 'the cluster has been given the revision');
  }

  /** Nobody hears it for longer than the run waits for such a cluster. */
  function isGivenUp({ reachable, silentSince }: Row): boolean {
    const { unreachableAfterMs } = limits;
    if (reachable || unreachableAfterMs === undefined || silentSince === undefined) return false;
    wakeAt(silentSince + unreachableAfterMs);
    return now >= silentSince + unreachableAfterMs;
  }

  const rowOf = (cluster: ClusterTree | undefined): Row | undefined =>
    cluster && (updates.get(cluster.clusterName) ?? removals.get(cluster.clusterName)?.[0]);

  const isStuck = (cluster: ClusterTree): boolean => {
    const due = sinceOf(cluster, 'Started') + limits.stuckAfterMs;
    wakeAt(due);
    return now >= due;
  };

  interface Walked {
    readonly underWay: readonly ClusterTree[];
    readonly hasFailed: boolean;
  }

  /** Through the clusters of a stage in their order, as far as its limit lets. */
  function walk(stage: StageTree, spec: Stage | undefined, mayMove: boolean): Walked {
    const most = countAtLeastOne(spec?.maxConcurrency ?? 1, stage.clusters.length);
    const underWay: ClusterTree[] = [];
    /** Under way, and not looked at yet. */
    const ahead = new Set(stage.clusters.filter(isUnderWay));
    const used = (by: readonly ClusterTree[]) => ({
      stage,
      underWay: by,
      most,
      first: updates.get(by[0]?.clusterName ?? ''),
    });
    const failed = (blame: 'user' | 'internal', message: string, ...rests: readonly Row[]): Walked => {
      fail(stage, blame, message, ...rests);
      return { underWay, hasFailed: true };
    };
    for (const cluster of stage.clusters) {
      const { clusterName: name } = cluster;
      ahead.delete(cluster);
      if (isTrue(cluster, 'Succeeded')) continue;
      if (isFalse(cluster, 'Succeeded')) return failed('internal', `cluster "${name}" has failed before`);
      const gone = limits.left(name);
      if (gone !== undefined) {
        skip(cluster, gone);
        continue;
      }
      const row = updates.get(name);
      if (underWay.length >= most) {
        if (row !== undefined) holds[row.key] = say.concurrencyUsed(row, used(underWay));
        continue;
      }
      if (row === undefined) return failed('internal', `cluster "${name}" has no binding any more`);
      const isThere = hasWanted(row) && row.released === true;
      if (!(isThere && isDone(row)) && isGivenUp(row)) {
        skip(cluster, silence(row));
        continue;
      }
      if (isTrue(cluster, 'Started')) {
        if (!isThere) {
          const message = `somebody else has changed what cluster "${name}" is to have: another run, or an edit of its binding`;
          tell.cluster(cluster, 'Succeeded', 'False', 'ClusterUpdatingFailed', message);
          return failed('user', message, row);
        }
      } else if (isThere) {
        started(cluster);
      } else {
        if (!hasWanted(row) && ahead.size > 0 && underWay.length + ahead.size >= most) {
          holds[row.key] = say.concurrencyUsed(row, used([...underWay, ...ahead]));
          continue;
        }
        if (mayMove) (hasWanted(row) ? release : move).push(row.key);
        underWay.push(cluster);
        holds[row.key] = say.notDone(row);
        continue;
      }
      if (isDone(row)) {
        // Differs from KubeFleet: one that was up to date before its turn takes no slot.
        succeeded(cluster);
        continue;
      }
      underWay.push(cluster);
      holds[row.key] = say.notDone(row);
    }
    return { underWay, hasFailed: false };
  }

  /** Another run may have brought it the same revision, in another order. */
  function isUnderWay(cluster: ClusterTree): boolean {
    const row = updates.get(cluster.clusterName);
    if (row === undefined || isTrue(cluster, 'Succeeded') || limits.left(cluster.clusterName) !== undefined)
      return false;
    return hasWanted(row) && !isDone(row) && !isGivenUp(row);
  }

  /** Those of later stages wait for this one. */
  function holdLater(from: number, stage: StageTree): void {
    for (const later of stages.slice(from + 1)) {
      for (const { clusterName } of later.clusters) {
        const row = updates.get(clusterName);
        if (row === undefined) continue;
        holds[row.key] = say.earlierStage(row, stage);
      }
    }
  }

  // ---- gates

  /** True = open. */
  function isApproved(task: TaskTree, stage: StageTree, when: Gate['when'], mayAct: boolean): boolean {
    if (isTrue(task, 'ApprovalRequestApproved')) return true;
    const name = task.approvalRequestName ?? '';
    const found = limits.approval(name, stage.stageName);
    if (found.state === 'foreign') {
      fail(
        stage,
        'internal',
        `${limits.approvalRequest.kind} "${name}" exists and is about something else: delete it, and create a new run`,
      );
      if (failure !== undefined) failure = { ...failure, requests: [name] };
      return false;
    }
    if (found.state === 'absent') {
      if (mayAct) ask.push({ name, stage: stage.stageName, when });
    } else if (found.state === 'stale') {
      if (mayAct && !found.isGoing) discard.push(name);
    } else {
      tell.task(
        task,
        'ApprovalRequestCreated',
        'True',
        'StageTaskApprovalRequestCreated',
        `the approval ${when} the stage is asked for`,
      );
    }
    if (found.state === 'accepted') {
      tell.task(
        task,
        'ApprovalRequestApproved',
        'True',
        'StageTaskApprovalRequestApproved',
        `the approval ${when} the stage is given`,
      );
      return true;
    }
    if (found.state === 'approved' && mayAct) accept.push(name);
    gates.push(say.approvalMissing(name, stage, when, 'hint' in found ? found.hint : undefined));
    return false;
  }

  function hasElapsed(task: TaskTree, stage: StageTree, spec: Stage | undefined): boolean {
    if (isTrue(task, 'WaitTimeElapsed')) return true;
    const wait = spec?.afterStageTasks?.find(({ type }) => type === 'TimedWait');
    // Times are stored in whole seconds, cut off: to the end of the second, so that no gate opens early.
    const until = sinceOf(stage, 'Progressing') + waitMs(wait ?? {}) + 999;
    if (now >= until) {
      tell.task(
        task,
        'WaitTimeElapsed',
        'True',
        'AfterStageTaskWaitTimeElapsed',
        `${wait?.waitTime} have passed since the last cluster`,
      );
      return true;
    }
    wakeAt(until);
    gates.push(say.timedWait(stage, wait?.waitTime ?? '', until));
    return false;
  }

  function waitAt(stage: StageTree, at: number): void {
    const words = `stage "${stage.stageName}" waits: ${gates.map(gateWords).join(' and ')}`;
    tell.stage(stage, 'Progressing', 'False', 'StageUpdatingWaiting', words);
    tell.run(tree, 'Progressing', 'False', 'UpdateRunWaiting', words);
    holdLater(at, stage);
  }

  // ---- the states

  function goThrough(stage: StageTree, at: number): 'done' | 'held' {
    const was = recorded[at];
    const spec = limits.strategy.stages[at];
    if (stage.clusters.length === 0) {
      const words = 'no clusters belong to the stage';
      tell.stage(stage, 'Progressing', 'False', 'StageUpdatingSkippedNoClusters', words);
      tell.stage(stage, 'Succeeded', 'True', 'StageUpdatingSkippedNoClusters', words);
      stage.startTime ??= tell.stamp;
      stage.endTime = tell.stamp;
      return 'done';
    }
    const isReached =
      recorded.slice(0, at).every((each) => isTrue(each, 'Succeeded')) && said(state, 'Progressing') !== undefined;
    const [before] = stage.beforeStageTaskStatus ?? [];
    if (before !== undefined && !isApproved(before, stage, 'before', isReached)) {
      if (!isOver) waitAt(stage, at);
      return 'held';
    }
    const [wasBefore] = was?.beforeStageTaskStatus ?? [];
    const mayMove = isReached && (wasBefore === undefined || isTrue(wasBefore, 'ApprovalRequestApproved'));
    const isRecordedDone = was?.clusters.every((each) => isTrue(each, 'Succeeded')) ?? false;
    stage.startTime ??= tell.stamp;
    // Not of one whose clusters are done: when they were is what its wait counts from.
    if (!isRecordedDone)
      tell.stage(stage, 'Progressing', 'True', 'StageUpdatingStarted', 'clusters of the stage are under way');
    const { underWay, hasFailed } = walk(stage, spec, mayMove);
    if (hasFailed) return 'held';
    if (underWay.length > 0) {
      progress(stage, underWay);
      holdLater(at, stage);
      return 'held';
    }
    const after = stage.afterStageTaskStatus ?? [];
    if (after.length > 0) {
      tell.stage(stage, 'Progressing', 'False', 'StageUpdatingWaiting', 'the clusters of the stage are done');
      const mayAct = isReached && isRecordedDone;
      const open = after.filter(
        (task) =>
          !(task.type === 'TimedWait' ? hasElapsed(task, stage, spec) : isApproved(task, stage, 'after', mayAct)),
      );
      if (isOver) return 'held';
      if (open.length > 0) {
        waitAt(stage, at);
        return 'held';
      }
    }
    finish(stage);
    return 'done';
  }

  function progress(stage: StageTree, underWay: readonly ClusterTree[]): void {
    const stuck = underWay.filter((cluster) => isTrue(cluster, 'Started') && isStuck(cluster));
    if (stuck.length > 0) {
      tell.run(
        tree,
        'Progressing',
        'False',
        'UpdateRunStuck',
        `stage "${stage.stageName}": ${say.stuck(stuck, rowOf(stuck[0]))}`,
      );
      return;
    }
    const done = stage.clusters.filter((cluster) => isTrue(cluster, 'Succeeded')).length;
    const names = named(underWay.map(({ clusterName }) => clusterName));
    const words = `stage "${stage.stageName}": ${done} of ${stage.clusters.length} clusters are done; under way: ${names}`;
    tell.run(tree, 'Progressing', 'True', 'UpdateRunProgressing', words);
  }

  function run(): void {
    const { rival } = limits;
    if (rival !== undefined) {
      gates.push(say.otherRun(rival));
      const words = `${rivalWords(rival)}: ${waysPast(rival).join(', or ')}`;
      tell.run(tree, 'Progressing', 'False', 'UpdateRunWaiting', words);
      return;
    }
    for (const [at, stage] of stages.entries()) {
      if (isTrue(stage, 'Succeeded')) continue;
      if (goThrough(stage, at) === 'held') return;
    }
    removeLast();
  }

  /** The last stage: clusters that were given up lose what they have, all at once. */
  function removeLast(): void {
    const stage = tree.deletionStageStatus;
    if (stage === undefined) return;
    if (isTrue(stage, 'Succeeded')) {
      succeed();
      return;
    }
    const isReached = recorded.every((each) => isTrue(each, 'Succeeded')) && said(state, 'Progressing') !== undefined;
    stage.startTime ??= tell.stamp;
    tell.stage(stage, 'Progressing', 'True', 'StageUpdatingStarted', 'clusters that were given up are being cleared');
    const left = clearing(stage, isReached);
    if (isOver) return;
    if (left.length > 0) {
      progress(stage, left);
      return;
    }
    finish(stage);
    succeed();
  }

  /** Those that are not gone yet. */
  function clearing(stage: StageTree, mayRemove: boolean): readonly ClusterTree[] {
    const left: ClusterTree[] = [];
    for (const cluster of stage.clusters) {
      if (isTrue(cluster, 'Succeeded')) continue;
      const { clusterName } = cluster;
      const own = removals.get(clusterName) ?? [];
      const standing = own.filter(({ deleting }) => !deleting);
      const silent = own.find(isGivenUp);
      if (silent !== undefined) {
        skip(cluster, silence(silent));
        continue;
      }
      if (own.length === 0) {
        const back = updates.get(clusterName);
        if (back !== undefined && !isTrue(cluster, 'Started')) skip(cluster, 'the placement picks it again');
        else {
          started(cluster);
          succeeded(cluster);
        }
        continue;
      }
      if (standing.length > 0 && isTrue(cluster, 'Started')) {
        fail(
          stage,
          'internal',
          `the binding of cluster "${clusterName}" was to be removed, and stands again`,
          ...standing,
        );
        return left;
      }
      if (standing.length === 0) started(cluster);
      else if (mayRemove) remove.push(...standing.map(({ key }) => key));
      left.push(cluster);
      for (const row of own) holds[row.key] = say.removalPending(row);
    }
    return left;
  }

  /**
   * Differs from KubeFleet: there a run with stuck clusters, or with clusters to remove, never says that it has stopped; and each look at a
   * stopped run moves the times that its waits count from.
   */
  function stop(): void {
    const at = stages.findIndex((each) => !isTrue(each, 'Succeeded'));
    const stage = at < 0 ? tree.deletionStageStatus : stages[at];
    if (stage === undefined) return;
    const isDoneWith = (): number => stage.clusters.filter((each) => isTrue(each, 'Succeeded')).length;
    const before = isDoneWith();
    const inFlight = at < 0 ? inFlightRemovals(stage) : inFlightUpdates(stage, limits.strategy.stages[at]);
    if (isOver) return;
    if (at < 0 && stage.clusters.every((each) => isTrue(each, 'Succeeded'))) {
      finish(stage);
      succeed();
      return;
    }
    // One that was stuck, or not seen, when it was said to have stopped: the wait after the stage counts from now.
    if (isDoneWith() > before && isFalse(stage, 'Progressing'))
      tell.stage(stage, 'Progressing', 'Unknown', 'StageUpdatingStopping', 'a cluster is done');
    const stuck = inFlight.filter(isStuck);
    gates.push({ code: 'RunStopped', subject: limits.run, on: limits.run, facts: {}, next: limits.howToStart });
    if (stuck.length < inFlight.length) {
      const words = `waits for what is under way: ${named(inFlight.map(({ clusterName }) => clusterName))} (${causeOf(rowOf(inFlight[0]))})`;
      tell.stage(stage, 'Progressing', 'Unknown', 'StageUpdatingStopping', words);
      tell.run(tree, 'Progressing', 'Unknown', 'UpdateRunStopping', `stage "${stage.stageName}" ${words}`);
      return;
    }
    const words = stuck.length === 0 ? 'nothing is under way' : `stopped with ${say.stuck(stuck, rowOf(stuck[0]))}`;
    tell.stage(stage, 'Progressing', 'False', 'StageUpdatingStopped', words);
    tell.run(tree, 'Progressing', 'False', 'UpdateRunStopped', `stage "${stage.stageName}": ${words}`);
  }

  /** They are only watched. */
  function inFlightUpdates(stage: StageTree, spec: Stage | undefined): readonly ClusterTree[] {
    const most = countAtLeastOne(spec?.maxConcurrency ?? 1, stage.clusters.length);
    const inFlight: ClusterTree[] = [];
    for (const cluster of stage.clusters) {
      if (isTrue(cluster, 'Succeeded')) continue;
      const { clusterName } = cluster;
      const gone = limits.left(clusterName);
      if (gone !== undefined) {
        skip(cluster, gone);
        continue;
      }
      const row = updates.get(clusterName);
      if (!isTrue(cluster, 'Started')) {
        // It was given the revision, and we died before that was recorded.
        const isOurs = row !== undefined && hasWanted(row) && row.released === true && !isDone(row);
        if (!isOurs || inFlight.length >= most) continue;
        started(cluster);
      }
      if (row === undefined) {
        fail(stage, 'internal', `cluster "${clusterName}" has no binding any more`);
        return [];
      }
      if (hasWanted(row) && isDone(row)) succeeded(cluster);
      else if (isGivenUp(row)) skip(cluster, silence(row));
      else {
        inFlight.push(cluster);
        holds[row.key] = say.notDone(row);
      }
    }
    return inFlight;
  }

  const inFlightRemovals = (stage: StageTree): readonly ClusterTree[] =>
    clearing(stage, false).filter((cluster) => isTrue(cluster, 'Started'));

  function waitForStart(): void {
    gates.push({ code: 'RunNotStarted', subject: limits.run, on: limits.run, facts: {}, next: limits.howToStart });
  }

  function plan(): StagedPlan {
    const acts = failure === undefined;
    return {
      move: acts ? move : [],
      release: acts ? release : [],
      remove: acts ? remove : [],
      ask: acts ? ask : [],
      discard: acts ? discard : [],
      accept: acts ? accept : [],
      holds: isOver ? {} : holds,
      gates: isOver ? [] : gates,
      state: tree as StagedUpdateRunStatus,
      ...(wakes.length === 0 || isOver ? {} : { wakeAt: Math.min(...wakes) }),
      done: isOver,
      ...(failure === undefined ? {} : { failure }),
    };
  }

  return { run, stop, waitForStart, plan };
}
