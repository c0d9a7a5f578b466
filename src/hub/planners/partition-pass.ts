// One pass of a partitioned rollout over all partitions: which targets move now, and which gate holds each of the
// others. Recomputed from the observed state each time; nothing is kept between passes (spec 08 §6, §13; K6, K8–K10 of
// the seed checklist).
// Guarantees in the default mode: the rollout never makes more clusters of a partition unavailable than its limit,
// beyond those that are down or new; at most `maxNew` clusters move per pass; no partition is entered while too many
// earlier ones are beyond their limit.
// A batch of first copies that has started is completed, even if its first clusters fail (docs/adr/0016).
import type { Partition } from '../../api/partitions.ts';

/** `FleetExact` matches the behavior of Rancher Fleet exactly; the default follows its documentation. */
export type PartitionMode = 'FleetDocumented' | 'FleetExact';

export interface PassTarget {
  readonly key: string;
  /** Its binding is bound: it has a copy, or is about to get one. */
  readonly isPresent: boolean;
  /** It has the desired content. */
  readonly isCurrent: boolean;
  /**
   * Its copy was available in its last report; it may be unreachable since then. Updating any other copy does not use a
   * window.
   */
  readonly isServing: boolean;
  /** Its copy counts as available: it is serving, and reachable where that matters. */
  readonly isAvailable: boolean;
  /** It is blocked by something of its own (a pause, a predecessor), which the caller knows. */
  readonly isHeld: boolean;
  /**
   * It is blocked by something that ends by itself: a batch with room reserves a place for it, so that it can follow at
   * once.
   */
  readonly isDelayed: boolean;
  /** It belongs to a batch that has started, so it does not wait until that batch is available. */
  readonly isInBatch: boolean;
  /** It counts neither as available nor as unavailable, and it does not move. */
  readonly isExcluded: boolean;
  /** Available for less than the soak time, so its partition is not done yet. */
  readonly isSoaking: boolean;
}

export interface PassLimits {
  readonly mode: PartitionMode;
  readonly maxNew: number;
  /** The maximum number of unavailable clusters over all partitions. */
  readonly max: number;
  /** The maximum number of partitions beyond their limit. */
  readonly maxPartitions: number;
}

export type Gate =
  | { readonly gate: 'Own' }
  | { readonly gate: 'MaxNew' | 'BundleWindow' | 'NoPartition' }
  | { readonly gate: 'PartitionWindow' | 'BatchGate' | 'EarlierPartition'; readonly partition: number };

const OWN: Gate = { gate: 'Own' };
const NEW_LIMIT: Gate = { gate: 'MaxNew' };
const BUNDLE_WINDOW: Gate = { gate: 'BundleWindow' };
const NO_PARTITION: Gate = { gate: 'NoPartition' };

export interface PartitionVerdict {
  /** Targets that are not known to be available with the desired content, after this pass. */
  readonly bad: number;
  /** Present targets that are unavailable, after this pass. */
  readonly unavailable: number;
  /** More targets are bad than the limit allows. */
  readonly isBeyondLimit: boolean;
  /** The pass reached this partition. */
  readonly isEntered: boolean;
}

export interface PassResult {
  /** Keys in rollout order. */
  readonly move: readonly string[];
  /**
   * Keys of a new batch of first copies that the gate could split if only some of them moved; the first one moves now.
   * Absent = no such batch.
   */
  readonly batch?: readonly string[];
  readonly gates: ReadonlyMap<string, Gate>;
  readonly verdicts: readonly PartitionVerdict[];
  /** Index of the partition at which the pass stopped, because too many partitions were beyond their limit. */
  readonly stoppedAt?: number;
}

export function partitionPass<T extends PassTarget>(
  targets: readonly T[],
  partitions: readonly Partition<T>[],
  limits: PassLimits,
): PassResult {
  const isExact = limits.mode === 'FleetExact';
  const isUnavailable = (target: T): boolean => target.isPresent && !target.isAvailable && !target.isExcluded;
  const inPartitions = indexesOf(partitions);
  const unavailable = partitions.map(({ targets: own }) => own.filter(isUnavailable).length);
  let unavailableInAll = targets.filter(isUnavailable).length;
  let moves = 0;
  let installs = 0;
  const moving = new Set<T>();
  const gates = new Map<string, Gate>();
  // One object per gate, so that the part of a Hold that all its clusters share is computed once.
  const windows = partitions.map((_, partition): Gate => ({ gate: 'PartitionWindow', partition }));
  const batchGates = partitions.map((_, partition): Gate => ({ gate: 'BatchGate', partition }));
  const verdicts: PartitionVerdict[] = [];
  let beyond = 0;
  let stoppedAt: number | undefined;
  let earlier: Gate | undefined;
  const batch = new Set<T>();

  const hold = (target: T, gate: Gate): void => {
    // If several partitions hold a target, the first one is reported.
    if (!gates.has(target.key)) gates.set(target.key, gate);
  };
  const fits = (counter: number, max: number): boolean => counter < max || (!isExact && max === 0 && counter === 0);
  const take = (target: T): void => {
    moving.add(target);
    gates.delete(target.key);
  };

  const install = (partition: Partition<T>, index: number): void => {
    const own = unavailable[index] as number;
    const hasStarted = partition.targets.some(({ isPresent }) => isPresent);
    // A batch that is not available yet blocks the next one.
    const isGated = !isExact && hasStarted && own > 0 && own >= partition.max;
    // A batch starts only while the gate is open, when fewer clusters than the limit are down. So batches never make
    // more than this many unavailable.
    let room = Math.max(partition.max - 1, 0) + limits.maxNew - own;
    for (const target of partition.targets) {
      if (target.isPresent || moving.has(target)) continue;
      if (target.isHeld || target.isExcluded) hold(target, OWN);
      else if (isGated && !(target.isInBatch && room > 0)) hold(target, batchGates[index] as Gate);
      else if (moves >= limits.maxNew) hold(target, NEW_LIMIT);
      else {
        moves++;
        installs++;
        room--;
        take(target);
      }
    }
    // Partitions may overlap: targets that an earlier partition took belong to the batch of this one too.
    if (!isExact && !isGated && installs > 0) beginBatch(partition, own);
  };

  const beginBatch = ({ targets: own, max }: Partition<T>, down: number): void => {
    const isNew = (target: T): boolean => !target.isPresent && !target.isInBatch;
    const now = own.filter((target) => isNew(target) && moving.has(target));
    if (now.length === 0) return;
    const room = Math.max(0, limits.maxNew - moves);
    const later = own.filter((target) => isNew(target) && target.isDelayed && !target.isExcluded).slice(0, room);
    const size = now.length + later.length;
    // The gate stays open while fewer clusters than the limit are unavailable, so a part of such a batch blocks
    // nothing.
    if (size === 1 || down + size - 1 < max) return;
    moves += later.length;
    for (const target of [...now, ...later]) batch.add(target);
  };

  const update = (partition: Partition<T>, index: number): void => {
    for (const target of partition.targets) {
      if (!target.isPresent || target.isCurrent || moving.has(target)) continue;
      const gate = updateGate(target, partition, index);
      if (gate !== undefined) hold(target, gate);
      else {
        if (target.isServing) {
          if (!isExact) moves++;
          if (target.isAvailable) {
            unavailableInAll++;
            for (const each of isExact ? [index] : (inPartitions.get(target) ?? []))
              unavailable[each] = (unavailable[each] ?? 0) + 1;
          }
        }
        take(target);
      }
    }
  };

  const updateGate = (target: T, partition: Partition<T>, index: number): Gate | undefined => {
    if (target.isHeld || target.isExcluded) return OWN;
    if (!target.isServing) return undefined;
    if (!isExact && moves >= limits.maxNew) return NEW_LIMIT;
    if (!fits(unavailable[index] as number, partition.max)) return windows[index];
    const isBoundByAll = isExact || !partition.hasOwnMax;
    return isBoundByAll && !fits(unavailableInAll, limits.max) ? BUNDLE_WINDOW : undefined;
  };

  partitions.forEach((partition, index) => {
    if (stoppedAt === undefined) {
      install(partition, index);
      update(partition, index);
    }
    const isBad = (target: T): boolean =>
      !target.isExcluded &&
      (!target.isPresent || !target.isCurrent || !target.isAvailable || target.isSoaking || moving.has(target));
    const bad = partition.targets.filter(isBad).length;
    const isBeyondLimit = bad > partition.max;
    verdicts.push({
      bad,
      unavailable: partition.targets.filter((target) => isUnavailable(target) || moving.has(target)).length,
      isBeyondLimit,
      isEntered: stoppedAt === undefined,
    });
    if (earlier !== undefined) {
      for (const target of partition.targets)
        if (!moving.has(target) && !(target.isPresent && target.isCurrent)) hold(target, earlier);
      return;
    }
    if (isBeyondLimit) beyond++;
    if (beyond > limits.maxPartitions) stoppedAt = index;
    if (stoppedAt !== undefined) earlier = { gate: 'EarlierPartition', partition: stoppedAt };
  });

  for (const target of targets)
    if (!inPartitions.has(target) && !(target.isPresent && target.isCurrent)) hold(target, NO_PARTITION);

  return {
    move: targets.filter((target) => moving.has(target)).map(({ key }) => key),
    ...(batch.size < 2 ? {} : { batch: [...batch].map(({ key }) => key) }),
    gates,
    verdicts,
    ...(stoppedAt === undefined ? {} : { stoppedAt }),
  };
}

function indexesOf<T>(partitions: readonly Partition<T>[]): ReadonlyMap<T, readonly number[]> {
  const indexes = new Map<T, number[]>();
  partitions.forEach(({ targets }, index) => {
    for (const target of targets) {
      const known = indexes.get(target);
      if (known === undefined) indexes.set(target, [index]);
      else known.push(index);
    }
  });
  return indexes;
}
