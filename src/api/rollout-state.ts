// The progress of a partitioned rollout, in the terms of Rancher Fleet: cluster counts by state, and the partitions
// after the last reconcile.
import { type Infer, s } from './build.ts';

/** From best to worst: the worst state of any cluster is the state of the rollout. */
export const ROLLOUT_WORDS = [
  'Ready',
  'NotReady',
  'Pending',
  'OutOfSync',
  'Modified',
  'WaitApplied',
  'ErrApplied',
] as const;
export type RolloutWord = (typeof ROLLOUT_WORDS)[number];

export const MAX_LISTED_PARTITIONS = 200;

const count = (doc: string) => s.integer({ doc, format: 'int32', minimum: 0 });

const partitionState = s.object(
  {
    name: s.string({ doc: 'Name of the partition.', maxLength: 253 }),
    count: count('Clusters in it.'),
    maxUnavailable: count('How many of them may be unavailable.'),
    unavailable: count('Clusters that have a copy which is not available.'),
    notReady: count('Clusters that are not available at the newest revision.'),
    state: s.oneOf(['Ready', 'NotReady', 'Pending'], {
      doc: 'Ready: within its limit. NotReady: beyond it. Pending: the rollout has not reached it.',
    }),
  },
  { doc: 'One partition, after the last pass.' },
);

export const rolloutState = s.object(
  {
    state: s.oneOf(ROLLOUT_WORDS, { doc: 'The worst state that any cluster is in.' }),
    readyClusters: s.optional(s.string({ doc: 'Ready and all clusters, such as 40/200.', maxLength: 32 })),
    desiredReady: count('Clusters of the placement.'),
    ready: count('Clusters that are available at the newest revision.'),
    notReady: count('Clusters whose copy is applied and not available, or that are unreachable.'),
    pending: count('Clusters that have nothing yet.'),
    outOfSync: count('Clusters that wait with an older revision.'),
    modified: count('Clusters on which placed objects were changed.'),
    waitApplied: count('Clusters that are applying.'),
    errApplied: count('Clusters on which applying failed.'),
    unavailable: count('Clusters that have a copy which is not available.'),
    maxUnavailable: count('How many clusters may be unavailable over all partitions.'),
    unavailablePartitions: count('Partitions beyond their limit.'),
    maxUnavailablePartitions: count('How many partitions may be beyond their limit.'),
    partitions: s.optional(
      s.array(partitionState, {
        doc: 'The partitions in the order of the rollout; the first 200.',
        maxItems: MAX_LISTED_PARTITIONS,
      }),
    ),
    lastProgressTime: s.optional(
      s.time('With progressDeadlineSeconds: when a cluster was last updated or became ready.'),
    ),
    paused: s.optional(s.boolean({ doc: 'The rollout is paused.' })),
  },
  { doc: 'Progress of a partitioned rollout.' },
);

export type RolloutState = Infer<typeof rolloutState>;
