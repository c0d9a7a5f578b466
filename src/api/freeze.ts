// Freeze: while it is in effect, no rollout and no run updates or removes anything on the clusters that it covers.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { age, text } from './columns.ts';
import { ALPHA, flotillaGroup } from './groups.ts';
import { labelSelector } from './label-selector.ts';

const spec = s.object(
  {
    reason: s.string({
      doc: 'The reason, shown for everything that the freeze blocks.',
      minLength: 1,
      maxLength: 1024,
    }),
    by: s.optional(s.string({ doc: 'The user who requested it. The API server does not verify it.', maxLength: 253 })),
    until: s.optional(s.time('When it ends by itself; without it, when it is deleted.')),
    placements: s.optional(
      s.array(
        s.object(
          {
            name: s.string({ doc: 'Name of a placement.', minLength: 1, maxLength: 253 }),
            namespace: s.optional(
              s.string({ doc: 'Namespace of a ResourcePlacement; absent: a ClusterResourcePlacement.', maxLength: 63 }),
            ),
          },
          { doc: 'One placement.' },
        ),
        { doc: 'The placements that it covers; absent: all.', minItems: 1, maxItems: 100 },
      ),
    ),
    clusterSelector: s.optional(labelSelector('The MemberClusters that it covers; absent or empty: all.')),
  },
  { doc: 'Desired state: what is frozen, until when and why.' },
);

export const freeze = defineKind({
  in: flotillaGroup,
  versions: ALPHA,
  namespaced: false,
  kind: 'Freeze',
  plural: 'freezes',
  short: 'frz',
  doc: 'Holds rollouts and staged update runs: while it exists, no cluster is updated and no object is removed.',
  spec,
  columns: [text('Until', '.spec.until'), text('By', '.spec.by'), text('Reason', '.spec.reason'), age],
});

export type FreezeSpec = Infer<typeof spec>;
export type Freeze = WithSpec<FreezeSpec>;
