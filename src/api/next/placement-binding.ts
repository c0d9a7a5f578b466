// ClusterPlacementBinding and PlacementBinding: one policy on one cluster, in the next generation of types.
import { definePair, type Infer, s } from '../build.ts';
import { condition, conditionsByType } from '../conditions.ts';
import { nextGroup } from '../groups.ts';
import { clusterSelector } from './cluster-selector.ts';
import { resourceIdentifier } from './resource.ts';
import { syncStrategy } from './sync-strategy.ts';

const count = (doc: string) => s.optional(s.integer({ doc, format: 'int32', minimum: 0 }));

const spec = s.object(
  {
    placementPolicyName: s.string({ doc: 'The policy.', maxLength: 253 }),
    clusterName: s.string({ doc: 'The cluster.', maxLength: 253 }),
    resourceSnapshotName: s.string({ doc: 'The revision of the resources.', maxLength: 253 }),
    clusterSelectors: s.optional(
      s.array(s.unruled(clusterSelector), { doc: 'The selectors that picked the cluster.', maxItems: 10 }),
    ),
    suspended: s.defaulted(s.boolean({ doc: 'Whether nothing is to be done for now.' }), false),
    syncStrategy: s.optional(syncStrategy),
  },
  { doc: 'The decision.' },
);

const status = s.object(
  {
    selectedResources: count('How many objects were selected.'),
    synchronizedResources: count('How many are in step.'),
    availableResources: count('How many are available.'),
    failedResources: s.optional(
      s.array(
        s.object(
          {
            identifier: resourceIdentifier('The object.'),
            conditions: s.optional(s.array(condition, { doc: 'What went wrong.' })),
          },
          { doc: 'An object that failed.' },
        ),
        { doc: 'Objects that failed; at most 50.', maxItems: 50 },
      ),
    ),
    conditions: s.optional(conditionsByType('How far it is.')),
  },
  { doc: 'Observed state.' },
);

export const placementBinding = definePair({
  in: nextGroup,
  versions: ['v1alpha1'],
  spec,
  status,
  cluster: {
    kind: 'ClusterPlacementBinding',
    plural: 'clusterplacementbindings',
    doc: 'Binds a ClusterPlacementPolicy to one cluster. Not acted upon.',
  },
  namespaced: {
    kind: 'PlacementBinding',
    plural: 'placementbindings',
    doc: 'Binds a PlacementPolicy to one cluster. Not acted upon.',
  },
});

export type PlacementBindingSpec = Infer<typeof spec>;
export type PlacementBindingStatus = Infer<typeof status>;

export type PlacementBindingCondition = 'Synchronized' | 'Available';
export type PlacementBindingReason =
  | 'AllResourcesSynchronized'
  | 'FailedToSynchronizeSomeResources'
  | 'AllResourcesAvailable'
  | 'SomeResourcesUnavailable';
