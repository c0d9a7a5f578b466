// The arithmetic of a Deployment's rollout: how many Pods each of its ReplicaSets should have next.
// Guarantee: together they never have more than replicas + maxSurge Pods, and because of a rollout never fewer than
// replicas - maxUnavailable are available.

import type { DeploymentSpec } from '../../../api/builtin/shapes.ts';
import { countRoundedUp, percentOf } from '../../../base/int-or-percent.ts';

/** A ReplicaSet as far as counting goes. */
export interface Sized {
  readonly name: string;
  /** What its spec asks for. */
  readonly size: number;
  readonly available: number;
  /** Its spec was changed and it has not said yet that its Pods follow. */
  readonly isBehind: boolean;
  /** The Deployment's replicas plus surge when its size was last set. */
  readonly annotatedMax: number | undefined;
}

export type Sizes = ReadonlyMap<string, number>;

export interface Budget {
  readonly surge: number;
  readonly unavailable: number;
}

/** Of surge and unavailable at least one is positive: with both at 0 nothing could ever move. */
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
 * The size of the newest ReplicaSet: as much as the surge leaves room for. Nothing is added while an older one may still have Pods to
 * lose; Kubernetes does not wait for that and has too many Pods for a moment.
 */
export function newestSize(replicas: number, { surge }: Budget, newest: number, older: readonly Sized[]): number {
  if (newest >= replicas) return replicas;
  if (older.some((set) => set.isBehind)) return newest;
  const room = replicas + surge - newest - sum(older, (set) => set.size);
  return room <= 0 ? newest : newest + Math.min(room, replicas - newest);
}

/** Sizes of the older ReplicaSets, oldest first: what is broken goes first, then what the budget lets go. */
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
  // What is available of a ReplicaSet that was made smaller is already on its way out.
  let loss = sum(all, (set) => Math.min(set.size, set.available)) - least;
  for (const set of older) {
    const gone = Math.min(loss, sizeOf(set));
    if (gone <= 0) continue;
    sizes.set(set.name, sizeOf(set) - gone);
    loss -= gone;
  }
  return sizes;
}

/** Sizes after `replicas` changed in the middle of a rollout: each ReplicaSet keeps its share. Given newest first. */
export function proportionalSizes(replicas: number, { surge }: Budget, active: readonly Sized[]): Sizes {
  const allowed = replicas > 0 ? replicas + surge : 0;
  const wanted = allowed - sum(active, (set) => set.size);
  // The big ones take most of it; of equal ones the newer when there is more to have, the older when there is less.
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
