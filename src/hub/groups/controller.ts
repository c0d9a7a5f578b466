// Maintains the status of ClusterGroups: requeued by groups, and by members whose labels or readiness change.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { deepEqual } from '../../base/json.ts';
import type { Controller } from '../../runtime/controller.ts';
import { memberClusters } from '../sources.ts';
import { decide, isReady, type Observed } from './decide.ts';
import { clusterGroups } from './sources.ts';

const isSameFor = (a: MemberCluster, b: MemberCluster): boolean =>
  isReady(a) === isReady(b) && deepEqual(a.metadata.labels, b.metadata.labels);

export const groupController = (): Controller<Observed> => ({
  name: 'clustergroups',
  eventSource: 'cluster-group-controller',
  watches: [
    { source: clusterGroups, optional: true, toKeys: ({ name }) => [name] },
    {
      source: memberClusters,
      toKeys: (member, view, old) =>
        old !== undefined && isSameFor(member, old) ? [] : view.all(clusterGroups).map(({ name }) => name),
      // Many members change at once when a fleet starts.
      wait: { coalesceMs: 100 },
    },
  ],
  observe(view, key) {
    const group = view.get(clusterGroups, key);
    if (group === undefined || group.metadata.deletionTimestamp !== undefined) return undefined;
    return { group, members: view.all(memberClusters) };
  },
  decide,
});
