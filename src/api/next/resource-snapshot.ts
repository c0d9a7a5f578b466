// ClusterPlacementResourceSnapshot and PlacementResourceSnapshot: resources at one moment, in the next generation of types.
import { definePair, type Infer, s } from '../build.ts';
import { nextGroup } from '../groups.ts';
import { frozenSnapshot } from '../immutable.ts';
import { resourceIdentifier } from './resource.ts';

const spec = s.object(
  {
    resources: s.optional(
      s.array(
        s.object(
          {
            identifier: resourceIdentifier('Which object.'),
            manifest: s.embedded({ doc: 'The object as it was.' }),
            additionalInfo: s.optional(s.map(s.bytes('Opaque data.'), { doc: 'What else is known of it.' })),
          },
          { doc: 'One object.' },
        ),
        { doc: 'The objects.' },
      ),
    ),
  },
  { doc: 'What was selected. Immutable.', rules: [frozenSnapshot] },
);

export const placementResourceSnapshot = definePair({
  in: nextGroup,
  versions: ['v1alpha1'],
  spec,
  cluster: {
    kind: 'ClusterPlacementResourceSnapshot',
    plural: 'clusterplacementresourcesnapshots',
    doc: 'The resources of a ClusterPlacementPolicy at one moment. Not acted upon.',
  },
  namespaced: {
    kind: 'PlacementResourceSnapshot',
    plural: 'placementresourcesnapshots',
    doc: 'The resources of a PlacementPolicy at one moment. Not acted upon.',
  },
});

export type PlacementResourceSnapshotSpec = Infer<typeof spec>;
