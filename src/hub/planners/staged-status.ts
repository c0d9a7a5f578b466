// Writes the results of a pass into the status tree: how the run, its stages and its clusters progress and end.
import { type Hold, sentenceOf } from '../../api/hold.ts';
import { CLIENT_ERROR_MARKER, DELETION_STAGE } from '../../api/names.ts';
import type { Row } from './planner.ts';
import { named } from './staged-holds.ts';
import { isStuck, type Pass, rowOf } from './staged-pass.ts';
import { type ClusterTree, failureCauseOf, isTrue, type StageTree, skippedIn, type Teller } from './staged-tree.ts';

// ---- clusters

/** The conditions of a cluster that is updated. */
export const marks = (tell: Teller) => ({
  started(cluster: ClusterTree): void {
    tell.cluster(cluster, 'Started', 'True', 'ClusterUpdatingStarted', 'the cluster is being updated to the revision');
  },

  succeeded(cluster: ClusterTree): void {
    const words = 'the revision is available on the cluster';
    tell.cluster(cluster, 'Succeeded', 'True', 'ClusterUpdatingSucceeded', words);
  },

  skip(cluster: ClusterTree, cause: string): void {
    const words = `the run continues without the cluster: ${cause}`;
    tell.cluster(cluster, 'Succeeded', 'True', 'ClusterUpdatingSkipped', words);
  },
});

/** The conditions of a cluster that the placement no longer picks: the run removes the placement from it. */
export const removalMarks = (tell: Teller) => ({
  started(cluster: ClusterTree): void {
    const words = 'the cluster is being removed from the placement';
    tell.cluster(cluster, 'Started', 'True', 'ClusterUpdatingStarted', words);
  },

  succeeded(cluster: ClusterTree): void {
    tell.cluster(
      cluster,
      'Succeeded',
      'True',
      'ClusterUpdatingSucceeded',
      'the cluster was removed from the placement',
    );
  },

  skip: marks(tell).skip,
});

/** The name of the deletion stage is meant for programs only. */
export const inWords = ({ stageName }: StageTree): string =>
  stageName === DELETION_STAGE ? 'removal' : `stage "${stageName}"`;

// ---- how a run ends

interface Failure {
  readonly blame: 'user' | 'internal';
  readonly message: string;
  /** The rows that prove the failure. */
  readonly rows?: readonly Row[];
  readonly requests?: readonly string[];
}

export function fail({ tree, tell, found }: Pass, stage: StageTree, failure: Failure): void {
  const { blame, message, rows = [], requests } = failure;
  found.failure = { blame, message, rows: rows.map(({ key }) => key), ...(requests === undefined ? {} : { requests }) };
  const words = blame === 'user' ? `${CLIENT_ERROR_MARKER}: ${message}` : message;
  tell.stage(stage, 'Progressing', 'False', 'StageUpdatingFailed', message);
  tell.stage(stage, 'Succeeded', 'False', 'StageUpdatingFailed', message);
  stage.endTime = tell.stamp;
  tell.run(tree, 'Progressing', 'False', 'UpdateRunFailed', words);
  tell.run(tree, 'Succeeded', 'False', 'UpdateRunFailed', words);
  tree.failureCause = failureCauseOf(blame);
  found.isOver = true;
}

export function succeed({ tree, tell, found }: Pass): void {
  const skipped = skippedIn(tree);
  const message = `all stages are done${skipped.length === 0 ? '' : `; skipped: ${skipped.length} (${named(skipped)})`}`;
  tell.run(tree, 'Progressing', 'False', 'UpdateRunSucceeded', message);
  tell.run(tree, 'Succeeded', 'True', 'UpdateRunSucceeded', message);
  found.isOver = true;
}

/** `why`: a stage without clusters is `empty`. */
export function finish({ tell }: Pass, stage: StageTree, why: 'succeeded' | 'empty' = 'succeeded'): void {
  const isRemoval = stage.stageName === DELETION_STAGE;
  const [reason, words] =
    why === 'succeeded'
      ? (['StageUpdatingSucceeded', isRemoval ? removalDone(stage) : 'the stage is done'] as const)
      : (['StageUpdatingSkippedNoClusters', 'no clusters belong to the stage'] as const);
  tell.stage(stage, 'Progressing', 'False', reason, words);
  tell.stage(stage, 'Succeeded', 'True', reason, words);
  stage.startTime ??= tell.stamp;
  stage.endTime = tell.stamp;
}

const removalDone = ({ clusters }: StageTree): string =>
  clusters.length === 0
    ? 'no cluster needs to be removed'
    : 'clusters that the placement no longer picks have been removed';

// ---- how a run progresses

/** `underWay`: clusters of the stage. */
export function progress(pass: Pass, stage: StageTree, underWay: readonly ClusterTree[]): void {
  const { tree, tell, say } = pass;
  const stuck = underWay.filter((cluster) => isTrue(cluster, 'Started') && isStuck(pass, cluster));
  if (stuck.length > 0) {
    const words = `${inWords(stage)}: ${say.stuck(stuck, rowOf(pass, stuck[0]))}`;
    tell.run(tree, 'Progressing', 'False', 'UpdateRunStuck', words);
    return;
  }
  const done = stage.clusters.filter((cluster) => isTrue(cluster, 'Succeeded')).length;
  const names = named(underWay.map(({ clusterName }) => clusterName));
  const words = `${inWords(stage)}: ${done} of ${stage.clusters.length} clusters are done; under way: ${names}`;
  tell.run(tree, 'Progressing', 'True', 'UpdateRunProgressing', words);
}

/** All remaining clusters of the stage are frozen. */
export function waitForThaw({ tree, tell, limits, found }: Pass, stage: StageTree, frozen: readonly Hold[]): void {
  const [first] = frozen;
  if (first === undefined) return;
  found.gates.push({ ...first, subject: limits.run });
  tell.run(tree, 'Progressing', 'False', 'UpdateRunWaiting', `${inWords(stage)}: ${sentenceOf(first)}`);
}

/** Clusters of later stages wait for this one. */
export function holdLater({ stages, updates, say, found }: Pass, stage: StageTree): void {
  for (const later of stages.slice(stages.indexOf(stage) + 1)) {
    for (const { clusterName } of later.clusters) {
      const row = updates.get(clusterName);
      if (row === undefined) continue;
      found.holds[row.key] = say.earlierStage(row, stage);
    }
  }
}
