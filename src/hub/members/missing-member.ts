// The cache may be stale: confirm with a live read that a member was deleted, or still exists, before bindings or Works
// are removed because of that.
import { memberCluster } from '../../api/member-cluster.ts';
import type { FullRef, View } from '../../runtime/controller.ts';
import { memberClusters } from '../sources.ts';
import { isLeaving } from './leaving-member.ts';

/**
 * The live read to make before anything is removed from a member that exists and is not leaving, according to the
 * cache.
 */
export function unsureMember(view: View, cluster: string): readonly FullRef[] {
  const member = view.get(memberClusters, cluster);
  return member === undefined || isLeaving(member) || view.getFull(refOf(cluster)) !== undefined
    ? []
    : [refOf(cluster)];
}

/**
 * By the cache, or by the live read that `unsureMember` requested: a controller that reads a member live is requeued by
 * every heartbeat.
 */
export function isMemberLeaving(view: View, cluster: string, how: 'cached' | 'live'): boolean {
  const member = view.get(memberClusters, cluster);
  if (member === undefined) return false;
  if (how === 'cached') return isLeaving(member);
  const live = view.getFull(refOf(cluster));
  return isLeaving(member) || live === null || (live !== undefined && isLeaving(live));
}

/** The live read to make before a member that is not cached counts as deleted. */
export function missingMember(view: View, cluster: string): readonly FullRef[] {
  if (view.get(memberClusters, cluster) !== undefined) return [];
  return view.getFull(refOf(cluster)) === undefined ? [refOf(cluster)] : [];
}

function refOf(cluster: string): FullRef {
  const { group, kind } = memberCluster;
  return { on: 'hub', resource: memberCluster, group, kind, name: cluster, live: true };
}
