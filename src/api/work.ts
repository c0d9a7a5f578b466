// Work: the desired objects of one cluster, in the member's namespace on the hub, and the outcome of each manifest.
import { applyCause } from './apply-cause.ts';
import { reportBackStrategy, workApplyStrategy } from './apply-strategy.ts';
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { age, conditionStatus, labelPath, text, wide } from './columns.ts';
import { conditionList, conditionsByType } from './conditions.ts';
import { placementGroup, V1 } from './groups.ts';
import { labels } from './names.ts';
import { fieldDifference } from './selected-resource.ts';
import { workResourceIdentifier } from './work-resource.ts';

/** More do not fit into an object. */
const MAX_MANIFESTS = 10_000;
const MAX_CONDITIONS = 64;
const MAX_MANIFEST_CONDITIONS = 16;
const MAX_DIFFERENCES = 1000;

const spec = s.object(
  {
    workload: s.optional(
      s.object(
        {
          manifests: s.optional(
            s.array(s.embedded({ doc: 'An object to apply.' }), {
              doc: 'The objects to apply, in order.',
              maxItems: MAX_MANIFESTS,
            }),
          ),
        },
        { doc: 'Desired objects.' },
      ),
    ),
    applyStrategy: s.optional(workApplyStrategy),
    reportBackStrategy: s.optional(reportBackStrategy),
  },
  { doc: 'The order.' },
);

const manifestCondition = s.object(
  {
    identifier: s.object(workResourceIdentifier, { doc: 'Which manifest.' }),
    conditions: conditionsByType(
      'The result of applying it; observedGeneration is that of the object on the member.',
      MAX_MANIFEST_CONDITIONS,
    ),
    cause: s.optional(applyCause),
    driftDetails: s.optional(
      s.object(
        {
          observationTime: s.time('When the drift was seen last.'),
          observedInMemberClusterGeneration: s.integer({
            doc: 'Generation of the object on the member.',
            format: 'int64',
          }),
          firstDriftedObservedTime: s.time('When the drift was seen first.'),
          observedDrifts: s.optional(
            s.array(fieldDifference, { doc: 'The fields that drifted.', maxItems: MAX_DIFFERENCES }),
          ),
        },
        { doc: 'What was changed on the member.' },
      ),
    ),
    diffDetails: s.optional(
      s.object(
        {
          observationTime: s.time('When the difference was seen last.'),
          observedInMemberClusterGeneration: s.optional(
            s.integer({
              doc: 'Generation of the object on the member; absent if it is missing there.',
              format: 'int64',
            }),
          ),
          firstDiffedObservedTime: s.time('When the difference was seen first.'),
          observedDiffs: s.optional(
            s.array(fieldDifference, { doc: 'The fields that differ.', maxItems: MAX_DIFFERENCES }),
          ),
        },
        { doc: 'How the member differs from the hub.' },
      ),
    ),
    backReportedStatus: s.optional(
      s.object(
        {
          observedStatus: s.optional(s.embedded({ doc: 'apiVersion, kind and status of the object on the member.' })),
          observationTime: s.time('When it was read.'),
        },
        { doc: 'The status of the object on the member.' },
      ),
    ),
  },
  { doc: 'One manifest.' },
);

const status = s.object(
  {
    conditions: conditionList('What became of the whole order.', MAX_CONDITIONS),
    manifestConditions: s.optional(
      s.array(manifestCondition, { doc: 'One entry per manifest.', maxItems: MAX_MANIFESTS }),
    ),
  },
  { doc: 'What became of it.' },
);

export const work = defineKind({
  in: placementGroup,
  versions: V1,
  namespaced: true,
  kind: 'Work',
  plural: 'works',
  doc: 'Manifests for one member cluster. The hub writes it, and the agent of the member reports its status.',
  spec,
  status,
  columns: [
    text('Placement', labelPath(labels.parentPlacement)),
    text('Resource-Index', labelPath(labels.parentResourceSnapshotIndex)),
    conditionStatus('Applied', 'Applied'),
    conditionStatus('Available', 'Available'),
    wide(conditionStatus('Diff-Reported', 'DiffReported')),
    age,
  ],
});

export type WorkSpec = Infer<typeof spec>;
export type WorkStatus = Infer<typeof status>;
export type Work = WithSpec<WorkSpec, WorkStatus>;
export type ManifestCondition = Infer<typeof manifestCondition>;

export type WorkCondition = 'Applied' | 'Available' | 'DiffReported' | 'StatusTrimmed';
export type WorkReason =
  | 'AllManifestsApplied'
  | 'SomeManifestsAreNotApplied'
  | 'AllManifestsAvailable'
  | 'WorkNotTrackable'
  | 'SomeManifestsAreNotAvailable'
  /** Not written by our agents; a newer member may write it. It means that availability cannot be tracked. */
  | 'SomeManifestsAreNotAvailabilityTrackable'
  | 'AllManifestsDiffReported'
  | 'SomeManifestsHaveNotReportedDiff'
  | 'Oversized';

export type ManifestConditionType = 'Applied' | 'Available' | 'DiffReported';
export type ManifestReason =
  | 'Applied'
  | 'AppliedWithFailedDriftDetection'
  | 'DecodingErred'
  | 'FoundGenerateName'
  | 'Duplicated'
  | 'FailedToFindObjInMemberCluster'
  | 'FailedToTakeOver'
  | 'NotTakenOver'
  | 'FailedToRunDriftDetection'
  | 'FoundDrifts'
  | 'FoundDriftsInDegradedMode'
  | 'ManifestApplyFailed'
  | 'PreparingToProcess'
  | 'Available'
  | 'NotTrackable'
  | 'ManifestNotAvailableYet'
  | 'Failed'
  | 'NoDiffFound'
  | 'FoundDiff'
  | 'FoundDiffInDegradedMode'
  | 'FailedToReportDiff';
