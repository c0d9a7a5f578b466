// ClusterResourcePlacementStatus: a copy of a cluster-scoped placement's status in the namespace that it places, for
// users who may read only that namespace. Its fields are at the root, because it has no desired state.
import { defineKind, type Infer, s } from './build.ts';
import { age, text } from './columns.ts';
import { placementGroup, V1 } from './groups.ts';
import type { KubeObject } from './object.ts';
import { placementStatus } from './placement-state.ts';

const root = {
  sourceStatus: s.doc(
    'The status of the ClusterResourcePlacement of this name, without the word on this copy.',
    placementStatus,
  ),
  lastUpdatedTime: s.time('When the copy was taken.'),
};

export const clusterResourcePlacementStatus = defineKind({
  in: placementGroup,
  versions: V1,
  namespaced: true,
  kind: 'ClusterResourcePlacementStatus',
  plural: 'clusterresourceplacementstatuses',
  short: 'crps',
  doc: 'Shows the status of a ClusterResourcePlacement inside the namespace that it places.',
  root,
  columns: [
    text('Resource-Index', '.sourceStatus.observedResourceIndex'),
    text('Last-Updated', '.lastUpdatedTime'),
    age,
  ],
});

export type ClusterResourcePlacementStatus = KubeObject & {
  readonly sourceStatus: Infer<typeof root.sourceStatus>;
  readonly lastUpdatedTime: string;
};
