// Observes everything that orders depend on. Every controller gets the orders of a placement from here, so that the
// rollout, the status and staged runs always agree on the desired state of a cluster.
import { labels } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf } from '../../runtime/cache.ts';
import { type Asked, type FullRef, isNeed, type Need, type View } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { candidatesAmong, inForce, newestIn, type OverrideInForce } from '../overrides/in-force.ts';
import { type Offered, offeredBy, offeredIn } from '../overrides/matching.ts';
import { type OverrideFamily, overrideFamilies } from '../overrides/sources.ts';
import { groupOf, type HubPlacement, type HubResourceSnapshot, isLatest, missingParts } from '../placement-sources.ts';
import { bookOf } from '../revisions/variants.ts';
import { memberClusters } from '../sources.ts';
import { commitHold } from './of-one-commit.ts';
import type { Orders } from './order.ts';
import { ordersFor, type Variants } from './orders-for.ts';

export interface ObserveOrders {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  /** The name of the master snapshot of the revision. */
  readonly snapshot: string;
  /**
   * How far caches are trusted. `moves`: an override that a binding references is dropped only after a live read.
   * `records`: the result is final, so overrides are listed live first. `reports`: the next reconcile corrects it.
   */
  readonly for: 'moves' | 'records' | 'reports';
}

const NO_LABELS: Labels = {};

/** Need = something must be read first, such as the content of the revision that overrides are matched against. */
export function observeOrders(view: View, input: ObserveOrders): Orders | Need {
  const { family, placement, snapshot } = input;
  const ask = unsureOf(view, input).filter(({ source, part }) => view.isRefreshed?.(source, part) === false);
  if (ask.length > 0) return { need: [], ask };
  const held = heldByCommit(view, input);
  if (held !== undefined) return () => ({ undecided: held });
  const candidates = overrideFamilies.flatMap((kinds) => candidatesIn(view, kinds, placement));
  const variants = variantsIn(view, input);
  if (candidates.length === 0) return ordersFor({ placement, snapshot, ...variants });
  const offered = offeredWith(view, family, placement, snapshot);
  if (isNeed(offered)) return offered;
  const { snapshots, pending } = inForce(candidates, offered, refTo(family.placement, placement));
  return ordersFor({
    placement,
    snapshot,
    ...variants,
    overriding: { snapshots, ...(pending === undefined ? {} : { pending }), labelsOf: labelsIn(view) },
  });
}

const labelsIn = (view: View) => (cluster: string) => {
  const member = view.get(memberClusters, cluster);
  return member && (member.metadata.labels ?? NO_LABELS);
};

/** The revision that a run rolls out was chosen by a user, so the commit does not hold it. */
function heldByCommit(view: View, input: ObserveOrders) {
  const { family, placement, for: purpose } = input;
  if (purpose === 'records' || placement.spec.source === undefined) return undefined;
  const { namespace, name = '' } = placement.metadata;
  const policySnapshot = view.by(family.policySnapshots, 'placement', keyOf(namespace, name)).find(isLatest);
  return commitHold({ family, placement, master: masterIn(view, input), policySnapshot });
}

function masterIn(view: View, { family, placement, snapshot }: ObserveOrders): HubResourceSnapshot | undefined {
  const { namespace, name = '' } = placement.metadata;
  return view
    .by(family.resourceSnapshots, 'placement', keyOf(namespace, name))
    .find(({ metadata }) => metadata.name === snapshot);
}

function variantsIn(view: View, input: ObserveOrders): { readonly variants?: Variants } {
  if (input.placement.spec.source === undefined) return {};
  const master = masterIn(view, input);
  const book = master && bookOf(master);
  return book === undefined ? {} : { variants: { book, labelsOf: labelsIn(view) } };
}

/** A ResourcePlacement selects objects of its own namespace only. */
const candidatesIn = (
  view: View,
  { overrides, snapshots }: OverrideFamily,
  { metadata }: HubPlacement,
): readonly OverrideInForce[] =>
  candidatesAmong(
    view.all(overrides, overrides.resource.namespaced ? metadata.namespace : undefined),
    (each) => view.by(snapshots, 'override', keyOf(each.metadata.namespace, each.metadata.name ?? '')),
    metadata,
  );

const offers = new WeakMap<HubResourceSnapshot, Offered>();

/** The objects of the revision. Cached, because snapshots are immutable; only their identifiers are kept. */
function offeredWith(view: View, family: PlacementFamily, placement: HubPlacement, name: string): Offered | Need {
  const { metadata } = placement;
  const all = view.by(family.resourceSnapshots, 'placement', keyOf(metadata.namespace, metadata.name ?? ''));
  const master = all.find((each) => each.metadata.name === name);
  if (master === undefined) return offeredIn([]);
  const group = groupOf(all, master);
  const isComplete = missingParts(all, master).length === 0;
  const known = isComplete ? offers.get(master) : undefined;
  if (known !== undefined) return known;
  const refs = group.map(
    (each): FullRef => ({
      on: 'hub',
      resource: family.resourceSnapshot,
      ...refTo(family.resourceSnapshot, each),
      specOnly: true,
    }),
  );
  const need = refs.filter((ref) => view.getFull(ref) === undefined);
  if (need.length > 0) return { need };
  const objects = refs.flatMap((ref) => (view.getFull(ref) as ResourceSnapshot | null)?.spec?.selectedResources ?? []);
  const offered = offeredBy(objects);
  if (isComplete) offers.set(master, offered);
  return offered;
}

/** What caches are not trusted for: overrides that seem to be deleted, or older than the ones that bindings have. */
function unsureOf(view: View, { family, placement, for: purpose }: ObserveOrders): readonly Asked[] {
  const { namespace, name = '' } = placement.metadata;
  if (purpose === 'reports') return [];
  if (purpose === 'records') {
    return overrideFamilies.flatMap(({ overrides, snapshots }) => {
      const part = overrides.resource.namespaced && namespace !== undefined ? { namespace } : {};
      return [overrides, snapshots].map((source) => ({ source, part }));
    });
  }
  const named = new Map<string, { readonly namespace?: string; readonly name: string }>();
  for (const { spec } of view.by(family.bindings, 'placement', keyOf(namespace, name))) {
    for (const each of spec.clusterResourceOverrideSnapshots ?? []) named.set(each, { name: each });
    for (const each of spec.resourceOverrideSnapshots ?? []) named.set(keyOf(each.namespace, each.name), each);
  }
  return [...named.values()].flatMap((each) => unsureAbout(view, each));
}

function unsureAbout(
  view: View,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
): readonly Asked[] {
  const [, override = '', index = ''] = /^(.+)-(\d{1,9})$/.exec(name) ?? [];
  const { overrides, snapshots } = overrideFamilies[namespace === undefined ? 0 : 1] as OverrideFamily;
  if (override === '') return [];
  const known = view.get(overrides, override, namespace);
  const newest = newestIn(view.by(snapshots, 'override', keyOf(namespace, override)));
  const isCertain =
    known !== undefined && known.metadata.deletionTimestamp === undefined && (newest?.index ?? -1) >= Number(index);
  if (isCertain) return [];
  const within = namespace === undefined ? {} : { namespace };
  return [
    { source: overrides, part: { ...within, name: override } },
    { source: snapshots, part: { ...within, labels: `${labels.parentOverride}=${override}` } },
  ];
}
