// ClusterResourceEnvelope and ResourceEnvelope: contain objects that must not take effect on the hub, such as quotas or
// webhooks.
import { definePair, type Embedded, s } from './build.ts';
import { age, generation } from './columns.ts';
import { BETA, placementGroup } from './groups.ts';
import type { KubeObject } from './object.ts';

const root = {
  data: s.map(s.embedded({ doc: 'An object.' }), {
    doc: 'The objects, under keys of your choice.',
    minProperties: 1,
    maxProperties: 50,
  }),
};

export const envelope = definePair({
  in: placementGroup,
  versions: BETA,
  root,
  columns: [generation, age],
  cluster: {
    kind: 'ClusterResourceEnvelope',
    plural: 'clusterresourceenvelopes',
    doc: 'Holds cluster-scoped objects that act on members and not on the hub.',
  },
  namespaced: {
    kind: 'ResourceEnvelope',
    plural: 'resourceenvelopes',
    doc: 'Holds objects of its namespace that act on members and not on the hub.',
  },
});

export type Envelope = KubeObject & { readonly data: Readonly<Record<string, Embedded>> };
