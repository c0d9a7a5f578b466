// ClusterPlacementPolicy and PlacementPolicy: what goes where, in the next generation of types. No controller acts on them.
import { definePair, type Infer, rule, s } from '../build.ts';
import { conditionsByType } from '../conditions.ts';
import { nextGroup } from '../groups.ts';
import { labelSelector } from '../label-selector.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from '../patterns.ts';
import { clusterSelector } from './cluster-selector.ts';
import { objectReference } from './resource.ts';
import { syncStrategy } from './sync-strategy.ts';

const resourceSelector = s.object(
  {
    apiGroup: s.optional(s.string({ doc: 'API group; empty for core.', maxLength: 253 })),
    apiVersion: s.string({ doc: 'API version.', maxLength: 63 }),
    kind: s.string({ doc: 'Kind.', maxLength: 63 }),
    namespace: s.optional(s.string({ doc: 'Namespace of the objects.', maxLength: 63 })),
    name: s.optional(s.string({ doc: 'The one object meant.', maxLength: 1024 })),
    labelSelector: s.optional(labelSelector('Labels of the objects meant.')),
  },
  {
    doc: 'Selects objects.',
    rules: [
      rule('!(has(self.name) && has(self.labelSelector))', 'a selector takes a name or a labelSelector, not both'),
    ],
  },
);

const toleration = s.object(
  {
    key: s.optional(
      s.string({ doc: 'The taint key.', pattern: `^$|${QUALIFIED_NAME}`, maxLength: QUALIFIED_NAME_LENGTH }),
    ),
    operator: s.defaulted(s.oneOf(['Equal', 'Exists'], { doc: 'How the taint is compared.' }), 'Equal'),
    value: s.optional(s.string({ doc: 'The taint value.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH })),
    effect: s.defaulted(s.oneOf(['NoSchedule'], { doc: 'The effect that is tolerated.' }), 'NoSchedule'),
  },
  { doc: 'One toleration.' },
);

const count = (doc: string) => s.optional(s.integer({ doc, format: 'int32', minimum: 0 }));

const spec = s.object(
  {
    resourceSelectors: s.array(resourceSelector, { doc: 'The objects to place.', minItems: 1, maxItems: 10 }),
    clusterSelectors: s.array(clusterSelector, { doc: 'The clusters to place them on.', minItems: 1, maxItems: 10 }),
    tolerations: s.optional(s.array(toleration, { doc: 'Taints that do not keep a cluster away.', maxItems: 10 })),
    resourceRevisionHistoryLimit: s.defaulted(
      s.integer({ doc: 'How many revisions of the resources are kept.', format: 'int32', minimum: 1, maximum: 20 }),
      3,
    ),
    syncStrategy: s.optional(syncStrategy),
  },
  { doc: 'Desired state.' },
);

const status = s.object(
  {
    desiredClusters: count('How many clusters are wanted.'),
    scheduledClusters: count('How many were found.'),
    synchronizedClusters: count('How many have the newest revision.'),
    resourcesAvailableClusters: count('On how many the resources are available.'),
    ongoingClusterRequests: count('How many clusters were asked for.'),
    latestResourceRevisionName: s.optional(s.string({ doc: 'The newest revision of the resources.' })),
    bindingManager: s.optional(
      s.object(
        {
          controllerName: s.string({ doc: 'Who manages the bindings.' }),
          objectRefs: s.optional(s.array(objectReference('An object.'), { doc: 'On behalf of which objects.' })),
        },
        { doc: 'Who manages the bindings of this policy.' },
      ),
    ),
    conditions: s.optional(conditionsByType('How far it is.')),
  },
  { doc: 'Observed state.' },
);

export const placementPolicy = definePair({
  in: nextGroup,
  versions: ['v1alpha1'],
  spec,
  status,
  cluster: {
    kind: 'ClusterPlacementPolicy',
    plural: 'clusterplacementpolicies',
    doc: 'Places cluster-scoped objects. Not acted upon.',
  },
  namespaced: {
    kind: 'PlacementPolicy',
    plural: 'placementpolicies',
    doc: 'Places objects of its namespace. Not acted upon.',
  },
});

export type PlacementPolicySpec = Infer<typeof spec>;
export type PlacementPolicyStatus = Infer<typeof status>;

export type PlacementPolicyCondition = 'ResourceCollected' | 'Scheduled' | 'Synchronized' | 'Available';
export type PlacementPolicyReason =
  | 'AllResourcesCollected'
  | 'FailedToCollectSomeResources'
  | 'FoundAllRequiredClusters'
  | 'FailedToFindSomeRequiredClusters'
  | 'AllClustersSynchronized'
  | 'FailedToSynchronizeSomeClusters'
  | 'ResourcesAvailableOnAllClusters'
  | 'ResourcesUnavailableOnSomeClusters';
