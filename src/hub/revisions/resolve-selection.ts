// Resolves the selectors of a placement to objects: kinds are watched on demand, and full objects are fetched with
// Need. Everything that is missing is collected, so that one Need requests all of it.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import { isEnvelopeKind } from '../../api/enveloped.ts';
import type { Resource } from '../../api/kind.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import type { ResourceIdentifier } from '../../api/selected-resource.ts';
import { deepEqual } from '../../base/json.ts';
import { createLru, type Lru } from '../../base/lru.ts';
import type { Asked, FullRef, Part, Source, View } from '../../runtime/controller.ts';
import { clusterFamily } from '../families.ts';
import { type HubPlacement, resourceIndexOf } from '../placement-sources.ts';
import { type Content, contentOf, type Marks, marksOf } from './content.ts';
import type { Candidate, Propagation } from './propagation.ts';
import { bundleKeyOf, type Rendered } from './rendered.ts';
import { latestMaster } from './resource-snapshot.ts';
import { type Picked, select, type Unread } from './select.ts';
import type { WatchPlan } from './watch-plan.ts';

export type Selected =
  | { readonly state: 'selected'; readonly content: Content; readonly notes: readonly string[] }
  | { readonly state: 'invalid'; readonly message: string }
  /** A kind that cannot be read, and the error of the server. */
  /** `next`: what the user can do. */
  | { readonly state: 'pending'; readonly kind: string; readonly message: string; readonly next: string };

type Pending = Extract<Selected, { readonly state: 'pending' }>;

export interface Looking {
  readonly catalogue: LiveCatalogue;
  readonly propagation: Propagation;
  readonly plan: WatchPlan;
  readonly contents: SelectionCache;
  /** The content of repositories, for placements with a source. */
  readonly rendered?: Rendered | undefined;
}

/** What has to be read before the selection can be resolved. */
export interface Missing {
  readonly need: readonly FullRef[];
  readonly watch: readonly Source[];
  readonly ask?: readonly Asked[];
}

export const isMissing = (found: Selected | Missing): found is Missing => 'need' in found;

/**
 * The last result for each placement, so that an unchanged placement is not read and computed again. An LRU bounded in
 * bytes, because the results hold full objects.
 */
export type SelectionCache = Lru<string, Found>;

const MAX_BYTES = 64 * 1024 * 1024;

interface Found {
  readonly selectors: NonNullable<PlacementSpec['resourceSelectors']>;
  readonly preferred: LiveCatalogue['preferred'];
  readonly marks: Marks;
  readonly reads: readonly Read[];
  readonly refs: readonly FullRef[];
  readonly wholes: readonly KubeObject[];
  readonly selected: Extract<Selected, { readonly state: 'selected' }>;
}

interface Read {
  readonly resource: Resource;
  readonly part: Part;
  readonly source: Source<Candidate>;
  readonly items: readonly Candidate[];
}

export const createSelectionCache = (maxBytes = MAX_BYTES): SelectionCache =>
  createLru(maxBytes, ({ selected }) => selected.content.bytes);

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a === b || (a.length === b.length && a.every((item, index) => item === b[index]));

/**
 * `reader` names the placement in the watch plan. `isLive`: every object is read live, because the caches may be stale.
 */
export function resolveSelection(
  view: View,
  reader: string,
  placement: HubPlacement,
  looking: Looking & { readonly isLive?: true },
): Selected | Missing {
  const { catalogue, contents, isLive } = looking;
  if (placement.spec.source !== undefined) return readFrom(placement, looking);
  const { resourceSelectors: selectors = [] } = placement.spec;
  const marks = marksOf(placement);
  const unread = unreadBy(view, placement, looking);
  if ('need' in unread) return unread;
  // The cached result is valid despite unknown kinds only if none of their objects is placed.
  const mayLose = unread.some(({ placedIn }) => placedIn.size > 0);
  const last = isLive || mayLose ? undefined : contents.get(reader);
  const found = last?.marks.tracksJobs === marks.tracksJobs ? last : undefined;
  const reads = found && readAgain(view, reader, selectors, found, looking);
  if (found !== undefined && reads?.every(({ items }, index) => isSame(items, found.reads[index]?.items ?? []))) {
    // Registers the full objects as read: otherwise a change of only their content would not requeue this placement.
    for (const ref of found.refs) view.getFull(ref);
    return found.selected;
  }

  const picked =
    found === undefined || reads === undefined
      ? pick(view, reader, placement, { ...looking, unread })
      : { reads, refs: found.refs, notes: found.selected.notes };
  if (!('refs' in picked)) return picked;
  const { refs, notes } = picked;
  const wholes = wholesOf(view, refs);
  if ('need' in wholes || 'state' in wholes) return wholes;
  const isSameContent = found !== undefined && isSame(found.wholes, wholes);
  const content = isSameContent ? found.selected.content : contentOf(wholes, marks);
  const selected = { state: 'selected', content, notes } as const;
  if (isLive) return selected;
  const ask = unsureOf(view, contents.get(reader)?.selected.content, content, picked.reads);
  if (ask.length > 0) return { need: [], watch: [], ask };
  contents.set(reader, {
    selectors,
    preferred: catalogue.preferred,
    marks,
    reads: picked.reads,
    refs,
    wholes,
    selected,
  });
  return selected;
}

/**
 * Some objects are no longer selected. An object that just moved into or out of an envelope may be missing in both
 * places, because parts of the cache are stale: read its collection and those of envelopes live first.
 */
function unsureOf(
  view: View,
  before: Content | undefined,
  { resources }: Content,
  reads: readonly Read[],
): readonly Asked[] {
  if (before === undefined || before.resources === resources) return [];
  const present = new Set(resources.map(identityOf));
  const lost = before.resources.filter((each) => !present.has(identityOf(each)));
  if (lost.length === 0) return [];
  const isInDoubt = ({ group, kind }: Resource) =>
    isEnvelopeKind({ group, kind }) ||
    (group === '' && kind === 'ConfigMap') ||
    lost.some((each) => (each.group ?? '') === group && each.kind === kind);
  return reads
    .filter(({ resource, source, part }) => isInDoubt(resource) && view.isRefreshed?.(source, part) === false)
    .map(({ source, part }) => ({ source, part }));
}

const identityOf = ({ group = '', kind, namespace = '', name }: ResourceIdentifier): string =>
  `${group}/${kind}/${namespace}/${name}`;

/**
 * The content of a bundle. If it cannot be read now, the placement keeps what it has: nothing is placed and nothing is
 * removed.
 */
function readFrom(placement: HubPlacement, { rendered }: Looking): Selected {
  const content = rendered?.contentOf(bundleKeyOf(placement) ?? '', marksOf(placement));
  if (content !== undefined) return { state: 'selected', content, notes: [] };
  const { gitRepo = '', bundle = '' } = placement.spec.source ?? {};
  return {
    state: 'pending',
    kind: `GitRepo "${gitRepo}"`,
    message: `bundle "${bundle}" has not been read without an error since the hub started`,
    next: `see the status of the GitRepo (kubectl describe gitrepo ${gitRepo}); nothing is removed meanwhile`,
  };
}

/**
 * Group versions whose kinds are unknown, and the namespaces whose placed objects belong to them. A ResourcePlacement
 * names all its kinds, so its selection does not depend on this. If the snapshots seen here are stale, creating the
 * next one fails, because its name is taken.
 */
function unreadBy(
  view: View,
  { metadata }: HubPlacement,
  { catalogue, propagation }: Looking,
): readonly Unread[] | Missing {
  const { unknown = [] } = catalogue;
  if (unknown.length === 0) return [];
  const placed = metadata.namespace === undefined ? newestContent(view, metadata.name ?? '') : [];
  if ('need' in placed) return placed;
  const atStake = placed
    .map((object) => ({ ...object, ...groupVersionOf(object.apiVersion) }))
    .filter(propagation.allowsKind);
  return unknown.map(groupVersionOf).map(({ group, version }) => ({
    group,
    version,
    placedIn: new Set(atStake.flatMap((each) => (each.group === group ? (each.metadata.namespace ?? []) : []))),
  }));
}

/** The objects of the newest revision of a ClusterResourcePlacement, from all its snapshots. */
function newestContent(view: View, placement: string): readonly KubeObject[] | Missing {
  const { resourceSnapshot: resource, resourceSnapshots } = clusterFamily;
  const snapshots = view.by(resourceSnapshots, 'placement', placement);
  const newest = latestMaster(snapshots);
  if (newest === undefined) return [];
  const refs = snapshots
    .filter((each) => resourceIndexOf(each) === resourceIndexOf(newest))
    .map(
      ({ metadata: { name = '' } }): FullRef => ({
        on: 'hub',
        resource,
        group: resource.group,
        kind: resource.kind,
        name,
      }),
    );
  const fulls = refs.map((ref) => view.getFull(ref));
  const need = refs.filter((_, at) => fulls[at] === undefined);
  if (need.length > 0) return { need, watch: [] };
  return fulls.flatMap((whole) => ((whole as ResourceSnapshot | null)?.spec?.selectedResources ?? []) as KubeObject[]);
}

interface ToRead {
  readonly reads: readonly Read[];
  readonly refs: readonly FullRef[];
  readonly notes: readonly string[];
}

function pick(
  view: View,
  reader: string,
  { metadata, spec }: HubPlacement,
  {
    catalogue,
    propagation,
    plan,
    unread,
    isLive,
  }: Looking & { readonly unread: readonly Unread[]; readonly isLive?: true },
): ToRead | Selected | Missing {
  const used = new Set<Source<Candidate>>();
  const unlisted = new Set<Source<Candidate>>();
  const reads: Read[] = [];
  const selection = select({
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    selectors: spec.resourceSelectors ?? [],
    catalogue,
    propagation,
    unread,
    sight: {
      list(resource, part) {
        const source = plan.sourceFor(resource, resource.namespaced ? part.namespace : undefined, reader);
        used.add(source);
        const items = view.listOnDemand(source, part);
        if (items === undefined) unlisted.add(source);
        else reads.push({ resource, part, source, items });
        return items;
      },
    },
  });
  plan.keep(reader, used);
  if (selection.state === 'unread') {
    return pendingOn(selection.groupVersion);
  }
  const ask = isLive ? reads.filter(({ source, part }) => view.isRefreshed?.(source, part) === false) : [];
  if (ask.length > 0 && unlisted.size === 0) return { need: [], watch: [], ask };
  if (selection.state === 'invalid') return selection;
  if (selection.state === 'unknown') return waitFor(view, [...unlisted]);
  const refs = selection.picked.map(refOf).map((ref): FullRef => (isLive ? { ...ref, live: true } : ref));
  return { reads, refs, notes: selection.notes };
}

/**
 * Reads the same collections as last time; undefined if the selectors, the kinds or the metadata of the objects have
 * changed. The reads also keep the watches open.
 */
function readAgain(
  view: View,
  reader: string,
  resourceSelectors: NonNullable<PlacementSpec['resourceSelectors']>,
  { selectors, preferred, reads }: Found,
  { catalogue, plan }: Looking,
): readonly Read[] | undefined {
  if (preferred !== catalogue.preferred) return undefined;
  if (selectors !== resourceSelectors && !deepEqual(selectors, resourceSelectors)) return undefined;
  const now: Read[] = [];
  for (const read of reads) {
    const { resource, part, source } = read;
    if (plan.sourceFor(resource, resource.namespaced ? part.namespace : undefined, reader) !== source) return undefined;
    const items = view.listOnDemand(source, part);
    if (items === undefined || !areSelectedAlike(items, read.items)) return undefined;
    now.push(items === read.items ? read : { ...read, items });
  }
  return now;
}

const areSelectedAlike = (a: readonly Candidate[], b: readonly Candidate[]): boolean =>
  a === b || (a.length === b.length && a.every((item, index) => isSelectedAlike(item, b[index] as Candidate)));

/** The selection depends on all metadata except the resourceVersion. */
const isSelectedAlike = (a: Candidate, b: Candidate): boolean =>
  a === b || deepEqual({ ...a.metadata, resourceVersion: undefined }, { ...b.metadata, resourceVersion: undefined });

/** An error of the list is reported; a list that is only incomplete is waited for. */
function waitFor(view: View, unlisted: readonly Source<Candidate>[]): Selected | Missing {
  const waiting = unlisted.filter((source) => view.listError(source as Source) === undefined);
  if (waiting.length > 0) return { need: [], watch: waiting as readonly Source[] };
  const [first] = unlisted;
  if (first === undefined) return { state: 'pending', kind: '', message: '', next: '' };
  return pendingFor(first.resource, view.listError(first as Source)?.message ?? '');
}

function pendingFor({ plural, group }: Resource, message: string): Pending {
  const kind = group === '' ? plural : `${plural}.${group}`;
  return { state: 'pending', kind, message, next: `let the hub get, list and watch ${kind}` };
}

function pendingOn(groupVersion: string): Pending {
  const { group, version } = groupVersionOf(groupVersion);
  return {
    state: 'pending',
    kind: groupVersion,
    message: 'its API server does not answer',
    next: `see on the hub why (kubectl describe apiservice ${version}.${group}); nothing of it is taken away meanwhile`,
  };
}

const refOf = ({ resource, namespace, name }: Picked): FullRef => ({
  on: 'hub',
  resource,
  group: resource.group,
  kind: resource.kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  mayBeRefused: true,
});

function wholesOf(view: View, refs: readonly FullRef[]): readonly KubeObject[] | Missing | Pending {
  const wholes: KubeObject[] = [];
  const need: FullRef[] = [];
  for (const ref of refs) {
    const whole = view.getFull(ref);
    // Deleted since it was listed: the next reconcile will not list it.
    if (whole === null) continue;
    const refusal = whole === undefined ? view.refusal?.(ref) : undefined;
    if (refusal !== undefined) return pendingFor(ref.resource, refusal.message);
    if (whole === undefined) need.push(ref);
    else wholes.push(whole);
  }
  return need.length > 0 ? { need, watch: [] } : wholes;
}
