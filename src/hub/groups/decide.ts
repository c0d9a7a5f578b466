// The status of a ClusterGroup: how many member clusters it has, and which of them are not ready.
import { type ClusterGroupStatus, MAX_NON_READY_CLUSTERS } from '../../api/cluster-group.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { byText } from '../../base/compare.ts';
import { deepEqual } from '../../base/json.ts';
import { compileLabelSelector } from '../../base/selector.ts';
import { patchStatus, seen } from '../../runtime/actions.ts';
import { type Decision, idle } from '../../runtime/controller.ts';
import { clusterGroups, type HubClusterGroup } from './sources.ts';

export interface Observed {
  readonly group: HubClusterGroup;
  readonly members: readonly MemberCluster[];
}

export function decide({ group, members }: Observed): Decision {
  const status = statusOf(group, members);
  if (deepEqual(status, group.status)) return idle('the status is up to date');
  // A merge patch removes a field only by null.
  const change = { ...status, nonReadyClusters: status.nonReadyClusters ?? null };
  return {
    steps: [[patchStatus(seen(clusterGroups, group), change, 'the clusters of the group have changed')]],
    holds: [],
    because: `${status.clusterCount} clusters, ${status.nonReadyClusterCount} of them not ready`,
  };
}

export function statusOf(
  { metadata, selector }: HubClusterGroup,
  members: readonly MemberCluster[],
): ClusterGroupStatus {
  // A group without a selector contains no clusters.
  const matches = selector === undefined ? undefined : compileLabelSelector(selector);
  const own = members.filter((member) => matches?.matches(member.metadata.labels) ?? false);
  const notReady = own.filter((member) => !isReady(member)).map((member) => member.metadata.name ?? '');
  return {
    observedGeneration: metadata.generation,
    clusterCount: own.length,
    readyClusterCount: own.length - notReady.length,
    nonReadyClusterCount: notReady.length,
    ...(notReady.length === 0 ? {} : { nonReadyClusters: notReady.toSorted(byText).slice(0, MAX_NON_READY_CLUSTERS) }),
  };
}

export const isReady = ({ metadata, status }: MemberCluster): boolean =>
  metadata.deletionTimestamp === undefined &&
  ['Joined', 'Healthy'].every((type) => conditionOf(status?.conditions, type)?.status === 'True');
