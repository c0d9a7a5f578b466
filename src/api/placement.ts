// ClusterResourcePlacement and ResourcePlacement: which objects go to which clusters, and how changes roll out.
import { writtenApplyStrategy, writtenReportBackStrategy } from './apply-strategy.ts';
import { definePair, type Infer, rule, s, type WithSpec } from './build.ts';
import { age, conditionGeneration, conditionStatus, generation, text, wide } from './columns.ts';
import { placementGroup, V1 } from './groups.ts';
import type { Column } from './kind.ts';
import { labelSelector } from './label-selector.ts';
import { partitionReads, warningOfPartitions } from './partition-warnings.ts';
import { partitionedStrategy } from './partitioned-strategy.ts';
import { COUNT_OR_PERCENT } from './patterns.ts';
import { admitPlacement } from './placement-admission.ts';
import { writtenPolicy } from './placement-policy.ts';
import { placementStatus } from './placement-state.ts';
import { placementResourceSelector } from './resource-selector.ts';
import { ROLLOUT_WORDS } from './rollout-state.ts';
import { selectorReads, warningOfNothing } from './selector-warnings.ts';

const rollingUpdate = s.object(
  {
    maxUnavailable: s.defaulted(
      s.intOrString({
        doc: 'How many clusters, or which share of them, may lack an available copy. 0 is for moves without downtime; an update in place still takes one cluster at a time.',
        minimum: 0,
        pattern: COUNT_OR_PERCENT,
      }),
      '25%',
    ),
    maxSurge: s.defaulted(
      s.intOrString({
        doc: 'How many clusters, or which share of them, may have the resources beyond the number wanted while they move.',
        minimum: 0,
        pattern: COUNT_OR_PERCENT,
      }),
      '25%',
    ),
    unavailablePeriodSeconds: s.defaulted(
      s.integer({ doc: 'How long a cluster counts as unavailable when availability cannot be tracked.', minimum: 0 }),
      60,
    ),
  },
  { doc: 'Limits of a rolling update.' },
);

const strategy = s.object(
  {
    type: s.defaulted(
      s.oneOf(['RollingUpdate', 'Partitioned', 'External'], {
        doc: 'Roll out within limits, roll out partition by partition, or wait for staged update runs. External cannot be left.',
      }),
      'RollingUpdate',
    ),
    rollingUpdate: s.optional(rollingUpdate),
    partitioned: s.optional(partitionedStrategy),
    paused: s.optional(
      s.boolean({
        doc: 'Nothing is moved or removed while this is true; what members apply already is finished. Staged update runs have a state of their own.',
      }),
    ),
    applyStrategy: s.optional(writtenApplyStrategy),
    deleteStrategy: s.optional(
      s.object(
        {
          propagationPolicy: s.defaulted(
            s.oneOf(['Delete', 'Abandon'], {
              doc: 'Whether the placed objects are deleted on the members or left there.',
            }),
            'Delete',
          ),
        },
        { doc: 'What happens to placed objects when the placement is deleted.' },
      ),
    ),
    reportBackStrategy: s.optional(writtenReportBackStrategy),
  },
  {
    doc: 'How changes reach the clusters.',
    rules: [
      rule(
        "self.type != 'External' || !has(self.rollingUpdate)",
        'type External takes no rollingUpdate: staged update runs roll out the changes',
        '.rollingUpdate',
      ),
      rule(
        "self.type == 'Partitioned' || !has(self.partitioned)",
        'partitioned needs type Partitioned',
        '.partitioned',
      ),
      rule(
        "self.type != 'Partitioned' || !has(self.rollingUpdate)",
        'type Partitioned takes no rollingUpdate: its limits are in partitioned',
        '.rollingUpdate',
      ),
      rule(
        "self.type != 'External' || !has(self.paused) || !self.paused",
        'type External cannot be paused: stop the staged update run instead',
        '.paused',
      ),
    ],
  },
);

const source = s.object(
  {
    gitRepo: s.string({
      doc: 'A GitRepo: of namespace fleet-system for a ClusterResourcePlacement, else of the namespace of the placement.',
      minLength: 1,
      maxLength: 253,
    }),
    bundle: s.string({ doc: 'The bundle of the GitRepo.', minLength: 1, maxLength: 253 }),
    forceSyncGeneration: s.optional(
      s.integer({
        doc: 'A change of it applies all objects again, over drift, in the order of a rollout and without a new revision.',
        format: 'int64',
        minimum: 0,
      }),
    ),
  },
  { doc: 'Where the objects come from, in place of resourceSelectors.' },
);

const dependency = s.object(
  {
    name: s.optional(s.string({ doc: 'A placement of the same kind and namespace.', maxLength: 253 })),
    selector: s.optional(labelSelector('Labels of placements of the same kind and namespace.')),
    acceptedStates: s.optional(
      s.array(s.oneOf(ROLLOUT_WORDS, { doc: 'A state of the dependency on the cluster.' }), {
        doc: 'States of the dependency in which the cluster may go on. Default: Ready.',
        maxItems: ROLLOUT_WORDS.length,
      }),
    ),
  },
  {
    doc: 'Placements that must be in an accepted state on a cluster first. All that match count.',
    rules: [rule("has(self.name) && self.name != '' || has(self.selector)", 'give name or selector')],
  },
);
export type PlacementDependency = Infer<typeof dependency>;

const isNamespace = (selector: string) =>
  `${selector}.group == '' && ${selector}.version == 'v1' && ${selector}.kind == 'Namespace'`;
const picksInside = (selector: string) =>
  `${isNamespace(selector)} && ${selector}.selectionScope == 'NamespaceWithResourceSelectors'`;

const spec = s.object(
  {
    // Differs from KubeFleet: absent if the objects come from a source. A rule requires one of the two.
    resourceSelectors: s.optional(
      s.array(placementResourceSelector, {
        doc: 'The objects to place. Required unless source is set.',
        minItems: 1,
        maxItems: 100,
      }),
    ),
    source: s.optional(source),
    dependsOn: s.optional(
      s.array(dependency, {
        doc: 'A cluster gets a revision once these are in an accepted state there. Not with strategy type External.',
        maxItems: 50,
      }),
    ),
    policy: s.optional(writtenPolicy),
    strategy: s.optional(strategy),
    revisionHistoryLimit: s.defaulted(
      s.integer({
        doc: 'How many snapshots of the resources and of the policy are kept.',
        format: 'int32',
        minimum: 1,
        maximum: 1000,
      }),
      10,
    ),
    statusReportingScope: s.defaulted(
      s.oneOf(['ClusterScopeOnly', 'NamespaceAccessible'], {
        doc: 'Whether the status is also written into the selected namespace, for people who can read only that. Cannot change.',
      }),
      'ClusterScopeOnly',
    ),
  },
  {
    doc: 'Desired state.',
    rules: [
      rule(
        'has(self.resourceSelectors) != has(self.source)',
        'resourceSelectors are required, unless source is set in their place',
        '.resourceSelectors',
      ),
      rule(
        "!has(self.dependsOn) || !has(self.strategy) || self.strategy.type != 'External'",
        'type External takes no dependsOn: the stages of a run set the order',
        '.dependsOn',
      ),
      rule('!has(oldSelf.policy) || has(self.policy)', 'policy cannot be removed once it is set', '.policy'),
      // Differs from KubeFleet: an absent policy counts as PickAll for ResourcePlacements, too.
      rule(
        "(has(self.policy) ? self.policy.placementType : 'PickAll') == (has(oldSelf.policy) ? oldSelf.policy.placementType : 'PickAll')",
        'placementType is immutable: create a new placement to pick clusters in another way',
        '.policy.placementType',
      ),
      // Differs from KubeFleet: removing the strategy counts as leaving External.
      rule(
        "!has(oldSelf.strategy) || oldSelf.strategy.type != 'External' || (has(self.strategy) && self.strategy.type == 'External')",
        'strategy type External cannot be left: create a new placement',
        '.strategy.type',
      ),
      rule(
        `!has(self.resourceSelectors) || self.resourceSelectors.filter(one, ${picksInside('one')}).size() <= 1`,
        'only one Namespace selector may have selectionScope NamespaceWithResourceSelectors',
        '.resourceSelectors',
      ),
      rule(
        `!has(self.resourceSelectors) || self.resourceSelectors.all(one, !(${picksInside('one')}) || (has(one.name) && one.name != '' && !has(one.labelSelector)))`,
        'a Namespace selector with selectionScope NamespaceWithResourceSelectors needs a name and takes no labelSelector',
        '.resourceSelectors',
      ),
      rule(
        `!has(self.resourceSelectors) || !self.resourceSelectors.exists(one, ${picksInside('one')}) || self.resourceSelectors.filter(one, ${isNamespace('one')}).size() == 1`,
        'selectionScope NamespaceWithResourceSelectors allows no other Namespace selector',
        '.resourceSelectors',
      ),
    ],
  },
);

/** The namespaced mirror of the status requires exactly one namespace, and a cluster-scoped placement. */
const clusterSpec = s.ruled(spec, [
  rule(
    "self.statusReportingScope != 'NamespaceAccessible' || has(self.resourceSelectors) && self.resourceSelectors.filter(one, one.group == '' && one.kind == 'Namespace').size() == 1",
    'statusReportingScope NamespaceAccessible needs exactly one Namespace selector',
    '.resourceSelectors',
  ),
  rule(
    'self.statusReportingScope == oldSelf.statusReportingScope',
    'statusReportingScope is immutable: create a new placement',
    '.statusReportingScope',
  ),
]);

// Differs from KubeFleet: it accepts names that can never get a binding, and such placements wait forever.
const nameRules = [
  rule('size(self.metadata.name) < 64', 'metadata.name may have at most 63 characters'),
  rule(
    "!self.metadata.name.contains('.')",
    'metadata.name must not contain dots: bindings are named after the placement and allow none',
  ),
];

const columns = (kind: string): readonly Column[] => [
  generation,
  wide(text('Type', '.spec.policy.placementType')),
  conditionStatus('Scheduled', `${kind}Scheduled`),
  conditionGeneration('Scheduled-Gen', `${kind}Scheduled`),
  wide(conditionStatus('Work-Synchronized', `${kind}WorkSynchronized`)),
  wide(conditionGeneration('Work-Synchronized-Gen', `${kind}WorkSynchronized`)),
  conditionStatus('Available', `${kind}Available`),
  conditionGeneration('Available-Gen', `${kind}Available`),
  wide(text('Rollout', '.status.rollout.state')),
  wide(text('Ready-Clusters', '.status.rollout.readyClusters')),
  age,
];

const pair = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status: placementStatus,
  cluster: {
    kind: 'ClusterResourcePlacement',
    plural: 'clusterresourceplacements',
    short: 'crp',
    doc: 'Places cluster-scoped objects, above all namespaces with their content, on member clusters.',
    spec: clusterSpec,
    rules: nameRules,
    columns: columns('ClusterResourcePlacement'),
  },
  namespaced: {
    kind: 'ResourcePlacement',
    plural: 'resourceplacements',
    short: 'rp',
    doc: 'Places objects of its own namespace on member clusters.',
    rules: nameRules,
    columns: columns('ResourcePlacement'),
  },
});

type Admission = Required<Pick<typeof pair.cluster, 'reads' | 'admit'>>;
const admission: Admission = {
  reads: (question) => [...selectorReads(question), ...partitionReads(question)],
  admit: warningOfPartitions(warningOfNothing(admitPlacement)),
};

export const placement: typeof pair = {
  cluster: Object.freeze({ ...pair.cluster, ...admission }),
  namespaced: Object.freeze({ ...pair.namespaced, ...admission }),
};

export type PlacementSpec = Infer<typeof spec>;
export type PlacementStrategy = Infer<typeof strategy>;
export type PlacementStatus = Infer<typeof placementStatus>;
export type Placement = WithSpec<PlacementSpec, PlacementStatus>;

/** Conditions of a placement. On the object the type is prefixed with the kind: `ClusterResourcePlacementScheduled`. */
export type PlacementCondition =
  | 'Scheduled'
  | 'RolloutStarted'
  | 'Overridden'
  | 'WorkSynchronized'
  | 'Applied'
  | 'Available'
  | 'DiffReported'
  | 'StatusSynced';

export const placementConditionType = (kind: { readonly kind: string }, condition: PlacementCondition): string =>
  `${kind.kind}${condition}`;

/**
 * On a partitioned rollout with progressDeadlineSeconds; not prefixed with the kind, because kstatus and other tools
 * read it.
 */
export const STALLED = 'Stalled';

export type StalledReason = 'ProgressDeadlineExceeded' | 'RolloutProgressing' | 'RolloutPaused' | 'RolloutComplete';

export type PlacementReason =
  | 'SchedulingPolicyFulfilled'
  | 'SchedulingPolicyUnfulfilled'
  | 'InvalidResourceSelectors'
  | 'SchedulePending'
  | 'RolloutStarted'
  | 'RolloutNotStartedYet'
  | 'RolloutStartedUnknown'
  | 'RolloutControlledByExternalController'
  | 'OverriddenSucceeded'
  | 'NoOverrideSpecified'
  | 'OverriddenFailed'
  | 'OverriddenPending'
  | 'WorkSynchronized'
  | 'WorkNotSynchronizedYet'
  | 'WorkSynchronizedUnknown'
  | 'ApplySucceeded'
  | 'ApplyFailed'
  | 'ApplyPending'
  | 'ResourceAvailable'
  | 'ResourceNotAvailableYet'
  | 'ResourceAvailableUnknown'
  | 'DiffReportingCompleted'
  | 'DiffReportingIncompleteOrFailed'
  | 'DiffReportingPending'
  | 'StatusSyncSucceeded'
  | 'StatusSyncFailed';

/** Conditions of one cluster in a placement's status. */
export type ClusterCondition = Exclude<PlacementCondition, 'StatusSynced'>;

export type ClusterReason =
  | 'Scheduled'
  | 'ScheduleFailed'
  | 'RolloutStarted'
  | 'RolloutNotStartedYet'
  | 'RolloutStartedUnknown'
  | 'OverriddenSucceeded'
  | 'NoOverrideSpecified'
  | 'OverriddenFailed'
  | 'OverriddenPending'
  | 'AllWorkSynced'
  | 'SyncWorkFailed'
  /** Ours: a Work of that name exists, and no hub has created it. */
  | 'WorkNotManaged'
  | 'WorkSynchronizedUnknown'
  | 'AllWorkHaveBeenApplied'
  | 'NotAllWorkHaveBeenApplied'
  | 'ApplyInProgress'
  | 'ApplyPending'
  | 'AllWorkAreAvailable'
  | 'NotAllWorkAreAvailabilityTrackable'
  | 'NotAllWorkAreAvailable'
  | 'ResourceAvailableUnknown'
  | 'AllWorkHaveDiffReported'
  | 'NotAllWorkHaveDiffReported'
  | 'DiffReportInProgress'
  | 'DiffReportingPending';

/** Events on a placement. */
export type PlacementEventReason =
  | 'PlacementRolloutStarted'
  | 'PlacementOverriddenSucceeded'
  | 'PlacementWorkSynchronized'
  | 'PlacementApplied'
  | 'PlacementAvailable'
  | 'PlacementDiffReported'
  | 'PlacementRolloutCompleted'
  | 'PlacementRolloutHeld'
  | 'PlacementApplyFailed'
  | 'PlacementWorkloadCannotStart'
  | 'PlacementUpdatesOneByOne'
  | 'PlacementPartitionStarted'
  | 'PlacementPartitionReady'
  | 'PlacementRolloutStalled'
  | 'PlacementApplyStrategyChanged'
  | 'PlacementEnvelopeIgnored'
  | 'PlacementCleanupFinalizerRemoved';
