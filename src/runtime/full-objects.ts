// The full objects of one reconcile: what it requested, what was fetched, and which keys to requeue if one of them
// changes.
import type { KubeObject } from '../api/object.ts';
import { ApiError } from '../base/errors.ts';
import { keyOf } from './cache.ts';
import type { ObjectCache } from './content.ts';
import type { Asked, Failure, FullRef } from './controller.ts';
import { type Informer, type Informers, nameOf } from './informers.ts';
import { type Place, placeText } from './place.ts';
import { byRevision } from './revision.ts';

/** What one reconcile has fetched. An object stays here even if the shared cache evicts it before the decision. */
export interface FullObjects {
  /** The texts of the places, and of the parts of collections, that the last `observe` read. */
  readonly used: ReadonlySet<string>;
  /** The on-demand collections that the last `observe` read. */
  readonly read: ReadonlySet<Informer>;
  touch(informer: Informer, part: string): void;
  /** Starts another `observe` of the same key. */
  begin(): void;
  see(ref: FullRef): KubeObject | null | undefined;
  /** The refusals of reads with `mayBeRefused`, by place. */
  readonly refusals: ReadonlyMap<string, ApiError>;
  refusal(ref: FullRef): Failure | undefined;
  fetch(ref: FullRef): Promise<void>;
  /** Whether this reconcile has made this live read. */
  isRefreshed(asked: Asked): boolean;
  /** The keys that the live read returned. */
  answered(asked: Asked): ReadonlySet<string> | undefined;
  ask(asked: Asked, signal: AbortSignal): Promise<void>;
}

const placeOf = ({ on, resource, namespace, name }: FullRef): Place => ({
  on,
  resource,
  ...(namespace === undefined || !resource.namespaced ? {} : { namespace }),
  name,
});

/**
 * `onUse` is called for every place as soon as it is read: a worker takes time, and what it has read may change
 * meanwhile.
 */
export function createFullObjects(
  informers: Informers,
  contents: ObjectCache,
  onUse?: (text: string) => void,
): FullObjects {
  const held = new Map<string, KubeObject | null>();
  const refusals = new Map<string, ApiError>();
  const used = new Set<string>();
  const use = (text: string) => {
    used.add(text);
    onUse?.(text);
  };
  const read = new Set<Informer>();
  const asked = new Map<string, ReadonlySet<string>>();
  const askedText = ({ source, part: { namespace = '', name = '', labels = '' } }: Asked): string =>
    `${nameOf(source)} ${namespace}/${name} ${labels}`;
  return {
    used,
    read,
    begin() {
      used.clear();
      read.clear();
    },
    touch(informer, part) {
      read.add(informer);
      use(partText(informer, part));
    },
    see(ref) {
      const place = placeOf(ref);
      const text = placeText(place);
      use(ref.specOnly ? specText(text) : text);
      const own = held.get(`${text}@${ref.resource.version}`);
      if (ref.live) return own;
      const known = knownState(informers, place);
      if (known === 'absent') return null;
      if (known === 'unwatched') return own;
      const isCurrent = ({ metadata }: KubeObject) =>
        metadata.resourceVersion === known.resourceVersion ||
        (ref.specOnly === true && known.generation !== undefined && metadata.generation === known.generation);
      if (own?.metadata.uid === known.uid && isCurrent(own)) return own;
      return contents.get(place, known.uid, isCurrent);
    },
    refusals,
    refusal(ref) {
      const error = refusals.get(placeText(placeOf(ref)));
      return error && { message: error.message, reason: error.reason };
    },
    async fetch(ref) {
      const place = placeOf(ref);
      const text = placeText(place);
      use(ref.specOnly ? specText(text) : text);
      // One refusal usually means that every object of the kind is refused: stopping here saves a thousand requests.
      if (ref.mayBeRefused && refusals.size > 0) return;
      try {
        held.set(`${text}@${ref.resource.version}`, await contents.fetch(place));
      } catch (error) {
        if (!(ref.mayBeRefused && error instanceof ApiError && error.reason === 'Forbidden')) throw error;
        refusals.set(text, error);
      }
    },
    isRefreshed: (each) => asked.has(askedText(each)),
    answered: (each) => asked.get(askedText(each)),
    async ask(each, signal) {
      asked.set(askedText(each), await informers.ask(each, signal));
    },
  };
}

/** For readers that use only the spec of the object at a place. */
export const specText = (place: string): string => `${place} spec`;

/** A whole collection, one of its namespaces, or one object. */
export const partText = ({ name }: Informer, part: string): string => `${name}|${part}`;
export const WHOLE_COLLECTION = '*';
/** For keys that wait for the first list of a collection. */
export const FIRST_LIST = '?';
export const namespacePart = (namespace: string): string => `${namespace}/`;

interface State {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
}

/** What the caches know about an object: its newest state, that it does not exist, or that no cache covers it. */
function knownState(informers: Informers, { on, resource, namespace, name }: Place): State | 'absent' | 'unwatched' {
  const key = keyOf(namespace, name);
  let newest: State | undefined;
  let isCovered = false;
  for (const { source, cache, isSynced } of informers.at(on, resource)) {
    if (source.namespace !== undefined && source.namespace !== namespace) continue;
    if (isSynced && !cache.selection.filtered) isCovered = true;
    const item = cache.get(key);
    if (item === undefined) continue;
    const { uid = '', resourceVersion = '', generation } = item.metadata;
    if (newest === undefined || byRevision(resourceVersion, newest.resourceVersion) > 0)
      newest = { uid, resourceVersion, generation };
  }
  return newest ?? (isCovered ? 'absent' : 'unwatched');
}

/** Which keys have read which full objects. */
export interface Dependents {
  readonly size: number;
  set(key: string, places: ReadonlySet<string>): void;
  /** Adds one place, until the next `set`. */
  add(key: string, place: string): void;
  of(place: string): Iterable<string>;
  has(place: string): boolean;
}

export function createDependents(): Dependents {
  const keysOf = new Map<string, Set<string>>();
  const placesOf = new Map<string, string[]>();
  const join = (key: string, place: string) => {
    const keys = keysOf.get(place);
    if (keys === undefined) keysOf.set(place, new Set([key]));
    else keys.add(key);
  };
  return {
    get size() {
      return keysOf.size;
    },
    set(key, places) {
      const before = placesOf.get(key) ?? [];
      if (before.length === places.size && before.every((place) => places.has(place))) return;
      for (const place of before) {
        if (places.has(place)) continue;
        const keys = keysOf.get(place);
        keys?.delete(key);
        if (keys?.size === 0) keysOf.delete(place);
      }
      if (places.size === 0) {
        placesOf.delete(key);
        return;
      }
      for (const place of places) join(key, place);
      placesOf.set(key, [...places]);
    },
    add(key, place) {
      if (keysOf.get(place)?.has(key)) return;
      join(key, place);
      const places = placesOf.get(key);
      if (places === undefined) placesOf.set(key, [place]);
      else places.push(place);
    },
    of: (place) => keysOf.get(place) ?? [],
    has: (place) => keysOf.has(place),
  };
}
