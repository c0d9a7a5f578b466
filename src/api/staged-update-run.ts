// ClusterStagedUpdateRun and StagedUpdateRun: one rollout of one revision through the stages of a strategy.
import { applyStrategy } from './apply-strategy.ts';
import { definePair, type Infer, rule, s, type WithSpec } from './build.ts';
import { age, conditionStatus, text, wide } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { placementGroup, V1, V1_AND_ALPHA } from './groups.ts';
import { holds } from './holds.ts';
import { namespacedName } from './selected-resource.ts';
import { recordedStrategy } from './staged-update-strategy.ts';

const index = (object: string) => `(has(${object}.resourceSnapshotIndex) ? ${object}.resourceSnapshotIndex : '')`;
const noMove = (from: string, to: string, message: string) =>
  rule(`!(oldSelf.state == '${from}' && self.state == '${to}')`, message, '.state');

const spec = s.object(
  {
    placementName: s.string({ doc: 'The placement to roll out. Cannot change.', maxLength: 255 }),
    resourceSnapshotIndex: s.optional(
      s.string({ doc: 'Index of the revision to roll out; absent means the newest. Cannot change.', maxLength: 63 }),
    ),
    stagedRolloutStrategyName: s.string({ doc: 'The strategy to follow. Cannot change.', maxLength: 255 }),
    state: s.defaulted(
      s.oneOf(['Initialize', 'Run', 'Stop'], { doc: 'Only prepare, roll out, or pause.' }),
      'Initialize',
    ),
  },
  {
    doc: 'Desired state. Only state can change.',
    rules: [
      // Differs from KubeFleet: an index cannot be added later either; a rule on the optional field alone would not run
      // then.
      rule(
        `self.placementName == oldSelf.placementName && self.stagedRolloutStrategyName == oldSelf.stagedRolloutStrategyName && ${index('self')} == ${index('oldSelf')}`,
        'placementName, resourceSnapshotIndex and stagedRolloutStrategyName are immutable: create a new run',
      ),
      noMove('Initialize', 'Stop', 'state cannot go from Initialize to Stop: the run has not started'),
      noMove('Run', 'Initialize', 'state cannot go from Run to Initialize: use Stop to pause the run'),
      noMove('Stop', 'Initialize', 'state cannot go from Stop to Initialize: use Run to resume the run'),
    ],
  },
);

const taskStatus = s.object(
  {
    type: s.oneOf(['TimedWait', 'Approval'], { doc: 'Which gate.' }),
    approvalRequestName: s.optional(s.string({ doc: 'The request to approve.' })),
    conditions: s.optional(conditionsByType('Conditions of the gate.')),
  },
  { doc: 'One gate.' },
);

const clusterStatus = s.object(
  {
    clusterName: s.string({ doc: 'The MemberCluster.' }),
    clusterResourceOverrideSnapshots: s.optional(
      s.array(s.string({ doc: 'A ClusterResourceOverrideSnapshot.' }), { doc: 'Cluster-scoped overrides for it.' }),
    ),
    resourceOverrideSnapshots: s.optional(
      s.array(s.doc('A ResourceOverrideSnapshot.', namespacedName), { doc: 'Namespaced overrides for it.' }),
    ),
    overrideValues: s.optional(
      s.map(s.string({ doc: 'A value.' }), { doc: 'Values of the variables in the overrides on this cluster.' }),
    ),
    conditions: s.optional(conditionsByType('Conditions of the cluster.')),
  },
  { doc: 'One cluster.' },
);

const stageStatus = s.object(
  {
    stageName: s.string({ doc: 'The stage.' }),
    clusters: s.array(clusterStatus, { doc: 'The clusters of the stage, in the order in which they move.' }),
    beforeStageTaskStatus: s.optional(s.array(taskStatus, { doc: 'Gates before the stage.', maxItems: 1 })),
    afterStageTaskStatus: s.optional(s.array(taskStatus, { doc: 'Gates after the stage.', maxItems: 2 })),
    startTime: s.optional(s.time('When the stage began.')),
    endTime: s.optional(s.time('When the stage ended.')),
    conditions: s.optional(conditionsByType('Conditions of the stage.')),
  },
  { doc: 'One stage.' },
);

const status = s.object(
  {
    policySnapshotIndexUsed: s.optional(s.string({ doc: 'Index of the policy snapshot in use.' })),
    policyObservedClusterCount: s.optional(s.integer({ doc: 'How many clusters the policy had picked.' })),
    resourceSnapshotIndexUsed: s.optional(s.string({ doc: 'Index of the resource snapshot that is rolled out.' })),
    appliedStrategy: s.optional(s.doc('How objects are written, as it was when the run began.', applyStrategy)),
    stagedUpdateStrategySnapshot: s.optional(recordedStrategy),
    stagesStatus: s.optional(s.array(stageStatus, { doc: 'One entry per stage, in order.' })),
    deletionStageStatus: s.optional(s.doc('The last stage: clusters that lose the resources.', stageStatus)),
    conditions: s.optional(conditionsByType('Conditions of the run.')),
    failureCause: s.optional(
      s.oneOf(['User', 'Internal'], { doc: 'Of a run that has failed: whether its user or the hub can fix that.' }),
    ),
    holds: s.optional(holds),
  },
  { doc: 'Observed state.' },
);

const rules = [rule('size(self.metadata.name) < 64', 'metadata.name may have at most 63 characters')];

export const stagedUpdateRun = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status,
  columns: [
    text('Placement', '.spec.placementName'),
    // Differs from KubeFleet: it prints the index of the spec, which is empty if the run takes the newest revision.
    text('Resource-Snapshot-Index', '.status.resourceSnapshotIndexUsed'),
    text('Policy-Snapshot-Index', '.status.policySnapshotIndexUsed'),
    conditionStatus('Initialized', 'Initialized'),
    conditionStatus('Progressing', 'Progressing'),
    conditionStatus('Succeeded', 'Succeeded'),
    age,
    wide(text('Strategy', '.spec.stagedRolloutStrategyName')),
  ],
  cluster: {
    kind: 'ClusterStagedUpdateRun',
    plural: 'clusterstagedupdateruns',
    short: 'csur',
    versions: V1_AND_ALPHA,
    doc: 'Rolls a ClusterResourcePlacement out in stages.',
    rules,
    columnsAbsentIn: { v1alpha1: ['Progressing'] },
  },
  namespaced: {
    kind: 'StagedUpdateRun',
    plural: 'stagedupdateruns',
    short: 'sur',
    doc: 'Rolls a ResourcePlacement of the same namespace out in stages.',
    rules,
  },
});

export type StagedUpdateRunSpec = Infer<typeof spec>;
export type StagedUpdateRunStatus = Infer<typeof status>;
export type StagedUpdateRun = WithSpec<StagedUpdateRunSpec, StagedUpdateRunStatus>;
export type RunState = StagedUpdateRunSpec['state'];
export type StageStatus = Infer<typeof stageStatus>;
export type StageClusterStatus = Infer<typeof clusterStatus>;
export type StageTaskStatus = Infer<typeof taskStatus>;

/** All stages, including the deletion stage at the end. */
export const stagesIn = <S>({
  stagesStatus = [],
  deletionStageStatus: last,
}: {
  readonly stagesStatus?: readonly S[];
  readonly deletionStageStatus?: S;
}): readonly S[] => (last === undefined ? stagesStatus : [...stagesStatus, last]);

/** The gates of a stage, before-stage gates first. */
export const tasksOf = <T>({
  beforeStageTaskStatus = [],
  afterStageTaskStatus = [],
}: {
  readonly beforeStageTaskStatus?: readonly T[];
  readonly afterStageTaskStatus?: readonly T[];
}): readonly T[] => [...beforeStageTaskStatus, ...afterStageTaskStatus];

export type RunCondition = 'Initialized' | 'Progressing' | 'Succeeded';
export type RunReason =
  | 'UpdateRunInitializedSuccessfully'
  | 'UpdateRunInitializedFailed'
  /** Ours, with status Unknown: the run waits for something expected, such as scheduling. */
  | 'UpdateRunInitializationPending'
  | 'UpdateRunProgressing'
  | 'UpdateRunWaiting'
  | 'UpdateRunStuck'
  | 'UpdateRunStopping'
  | 'UpdateRunStopped'
  | 'UpdateRunSucceeded'
  | 'UpdateRunFailed';

export type StageCondition = 'Progressing' | 'Succeeded';
export type StageReason =
  | 'StageUpdatingStarted'
  | 'StageUpdatingWaiting'
  | 'StageUpdatingStopping'
  | 'StageUpdatingStopped'
  | 'StageUpdatingSucceeded'
  | 'StageUpdatingFailed'
  | 'StageUpdatingSkippedNoClusters';

export type StageClusterCondition = 'Started' | 'Succeeded';
export type StageClusterReason =
  | 'ClusterUpdatingStarted'
  | 'ClusterUpdatingSucceeded'
  | 'ClusterUpdatingFailed'
  /** Ours: the cluster left the fleet, or stayed unreachable, and the run continued without it. */
  | 'ClusterUpdatingSkipped';

export type StageTaskCondition = 'ApprovalRequestCreated' | 'ApprovalRequestApproved' | 'WaitTimeElapsed';
export type StageTaskReason =
  | 'StageTaskApprovalRequestCreated'
  | 'StageTaskApprovalRequestApproved'
  | 'AfterStageTaskWaitTimeElapsed';
