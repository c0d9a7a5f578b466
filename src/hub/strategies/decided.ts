// The clusters that the scheduler has decided on. It writes its decisions after all bindings, so if they do not name a
// cluster with a binding yet, other bindings may still be missing.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { ObjectRef } from '../../api/object.ts';
import { MAX_DECISIONS } from '../../api/policy-snapshot.ts';
import type { HubPolicySnapshot } from '../placement-sources.ts';
import type { Row } from '../planners/planner.ts';

/** Names of the clusters; undefined = the placement has no policy snapshot. */
export const decidedIn = (snapshot: HubPolicySnapshot | undefined): readonly string[] | undefined =>
  snapshot &&
  (snapshot.status?.targetClusters ?? []).filter(({ selected }) => selected).map((each) => each.clusterName);

/**
 * Clusters that get their first copy wait until all bindings of the scheduler's decisions are cached. Otherwise a
 * partition whose clusters have no bindings yet would count as ready, and later partitions would get their copies
 * first.
 */
export function untilDecided(
  rows: readonly Row[],
  decided: readonly string[] | undefined,
  placement: ObjectRef,
): readonly Row[] {
  if (decided === undefined || !rows.some(isNew)) return rows;
  const known = new Set(rows.map(({ cluster }) => cluster));
  const names = new Set(decided);
  const isComplete = decided.every((cluster) => known.has(cluster));
  // The list of decisions has a maximum length: a cluster that is not on a full list may still be decided.
  const isDecided = (cluster: string) => names.has(cluster) || names.size >= MAX_DECISIONS;
  return rows.map((row) =>
    isNew(row) && row.undecided === undefined && !(isComplete && isDecided(row.cluster))
      ? { ...row, undecided: pendingHold(row, placement) }
      : row,
  );
}

const isNew = ({ state, deleting }: Row): boolean => state === 'scheduled' && !deleting;

const pendingHold = ({ cluster }: Row, placement: ObjectRef): Hold => ({
  code: 'SchedulingPending',
  subject: { group: memberCluster.group, kind: memberCluster.kind, name: cluster },
  on: placement,
  facts: { message: 'not all of its clusters have a binding yet' },
  next: 'wait until the placement is scheduled',
});
