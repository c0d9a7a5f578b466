// ClusterGroup: a name for the member clusters that a label selector matches, for partitions and placement policies.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { age } from './columns.ts';
import { ALPHA, flotillaGroup } from './groups.ts';
import { labelSelector } from './label-selector.ts';

const spec = s.object(
  {
    selector: s.optional(
      labelSelector('The MemberClusters of the group. An empty selector matches all, none matches none.'),
    ),
  },
  { doc: 'Desired state.' },
);

export const MAX_NON_READY_CLUSTERS = 10;

const count = (doc: string) => s.integer({ doc, format: 'int32', minimum: 0 });

const status = s.object(
  {
    observedGeneration: s.optional(s.integer({ doc: 'Generation that was observed.', format: 'int64', minimum: 0 })),
    clusterCount: s.optional(count('Clusters in the group.')),
    readyClusterCount: s.optional(count('Clusters that have joined and are healthy.')),
    nonReadyClusterCount: s.optional(count('Clusters that have not joined, are unhealthy or unreachable.')),
    nonReadyClusters: s.optional(
      s.array(s.string({ doc: 'Name of a MemberCluster.', maxLength: 253 }), {
        doc: 'The first clusters that are not ready, by name.',
        maxItems: MAX_NON_READY_CLUSTERS,
      }),
    ),
  },
  { doc: 'Observed state.' },
);

export const clusterGroup = defineKind({
  in: flotillaGroup,
  versions: ALPHA,
  namespaced: false,
  kind: 'ClusterGroup',
  plural: 'clustergroups',
  short: 'cgrp',
  doc: 'Names the member clusters that a label selector matches.',
  spec,
  status,
  columns: [
    { name: 'Clusters', type: 'integer', jsonPath: '.status.clusterCount' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyClusterCount' },
    age,
  ],
});

export type ClusterGroupSpec = Infer<typeof spec>;
export type ClusterGroupStatus = Infer<typeof status>;
export type ClusterGroup = WithSpec<ClusterGroupSpec, ClusterGroupStatus>;
