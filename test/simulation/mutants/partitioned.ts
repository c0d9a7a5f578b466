// Mutants of partitioned rollouts: which partition may start, how many of its clusters may be unavailable, and when its
// next batch starts.
import type { Mutant } from './mutant.ts';

export const partitionedMutants: readonly Mutant[] = [
  {
    name: 'enters partitions before all bindings are known',
    danger: 'A canary partition whose bindings are still being created counts as ready, and production goes first.',
    file: 'src/hub/strategies/decided.ts',
    find: '!(isComplete && isDecided(row.cluster))',
    replace: '!(isComplete || !isDecided(row.cluster))',
    caughtBy: 'partitioned',
  },
  {
    name: 'lets one more partition be beyond its threshold',
    danger: 'A bad release goes on to the next partition.',
    file: 'src/hub/planners/partition-pass.ts',
    find: 'if (beyond > limits.maxPartitions) stoppedAt = index;',
    replace: 'if (beyond > limits.maxPartitions + 1) stoppedAt = index;',
    caughtBy: 'partitioned',
  },
  {
    name: 'takes a cluster that has a revision for one that works with it',
    danger: 'A partition is ready as soon as it was updated, whether or not the update works.',
    file: 'src/hub/planners/partition-pass.ts',
    find: '!target.isCurrent || !target.isAvailable || target.isSoaking || moving.has(target)',
    replace: '!target.isCurrent || target.isSoaking',
    caughtBy: 'partitioned',
  },
  {
    name: 'opens the batch gate one cluster early',
    danger: 'The next batch is installed while as many as are allowed to be down are down.',
    file: 'src/hub/planners/partition-pass.ts',
    find: 'own > 0 && own >= partition.max;',
    replace: 'own > 0 && own > partition.max;',
    caughtBy: 'partitioned',
  },
  {
    name: 'updates one more cluster of a partition than its window allows',
    danger: 'More clusters of a partition are down because of us than maxUnavailable.',
    file: 'src/hub/planners/partition-pass.ts',
    find: 'counter < max || (!isExact',
    replace: 'counter <= max || (!isExact',
    caughtBy: 'partitioned',
  },
  {
    name: 'holds a batch that has begun at its own gate',
    danger: 'After a conflict or a crash a part of a batch waits for the other part, which may never be ready.',
    file: 'src/hub/planners/partition-pass.ts',
    find: 'isGated && !(target.isInBatch && room > 0)',
    replace: 'isGated',
    caughtBy: 'partitioned-batches',
  },
  {
    name: 'moves a batch before its record',
    danger: 'If the write with the record fails, a part of the batch has moved and the rest is held at the gate.',
    file: 'src/hub/orders/carry-out.ts',
    find: '[certain, ...waves]',
    replace: '[certain, moves]',
    caughtBy: 'partitioned-batches',
  },
  {
    name: 'removes clusters of a paused placement',
    danger: 'During an incident a policy change takes copies away, although somebody has stopped the rollout.',
    file: 'src/hub/strategies/plan.ts',
    find: 'remove: [],\n    stale: [...plan.stale, ...plan.move],',
    replace: 'stale: [...plan.stale, ...plan.move],',
    caughtBy: 'paused',
  },
];
