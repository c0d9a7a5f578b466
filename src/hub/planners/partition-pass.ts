// One pass of a partitioned rollout over all partitions: which targets move now, and which gate holds each of the others.
// Recomputed from what is seen each time; nothing is remembered between passes (spec 08 §6, §13; K6, K8–K10 of the seed checklist).
// Guarantee in the default mode: because of us, no partition has more than its limit of unavailable clusters beyond those that are down or new,
// at most `maxNew` clusters move per pass, and no partition is entered while more than the allowed number of earlier ones are beyond their limit.
// A batch of first copies that has begun is completed, whatever became of its first clusters (docs/adr/0016).
import type { Partition } from '../../api/partitions.ts';

/** `FleetExact` repeats Rancher Fleet to the letter; the default follows what its documentation promises. */
export type PartitionMode = 'FleetDocumented' | 'FleetExact';

export interface PassTarget {
  readonly key: string;
  /** It has a copy, or one is on its way: a binding that is bound. */
  readonly isPresent: boolean;
  /** It carries the content that it should have. */
  readonly isCurrent: boolean;
  /** Its last report said that its copy works; it may be unreachable since. Any other copy may get a new revision without using a window. */
  readonly isServing: boolean;
  /** Its copy counts as working: it is serving, and reachable where that matters. */
  readonly isAvailable: boolean;
  /** Something of its own keeps it from moving (a pause, a predecessor): the caller knows what. */
  readonly isHeld: boolean;
  /** It is held by something that ends by itself: a batch that has room includes it, so that it follows as soon as it may. */
  readonly isDelayed: boolean;
  /** It belongs to a batch that has begun, so it does not wait until that has proven itself. */
  readonly isInBatch: boolean;
  /** It counts neither as available nor as unavailable, and it does not move. */
  readonly isExcluded: boolean;
  /** Available for less than the soak time: its partition is not done yet. */
  readonly isSoaking: boolean;
}

export interface PassLimits {
  readonly mode: PartitionMode;
  readonly maxNew: number;
  /** How many unavailable clusters are allowed over all partitions. */
  readonly max: number;
  /** How many partitions may be beyond their limit. */
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
  /** Targets that are not known to work at the wanted content, after this pass. */
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
   * Keys of a batch of first copies that begins and that the gate could cut in two, should some of them move and others not. The first one moves now.
   * Absent = there is none.
   */
  readonly batch?: readonly string[];
  readonly gates: ReadonlyMap<string, Gate>;
  readonly verdicts: readonly PartitionVerdict[];
  /** Index of the partition at which the pass stopped because too many were beyond their limit. */
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
  // One object per gate: what is the same for all clusters that wait at it is worked out once.
  const windows = partitions.map((_, partition): Gate => ({ gate: 'PartitionWindow', partition }));
  const batchGates = partitions.map((_, partition): Gate => ({ gate: 'BatchGate', partition }));
  const verdicts: PartitionVerdict[] = [];
  let beyond = 0;
  let stoppedAt: number | undefined;
  let earlier: Gate | undefined;
  const batch = new Set<T>();

  const hold = (target: T, gate: Gate): void => {
    // The first partition that holds a target is the one to name.
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
    // A batch that has not proven itself keeps the next one back.
    const isGated = !isExact && hasStarted && own > 0 && own >= partition.max;
    // More than this are never down because of batches: one that begins finds the gate open, so less than the limit are down.
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
    // Partitions may overlap: what an earlier one takes belongs to the batch of this one, too.
    if (!isExact && !isGated && installs > 0) beginBatch(partition, own);
  };

  const beginBatch = ({ targets: own, max }: Partition<T>, down: number): void => {
    const isNew = (target: T): boolean => !target.isPresent && !target.isInBatch;
    const now = own.filter((target) => isNew(target) && moving.has(target));
    if (now.length === 0) return;
    const room = Math.max(0, limits.maxNew - moves);
    const later = own.filter((target) => isNew(target) && target.isDelayed && !target.isExcluded).slice(0, room);
    const size = now.length + later.length;
    // The gate stays open while fewer than the limit are unavailable, so a part of such a batch holds nothing back.
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
