// The deletion stage of a run: all unscheduled clusters lose the placement at once. Guarantee: nothing is removed
// before all other stages are done and recorded as done; a cluster is done once nothing of the placement is left on it.
import type { Hold } from '../../api/hold.ts';
import { silence } from './staged-holds.ts';
import { frozenBy, isGivenUp, type Pass } from './staged-pass.ts';
import { fail, finish, progress, removalMarks, succeed, waitForThaw } from './staged-status.ts';
import { type ClusterTree, conditionIn, isTrue, type StageTree } from './staged-tree.ts';

export function removeLast(pass: Pass): void {
  const { state, tree, tell, found } = pass;
  const stage = tree.deletionStageStatus;
  if (stage === undefined) return;
  if (isTrue(stage, 'Succeeded')) {
    succeed(pass);
    return;
  }
  const isReached =
    (state.stagesStatus ?? []).every((each) => isTrue(each, 'Succeeded')) &&
    conditionIn(state, 'Progressing') !== undefined;
  stage.startTime ??= tell.stamp;
  tell.stage(
    stage,
    'Progressing',
    'True',
    'StageUpdatingStarted',
    'clusters that the placement no longer picks are being removed',
  );
  const { left, frozen } = clearing(pass, stage, isReached);
  if (found.isOver) return;
  if (left.length > 0) {
    if (frozen.length === left.length) waitForThaw(pass, stage, frozen);
    else progress(pass, stage, left);
    return;
  }
  finish(pass, stage);
  succeed(pass);
}

interface Clearing {
  /** Clusters that still have a binding. */
  readonly left: readonly ClusterTree[];
  /** The holds of those clusters that are frozen. */
  readonly frozen: readonly Hold[];
}

export function clearing(pass: Pass, stage: StageTree, mayRemove: boolean): Clearing {
  const { updates, removals, say, tell, found } = pass;
  const { started, succeeded, skip } = removalMarks(tell);
  const left: ClusterTree[] = [];
  const frozen: Hold[] = [];
  for (const cluster of stage.clusters) {
    if (isTrue(cluster, 'Succeeded')) continue;
    const { clusterName } = cluster;
    const own = removals.get(clusterName) ?? [];
    const standing = own.filter(({ deleting }) => !deleting);
    const silent = own.find((row) => isGivenUp(pass, row));
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
      const message = `the binding of cluster "${clusterName}" was removed and exists again`;
      fail(pass, stage, { blame: 'internal', message, rows: standing });
      return { left, frozen };
    }
    const [first] = standing;
    const frost = first && frozenBy(pass, first);
    if (frost !== undefined) {
      left.push(cluster);
      frozen.push(frost);
      for (const row of own) found.holds[row.key] = frost;
      continue;
    }
    if (standing.length === 0) started(cluster);
    else if (mayRemove) found.remove.push(...standing.map(({ key }) => key));
    left.push(cluster);
    for (const row of own) found.holds[row.key] = say.removalPending(row);
  }
  return { left, frozen };
}
