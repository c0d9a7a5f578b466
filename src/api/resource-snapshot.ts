// ClusterResourceSnapshot and ResourceSnapshot: an immutable copy of the selected resources. A revision has several
// snapshots if a single object would be too large.
import { definePair, type Infer, s, type WithSpec } from './build.ts';
import { age, generation } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { BETA, placementGroup, V1 } from './groups.ts';
import { frozenSnapshot } from './immutable.ts';

const spec = s.object(
  {
    selectedResources: s.array(s.embedded({ doc: 'An object as it was.' }), {
      doc: 'The objects, in the order in which they are applied.',
    }),
  },
  { doc: 'What was selected. Immutable.', rules: [frozenSnapshot] },
);

const status = s.object({ conditions: s.optional(conditionsByType('Reserved.')) }, { doc: 'Observed state.' });

export const resourceSnapshot = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  status,
  columns: [generation, age],
  cluster: {
    kind: 'ClusterResourceSnapshot',
    plural: 'clusterresourcesnapshots',
    short: 'crs',
    doc: 'The resources of a ClusterResourcePlacement at one moment. Written by the hub.',
  },
  namespaced: {
    kind: 'ResourceSnapshot',
    plural: 'resourcesnapshots',
    short: 'rs',
    versions: BETA,
    doc: 'The resources of a ResourcePlacement at one moment. Written by the hub.',
  },
});

export type ResourceSnapshotSpec = Infer<typeof spec>;
export type ResourceSnapshot = WithSpec<ResourceSnapshotSpec, Infer<typeof status>>;
