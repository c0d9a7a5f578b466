// The placement controller: what it watches and observes. decide.ts has its decisions, select.ts the selection. It owns
// selection, policy and resource snapshots, and the status of the placement. It does not choose clusters (scheduler),
// the time (rollout) or write Works (work-generator).

import type { LiveCatalogue } from '../../api/catalogue.ts';
import { innerIdentifiers } from '../../api/enveloped.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { namespaceResource } from '../../api/resources.ts';
import { identifierOf } from '../../api/selected-resource.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import { isMirrored, mirrorNamespaceOf } from '../../api/status-mirror.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson } from '../../base/json.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import {
  type Controller,
  type FullRef,
  isNeed,
  type Need,
  type View,
  type WatchRule,
} from '../../runtime/controller.ts';
import { dueAt, newThrottle, sawDone, type Throttle } from '../../runtime/due.ts';
import { dependentsOf, observeDependencies } from '../dependencies/observe.ts';
import type { PlacementFamily } from '../families.ts';
import { freezeRule, freezesIn } from '../freezes/sources.ts';
import { groupRule, groupsIn } from '../groups/sources.ts';
import { observeOrders } from '../orders/observe.ts';
import { overrideRules } from '../overrides/watching.ts';
import {
  groupOf,
  type HubBinding,
  type HubPlacement,
  type HubResourceSnapshot,
  placementKeyOf,
} from '../placement-sources.ts';
import { onceEach } from '../revisions/content.ts';
import { defaultDelays, type RevisionDelays, sawContent } from '../revisions/delays.ts';
import { inOrder } from '../revisions/order.ts';
import { observePlaces } from '../revisions/places.ts';
import { createPropagation, type PropagationSettings } from '../revisions/propagation.ts';
import { bundleKeyOf, type Rendered } from '../revisions/rendered.ts';
import {
  createSelectionCache,
  isMissing,
  type Missing,
  resolveSelection,
  type Selected,
} from '../revisions/resolve-selection.ts';
import { hashOf, latestMaster } from '../revisions/resource-snapshot.ts';
import { bookOf } from '../revisions/variants.ts';
import { createWatchPlan, type WatchPlan } from '../revisions/watch-plan.ts';
import { memberClusters } from '../sources.ts';
import { STATUS_INTERVAL_MS, STATUS_WRITES } from '../status/status-rule.ts';
import type { HubStatusMirror } from '../status-mirror-source.ts';
import { isExternal } from '../strategies/table.ts';
import { decide } from './decide.ts';
import { noPlacementMetrics, type PlacementMetrics } from './metrics.ts';
import { type Mirror, namespaceChange } from './mirror.ts';
import type { Living, Observed } from './observed.ts';

export interface PlacementOptions {
  /** The catalogue of the hub. */
  readonly catalogue: LiveCatalogue;
  /** Shared by the controllers of both families, so that they share watches. */
  readonly plan?: WatchPlan;
  readonly throttle?: Partial<RevisionDelays>;
  /**
   * Maximum bytes of objects in one snapshot; the simulation uses less than SNAPSHOT_LIMIT, so that its worlds stay
   * small.
   */
  readonly snapshotLimit?: number;
  readonly propagation?: PropagationSettings;
  /** The content of repositories. */
  readonly rendered?: Rendered;
  readonly metrics?: PlacementMetrics;
  /** For tests of large fleets: each cluster counts as this many where only the number matters. */
  readonly weight?: number;
}

interface Memory {
  /** The placement is not being deleted. */
  isLiving: boolean;
  /** The bundle of a placement with a source. */
  bundle: string | undefined;
  readonly statusWrites: Throttle;
  /** Selected content that is not in a snapshot yet. */
  readonly content: Throttle;
}

export function placementController(family: PlacementFamily, options: PlacementOptions): Controller<Observed, Memory> {
  const { catalogue, plan = createWatchPlan(), weight = 1 } = options;
  const throttle: RevisionDelays = { ...defaultDelays, ...options.throttle };
  /** Shared by all placements, bounded in bytes. */
  const contents = createSelectionCache();
  const looking = {
    catalogue,
    propagation: createPropagation(options.propagation),
    plan,
    contents,
    rendered: options.rendered,
  };
  const { metrics = noPlacementMetrics } = options;
  const prefix = `${family.placement.kind} `;

  function forget(key: string): void {
    metrics.forget(partsOf(key));
    contents.delete(`${prefix}${key}`);
    plan.forget(`${prefix}${key}`);
  }

  function observeLiving(view: View, key: string, seen: Seen, memory: Memory): Living | Need {
    const { placement, resourceSnapshots } = seen;
    const placementRef = refTo(family, placement.metadata);
    const whole = view.getFull(placementRef);
    // Fetched before the watches below are used: an event that arrives during a fetch would not requeue the key.
    if (whole === undefined) return { need: [placementRef] };
    const previous = (whole as Placement | null)?.status;
    const copies = family.statusMirrors === undefined ? [] : view.by(family.statusMirrors, 'placement', key);
    const changed = family.statusMirrors && namespaceChange(placement, previous, copies);
    const selected: Selected | Missing =
      changed === undefined
        ? resolveSelection(view, `${prefix}${key}`, placement, looking)
        : { state: 'invalid', message: changed };
    if (isMissing(selected)) return selected;
    const mirror = changed === undefined ? mirrorOf(view, key, placement, copies) : undefined;
    if (isNeed(mirror)) return mirror;
    const bindings = view.by(family.bindings, 'placement', key);
    const latest = latestMaster(resourceSnapshots);
    const delivered = deliveredIn(view, family, { ...seen, latest, selected, bindings });
    if (delivered !== undefined && 'need' in delivered) return delivered;
    const { snapshotLimit: limit } = options;
    const places =
      selected.state === 'selected' && !isExternal(placement)
        ? observePlaces(view, { family, snapshots: resourceSnapshots, content: selected.content, limit })
        : undefined;
    if (isNeed(places)) return places;
    const orders =
      latest && observeOrders(view, { family, placement, snapshot: latest.metadata.name ?? '', for: 'reports' });
    if (isNeed(orders)) return orders;
    const heldOn = observeDependencies(view, family, placement, bindings);
    sawDone(memory.statusWrites, STATUS_WRITES, previous, view.now, bindings.length * weight);
    const statusDue = dueAt(memory.statusWrites, STATUS_WRITES, view.now);
    const pending = pendingOf(memory, selected, latest, view.now);
    return {
      selected,
      specProblem: specProblemIn(placement.spec),
      ...(pending === undefined ? {} : { pending }),
      ...(delivered === undefined ? {} : { delivered }),
      ...(orders === undefined ? {} : { orders }),
      bindings,
      // Only the status needs them.
      members: view.now < statusDue ? [] : membersOf(view, bindings),
      groups: groupsIn(view),
      freezes: freezesIn(view),
      ...(heldOn === undefined ? {} : { heldOn }),
      previous,
      ...(mirror === undefined ? {} : { mirror }),
      statusDue,
      throttle,
      ...(places === undefined ? {} : { places }),
      ...(limit === undefined ? {} : { snapshotLimit: limit }),
    };
  }

  /** The watch of the selector also shows whether the namespace exists. */
  function mirrorOf(
    view: View,
    key: string,
    placement: HubPlacement,
    copies: readonly HubStatusMirror[],
  ): Mirror | Need | undefined {
    if (family.statusMirrors === undefined || !isMirrored(placement.spec)) return undefined;
    const namespace = mirrorNamespaceOf(placement.spec);
    const copy = copies.find(({ metadata }) => metadata.namespace === namespace);
    if (namespace === '') return { namespace, isNamespace: 'absent', copy };
    const source = plan.sourceFor(namespaceResource, undefined, `${prefix}${key}`);
    const found = view.listOnDemand(source, { name: namespace });
    // If the hub must not list namespaces, it tries the write and reports the error.
    if (found === undefined) {
      return view.listError(source) === undefined
        ? { need: [], watch: [source] }
        : { namespace, isNamespace: 'present', copy };
    }
    const [one] = found;
    const isNamespace =
      one === undefined ? 'absent' : one.metadata.deletionTimestamp === undefined ? 'present' : 'terminating';
    return { namespace, isNamespace, copy };
  }

  return {
    name: `placement/${family.placement.kind}`,
    eventSource: family.eventSource,
    watches: [
      {
        source: family.placements,
        toKeys: (each: HubPlacement) => [keyOf(each.metadata.namespace, each.metadata.name ?? '')],
      },
      { source: family.policySnapshots, toKeys: ofPlacement },
      { source: family.resourceSnapshots, toKeys: ofPlacement },
      {
        source: family.bindings,
        toKeys: (item: HubBinding, view: View, old?: HubBinding) => [
          ...ofPlacement(item),
          ...dependentsOf(view, family, item, old),
        ],
        // Bindings are many and change often, but only the status and the history depend on them. So their changes are
        // coalesced, and run after the work of the controllers that cause them.
        as: 'report',
        wait: {
          coalesceMs: STATUS_INTERVAL_MS,
          until: { rule: STATUS_WRITES, of: ({ statusWrites }) => statusWrites },
        },
      },
      memberRule(family),
      groupRule(family),
      freezeRule(family),
      ...overrideRules(family),
      ...(family.statusMirrors === undefined
        ? []
        : [{ source: family.statusMirrors, toKeys: ({ metadata }: HubStatusMirror) => [metadata.name ?? ''] }]),
    ],

    memory: () => ({ isLiving: false, bundle: undefined, statusWrites: newThrottle(), content: newThrottle() }),
    forget,

    begin(wake, signal, memories) {
      const isOurs = (reader: string) =>
        reader.startsWith(prefix) && memories.get(reader.slice(prefix.length))?.isLiving === true;
      plan.onWiden((reader) => {
        if (isOurs(reader)) wake(reader.slice(prefix.length));
      });
      // A kind was added or removed, so a placement that names it, or selects whole namespaces, may select other
      // objects.
      const stop = catalogue.subscribe(() => {
        for (const [key, { isLiving }] of memories) if (isLiving) wake(key);
      });
      const stopReading = options.rendered?.subscribe((changed) => {
        for (const [key, { isLiving, bundle }] of memories) if (isLiving && bundle === changed) wake(key);
      });
      signal.addEventListener(
        'abort',
        () => {
          stop();
          stopReading?.();
        },
        { once: true },
      );
    },

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const placement = view.get(family.placements, name, namespace);
      if (placement === undefined) return undefined;
      const seen: Seen = {
        placement,
        policySnapshots: view.by(family.policySnapshots, 'placement', key),
        resourceSnapshots: view.by(family.resourceSnapshots, 'placement', key),
      };
      const all = { family, ...seen, ...(view.failure === undefined ? {} : { failure: view.failure }), now: view.now };
      memory.isLiving = placement.metadata.deletionTimestamp === undefined;
      if (!memory.isLiving) {
        forget(key);
        return all;
      }
      memory.bundle = bundleKeyOf(placement);
      metrics.looked(family, placement, view.now);
      const living = observeLiving(view, key, seen, memory);
      return 'need' in living ? living : { ...all, living };
    },

    decide,
  };
}

function pendingOf({ content }: Memory, selected: Selected, latest: HubResourceSnapshot | undefined, now: number) {
  const hash = selected.state === 'selected' ? selected.content.hash : undefined;
  const isPending = hash !== undefined && latest !== undefined && hashOf(latest) !== hash;
  return sawContent(content, isPending ? { hash, snapshot: latest.metadata.name ?? '' } : undefined, now);
}

type Seen = Pick<Observed, 'placement' | 'policySnapshots' | 'resourceSnapshots'>;

const ofPlacement = (item: { readonly metadata: ObjectMeta }): readonly string[] => {
  const key = placementKeyOf(item);
  return key === '' || key.endsWith('/') ? [] : [key];
};

const refTo = (
  family: PlacementFamily,
  { namespace, name = '' }: ObjectMeta,
  resource = family.placement,
): FullRef => ({
  on: 'hub',
  resource,
  group: resource.group,
  kind: resource.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

// ---- what the status is about

interface DeliveredInput {
  readonly placement: HubPlacement;
  readonly resourceSnapshots: readonly HubResourceSnapshot[];
  readonly latest: HubResourceSnapshot | undefined;
  readonly selected: Selected;
  readonly bindings: readonly HubBinding[];
}

/** RollingUpdate: the newest group; External: the one that all clusters are on. */
function deliveredIn(view: View, family: PlacementFamily, input: DeliveredInput): Living['delivered'] | Need {
  const { latest, selected, resourceSnapshots, placement } = input;
  const master = isExternal(placement) ? commonSnapshot(input) : latest;
  if (master === undefined) return undefined;
  const snapshot = master.metadata.name ?? '';
  if (selected.state === 'selected' && selected.content.hash === hashOf(master)) {
    return { snapshot, resources: selected.content.resources };
  }
  const refs = groupOf(resourceSnapshots, master).map(({ metadata }) =>
    refTo(family, metadata, family.resourceSnapshot),
  );
  const fulls = refs.map((ref) => view.getFull(ref));
  const need = refs.filter((_, at) => fulls[at] === undefined);
  if (need.length > 0) return { need };
  // Parts are concatenated; within a revision, objects have the order of its hash.
  const objects: readonly KubeObject[] = fulls
    .flatMap((whole) => (whole as ResourceSnapshot | null)?.spec?.selectedResources ?? [])
    .map((object) => ({ object, place: { group: '', ...identifierOf(object) } }))
    .toSorted((a, b) => inOrder(a.place, b.place))
    .map(({ object }) => object);
  return {
    snapshot,
    resources: onceEach(
      objects.flatMap((object) => [identifierOf(object), ...innerIdentifiers(object)]),
      bookOf(master),
    ),
  };
}

function commonSnapshot({ bindings, resourceSnapshots }: DeliveredInput): HubResourceSnapshot | undefined {
  const living = bindings.filter(
    ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled',
  );
  const [name, ...others] = new Set(living.map(({ spec }) => spec.resourceSnapshotName));
  if (name === undefined || name === '' || others.length > 0) return undefined;
  return resourceSnapshots.find(({ metadata }) => metadata.name === name);
}

// ---- members

function membersOf(view: View, bindings: readonly HubBinding[]): readonly MemberCluster[] {
  const names = new Set(bindings.map(({ spec }) => spec.targetCluster));
  return [...names]
    .map((name) => view.get(memberClusters, name))
    .filter((member): member is MemberCluster => member !== undefined)
    .sort(by(({ metadata }) => metadata.name ?? ''));
}

/** The status of a placement depends on whether a member is reachable, not on every heartbeat. */
const newsOf = ({ metadata, status }: MemberCluster): string =>
  [
    metadata.uid,
    metadata.deletionTimestamp,
    // Partitions depend on the labels.
    canonicalJson(metadata.labels ?? {}),
    metadata.annotations?.[annotations.memberPaused],
    ...(status?.conditions ?? []).map((each) => `${each.type} ${each.status} ${each.reason}`),
  ].join(' ');

const memberRule = (family: PlacementFamily): WatchRule<MemberCluster> => ({
  source: memberClusters,
  toKeys(member, view, old) {
    if (old !== undefined && newsOf(old) === newsOf(member)) return [];
    return view.by(family.bindings, 'cluster', member.metadata.name ?? '').map(placementKeyOf);
  },
});
