// Through the clusters of a stage in their order. Guarantees: never more than `maxConcurrency` are under way, whatever moved them there; one that
// has been given another revision by another client ends the run; nothing moves in place of one that the run continues without before that is
// recorded, for it may come back with the revision meanwhile.
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
  /** Their turn has come, and a Freeze holds them. */
  readonly frozen: readonly Hold[];
  readonly hasFailed: boolean;
}

interface Walk {
  readonly spec: Stage | undefined;
  /** What comes before is done and recorded. */
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
  /** Under way, and not looked at yet. */
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
    // Else two runs that each find the other's revision before they have recorded their own would move it for ever.
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
      // What it was given before the freeze is finished; clusters that are not frozen go on.
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
      // Differs from KubeFleet: one that was up to date before its turn takes no slot.
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
  /** Those that are not done. */
  readonly inFlight: readonly ClusterTree[];
  /** Another client has changed their desired state. */
  readonly taken: readonly Row[];
}

/** They are only watched: the run is to stop. */
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
      // It was given the revision, and we died before that was recorded.
      const isOurs = row !== undefined && hasWanted(row) && row.released === true && !isDone(row);
      if (!isOurs || inFlight.length >= max) continue;
      started(cluster);
    }
    if (row === undefined) {
      fail(pass, stage, { blame: 'internal', message: `cluster "${clusterName}" has no binding any more` });
      return { inFlight: [], taken: [] };
    }
    // Nothing of ours is under way there. Who lets the run go on learns of it.
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

/** Another run may have brought it the same revision, in another order. */
function isUnderWay(pass: Pass, cluster: ClusterTree): boolean {
  const { updates, limits } = pass;
  const row = updates.get(cluster.clusterName);
  if (row === undefined || isTrue(cluster, 'Succeeded') || limits.left(cluster.clusterName) !== undefined) return false;
  return hasWanted(row) && !isDone(row) && !isGivenUp(pass, row);
}
