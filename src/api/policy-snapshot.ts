// ClusterSchedulingPolicySnapshot and SchedulingPolicySnapshot: the policy that the scheduler used, and its decisions.
import { definePair, type Infer, s, type WithSpec } from './build.ts';
import { clusterDecision } from './cluster-decision.ts';
import { age, generation } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { BETA, placementGroup, V1 } from './groups.ts';
import { frozenSnapshot } from './immutable.ts';
import { recordedPolicy } from './placement-policy.ts';

/** The maximum number of decisions in a status. */
export const MAX_DECISIONS = 1000;

const spec = s.object(
  {
    policy: s.optional(recordedPolicy),
    policyHash: s.bytes('Hash of the policy without the number of clusters, which may change in place.'),
  },
  { doc: 'The policy. Immutable.', rules: [frozenSnapshot] },
);

const status = s.object(
  {
    observedCRPGeneration: s.integer({
      doc: 'Generation of the placement that the scheduler has processed.',
      format: 'int64',
    }),
    targetClusters: s.optional(s.array(clusterDecision, { doc: 'The decisions.', maxItems: MAX_DECISIONS })),
    conditions: s.optional(conditionsByType('Whether the policy could be fulfilled.')),
  },
  { doc: 'Decisions of the scheduler.' },
);

export const policySnapshot = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status,
  columns: [generation, age],
  cluster: {
    kind: 'ClusterSchedulingPolicySnapshot',
    plural: 'clusterschedulingpolicysnapshots',
    short: 'csps',
    doc: 'The policy of a ClusterResourcePlacement at one moment. Written by the hub.',
  },
  namespaced: {
    kind: 'SchedulingPolicySnapshot',
    plural: 'schedulingpolicysnapshots',
    short: 'sps',
    versions: BETA,
    doc: 'The policy of a ResourcePlacement at one moment. Written by the hub.',
  },
});

export type PolicySnapshotSpec = Infer<typeof spec>;
export type PolicySnapshotStatus = Infer<typeof status>;
export type PolicySnapshot = WithSpec<PolicySnapshotSpec, PolicySnapshotStatus>;

export type PolicySnapshotCondition = 'Scheduled';
export type PolicySnapshotReason = 'SchedulingPolicyFulfilled' | 'SchedulingPolicyUnfulfilled';
