// What a member reports about itself: its size, its free resources, and its namespaces.
import type { Condition } from '../../api/conditions.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { properties } from '../../api/names.ts';
import type { Finding } from '../../api/next-condition.ts';
import { kubeTime } from '../../base/clock.ts';
import { by } from '../../base/compare.ts';
import { deepEqual } from '../../base/json.ts';
import { formatAmounts, minus, sum } from '../amounts.ts';
import type { Collection } from '../properties/collector.ts';
import type { MemberNamespace, MemberNode, MemberPod } from '../sources.ts';

/** A status of about 400 KB; the API server's limit is 1.5 MB. */
export const MAX_NAMESPACES = 4000;

/** Absent = not known yet, so the last report stays. */
export interface Facts {
  readonly nodes?: readonly MemberNode[];
  readonly pods?: readonly MemberPod[];
  /** null = not reported. */
  readonly namespaces?: readonly MemberNamespace[] | null;
}

/** All reported collections have been listed at least once. */
export const areKnown = ({ nodes, pods, namespaces }: Facts): boolean =>
  nodes !== undefined && pods !== undefined && namespaces !== undefined;

export type Usage = Pick<MemberStatus, 'properties' | 'resourceUsage'>;

export function usageOf({ nodes, pods }: Facts, before: MemberStatus | undefined, now: number): Usage {
  if (nodes === undefined || pods === undefined) {
    return {
      ...(before?.properties === undefined ? {} : { properties: before.properties }),
      ...(before?.resourceUsage === undefined ? {} : { resourceUsage: before.resourceUsage }),
    };
  }
  const observationTime = kubeTime(now);
  const allocatable = sum(nodes.map((node) => node.allocatable));
  const requested = sum(pods.map((pod) => pod.requests));
  return {
    properties: { [properties.nodeCount]: { value: String(nodes.length), observationTime } },
    resourceUsage: {
      capacity: formatAmounts(sum(nodes.map((node) => node.capacity))),
      allocatable: formatAmounts(allocatable),
      available: formatAmounts(minus(allocatable, requested)),
      observationTime,
    },
  };
}

/** Properties from the provider replace those of the agent; the number of nodes is always reported. */
export function withCollection(
  own: Usage,
  before: MemberStatus | undefined,
  collection: Collection | undefined,
  now: number,
): Usage {
  if (collection?.isKept) {
    const { properties: kept, resourceUsage } = before ?? {};
    return {
      ...own,
      ...(kept === undefined ? {} : { properties: kept }),
      ...(resourceUsage === undefined ? {} : { resourceUsage }),
    };
  }
  if (collection?.collected === undefined) return own;
  const observationTime = kubeTime(now);
  const { properties: found = {}, resources } = collection.collected;
  const all = Object.entries(found).map(([name, value]) => [name, { value, observationTime }] as const);
  return {
    properties: { ...own.properties, ...Object.fromEntries(all) },
    ...(resources === undefined
      ? own.resourceUsage === undefined
        ? {}
        : { resourceUsage: own.resourceUsage }
      : { resourceUsage: { ...resources, observationTime } }),
  };
}

export interface NamespaceReport {
  readonly namespaces?: NonNullable<MemberStatus['namespaces']>;
  readonly condition?: Finding | Condition;
}

/**
 * Namespaces that are being deleted count as deleted. If there are too many, those with placed objects come first,
 * because users ask for them; the condition then says that a namespace missing from the list may still exist.
 */
export function namespacesOf({ namespaces }: Facts, before: MemberStatus | undefined): NamespaceReport {
  if (namespaces === null) return {};
  if (namespaces === undefined) {
    const condition = before?.conditions?.find((each) => each.type === NAMESPACE_COLLECTION);
    return {
      ...(before?.namespaces === undefined ? {} : { namespaces: before.namespaces }),
      ...(condition === undefined ? {} : { condition }),
    };
  }
  const present = namespaces.filter((each) => !each.isTerminating).toSorted(by(nameOf));
  const placed = present.filter((each) => each.placedBy !== '');
  const others = present.filter((each) => each.placedBy === '');
  const kept = [...placed, ...others].slice(0, MAX_NAMESPACES).toSorted(by(nameOf));
  const isComplete = kept.length === present.length;
  return {
    namespaces: Object.fromEntries(kept.map((each) => [nameOf(each), each.placedBy])),
    condition: {
      type: NAMESPACE_COLLECTION,
      status: isComplete ? 'True' : 'False',
      reason: isComplete ? 'Succeeded' : 'Degraded',
      message: isComplete ? '' : `only ${kept.length} namespaces are reported, the cluster has more`,
    },
  };
}

/** Namespaces that are not reported, or not known, never count as a change. */
export function hasOtherNamespaces(facts: Facts, told: MemberStatus | undefined): boolean {
  if (facts.namespaces === undefined || facts.namespaces === null) return false;
  const { namespaces = {} } = namespacesOf(facts, told);
  return !deepEqual(namespaces, told?.namespaces ?? {});
}

export const NAMESPACE_COLLECTION = 'NamespaceCollectionSucceeded';
const nameOf = (each: MemberNamespace): string => each.metadata.name ?? '';
