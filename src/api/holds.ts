// The reason why an object does not progress, as data in a status: placements and runs carry it. Additive: KubeFleet
// has no such field, and its clients ignore it.
import { type Infer, s } from './build.ts';

const objectReference = s.object(
  {
    group: s.optional(s.string({ doc: 'API group; empty for core.' })),
    kind: s.string({ doc: 'Kind.' }),
    namespace: s.optional(s.string({ doc: 'Namespace, if it has one.' })),
    name: s.string({ doc: 'Name.' }),
    uid: s.optional(s.string({ doc: 'UID.' })),
  },
  { doc: 'The object that blocks.' },
);

// `code` has no enum on purpose: a newer hub must be able to write a code that an older CRD does not know.
const hold = s.object(
  {
    code: s.string({ doc: 'Code of the hold, such as BudgetUsed.', minLength: 1, maxLength: 63 }),
    on: s.optional(objectReference),
    facts: s.optional(
      s.map(s.intOrString({ doc: 'A number or a name.' }), { doc: 'Numbers and names for the message.' }),
    ),
    since: s.optional(s.time('When it began.')),
    until: s.optional(s.time('When it ends by itself.')),
    next: s.optional(s.string({ doc: 'What a user can do.' })),
    count: s.optional(s.integer({ doc: 'How many clusters wait for this.', format: 'int32', minimum: 0 })),
    clusters: s.optional(
      s.array(s.string({ doc: 'A MemberCluster.' }), { doc: 'The first of the waiting clusters.', maxItems: 20 }),
    ),
  },
  { doc: 'One cause of waiting.' },
);
export type HoldEntry = Infer<typeof hold>;

export const holds = s.array(hold, {
  doc: 'Why clusters are not updated; at most 50 causes.',
  maxItems: 50,
});
