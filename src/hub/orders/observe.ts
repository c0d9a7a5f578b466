// Gathers what orders follow from. Every controller that needs the orders of a placement takes them from here, so that the rollout, the status
// and staged runs never disagree about what a cluster should have.
import { labels } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf } from '../../runtime/cache.ts';
import { type Asked, isNeed, type Need, type See, type WholeRef } from '../../runtime/controller.ts';
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
  /** Name of the first snapshot of the revision's group. */
  readonly snapshot: string;
  /**
   * How far caches are trusted. `moves`: an override that a binding names is dropped only after a live read. `records`: what is decided now holds
   * for good, so overrides are listed first. `reports`: the next reconcile corrects it.
   */
  readonly for: 'moves' | 'records' | 'reports';
}

const NO_LABELS: Labels = {};

/** Need = something must be read first, such as the content of the revision that overrides are matched against. */
export function observeOrders(see: See, input: ObserveOrders): Orders | Need {
  const { family, placement, snapshot } = input;
  const ask = unsureOf(see, input).filter(({ source, part }) => see.isRefreshed?.(source, part) === false);
  if (ask.length > 0) return { need: [], ask };
  const held = heldByCommit(see, input);
  if (held !== undefined) return () => ({ undecided: held });
  const candidates = overrideFamilies.flatMap((kinds) => candidatesIn(see, kinds, placement));
  const variants = variantsIn(see, input);
  if (candidates.length === 0) return ordersFor({ placement, snapshot, ...variants });
  const offered = offeredWith(see, family, placement, snapshot);
  if (isNeed(offered)) return offered;
  const { snapshots, pending } = inForce(candidates, offered, refTo(family.placement, placement));
  return ordersFor({
    placement,
    snapshot,
    ...variants,
    overriding: { snapshots, ...(pending === undefined ? {} : { pending }), labelsOf: labelsIn(see) },
  });
}

const labelsIn = (see: See) => (cluster: string) => {
  const member = see.get(memberClusters, cluster);
  return member && (member.metadata.labels ?? NO_LABELS);
};

/** What a person has chosen by a run counts whatever the repository asks for. */
function heldByCommit(see: See, input: ObserveOrders) {
  const { family, placement, for: purpose } = input;
  if (purpose === 'records' || placement.spec.source === undefined) return undefined;
  const { namespace, name = '' } = placement.metadata;
  const policySnapshot = see.by(family.policySnapshots, 'placement', keyOf(namespace, name)).find(isLatest);
  return commitHold({ family, placement, master: masterIn(see, input), policySnapshot });
}

function masterIn(see: See, { family, placement, snapshot }: ObserveOrders): HubResourceSnapshot | undefined {
  const { namespace, name = '' } = placement.metadata;
  return see
    .by(family.resourceSnapshots, 'placement', keyOf(namespace, name))
    .find(({ metadata }) => metadata.name === snapshot);
}

function variantsIn(see: See, input: ObserveOrders): { readonly variants?: Variants } {
  if (input.placement.spec.source === undefined) return {};
  const master = masterIn(see, input);
  const book = master && bookOf(master);
  return book === undefined ? {} : { variants: { book, labelsOf: labelsIn(see) } };
}

/** A ResourcePlacement selects objects of its own namespace only. */
const candidatesIn = (
  see: See,
  { overrides, snapshots }: OverrideFamily,
  { metadata }: HubPlacement,
): readonly OverrideInForce[] =>
  candidatesAmong(
    see.all(overrides, overrides.resource.namespaced ? metadata.namespace : undefined),
    (each) => see.by(snapshots, 'override', keyOf(each.metadata.namespace, each.metadata.name ?? '')),
    metadata,
  );

const offers = new WeakMap<HubResourceSnapshot, Offered>();

/** What the revision holds. Remembered, since snapshots never change: their content need not be kept for it. */
function offeredWith(see: See, family: PlacementFamily, placement: HubPlacement, name: string): Offered | Need {
  const { metadata } = placement;
  const all = see.by(family.resourceSnapshots, 'placement', keyOf(metadata.namespace, metadata.name ?? ''));
  const master = all.find((each) => each.metadata.name === name);
  if (master === undefined) return offeredIn([]);
  const group = groupOf(all, master);
  const isComplete = missingParts(all, master).length === 0;
  const known = isComplete ? offers.get(master) : undefined;
  if (known !== undefined) return known;
  const refs = group.map(
    (each): WholeRef => ({
      on: 'hub',
      resource: family.resourceSnapshot,
      ...refTo(family.resourceSnapshot, each),
      specOnly: true,
    }),
  );
  const need = refs.filter((ref) => see.whole(ref) === undefined);
  if (need.length > 0) return { need };
  const objects = refs.flatMap((ref) => (see.whole(ref) as ResourceSnapshot | null)?.spec?.selectedResources ?? []);
  const offered = offeredBy(objects);
  if (isComplete) offers.set(master, offered);
  return offered;
}

/** What caches may not be believed about: overrides that seem to be deleted, or older than what bindings have. */
function unsureOf(see: See, { family, placement, for: purpose }: ObserveOrders): readonly Asked[] {
  const { namespace, name = '' } = placement.metadata;
  if (purpose === 'reports') return [];
  if (purpose === 'records') {
    return overrideFamilies.flatMap(({ overrides, snapshots }) => {
      const part = overrides.resource.namespaced && namespace !== undefined ? { namespace } : {};
      return [overrides, snapshots].map((source) => ({ source, part }));
    });
  }
  const named = new Map<string, { readonly namespace?: string; readonly name: string }>();
  for (const { spec } of see.by(family.bindings, 'placement', keyOf(namespace, name))) {
    for (const each of spec.clusterResourceOverrideSnapshots ?? []) named.set(each, { name: each });
    for (const each of spec.resourceOverrideSnapshots ?? []) named.set(keyOf(each.namespace, each.name), each);
  }
  return [...named.values()].flatMap((each) => unsureAbout(see, each));
}

function unsureAbout(
  see: See,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
): readonly Asked[] {
  const [, override = '', index = ''] = /^(.+)-(\d{1,9})$/.exec(name) ?? [];
  const { overrides, snapshots } = overrideFamilies[namespace === undefined ? 0 : 1] as OverrideFamily;
  if (override === '') return [];
  const known = see.get(overrides, override, namespace);
  const newest = newestIn(see.by(snapshots, 'override', keyOf(namespace, override)));
  const isCertain =
    known !== undefined && known.metadata.deletionTimestamp === undefined && (newest?.index ?? -1) >= Number(index);
  if (isCertain) return [];
  const within = namespace === undefined ? {} : { namespace };
  return [
    { source: overrides, part: { ...within, name: override } },
    { source: snapshots, part: { ...within, labels: `${labels.parentOverride}=${override}` } },
  ];
}
