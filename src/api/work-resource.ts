// How Work and AppliedWork name an object on the member.
import { s } from './build.ts';

export const workResourceIdentifier = {
  ordinal: s.integer({ doc: 'Place in the list of manifests.' }),
  group: s.optional(s.string({ doc: 'API group; empty for core.' })),
  version: s.optional(s.string({ doc: 'API version.' })),
  kind: s.optional(s.string({ doc: 'Kind.' })),
  resource: s.optional(s.string({ doc: 'Plural name of the kind.' })),
  namespace: s.optional(s.string({ doc: 'Namespace, if it has one.' })),
  name: s.optional(s.string({ doc: 'Name.' })),
};
