// The Partitioned strategy: the fields and value formats of `rolloutStrategy` in a Rancher Fleet `fleet.yaml`, and our
// own options.
import { type Infer, rule, s } from './build.ts';
import { labelSelector } from './label-selector.ts';

/** `3`, `"3"`, `25%`, `12.5%`. Numbers below 0 count as 0. */
const LIMIT = '^(\\+?0*[1-9][0-9]{0,8}|[+-]?([0-9]{1,9}(\\.[0-9]{0,9})?|\\.[0-9]{1,9})%)$';
const limit = (doc: string) => s.intOrString({ doc, pattern: LIMIT });
const MAX_PARTITIONS = 200;

const partition = s.object(
  {
    name: s.optional(s.string({ doc: 'Shown in the status; any text.', maxLength: 253 })),
    maxUnavailable: s.optional(
      limit('How many of its clusters may be unavailable, in place of the value of the strategy.'),
    ),
    clusterName: s.optional(s.string({ doc: 'The name of a MemberCluster.', maxLength: 253 })),
    clusterSelector: s.optional(labelSelector('Labels of MemberClusters; an empty selector matches all.')),
    clusterGroup: s.optional(s.string({ doc: 'The name of a ClusterGroup.', maxLength: 253 })),
    clusterGroupSelector: s.optional(labelSelector('Labels of ClusterGroups; an empty selector matches all.')),
  },
  { doc: 'A part of the fleet: the clusters that match all given criteria. Without a criterion it is empty.' },
);

export const partitionedStrategy = s.object(
  {
    maxUnavailable: s.optional(
      limit('How many clusters may be unavailable, per partition and over all partitions. Default 100%.'),
    ),
    maxUnavailablePartitions: s.optional(
      limit(
        'How many partitions may have more unavailable clusters than their limit before the rollout stops. Default 0.',
      ),
    ),
    autoPartitionSize: s.optional(limit('Clusters per partition where no partitions are listed. Default 25%.')),
    autoPartitionThreshold: s.optional(
      s.integer({ doc: 'With fewer clusters than this there is one partition. Default 200; 0 = always one.' }),
    ),
    maxNew: s.optional(
      s.integer({ doc: 'How many clusters may start at a time. Default 50.', minimum: 0, format: 'int32' }),
    ),
    partitions: s.optional(
      s.array(partition, {
        doc: 'Partitions in the order of the rollout. A cluster that none matches is not updated.',
        maxItems: MAX_PARTITIONS,
      }),
    ),
    mode: s.optional(
      s.oneOf(['FleetDocumented', 'FleetExact'], {
        doc: 'FleetDocumented (default) checks the limits between batches as the documentation of Rancher Fleet promises; FleetExact repeats its implementation.',
      }),
    ),
    unreachablePolicy: s.optional(
      s.oneOf(['Count', 'Exclude'], {
        doc: 'Whether unreachable clusters count as unavailable (default) or are left out until they are back.',
      }),
    ),
    pausedPolicy: s.optional(
      s.oneOf(['Count', 'Exclude'], {
        doc: 'Whether paused clusters that wait for an update count against the limit of their partition (default) or are left out.',
      }),
    ),
    soakSeconds: s.optional(
      s.integer({
        doc: 'How long the clusters of a partition must have been available before the next partition starts. Default 0.',
        minimum: 0,
        format: 'int32',
      }),
    ),
    progressDeadlineSeconds: s.optional(
      s.integer({
        doc: 'A rollout in which no cluster made progress for so long is reported as stalled. Default 0 = never.',
        minimum: 0,
        format: 'int32',
      }),
    ),
  },
  {
    doc: 'Limits of a partitioned rollout. All fields may be absent.',
    rules: [
      rule(
        "!has(self.mode) || self.mode != 'FleetExact' || !has(self.unreachablePolicy) || self.unreachablePolicy == 'Count'",
        'mode FleetExact does not look at unreachable clusters: remove unreachablePolicy',
        '.unreachablePolicy',
      ),
    ],
  },
);

export type PartitionedStrategy = Infer<typeof partitionedStrategy>;
