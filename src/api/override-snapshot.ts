// ClusterResourceOverrideSnapshot and ResourceOverrideSnapshot: an immutable copy of an override. Rollouts use only
// snapshots.
import { defineKind, type Infer, s, type Typed, type WithSpec } from './build.ts';
import { age, labelPath, text } from './columns.ts';
import { placementGroup, V1_AND_ALPHA } from './groups.ts';
import { frozenSnapshot } from './immutable.ts';
import { labels } from './names.ts';
import { clusterOverrideSpec, namespacedOverrideSpec } from './override.ts';

// The copy was validated when it was written as an override.
const snapshotOf = <Spec>(overrideSpec: Typed<Spec>) =>
  s.object(
    {
      overrideSpec: s.unruled(s.doc('The whole spec of the override.', overrideSpec)),
      overrideHash: s.bytes('SHA-256 of the spec.'),
    },
    { doc: 'The override. Immutable.', rules: [frozenSnapshot] },
  );

const clusterSpec = snapshotOf(clusterOverrideSpec);
const namespacedSpec = snapshotOf(namespacedOverrideSpec);

const shared = {
  in: placementGroup,
  versions: V1_AND_ALPHA,
  columns: [
    text('Override', labelPath(labels.parentOverride)),
    text('Index', labelPath(labels.overrideIndex)),
    text('Latest', labelPath(labels.isLatestSnapshot)),
    age,
  ],
};

export const overrideSnapshot = {
  cluster: defineKind({
    ...shared,
    namespaced: false,
    kind: 'ClusterResourceOverrideSnapshot',
    plural: 'clusterresourceoverridesnapshots',
    doc: 'A ClusterResourceOverride at one moment. Written by the hub.',
    spec: clusterSpec,
  }),
  namespaced: defineKind({
    ...shared,
    namespaced: true,
    kind: 'ResourceOverrideSnapshot',
    plural: 'resourceoverridesnapshots',
    doc: 'A ResourceOverride at one moment. Written by the hub.',
    spec: namespacedSpec,
  }),
};

export type ClusterResourceOverrideSnapshot = WithSpec<Infer<typeof clusterSpec>>;
export type ResourceOverrideSnapshot = WithSpec<Infer<typeof namespacedSpec>>;
