// ClusterResourcePlacementEviction: removes a placement's resources from one cluster, once, if the disruption budget
// allows it.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { conditionStatus } from './columns.ts';
import { conditionList } from './conditions.ts';
import { admitEviction, evictionReads } from './eviction-admission.ts';
import { BETA_AND_ALPHA, placementGroup } from './groups.ts';
import { frozen } from './immutable.ts';
import type { Kind } from './kind.ts';

const spec = s.object(
  {
    placementName: s.string({
      doc: 'The ClusterResourcePlacement. Cannot change.',
      maxLength: 255,
      rules: [frozen('placementName', 'create a new eviction')],
    }),
    clusterName: s.string({
      doc: 'The MemberCluster to remove the resources from. Cannot change.',
      maxLength: 255,
      rules: [frozen('clusterName', 'create a new eviction')],
    }),
  },
  { doc: 'Desired state. Immutable.' },
);

const status = s.object(
  { conditions: s.optional(conditionList('The outcome; it is final.')) },
  { doc: 'The outcome.' },
);

const kind = defineKind({
  in: placementGroup,
  versions: BETA_AND_ALPHA,
  namespaced: false,
  kind: 'ClusterResourcePlacementEviction',
  plural: 'clusterresourceplacementevictions',
  short: 'crpe',
  doc: 'Removes the resources of a ClusterResourcePlacement from one cluster. Evaluated once.',
  spec,
  status,
  columns: [conditionStatus('Valid', 'Valid'), conditionStatus('Executed', 'Executed')],
  columnsAbsentIn: { v1alpha1: ['Executed'] },
});

export const eviction: Kind<EvictionSpec, EvictionStatus> = Object.freeze({
  ...kind,
  admit: admitEviction,
  reads: evictionReads,
});

export type EvictionSpec = Infer<typeof spec>;
export type EvictionStatus = Infer<typeof status>;
export type Eviction = WithSpec<EvictionSpec, EvictionStatus>;

export type EvictionCondition = 'Valid' | 'Executed';
export type EvictionReason =
  | 'ClusterResourcePlacementEvictionValid'
  | 'ClusterResourcePlacementEvictionInvalid'
  | 'ClusterResourcePlacementEvictionExecuted'
  | 'ClusterResourcePlacementEvictionNotExecuted';
