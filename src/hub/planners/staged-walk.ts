// Walks through the clusters of a stage in order. Guarantees: never more than `maxConcurrency` clusters are in
// progress, whichever client moved them; if another client changes the revision of a started cluster, the run ends; no
// cluster moves in place of a skipped one before the skip is recorded, because the skipped one may come back with the
// new revision.
import type { Hold } from '../../api/hold.ts';
import type { Stage } from '../../api/staged-update-strategy.ts';
import { countAtLeastOne } from '../../base/int-or-percent.ts';
import type { Row } from './planner.ts';
import { hasWanted, silence } from './staged-holds.ts';
import { frozenBy, isDone, isGivenUp, type Pass } from './staged-pass.ts';
import { fail, marks } from './staged-status.ts';
import { type ClusterTree, isFalse, isTrue, type StageTree } from './staged-tree.ts';

interface Walked {
  readonly underWay: readonly ClusterTree[];
  /** The holds of clusters whose turn has come, but which are frozen. */
  readonly frozen: readonly Hold[];
  readonly hasFailed: boolean;
}

interface Walk {
  readonly spec: Stage | undefined;
  /** The earlier stages are done and recorded as done. */
  readonly mayMove: boolean;
}

export function walk(pass: Pass, stage: StageTree, { spec, mayMove }: Walk): Walked {
  const { limits, updates, tell, say } = pass;
  const { release, holds } = pass.found;
  const { started, succeeded, skip } = marks(tell);
  const max = maxAtOnce(stage, spec);
  const underWay: ClusterTree[] = [];
  const frozen: Hold[] = [];
  const move: string[] = [];
  let hasSkipped = false;
  /** Clusters in progress that the loop has not reached yet. */
  const ahead = new Set(stage.clusters.filter((cluster) => isUnderWay(pass, cluster)));
  const used = (by: readonly ClusterTree[]) => ({
    stage,
    underWay: by,
    max,
    first: updates.get(by[0]?.clusterName ?? ''),
  });
  const failed = (blame: 'user' | 'internal', message: string, ...rows: readonly Row[]): Walked => {
    fail(pass, stage, { blame, message, rows });
    return { underWay, frozen, hasFailed: true };
  };
  for (const cluster of stage.clusters) {
    const { clusterName: name } = cluster;
    ahead.delete(cluster);
    if (isTrue(cluster, 'Succeeded')) continue;
    if (isFalse(cluster, 'Succeeded')) return failed('internal', `cluster "${name}" has failed before`);
    const gone = limits.left(name);
    if (gone !== undefined) {
      skip(cluster, gone);
      hasSkipped = true;
      continue;
    }
    const row = updates.get(name);
    if (underWay.length >= max) {
      if (row !== undefined) holds[row.key] = say.concurrencyUsed(row, used(underWay));
      continue;
    }
    if (row === undefined) return failed('internal', `cluster "${name}" has no binding any more`);
    const isThere = hasWanted(row) && row.released === true;
    if (!(isThere && isDone(row)) && isGivenUp(pass, row)) {
      skip(cluster, silence(row));
      hasSkipped = true;
      continue;
    }
    // A run that lost a cluster to another run must fail: otherwise two runs that change the revision before either has
    // recorded its own would undo each other forever.
    const wasTaken = !hasWanted(row) && limits.wasGiven?.(row.key) === true;
    if (isTrue(cluster, 'Started') || wasTaken) {
      if (!isThere) {
        const message = say.taken([row]);
        tell.cluster(cluster, 'Succeeded', 'False', 'ClusterUpdatingFailed', message);
        return failed('user', message, row);
      }
    } else if (isThere) {
      started(cluster);
    } else {
      if (!hasWanted(row) && ahead.size > 0 && underWay.length + ahead.size >= max) {
        holds[row.key] = say.concurrencyUsed(row, used([...underWay, ...ahead]));
        continue;
      }
      // A cluster that got the revision before the freeze is finished; clusters that are not frozen continue.
      const frost = hasWanted(row) ? undefined : frozenBy(pass, row);
      if (frost !== undefined) {
        frozen.push(frost);
        holds[row.key] = frost;
        continue;
      }
      if (mayMove) (hasWanted(row) ? release : move).push(row.key);
      underWay.push(cluster);
      holds[row.key] = say.notDone(row);
      continue;
    }
    if (isDone(row)) {
      // Differs from KubeFleet: a cluster that was up to date before its turn takes no slot.
      succeeded(cluster);
      continue;
    }
    underWay.push(cluster);
    holds[row.key] = say.notDone(row);
  }
  if (!hasSkipped) pass.found.move.push(...move);
  return { underWay, frozen, hasFailed: false };
}

interface Watched {
  /** Clusters that are not done. */
  readonly inFlight: readonly ClusterTree[];
  /** Another client has changed their desired state. */
  readonly taken: readonly Row[];
}

/** Watches the clusters of a stopping run without moving any. */
export function watch(pass: Pass, stage: StageTree, spec: Stage | undefined): Watched {
  const { limits, updates, tell, say } = pass;
  const { started, succeeded, skip } = marks(tell);
  const max = maxAtOnce(stage, spec);
  const inFlight: ClusterTree[] = [];
  const taken: Row[] = [];
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
      // The run gave it the revision, but crashed before it recorded that.
      const isOurs = row !== undefined && hasWanted(row) && row.released === true && !isDone(row);
      if (!isOurs || inFlight.length >= max) continue;
      started(cluster);
    }
    if (row === undefined) {
      fail(pass, stage, { blame: 'internal', message: `cluster "${clusterName}" has no binding any more` });
      return { inFlight: [], taken: [] };
    }
    // This run has nothing in progress there; it fails over this cluster if it is resumed.
    if (!hasWanted(row)) taken.push(row);
    else if (isDone(row)) succeeded(cluster);
    else if (isGivenUp(pass, row)) skip(cluster, silence(row));
    else {
      inFlight.push(cluster);
      pass.found.holds[row.key] = say.notDone(row);
    }
  }
  return { inFlight, taken };
}

const maxAtOnce = ({ clusters }: StageTree, spec: Stage | undefined): number =>
  countAtLeastOne(spec?.maxConcurrency ?? 1, clusters.length);

/** Any cluster with the desired state counts: another run may have given it the same revision in another order. */
function isUnderWay(pass: Pass, cluster: ClusterTree): boolean {
  const { updates, limits } = pass;
  const row = updates.get(cluster.clusterName);
  if (row === undefined || isTrue(cluster, 'Succeeded') || limits.left(cluster.clusterName) !== undefined) return false;
  return hasWanted(row) && !isDone(row) && !isGivenUp(pass, row);
}
