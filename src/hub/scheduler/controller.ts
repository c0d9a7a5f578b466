// What the scheduler watches and how it sees.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, labels } from '../../api/names.ts';
import { deepEqual } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { Controller, See, WatchRule, WholeRef } from '../../runtime/controller.ts';
import { byRevision } from '../../runtime/revision.ts';
import type { PlacementFamily } from '../families.ts';
import { missingMember } from '../missing-member.ts';
import { notSupported } from '../not-supported.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  isLatest,
  isMarked,
  placementKeyOf,
} from '../placement-sources.ts';
import { memberClusters } from '../sources.ts';
import { concerns, keysOf, latestOf, newsOf } from './affected.ts';
import { decideFor, isScheduled, isStranded, type Observed } from './decide.ts';
import { successorName } from './names.ts';
import { nameOf } from './plugin.ts';
import { createSettled } from './settled.ts';

export function schedulerController(family: PlacementFamily, settled = createSettled()): Controller<Observed> {
  const decide = decideFor(family);
  return {
    name: `scheduler/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      settled.told(placementRule(family), (a, b) => lifeOf(a) === lifeOf(b)),
      settled.told(snapshotRule(family), isSamePolicy),
      settled.told(bindingRule(family)),
      settled.told(memberRule(family)),
    ],

    observe(see, key) {
      const { name, namespace } = partsOf(key);
      const placement = see.get(family.placements, name, namespace);
      const policies = see.by(family.policySnapshots, 'placement', key);
      const bindings = [...see.by(family.bindings, 'placement', key), ...unmarkedIn(see, family, policies)];
      if (placement === undefined) settled.forget(key);
      if (placement === undefined && bindings.length === 0) return undefined;
      const unsure = [
        ...(placement === undefined && bindings.some(isStranded) ? missingPlacement(see, family, key) : []),
        ...bindings.filter(isLive).flatMap(({ spec }) => missingMember(see, spec.targetCluster)),
        ...(placement === undefined || isGoing(placement)
          ? []
          : bindings.filter(isGoing).flatMap(goingIn(see, family, placement))),
      ];
      if (unsure.length > 0) return { need: unsure };
      // By its own fields; of what it selects only its own controller knows, and says so in its status.
      const unbuilt = placement && (notSupported(placement)[0] ?? placement.unbuilt);
      return {
        ...(placement === undefined ? {} : { placement }),
        snapshots: policies.filter(isLatest),
        bindings,
        members: see.all(memberClusters),
        ...(unbuilt === undefined ? {} : { notSupported: unbuilt.what }),
        ...(see.failure === undefined ? {} : { failure: see.failure }),
        isSettled: settled.has(key),
        now: see.now,
      };
    },

    decide(observed) {
      const decision = decide(observed);
      // Not before nothing is left to write: what fails on the way is decided anew, by a run.
      if (decision.steps.length === 0 && isScheduled(observed)) settled.add(keyIn(observed));
      return decision;
    },
  };
}

const keyIn = ({ placement }: Observed): string => keyOf(placement?.metadata.namespace, placement?.metadata.name ?? '');

/** A status is written often and means nothing here, but that something is not built yet. */
const placementRule = ({ placements }: PlacementFamily): WatchRule<HubPlacement> => ({
  source: placements,
  toKeys: (placement, _see, old) =>
    old !== undefined && facts(placement) === facts(old)
      ? []
      : [keyOf(placement.metadata.namespace, placement.metadata.name ?? '')],
});

const facts = (placement: HubPlacement): string =>
  [lifeOf(placement), placement.metadata.generation, placement.unbuilt !== undefined].join(' ');

/** What a run looks at. Nothing of its spec: that is in the policy snapshot. */
const lifeOf = ({ metadata }: HubPlacement): string =>
  [metadata.uid, metadata.deletionTimestamp, ...(metadata.finalizers ?? [])].join(' ');

const snapshotRule = ({ policySnapshots }: PlacementFamily): WatchRule<HubPolicySnapshot> => ({
  source: policySnapshots,
  toKeys: (snapshot) => (isLatest(snapshot) ? [placementKeyOf(snapshot)] : []),
});

/** But for the placement's generation, and for what was said of it, which is ours. */
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

/** Somebody took the mark of their placement away: nobody else would look after them. */
const unmarkedIn = (see: See, { bindings }: PlacementFamily, policies: readonly HubPolicySnapshot[]) =>
  policies.flatMap(({ metadata }) => see.by(bindings, 'unmarked', keyOf(metadata.namespace, metadata.name ?? '')));

/** How a rollout goes on, and that it has begun, changes nothing about who is picked. */
const bindingRule = ({ bindings, policySnapshots }: PlacementFamily): WatchRule<HubBinding> => ({
  source: bindings,
  toKeys(binding, see, old) {
    if (old !== undefined && meaning(binding) === meaning(old)) return [];
    const { metadata, spec } = binding;
    const marked = isMarked(binding)
      ? binding
      : see.get(policySnapshots, spec.schedulingPolicySnapshotName, metadata.namespace);
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

const memberRule = (family: PlacementFamily): WatchRule<MemberCluster> => ({
  source: memberClusters,
  toKeys(member, see, old) {
    const cluster = nameOf(member);
    const latest = () => latestOf(see.all(family.policySnapshots));
    if (see.get(memberClusters, cluster) === undefined) return keysOf(latest()); // it is gone
    // Of a change both sides are asked; one answer is enough.
    if (old !== undefined && isOlder(member, old)) return [];
    const news = newsOf({ older: old, newer: member }, see.now);
    if (news === undefined) return [];
    const having = new Set(liveOn(see, family, cluster).map(placementKeyOf));
    return keysOf(latest().filter((snapshot) => concerns(news, snapshot, having.has(placementKeyOf(snapshot)))));
  },
});

const isOlder = (a: MemberCluster, b: MemberCluster): boolean =>
  byRevision(a.metadata.resourceVersion ?? '', b.metadata.resourceVersion ?? '') < 0;

/**
 * A successor is named after the predecessor that still goes: if that one is gone by now, there may be a successor already, made by another hub
 * before it went or after. Under one of the two names it is found here, and what is found counts.
 */
const goingIn =
  (see: See, { binding: resource }: PlacementFamily, placement: HubPlacement) =>
  ({ metadata, spec }: HubBinding): readonly WholeRef[] => {
    const { uid = '', ...named } = refTo(resource, { metadata });
    const successor = { ...named, name: successorName(placement, spec.targetCluster, uid) };
    return [named, successor]
      .map((each): WholeRef => ({ on: 'hub', resource, ...each, live: true }))
      .filter((ref) => see.whole(ref) === undefined);
  };

/** What stands without its placement is taken away, so that it is gone is not believed to a watch that may be behind. */
function missingPlacement(see: See, { placement: resource }: PlacementFamily, key: string): readonly WholeRef[] {
  const { group, kind } = resource;
  const { name, namespace } = partsOf(key);
  const ref: WholeRef = {
    on: 'hub',
    resource,
    group,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    live: true,
  };
  return see.whole(ref) === undefined ? [ref] : [];
}

const isGoing = ({ metadata }: Pick<HubBinding, 'metadata'>): boolean => metadata.deletionTimestamp !== undefined;

const isLive = ({ metadata, spec }: HubBinding): boolean =>
  metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled';

const liveOn = (see: See, family: PlacementFamily, cluster: string): readonly HubBinding[] =>
  see.by(family.bindings, 'cluster', cluster).filter(isLive);
