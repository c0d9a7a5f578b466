// How Work and AppliedWork identify an object on the member.
import { s } from './build.ts';

const MAX_NAME_LENGTH = 253;
/** The names of some kinds, such as Roles, have no maximum length. */
const MAX_OBJECT_NAME_LENGTH = 1024;

export const workResourceIdentifier = {
  ordinal: s.integer({ doc: 'Place in the list of manifests.' }),
  group: s.optional(s.string({ doc: 'API group; empty for core.', maxLength: MAX_NAME_LENGTH })),
  version: s.optional(s.string({ doc: 'API version.', maxLength: MAX_NAME_LENGTH })),
  kind: s.optional(s.string({ doc: 'Kind.', maxLength: MAX_NAME_LENGTH })),
  resource: s.optional(s.string({ doc: 'Plural name of the kind.', maxLength: MAX_NAME_LENGTH })),
  namespace: s.optional(s.string({ doc: 'Namespace, if it has one.', maxLength: MAX_NAME_LENGTH })),
  name: s.optional(s.string({ doc: 'Name.', maxLength: MAX_OBJECT_NAME_LENGTH })),
};
