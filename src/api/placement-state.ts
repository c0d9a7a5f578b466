// The status of a placement. Both placement kinds have it, and its mirror in a namespace carries a copy.
import { type Infer, s } from './build.ts';
import { conditionList, conditionsByType } from './conditions.ts';
import { holds } from './holds.ts';
import { rolloutState } from './rollout-state.ts';
import {
  diffedPlacements,
  driftedPlacements,
  failedPlacements,
  namespacedName,
  resourceIdentifier,
} from './selected-resource.ts';

const clusterStatus = s.object(
  {
    clusterName: s.optional(s.string({ doc: 'The MemberCluster; empty where no cluster could be found.' })),
    observedResourceIndex: s.optional(s.string({ doc: 'Index of the resource snapshot that this cluster is on.' })),
    applicableClusterResourceOverrides: s.optional(
      s.array(s.string({ doc: 'A ClusterResourceOverrideSnapshot.' }), {
        doc: 'Cluster-scoped overrides in force here.',
      }),
    ),
    applicableResourceOverrides: s.optional(
      s.array(s.doc('A ResourceOverrideSnapshot.', namespacedName), { doc: 'Namespaced overrides in force here.' }),
    ),
    failedPlacements: s.optional(failedPlacements),
    driftedPlacements: s.optional(driftedPlacements),
    diffedPlacements: s.optional(diffedPlacements),
    conditions: s.optional(conditionList('Conditions of this cluster.')),
  },
  { doc: 'One cluster.' },
);
export type ClusterPlacementState = Infer<typeof clusterStatus>;

export const placementStatus = s.object(
  {
    conditions: s.optional(conditionsByType('Conditions of the placement over all clusters.')),
    observedResourceIndex: s.optional(
      s.string({ doc: 'Index of the resource snapshot that this status describes; empty while clusters differ.' }),
    ),
    selectedResources: s.optional(s.array(resourceIdentifier, { doc: 'The objects that were selected.' })),
    placementStatuses: s.optional(s.array(clusterStatus, { doc: 'One entry per cluster.' })),
    notListed: s.optional(
      s.object(
        {
          ready: s.integer({ doc: 'Clusters with all conditions True.', format: 'int32', minimum: 0 }),
          others: s.optional(s.integer({ doc: 'Other clusters.', format: 'int32', minimum: 0 })),
        },
        { doc: 'Clusters that placementStatuses leaves out because the status would be too large.' },
      ),
    ),
    holds: s.optional(holds),
    rollout: s.optional(rolloutState),
  },
  { doc: 'Observed state.' },
);
