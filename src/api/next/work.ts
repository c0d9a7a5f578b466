// Work: the order to one cluster, in the next generation of types.
import { defineKind, type Infer, s } from '../build.ts';
import { conditionsByType } from '../conditions.ts';
import { nextGroup } from '../groups.ts';
import { resourceIdentifier } from './resource.ts';
import { syncStrategy } from './sync-strategy.ts';

const spec = s.object(
  {
    manifests: s.optional(
      s.array(s.embedded({ doc: 'An object to apply.' }), { doc: 'The objects to apply, in order.' }),
    ),
    syncStrategy: s.optional(syncStrategy),
  },
  { doc: 'The order.' },
);

const status = s.object(
  {
    manifests: s.optional(
      s.array(
        s.object(
          {
            identifier: resourceIdentifier('Which object.'),
            conditions: s.optional(conditionsByType('What became of it.')),
          },
          { doc: 'One object.' },
        ),
        { doc: 'One entry per manifest.' },
      ),
    ),
    conditions: s.optional(conditionsByType('What became of the whole order.')),
  },
  { doc: 'What became of it.' },
);

export const nextWork = defineKind({
  in: nextGroup,
  versions: ['v1alpha1'],
  namespaced: true,
  kind: 'Work',
  plural: 'works',
  doc: 'What one cluster is to apply. Not acted upon.',
  spec,
  status,
});

export type NextWorkSpec = Infer<typeof spec>;
export type NextWorkStatus = Infer<typeof status>;
export type NextWorkCondition = 'Applied' | 'Available';
