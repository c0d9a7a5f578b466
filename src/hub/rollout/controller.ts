// The rollout of a placement: what it watches and observes. With External, staged update runs own the bindings and it
// does nothing.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import { deepEqual } from '../../base/json.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import { type Controller, type FullRef, isNeed, type View } from '../../runtime/controller.ts';
import { done, newThrottle, type Rule, type Throttle, type Wait } from '../../runtime/due.ts';
import { dependentsOf, dependentsOn, observeDependencies } from '../dependencies/observe.ts';
import type { PlacementFamily } from '../families.ts';
import { freezeRule, freezesIn } from '../freezes/sources.ts';
import { groupRule, groupsIn } from '../groups/sources.ts';
import { isLeaving } from '../members/leaving-member.ts';
import { missingMember } from '../members/missing-member.ts';
import { isReachable } from '../members/reachable.ts';
import { newestComplete } from '../orders/newest-snapshot.ts';
import { observeOrders } from '../orders/observe.ts';
import { isSameSpec } from '../orders/same-spec.ts';
import { overrideRules } from '../overrides/watching.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  type HubResourceSnapshot,
  isLatest,
  placementKeyOf,
  resourceIndexOf,
} from '../placement-sources.ts';
import { isNoNews } from '../planners/changes.ts';
import { memberFactsOf } from '../planners/rows.ts';
import { memberClusters } from '../sources.ts';
import { decidedIn } from '../strategies/decided.ts';
import { foundOnly } from '../strategies/rolling-update.ts';
import { isExternal } from '../strategies/table.ts';
import { decide, type Observed } from './decide.ts';

export interface Memory {
  readonly reconciles: Throttle;
}

/**
 * A reconcile reads all clusters of a placement, and every one of them causes events: without this throttle, ten times
 * the clusters would cost a hundred times as much. 1,000 clusters are read every 40 ms, fewer than 25 after every
 * event.
 */
export const RECONCILES: Rule = { itemsPerMs: 25 };
const wait: Wait<Memory> = { until: { rule: RECONCILES, of: ({ reconciles }) => reconciles } };

/** `weight`: each cluster counts as this many. */
export function rolloutController(family: PlacementFamily, weight = 1): Controller<Observed, Memory> {
  const ownKey = ({ metadata }: HubPlacement) => keyOf(metadata.namespace, metadata.name ?? '');
  return {
    name: `rollout/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      {
        source: family.placements,
        // Status writes of the placement are ignored.
        toKeys: (item, view, old) => [
          ...(old !== undefined && isSameSpec(item, old) ? [] : [ownKey(item)]),
          ...(deepEqual(item.metadata.labels, old?.metadata.labels)
            ? []
            : dependentsOn(view, family, ownKey(item), item.metadata.namespace)),
        ],
      },
      {
        source: family.bindings,
        toKeys: (item, view, old) => [
          ...(old !== undefined && isNoNews(item, old) ? [] : [placementKeyOf(item)]),
          ...dependentsOf(view, family, item, old),
        ],
        wait,
      },
      {
        source: family.resourceSnapshots,
        toKeys: (item, view, other) =>
          item.metadata.uid === other?.metadata.uid && isOvertaken(item, view) ? [] : [placementKeyOf(item)],
      },
      {
        source: family.policySnapshots,
        toKeys: (item, view, old) =>
          old !== undefined &&
          deepEqual(foundOnly(item), foundOnly(old)) &&
          deepEqual(decidedIn(item), decidedIn(old)) &&
          !isAwaited(view, item, old)
            ? []
            : [placementKeyOf(item)],
      },
      ...overrideRules(family),
      groupRule(family),
      freezeRule(family),
      // Labels and pauses of a member change its partitions; its reachability changes what counts as available.
      { source: memberClusters, toKeys: (item, view, old) => placementsOn(item, view, old), wait },
    ],

    memory: () => ({ reconciles: newThrottle() }),

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const placement = view.get(family.placements, name, namespace);
      if (placement === undefined || placement.metadata.deletionTimestamp !== undefined || isExternal(placement)) {
        return undefined;
      }
      const snapshots = view.by(family.resourceSnapshots, 'placement', key);
      const bindings = view.by(family.bindings, 'placement', key);
      done(memory.reconciles, RECONCILES, view.now, bindings.length * weight);
      const unknown = [
        ...unknownIn(view, snapshots, bindings),
        ...bindings.filter(isGivenUp).flatMap(({ spec }) => missingMember(view, spec.targetCluster)),
      ];
      if (unknown.length > 0) return { need: unknown };
      const newest = newestComplete(snapshots);
      const orders =
        newest && observeOrders(view, { family, placement, snapshot: newest.metadata.name ?? '', for: 'moves' });
      if (isNeed(orders)) return orders;
      const specProblem = specProblemIn(placement.spec);
      const heldOn = observeDependencies(view, family, placement, bindings);
      return {
        family,
        placement,
        bindings,
        ...(heldOn === undefined ? {} : { heldOn }),
        newest,
        orders,
        ...(specProblem === undefined ? {} : { specProblem }),
        policySnapshot: view.by(family.policySnapshots, 'placement', key).find(isLatest),
        member(cluster) {
          const member = view.get(memberClusters, cluster);
          return member && memberFactsOf(member);
        },
        groups: groupsIn(view),
        freezes: freezesIn(view),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
      };
    },

    decide,
  };

  /** A placement with a source waits until the scheduler has processed its newest commit. */
  function isAwaited(view: View, item: HubPolicySnapshot, old: HubPolicySnapshot): boolean {
    if (item.status?.observedCRPGeneration === old.status?.observedCRPGeneration) return false;
    const { name, namespace } = partsOf(placementKeyOf(item));
    return view.get(family.placements, name, namespace)?.spec.source !== undefined;
  }

  /** A newer snapshot group is complete, so a change of this one's label does not matter. */
  function isOvertaken(item: HubResourceSnapshot, view: View): boolean {
    const newest = newestComplete(view.by(family.resourceSnapshots, 'placement', placementKeyOf(item)));
    return newest !== undefined && (resourceIndexOf(newest) ?? -1) > (resourceIndexOf(item) ?? -1);
  }

  /**
   * A snapshot that a binding references but the cache lacks may be newer than all cached ones: a hub with a stale
   * cache would move the binding back.
   */
  function unknownIn(view: View, known: readonly HubResourceSnapshot[], bindings: readonly HubBinding[]) {
    const names = new Set(bindings.map(({ spec }) => spec.resourceSnapshotName).filter((name) => name !== ''));
    for (const { metadata } of known) names.delete(metadata.name ?? '');
    const namespace = bindings[0]?.metadata.namespace;
    const { group, kind } = family.resourceSnapshot;
    return [...names]
      .map(
        (name): FullRef => ({
          on: 'hub',
          resource: family.resourceSnapshot,
          group,
          kind,
          ...(namespace === undefined ? {} : { namespace }),
          name,
          live: true,
        }),
      )
      .filter((ref) => view.getFull(ref) === undefined);
  }

  function placementsOn(item: MemberCluster, view: View, old?: MemberCluster): readonly string[] {
    const isSame = (older: MemberCluster) =>
      isReachable(older) === isReachable(item) &&
      isLeaving(older) === isLeaving(item) &&
      isSamePartitionMember(item, older);
    if (old !== undefined && isSame(old)) return [];
    return view.by(family.bindings, 'cluster', item.metadata.name ?? '').map(placementKeyOf);
  }
}

const isSamePartitionMember = (a: MemberCluster, b: MemberCluster): boolean =>
  memberFactsOf(a).paused === memberFactsOf(b).paused && deepEqual(a.metadata.labels, b.metadata.labels);

const isGivenUp = ({ metadata, spec }: HubBinding): boolean =>
  metadata.deletionTimestamp === undefined && spec.state === 'Unscheduled';
