// A run with state Stop: it starts nothing, watches the clusters in progress, and reports when they are done. Gates
// keep their state.
//
// Differs from KubeFleet: there a run with stuck clusters, or with clusters to remove, never reports that it has
// stopped; and each reconcile of a stopped run resets the times from which its waits are counted.
import { causeOf, named } from './staged-holds.ts';
import { isStuck, type Pass, rowOf } from './staged-pass.ts';
import { clearing } from './staged-removal.ts';
import { finish, inWords, succeed } from './staged-status.ts';
import { isFalse, isTrue, type StageTree } from './staged-tree.ts';
import { watch } from './staged-walk.ts';

export function stop(pass: Pass): void {
  const { stages, tree, limits, tell, say, found } = pass;
  const at = stages.findIndex((each) => !isTrue(each, 'Succeeded'));
  const stage = at < 0 ? tree.deletionStageStatus : stages[at];
  if (stage === undefined) return;
  const before = doneIn(stage);
  const { inFlight, taken } =
    at < 0
      ? { inFlight: clearing(pass, stage, false).left.filter((cluster) => isTrue(cluster, 'Started')), taken: [] }
      : watch(pass, stage, limits.strategy.stages[at]);
  if (found.isOver) return;
  if (at < 0 && stage.clusters.every((each) => isTrue(each, 'Succeeded'))) {
    finish(pass, stage);
    succeed(pass);
    return;
  }
  // A cluster became done after the run was reported as stopped (it was stuck, or not seen): the wait after the stage
  // is counted from now.
  if (doneIn(stage) > before && isFalse(stage, 'Progressing'))
    tell.stage(stage, 'Progressing', 'Unknown', 'StageUpdatingStopping', 'a cluster is done');
  const stuck = inFlight.filter((cluster) => isStuck(pass, cluster));
  found.gates.push({ code: 'RunStopped', subject: limits.run, on: limits.run, facts: {}, next: limits.howToStart });
  if (stuck.length < inFlight.length) {
    const names = named(inFlight.map(({ clusterName }) => clusterName));
    const words = `waits for the updates in progress: ${names} (${causeOf(rowOf(pass, inFlight[0]))})`;
    tell.stage(stage, 'Progressing', 'Unknown', 'StageUpdatingStopping', words);
    tell.run(tree, 'Progressing', 'Unknown', 'UpdateRunStopping', `${inWords(stage)} ${words}`);
    return;
  }
  const rest =
    stuck.length === 0 ? 'no cluster is being updated' : `stopped with ${say.stuck(stuck, rowOf(pass, stuck[0]))}`;
  const words = taken.length === 0 ? rest : `${rest}; ${say.taken(taken)}`;
  tell.stage(stage, 'Progressing', 'False', 'StageUpdatingStopped', words);
  tell.run(tree, 'Progressing', 'False', 'UpdateRunStopped', `${inWords(stage)}: ${words}`);
}

const doneIn = ({ clusters }: StageTree): number => clusters.filter((each) => isTrue(each, 'Succeeded')).length;
