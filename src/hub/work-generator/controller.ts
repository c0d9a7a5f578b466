// The work generator: what it watches and observes. Its keys are bindings.

import type { ReportBackStrategy } from '../../api/apply-strategy.ts';
import {
  annotations,
  clusterOfNamespace,
  finalizers,
  labels,
  masterSnapshotName,
  masterWorkName,
  memberNamespace,
  workBaseIn,
  workBaseName,
} from '../../api/names.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { work } from '../../api/work.ts';
import { deepEqual } from '../../base/json.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import type { Controller, FullRef, Need, View } from '../../runtime/controller.ts';
import { isNeed } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { isLeaving } from '../members/leaving-member.ts';
import { isMemberLeaving, unsureMember } from '../members/missing-member.ts';
import { isReleased } from '../orders/release.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import { overrideFamilies, snapshotsIn as overrideSnapshotsIn } from '../overrides/sources.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubResourceSnapshot,
  isMaster,
  missingParts,
  placementKeyOf,
  resourceIndexOf,
  groupOf as snapshotsIn,
} from '../placement-sources.ts';
import { memberClusters } from '../sources.ts';
import { type HubWork, works } from '../work-source.ts';
import { decide } from './decide.ts';
import { keepsTakenOver } from './keeping.ts';
import type { Observed } from './observed.ts';
import { decideOrphans, isDue, type Orphaned } from './orphans.ts';
import { isCleanedUpWith } from './whose-work.ts';

interface Memory {
  /** Since when there are Works without a binding. A restart restarts the count. */
  orphanedSince: number | undefined;
}

export function workGenerator(family: PlacementFamily): Controller<Observed | Orphaned, Memory> {
  const keyOfBinding = ({ metadata }: HubBinding) => keyOf(metadata.namespace, metadata.name ?? '');
  const isOurs = ({ metadata }: HubWork) =>
    (metadata.labels?.[labels.parentPlacementNamespace] !== undefined) === family.binding.namespaced;
  const isLabelled = ({ metadata }: HubWork) => metadata.labels?.[labels.parentBinding] !== undefined;
  /** For a Work that has lost its labels: it still belongs to the binding that derives its name. */
  const bindingsByName = ({ metadata }: HubWork, view: View) =>
    view
      .by(family.bindings, 'cluster', clusterOfNamespace(metadata.namespace ?? '') ?? '')
      .filter((binding) => baseFor(binding) === workBaseIn(metadata.name ?? ''))
      .map(keyOfBinding);
  /**
   * A Work of an earlier binding might have been reused by this one. If this one is deleted too, the Work is an orphan.
   */
  const orphansBehind = (binding: HubBinding, view: View) =>
    view
      .by(works, 'base', keyOf(memberNamespace(binding.spec.targetCluster), baseFor(binding)))
      .filter(isOurs)
      .flatMap(bindingOf);
  return {
    name: `work-generator/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      {
        source: family.bindings,
        toKeys: (item, view, other) => {
          if (other !== undefined && waitsForRelease(item, other)) return [];
          const survivor = item.metadata.annotations?.[annotations.twinOf];
          // The survivor takes over the objects on the cluster once no other binding claims them.
          const further = survivor === undefined ? [] : [keyOf(item.metadata.namespace, survivor)];
          return [keyOfBinding(item), ...further, ...(isDeleting(item) ? orphansBehind(item, view) : [])];
        },
      },
      {
        source: works,
        as: 'report',
        toKeys(item, view) {
          if (!isLabelled(item)) return bindingsByName(item, view);
          if (!isOurs(item)) return isNamedAsLabelled(item) ? [] : bindingsByName(item, view);
          const own = bindingOf(item);
          // If the binding was deleted, the next binding that derives this name takes the Work over.
          return own.some((key) => isKnown(view, key)) ? own : [...own, ...bindingsByName(item, view)];
        },
      },
      {
        source: family.placements,
        toKeys: (item, view, old) =>
          old === undefined ||
          (keepsTakenOver(old) === keepsTakenOver(item) && deepEqual(reportBackOf(old), reportBackOf(item)))
            ? []
            : view
                .by(family.bindings, 'placement', keyOf(item.metadata.namespace, item.metadata.name ?? ''))
                .map(keyOfBinding),
      },
      // The binding itself says which snapshot it references; this watch catches snapshots that arrive late or are
      // deleted early.
      {
        source: family.resourceSnapshots,
        toKeys: (item, view, other) =>
          other?.metadata.uid === item.metadata.uid
            ? []
            : view
                .by(family.bindings, 'placement', placementKeyOf(item))
                .filter(({ spec }) => spec.resourceSnapshotName === masterNameFor(item))
                .map(keyOfBinding),
      },
      ...overrideFamilies.map(({ snapshots }) => ({
        source: snapshots,
        toKeys: (item: HubOverrideSnapshot, view: View, other?: HubOverrideSnapshot) =>
          other?.metadata.uid === item.metadata.uid
            ? []
            : view
                .by(family.bindings, 'override', keyOf(item.metadata.namespace, item.metadata.name ?? ''))
                .map(keyOfBinding),
      })),
      {
        source: memberClusters,
        toKeys: (item, view, old) =>
          old === undefined || isLeaving(old) !== isLeaving(item)
            ? view.by(family.bindings, 'cluster', item.metadata.name ?? '').map(keyOfBinding)
            : [],
      },
    ],

    memory: () => ({ orphanedSince: undefined }),

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const binding = view.get(family.bindings, name, namespace);
      if (binding === undefined) return orphansOf(view, key, memory);
      memory.orphanedSince = undefined;
      const found = worksOf(view, binding, key);
      const survivor = survivorOf(view, binding);
      if (isDeleting(binding) && !found.some((each) => isCleanedUpWith(binding, each))) {
        const unsure = unsureOf(view, binding);
        if (unsure !== undefined) return unsure;
      }
      const { state, targetCluster } = binding.spec;
      // Deleting a Work deletes its workloads on the member, so read the member live first: a stale cache may not know
      // that it is leaving.
      const removes =
        isDeleting(binding) && survivor === undefined && found.some((each) => isCleanedUpWith(binding, each));
      const member = removes ? unsureMember(view, targetCluster) : [];
      if (member.length > 0) return { need: member };
      const isActive = !isDeleting(binding) && state !== 'Scheduled' && (state !== 'Bound' || isReleased(binding));
      const group = isActive ? groupOf(view, binding) : 'incomplete';
      if (isNeed(group)) return group;
      const overrides = isActive ? overridesOf(view, binding) : [];
      if (isNeed(overrides)) return overrides;
      return {
        family,
        binding,
        works: found,
        group,
        overrides,
        isMemberThere: view.get(memberClusters, targetCluster) !== undefined,
        isMemberLeaving: isMemberLeaving(view, targetCluster, removes ? 'live' : 'cached'),
        ...(survivor === undefined ? {} : { survivor }),
        keepsTakenOver: keeping(view, binding),
        reportBack: reporting(view, binding),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
      };
    },

    decide: (observed) => ('orphans' in observed ? decideOrphans(observed) : decide(observed)),
  };

  function isKnown(view: View, key: string): boolean {
    const { name, namespace } = partsOf(key);
    return view.get(family.bindings, name, namespace) !== undefined;
  }

  /** The cache may be stale: confirm with a live read that the binding was deleted. */
  function orphansOf(view: View, key: string, memory: Memory): Orphaned | Need | undefined {
    const orphans = view
      .by(works, 'binding', key)
      .filter((each) => isOurs(each) && isLeftBehind(each) && bindingsByName(each, view).length === 0);
    if (orphans.length === 0) return undefined;
    const clusters = [
      ...new Set(orphans.flatMap(({ metadata }) => clusterOfNamespace(metadata.namespace ?? '') ?? [])),
    ];
    const { group, kind } = family.binding;
    const ref: FullRef = { on: 'hub', resource: family.binding, group, kind, ...partsOf(key), live: true };
    const whole = view.getFull(ref);
    if (whole === undefined) return { need: [ref] };
    if (whole !== null) return undefined;
    // If the clock was set back, the count restarts.
    const since = Math.min(memory.orphanedSince ?? view.now, view.now);
    memory.orphanedSince = since;
    const isRemoving = isDue({ since, now: view.now });
    const member = isRemoving ? clusters.flatMap((cluster) => unsureMember(view, cluster)) : [];
    if (member.length > 0) return { need: member };
    if (clusters.some((cluster) => isMemberLeaving(view, cluster, isRemoving ? 'live' : 'cached'))) return undefined;
    return { orphans, since, now: view.now };
  }

  /**
   * Only while the survivor exists: if it is deleted too, the objects on the cluster are deleted with the last of them.
   */
  function survivorOf(view: View, { metadata }: HubBinding): HubBinding | undefined {
    const name = metadata.annotations?.[annotations.twinOf];
    const survivor = name === undefined ? undefined : view.get(family.bindings, name, metadata.namespace);
    return survivor === undefined || isDeleting(survivor) ? undefined : survivor;
  }

  /** The setting of the placement; if it was deleted, undefined: the binding or its Works recorded it. */
  function keeping(view: View, binding: HubBinding): boolean | undefined {
    const { name, namespace } = partsOf(placementKeyOf(binding));
    const placement = view.get(family.placements, name, namespace);
    if (placement !== undefined) return keepsTakenOver(placement);
    return keepsTakenOver(binding) ? true : undefined;
  }

  function reporting(view: View, binding: HubBinding): Observed['reportBack'] {
    const { name, namespace } = partsOf(placementKeyOf(binding));
    const placement = view.get(family.placements, name, namespace);
    return placement === undefined ? 'as it is' : reportBackOf(placement);
  }

  /** Deduplicated: by label, and by the names of the binding's Works, because a Work may have lost its labels. */
  function worksOf(view: View, binding: HubBinding, key: string): readonly HubWork[] {
    const labelled = view.by(works, 'binding', key).filter(isOurs);
    const named = view
      .by(works, 'base', keyOf(memberNamespace(binding.spec.targetCluster), baseFor(binding)))
      .filter((each) => !labelled.includes(each));
    if (named.length === 0) return labelled;
    return isDeleting(binding) && hasSurvivor(view, binding) ? labelled : [...labelled, ...named];
  }

  /**
   * The cache may be stale: confirm with a live read that no Work of the binding is left in the member's namespace, or
   * an unseen one would leak. The first one is also read by name, because it may have lost its labels.
   */
  function unsureOf(view: View, binding: HubBinding): Need | undefined {
    const first = firstWork(binding);
    const namespace = memberNamespace(binding.spec.targetCluster);
    const part = { namespace, labels: `${labels.parentBinding}=${binding.metadata.name}` };
    const isAsked = view.isRefreshed?.(works, part) ?? true;
    if (isAsked && view.getFull(first) !== undefined) return undefined;
    return { need: [first], ...(isAsked ? {} : { ask: [{ source: works, part }] }) };
  }

  /** Then Works without labels belong to the survivor, which restores the labels. */
  function hasSurvivor(view: View, binding: HubBinding): boolean {
    return view
      .by(family.bindings, 'cluster', binding.spec.targetCluster)
      .some((each) => baseFor(each) === baseFor(binding) && !isDeleting(each) && each.spec.state === 'Bound');
  }

  function groupOf(view: View, binding: HubBinding): Observed['group'] | Need {
    const all = view.by(family.resourceSnapshots, 'placement', placementKeyOf(binding));
    const master = all.find(({ metadata }) => metadata.name === binding.spec.resourceSnapshotName);
    if (master === undefined || !isMaster(master)) return 'missing';
    if (missingParts(all, master).length > 0) return 'incomplete';
    const refs = snapshotsIn(all, master).map(
      ({ metadata }): FullRef => ({
        on: 'hub',
        resource: family.resourceSnapshot,
        group: family.resourceSnapshot.group,
        kind: family.resourceSnapshot.kind,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        name: metadata.name ?? '',
        // Bindings ignore a change of the is-latest label: with a thousand clusters it would requeue a thousand keys.
        specOnly: true,
      }),
    );
    const wholes = refs.map((ref) => ({ ref, whole: view.getFull(ref) }));
    const need = wholes.filter(({ whole }) => whole === undefined).map(({ ref }) => ref);
    if (need.length > 0) return { need };
    if (wholes.some(({ whole }) => whole === null)) return 'missing';
    const group = wholes.map(({ whole }) => whole as ResourceSnapshot);
    const doubtful = refs.filter((_, index) => isOfFormer(binding, group[index] as ResourceSnapshot));
    const live = doubtful
      .map((ref): FullRef => ({ ...ref, live: true }))
      .map((ref) => ({ ref, whole: view.getFull(ref) }));
    const unread = live.filter(({ whole }) => whole === undefined).map(({ ref }) => ref);
    if (unread.length > 0) return { need: unread };
    const isStale = live.some(({ whole }) => !group.some(({ metadata }) => metadata.uid === whole?.metadata.uid));
    return isStale ? 'incomplete' : group;
  }
}

/**
 * The placement was deleted and created again under its name: a stale cache may still have the former snapshot of that
 * name, whose content must not be delivered as the new one.
 */
const isOfFormer = ({ metadata }: HubBinding, snapshot: ResourceSnapshot): boolean => {
  const owner = snapshot.metadata.ownerReferences?.find((each) => each.controller === true)?.uid;
  const expected = metadata.annotations?.[annotations.placementUid];
  return owner !== undefined && expected !== undefined && owner !== expected;
};

/** For any snapshot of a group. */
const masterNameFor = (item: HubResourceSnapshot): string =>
  masterSnapshotName(item.metadata.labels?.[labels.parentPlacement] ?? '', resourceIndexOf(item) ?? -1);

/** The cache may be stale: an override snapshot counts as missing only after a live read. */
function overridesOf(view: View, { spec }: HubBinding): Observed['overrides'] | Need {
  const { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] } = spec;
  const named: readonly { readonly namespace?: string; readonly name: string }[] = [
    ...wide.map((name) => ({ name })),
    ...narrow,
  ];
  const found: HubOverrideSnapshot[] = [];
  const need: FullRef[] = [];
  let missing: string | undefined;
  for (const { namespace, name } of named) {
    const source = overrideSnapshotsIn(namespace);
    const known = view.get(source, name, namespace);
    if (known !== undefined) {
      found.push(known);
      continue;
    }
    const { group, kind } = source.resource;
    const within = namespace === undefined ? {} : { namespace };
    const ref: FullRef = { on: 'hub', resource: source.resource, group, kind, ...within, name, live: true };
    const whole = view.getFull(ref);
    if (whole === undefined) need.push(ref);
    else if (whole === null) missing ??= keyOf(namespace, name);
    else found.push(...[source.project?.(whole) ?? []].flat());
  }
  if (need.length > 0) return { need };
  return missing ?? found;
}

/** Created by the hub; a Work that another client created is left to that client. */
const isLeftBehind = ({ metadata }: HubWork): boolean =>
  metadata.deletionTimestamp === undefined && metadata.annotations?.[annotations.orderedBy] !== undefined;

/**
 * The binding was moved but not released: there is nothing to do until the rollout releases it. The event may present
 * the two states in either order; if the server went back in time, the events of the Works requeue the key.
 */
function waitsForRelease(a: HubBinding, b: HubBinding): boolean {
  const newer = (a.metadata.generation ?? 0) > (b.metadata.generation ?? 0) ? a : b;
  return (
    a.metadata.uid === b.metadata.uid &&
    newer.spec.state === 'Bound' &&
    !isDeleting(newer) &&
    !isReleased(newer) &&
    (newer.metadata.finalizers ?? []).includes(finalizers.workCleanup) &&
    [a, b].every(({ metadata }) => metadata.annotations?.[annotations.twinOf] === undefined)
  );
}

/** undefined = the statuses of placed objects are not mirrored. */
function reportBackOf({ spec }: HubPlacement): ReportBackStrategy | undefined {
  const asked = spec.strategy?.reportBackStrategy;
  return asked?.type === 'Mirror' ? asked : undefined;
}

const isDeleting = ({ metadata }: HubBinding): boolean => metadata.deletionTimestamp !== undefined;

const firstWork = (binding: HubBinding): FullRef => ({
  on: 'hub',
  resource: work,
  group: work.group,
  kind: work.kind,
  namespace: memberNamespace(binding.spec.targetCluster),
  name: masterWorkName(baseFor(binding)),
  live: true,
});

/** The prefix of the names of all its Works. */
const baseFor = ({ metadata }: HubBinding): string =>
  workBaseName(metadata.labels?.[labels.parentPlacement] ?? '', metadata.namespace);

/** False if its labels were changed by hand, perhaps to those of the other scope. */
const isNamedAsLabelled = ({ metadata: { name = '', labels: told } }: HubWork): boolean =>
  workBaseIn(name) === workBaseName(told?.[labels.parentPlacement] ?? '', told?.[labels.parentPlacementNamespace]);

const bindingOf = ({ metadata }: HubWork): readonly string[] => {
  const binding = metadata.labels?.[labels.parentBinding];
  return binding === undefined ? [] : [keyOf(metadata.labels?.[labels.parentPlacementNamespace], binding)];
};
