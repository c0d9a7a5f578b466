// That a member is gone takes its bindings away, so it is not believed to a watch that may be behind.
import { memberCluster } from '../api/member-cluster.ts';
import type { See, WholeRef } from '../runtime/controller.ts';
import { memberClusters } from './sources.ts';

/** What must be asked for before a member that is not seen counts as gone. */
export function missingMember(see: See, cluster: string): readonly WholeRef[] {
  if (see.get(memberClusters, cluster) !== undefined) return [];
  const { group, kind } = memberCluster;
  const ref: WholeRef = { on: 'hub', resource: memberCluster, group, kind, name: cluster, live: true };
  return see.whole(ref) === undefined ? [ref] : [];
}
