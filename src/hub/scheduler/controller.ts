// The scheduler: what it watches and observes.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, labels } from '../../api/names.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import { deepEqual } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { Controller, FullRef, View, WatchRule } from '../../runtime/controller.ts';
import { byRevision } from '../../runtime/revision.ts';
import type { PlacementFamily } from '../families.ts';
import { clusterGroups, groupsIn, type HubClusterGroup } from '../groups/sources.ts';
import { groupsNamedIn, snapshotWithGroups, usesGroups } from '../groups/terms.ts';
import { goneFrom, isLeaving } from '../members/leaving-member.ts';
import { missingMember } from '../members/missing-member.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  isLatest,
  isMarked,
  placementKeyOf,
} from '../placement-sources.ts';
import { memberClusters } from '../sources.ts';
import { admitted, concerns, keysOf, latestOf, newsOf } from './affected.ts';
import { decideFor, isScheduled, isStranded, type Observed } from './decide.ts';
import { successorName } from './names.ts';
import { nameOf } from './plugin.ts';
import { type Memory, unsettling } from './settled.ts';

export function schedulerController(family: PlacementFamily): Controller<Observed, Memory> {
  const decide = decideFor(family);
  return {
    name: `scheduler/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      unsettling(placementRule(family), (a, b) => lifeOf(a) === lifeOf(b)),
      unsettling(snapshotRule(family), isSamePolicy),
      unsettling(bindingRule(family)),
      unsettling(memberRule(family), (a, b) => isLeaving(isOlder(a, b) ? b : a)),
      unsettling(admissionRule(family)),
      unsettling(groupRule(family)),
    ],

    memory: () => ({ isSettled: false }),

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const placement = view.get(family.placements, name, namespace);
      const policies = view.by(family.policySnapshots, 'placement', key);
      const bindings = [...view.by(family.bindings, 'placement', key), ...unmarkedIn(view, family, policies)];
      if (placement === undefined) memory.isSettled = false;
      if (placement === undefined && bindings.length === 0) return undefined;
      const unsure = [
        ...(placement === undefined && bindings.some(isStranded) ? missingPlacement(view, family, key) : []),
        ...bindings.filter(isLive).flatMap(({ spec }) => missingMember(view, spec.targetCluster)),
        ...(placement === undefined || isDeleting(placement)
          ? []
          : bindings.filter(isDeleting).flatMap(goingIn(view, family, placement))),
      ];
      if (unsure.length > 0) return { need: unsure };
      const specProblem = placement && specProblemIn(placement.spec);
      const latest = policies.filter(isLatest);
      const groups = groupsIn(view);
      const lacksGroups = groups === undefined && latest.some(({ spec }) => usesGroups(spec.policy));
      return {
        ...(placement === undefined ? {} : { placement }),
        snapshots: latest.map((each) => snapshotWithGroups(each, groups ?? [])),
        bindings,
        members: view.all(memberClusters),
        leaving: leavingIn(view, bindings),
        ...(specProblem === undefined ? {} : { specProblem }),
        ...(lacksGroups ? { lacksGroups: true as const } : {}),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        isSettled: memory.isSettled,
        now: view.now,
      };
    },

    decide(observed, memory) {
      const decision = decide(observed);
      // Only if there is nothing to write: if a write fails, the next reconcile must run a cycle again.
      if (decision.steps.length === 0 && isScheduled(observed)) memory.isSettled = true;
      return decision;
    },
  };
}

/** Status writes are frequent and ignored here. */
const placementRule = ({ placements }: PlacementFamily): WatchRule<HubPlacement> => ({
  source: placements,
  toKeys: (placement, _see, old) =>
    old !== undefined && facts(placement) === facts(old)
      ? []
      : [keyOf(placement.metadata.namespace, placement.metadata.name ?? '')],
});

const facts = (placement: HubPlacement): string => [lifeOf(placement), placement.metadata.generation].join(' ');

/** The fields that a run reads. The spec is not among them: it is in the policy snapshot. */
const lifeOf = ({ metadata }: HubPlacement): string =>
  [metadata.uid, metadata.deletionTimestamp, ...(metadata.finalizers ?? [])].join(' ');

const snapshotRule = ({ policySnapshots }: PlacementFamily): WatchRule<HubPolicySnapshot> => ({
  source: policySnapshots,
  toKeys: (snapshot) => (isLatest(snapshot) ? [placementKeyOf(snapshot)] : []),
});

/** Ignores the generation of the placement, and the status, which the scheduler writes itself. */
const isSamePolicy = (a: HubPolicySnapshot, b: HubPolicySnapshot): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  deepEqual(a.metadata.labels, b.metadata.labels) &&
  deepEqual(withoutGeneration(a), withoutGeneration(b));

const withoutGeneration = ({ metadata }: HubPolicySnapshot) => ({
  ...metadata.annotations,
  [annotations.placementGeneration]: undefined,
});

/** Another client removed the placement label, so no other controller would clean up these bindings. */
const unmarkedIn = (view: View, { bindings }: PlacementFamily, policies: readonly HubPolicySnapshot[]) =>
  policies.flatMap(({ metadata }) => view.by(bindings, 'unmarked', keyOf(metadata.namespace, metadata.name ?? '')));

/** The progress of a rollout does not change which clusters are picked. */
const bindingRule = ({ bindings, policySnapshots }: PlacementFamily): WatchRule<HubBinding> => ({
  source: bindings,
  toKeys(binding, view, old) {
    if (old !== undefined && meaning(binding) === meaning(old)) return [];
    const { metadata, spec } = binding;
    const marked = isMarked(binding)
      ? binding
      : view.get(policySnapshots, spec.schedulingPolicySnapshotName, metadata.namespace);
    return marked === undefined ? [] : [placementKeyOf(marked)];
  },
});

const meaning = ({ metadata, spec }: HubBinding): string =>
  [
    metadata.uid,
    metadata.deletionTimestamp,
    metadata.finalizers?.length,
    metadata.labels?.[labels.parentPlacement],
    spec.state === 'Unscheduled',
    spec.targetCluster,
    spec.schedulingPolicySnapshotName,
  ].join(' ');

/** Leaving members that still have a binding, by cluster: when each counts as deleted. */
function leavingIn(view: View, bindings: readonly HubBinding[]): ReadonlyMap<string, number> {
  const leaving = new Map<string, number>();
  for (const { spec } of bindings.filter(isLive)) {
    const member = view.get(memberClusters, spec.targetCluster);
    if (member !== undefined && isLeaving(member))
      leaving.set(spec.targetCluster, goneFrom(member, view.since?.(memberClusters, spec.targetCluster) ?? view.now));
  }
  return leaving;
}

const memberRule = (family: PlacementFamily): WatchRule<MemberCluster> => ({
  source: memberClusters,
  toKeys(member, view, old) {
    const cluster = nameOf(member);
    const latest = () => latestOf(view.all(family.policySnapshots));
    const current = view.get(memberClusters, cluster);
    if (current === undefined) return keysOf(latest());
    // Both states of a member are checked; one match is enough.
    if (old !== undefined && isOlder(member, old)) return [];
    const havingNow = () => new Set(liveOn(view, family, cluster).map(placementKeyOf));
    // Runs now, to set the timer for the moment when the member counts as deleted.
    if (isLeaving(member)) return old !== undefined && isLeaving(old) ? [] : [...havingNow()];
    const news = newsOf({ older: old, newer: member }, view.now);
    if (news === undefined) return [];
    const groups = groupsIn(view) ?? [];
    const isConcerned = (hasBinding: (key: string) => boolean) => (snapshot: HubPolicySnapshot) =>
      concerns(news, snapshotWithGroups(snapshot, groups), hasBinding(placementKeyOf(snapshot)));
    // A binding alone is no reason to run: the bindings of a member are read only for placements that may be affected.
    const possible = latest().filter(isConcerned(() => false));
    if (possible.length === 0) return [];
    const having = havingNow();
    return keysOf(possible.filter(isConcerned((key) => having.has(key))));
  },
});

/**
 * The heartbeats of many members arrive one by one: all that plugins admit within this time are picked in one cycle.
 */
const ADMISSION_MS = 1000;

const admissionRule = (family: PlacementFamily): WatchRule<MemberCluster> => ({
  source: memberClusters,
  toKeys(member, view, old) {
    // New and deleted members are handled by the other rule.
    if (old === undefined || isOlder(member, old)) return [];
    const change = { older: old, newer: member };
    const groups = groupsIn(view) ?? [];
    const latest = latestOf(view.all(family.policySnapshots)).filter((each) =>
      admitted(change, snapshotWithGroups(each, groups), view.now),
    );
    if (latest.length === 0) return [];
    const having = new Set(liveOn(view, family, nameOf(member)).map(placementKeyOf));
    return keysOf(latest).filter((key) => !having.has(key));
  },
  wait: { coalesceMs: ADMISSION_MS },
});

/** Placements whose required terms name the group. Labels and status of the group do not matter. */
const groupRule = ({ policySnapshots }: PlacementFamily): WatchRule<HubClusterGroup> => ({
  source: clusterGroups,
  optional: true,
  toKeys: (group, view, old) =>
    old !== undefined && deepEqual(group.selector, old.selector)
      ? []
      : keysOf(
          latestOf(view.all(policySnapshots)).filter(({ spec }) => groupsNamedIn(spec.policy).includes(group.name)),
        ),
});

const isOlder = (a: MemberCluster, b: MemberCluster): boolean =>
  byRevision(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') < 0;

/**
 * A successor is named after its predecessor. If the predecessor was deleted meanwhile, another hub may have created a
 * successor under either name: both names are read live, and an existing binding counts.
 */
const goingIn =
  (view: View, { binding: resource }: PlacementFamily, placement: HubPlacement) =>
  ({ metadata, spec }: HubBinding): readonly FullRef[] => {
    const { uid = '', ...named } = refTo(resource, { metadata });
    const successor = { ...named, name: successorName(placement, spec.targetCluster, uid) };
    return [named, successor]
      .map((each): FullRef => ({ on: 'hub', resource, ...each, live: true }))
      .filter((ref) => view.getFull(ref) === undefined);
  };

/**
 * A binding without its placement is deleted. The cache may be stale, so confirm with a live read that the placement
 * does not exist.
 */
function missingPlacement(view: View, { placement: resource }: PlacementFamily, key: string): readonly FullRef[] {
  const { group, kind } = resource;
  const { name, namespace } = partsOf(key);
  const ref: FullRef = {
    on: 'hub',
    resource,
    group,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    live: true,
  };
  return view.getFull(ref) === undefined ? [ref] : [];
}

const isDeleting = ({ metadata }: Pick<HubBinding, 'metadata'>): boolean => metadata.deletionTimestamp !== undefined;

const isLive = ({ metadata, spec }: HubBinding): boolean =>
  metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled';

const liveOn = (view: View, family: PlacementFamily, cluster: string): readonly HubBinding[] =>
  view.by(family.bindings, 'cluster', cluster).filter(isLive);
