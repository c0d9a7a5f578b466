// The arithmetic of a Deployment's rollout: the next size of each ReplicaSet.
// Guarantee: together they never have more than replicas + maxSurge Pods, and the rollout never leaves fewer than
// replicas - maxUnavailable available.

import type { DeploymentSpec } from '../../../api/builtin/shapes.ts';
import { countRoundedUp, percentOf } from '../../../base/int-or-percent.ts';

/** The counts of a ReplicaSet. */
export interface Sized {
  readonly name: string;
  /** Replicas in its spec. */
  readonly size: number;
  readonly available: number;
  /** Its spec was changed, and its status does not reflect that yet. */
  readonly isBehind: boolean;
  /** The Deployment's replicas plus surge when its size was last set. */
  readonly annotatedMax: number | undefined;
}

export type Sizes = ReadonlyMap<string, number>;

export interface Budget {
  readonly surge: number;
  readonly unavailable: number;
}

/** At least one of surge and unavailable is positive: with both at 0 no rollout could progress. */
export function budgetOf({ replicas, strategy }: Pick<DeploymentSpec, 'replicas' | 'strategy'>): Budget {
  if (strategy.type !== 'RollingUpdate') return { surge: 0, unavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy.rollingUpdate ?? {};
  const surge = countRoundedUp(maxSurge, replicas);
  const share = percentOf(maxUnavailable);
  const unavailable =
    share === undefined ? countRoundedUp(maxUnavailable, replicas) : Math.floor((share * replicas) / 100);
  return { surge, unavailable: Math.min(replicas, surge === 0 ? Math.max(1, unavailable) : unavailable) };
}

const sum = (sets: readonly Sized[], of: (set: Sized) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

/**
 * The size of the newest ReplicaSet: as large as the surge permits. It does not grow while the size of an older one is
 * not settled; Kubernetes does not wait for that and has too many Pods for a moment.
 */
export function newestSize(replicas: number, { surge }: Budget, newest: number, older: readonly Sized[]): number {
  if (newest >= replicas) return replicas;
  if (older.some((set) => set.isBehind)) return newest;
  const room = replicas + surge - newest - sum(older, (set) => set.size);
  return room <= 0 ? newest : newest + Math.min(room, replicas - newest);
}

/**
 * Sizes of the older ReplicaSets, oldest first: unavailable Pods are removed first, then as many as the budget permits.
 */
export function olderSizes(replicas: number, { unavailable }: Budget, newest: Sized, older: readonly Sized[]): Sizes {
  const sizes = new Map<string, number>();
  const all = [newest, ...older];
  const least = replicas - unavailable;
  let spare = sum(all, (set) => set.size) - least - (newest.size - newest.available);
  const isIdle = older.every((set) => set.size === 0);
  if (isIdle || spare <= 0) return sizes;
  const sizeOf = (set: Sized) => sizes.get(set.name) ?? set.size;
  for (const set of older) {
    const broken = Math.min(spare, set.size - Math.min(set.size, set.available));
    if (broken <= 0) continue;
    sizes.set(set.name, set.size - broken);
    spare -= broken;
  }
  // In a ReplicaSet that was scaled down, Pods that are still available may already be terminating.
  let loss = sum(all, (set) => Math.min(set.size, set.available)) - least;
  for (const set of older) {
    const gone = Math.min(loss, sizeOf(set));
    if (gone <= 0) continue;
    sizes.set(set.name, sizeOf(set) - gone);
    loss -= gone;
  }
  return sizes;
}

/** Sizes after `replicas` changed during a rollout: each ReplicaSet keeps its share. Input: newest first. */
export function proportionalSizes(replicas: number, { surge }: Budget, active: readonly Sized[]): Sizes {
  const allowed = replicas > 0 ? replicas + surge : 0;
  const wanted = allowed - sum(active, (set) => set.size);
  // Large ones change most; of equal ones the newer when scaling up, the older when scaling down.
  const order = (wanted > 0 ? active : active.toReversed()).toSorted((a, b) => b.size - a.size);
  const sizes = new Map<string, number>();
  let given = 0;
  for (const set of order) {
    const target = replicas === 0 ? 0 : Math.round((set.size * allowed) / (set.annotatedMax || allowed));
    const share = target - set.size;
    const change =
      wanted === 0
        ? 0
        : wanted > 0
          ? Math.min(Math.max(0, share), wanted - given)
          : Math.max(Math.min(0, share), wanted - given);
    sizes.set(set.name, Math.max(0, set.size + change));
    given += change;
  }
  const [first] = order;
  if (first !== undefined) sizes.set(first.name, Math.max(0, (sizes.get(first.name) ?? 0) + wanted - given));
  return sizes;
}
