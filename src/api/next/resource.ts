// How the next generation of types names objects.
import { s } from '../build.ts';

export const resourceIdentifier = (doc: string) =>
  s.object(
    {
      apiGroup: s.optional(s.string({ doc: 'API group; empty for core.', maxLength: 253 })),
      apiVersion: s.string({ doc: 'API version.', maxLength: 63 }),
      kind: s.string({ doc: 'Kind.', maxLength: 63 }),
      namespace: s.optional(s.string({ doc: 'Namespace, if it has one.', maxLength: 63 })),
      name: s.string({ doc: 'Name.', maxLength: 1024 }),
    },
    { doc },
  );

export const objectReference = (doc: string) =>
  s.object(
    {
      apiGroup: s.optional(s.string({ doc: 'API group; empty for core.', maxLength: 253 })),
      kind: s.string({ doc: 'Kind.', maxLength: 63 }),
      namespace: s.optional(s.string({ doc: 'Namespace, if it has one.', maxLength: 63 })),
      name: s.string({ doc: 'Name.', maxLength: 253 }),
    },
    { doc },
  );
