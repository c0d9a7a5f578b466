// ClusterResourceBinding and ResourceBinding: the decision that one cluster gets the resources of one placement, in
// which revision.
import { applyStrategy } from './apply-strategy.ts';
import { definePair, type Infer, s, type WithSpec } from './build.ts';
import { clusterDecision } from './cluster-decision.ts';
import { age, conditionStatus, wide } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { BETA, placementGroup, V1 } from './groups.ts';
import { frozen } from './immutable.ts';
import type { ClusterReason, PlacementCondition } from './placement.ts';
import { diffedPlacements, driftedPlacements, failedPlacements, namespacedName } from './selected-resource.ts';

const spec = s.object(
  {
    state: s.oneOf(['Scheduled', 'Bound', 'Unscheduled'], {
      doc: 'Picked and waiting, being rolled out, or to be removed.',
    }),
    // Differs from KubeFleet: there the field is mutable, and a change leaves two bindings for one cluster and none for
    // the other.
    targetCluster: s.string({
      doc: 'The MemberCluster. Immutable.',
      rules: [frozen('targetCluster', 'delete the binding, and the scheduler makes the one that is missing')],
    }),
    resourceSnapshotName: s.string({ doc: 'The resource snapshot to deliver; empty until the rollout reaches it.' }),
    schedulingPolicySnapshotName: s.string({ doc: 'The policy snapshot it was decided under.' }),
    clusterDecision,
    clusterResourceOverrideSnapshots: s.optional(
      s.array(s.string({ doc: 'A ClusterResourceOverrideSnapshot.' }), { doc: 'Cluster-scoped overrides to apply.' }),
    ),
    resourceOverrideSnapshots: s.optional(
      s.array(s.doc('A ResourceOverrideSnapshot.', namespacedName), { doc: 'Namespaced overrides to apply.' }),
    ),
    overrideValues: s.optional(
      s.map(s.string({ doc: 'A value.' }), { doc: 'Values of the variables in the overrides on this cluster.' }),
    ),
    applyStrategy: s.optional(applyStrategy),
  },
  { doc: 'The decision.' },
);

const status = s.object(
  {
    conditions: s.optional(conditionsByType('Conditions of the cluster.')),
    failedPlacements: s.optional(failedPlacements),
    driftedPlacements: s.optional(driftedPlacements),
    diffedPlacements: s.optional(diffedPlacements),
  },
  { doc: 'Observed state.' },
);

export const binding = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status,
  columns: [
    conditionStatus('WorkSynchronized', 'WorkSynchronized'),
    conditionStatus('ResourcesApplied', 'Applied'),
    wide(conditionStatus('ResourceAvailable', 'Available')),
    age,
  ],
  cluster: {
    kind: 'ClusterResourceBinding',
    plural: 'clusterresourcebindings',
    short: 'crb',
    doc: 'Binds a ClusterResourcePlacement to one cluster. Written by the hub.',
  },
  namespaced: {
    kind: 'ResourceBinding',
    plural: 'resourcebindings',
    short: 'rb',
    versions: BETA,
    doc: 'Binds a ResourcePlacement to one cluster. Written by the hub.',
  },
});

export type BindingSpec = Infer<typeof spec>;
export type BindingStatus = Infer<typeof status>;
export type Binding = WithSpec<BindingSpec, BindingStatus>;
export type BindingState = BindingSpec['state'];

export type BindingCondition = Exclude<PlacementCondition, 'Scheduled' | 'StatusSynced'>;
/**
 * A binding has an Unknown condition only while one of its Works is being deleted: the other reasons with Unknown are
 * not used there.
 */
export type BindingReason = Exclude<
  ClusterReason,
  | 'Scheduled'
  | 'ScheduleFailed'
  | 'RolloutStartedUnknown'
  | 'OverriddenPending'
  | 'ApplyPending'
  | 'ResourceAvailableUnknown'
  | 'DiffReportingPending'
>;
