// Whether a cluster of a placement is frozen now, by which Freeze, and the hold that names it. Pure: rollouts, runs,
// the status and `flotilla why` call the same function.
import { type FreezeSpec, freeze } from '../../api/freeze.ts';
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { Labels, ObjectRef } from '../../api/object.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { matchesLabels } from '../../base/selector.ts';

export interface FreezeFacts {
  readonly name: string;
  readonly spec: FreezeSpec;
}

/** Epoch milliseconds; Infinity = until it is deleted. */
export function endOf({ spec: { until } }: FreezeFacts): number {
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
  // An invalid time must not end a freeze.
  return Number.isNaN(end) ? Number.POSITIVE_INFINITY : end;
}

export const isActive = (freeze: FreezeFacts, now: number): boolean => now < endOf(freeze);

export const coversPlacement = (
  { spec: { placements } }: FreezeFacts,
  { name, namespace = '' }: Pick<ObjectRef, 'name' | 'namespace'>,
): boolean =>
  placements === undefined || placements.some((each) => each.name === name && (each.namespace ?? '') === namespace);

const coversCluster = ({ spec: { clusterSelector } }: FreezeFacts, labels: Labels | undefined): boolean =>
  clusterSelector === undefined || matchesLabels(clusterSelector, labels ?? {});

/**
 * The hold of a cluster by its name and labels; undefined = it is not frozen. Of several freezes, the one that ends
 * last is named.
 */
export type FrozenBy = (cluster: string, labels: Labels | undefined) => Hold | undefined;

export interface Frozen {
  readonly by: FrozenBy;
  /** When the first of the freezes that cover the placement ends by itself. */
  readonly wakeAt?: number;
}

/** undefined = no freeze covers the placement now. */
export function frozenIn(
  freezes: readonly FreezeFacts[],
  placement: Pick<ObjectRef, 'name' | 'namespace'>,
  now: number,
): Frozen | undefined {
  const active = freezes
    .filter((each) => isActive(each, now) && coversPlacement(each, placement))
    .toSorted((a, b) => -byNumber(endOf(a), endOf(b)) || byText(a.name, b.name));
  if (active.length === 0) return undefined;
  const ends = active.map(endOf).filter(Number.isFinite);
  return {
    by(cluster, labels) {
      const found = active.find((each) => coversCluster(each, labels));
      return found && holdOf(found, cluster);
    },
    ...(ends.length === 0 ? {} : { wakeAt: Math.min(...ends) }),
  };
}

function holdOf(found: FreezeFacts, cluster: string): Hold {
  const { reason, by } = found.spec;
  const end = endOf(found);
  return {
    code: 'Frozen',
    subject: { group: memberCluster.group, kind: memberCluster.kind, name: cluster },
    on: { group: freeze.group, kind: freeze.kind, name: found.name },
    facts: { reason, ...(by === undefined ? {} : { by }) },
    ...(Number.isFinite(end) ? { until: end } : {}),
    next: `end the freeze (flotilla unfreeze ${found.name})${Number.isFinite(end) ? ', or wait' : ''}`,
  };
}
