// The scheduler's decision about one cluster.
import { type Infer, s } from './build.ts';

export const clusterDecision = s.object(
  {
    clusterName: s.string({ doc: 'The MemberCluster.' }),
    selected: s.boolean({ doc: 'Whether it was picked.' }),
    reason: s.string({ doc: 'Why.' }),
    clusterScore: s.optional(
      s.object(
        {
          affinityScore: s.optional(s.integer({ doc: 'How well it fits the preferences.', format: 'int32' })),
          priorityScore: s.optional(s.integer({ doc: 'How well it fits the spread constraints.', format: 'int32' })),
        },
        { doc: 'How it was ranked.' },
      ),
    ),
  },
  { doc: 'The decision about one cluster.' },
);
export type ClusterDecision = Infer<typeof clusterDecision>;
