// The cache of one Source: projections sorted by key, with indexes. A controller reads its own writes from it.
//
// Guarantees, in whatever order lists, watch events and responses arrive:
// - A cached object is never replaced by an older state, unless the server itself went back in time (see `list`).
// - A deleted object is not restored by an event or a response that was in flight: a tombstone rejects it, and so
//   does a response older than the revision that the watch has reached.
// - An object that is missing from a complete list is removed.
import type { KubeObject } from '../api/object.ts';
import type { Clock } from '../base/clock.ts';
import { InvariantError } from '../base/errors.ts';
import { deepEqual } from '../base/json.ts';
import type { Projected, Source } from './controller.ts';
import { byRevision, newerOf } from './revision.ts';
import { type Selection, selectionOf } from './selection.ts';
import { SortedKeys } from './sorted-keys.ts';

export interface Change<T> {
  readonly key: string;
  readonly old?: T;
  readonly item?: T;
  /** Only the resourceVersion of the projection changed, so a decision based on it stays the same. */
  readonly isSame: boolean;
}

/** Remembers a deleted object while the watch may still send older events about it. */
interface Tombstone {
  readonly uid: string;
  /**
   * The uid that the cache held before. In a filtered watch, the last event may be the deletion of that object, with no
   * event about the newer one.
   */
  readonly formerUid: string | undefined;
  readonly revision: string;
  /**
   * The object is deleted for good: events with this uid are ignored. Otherwise, only events up to `revision` are
   * ignored.
   */
  readonly isDead: boolean;
}

interface Stamped {
  readonly uid: string | undefined;
  readonly stamp: string | undefined;
  at: number;
}

export interface Listing<T> {
  page(objects: readonly KubeObject[], revision: string): readonly Change<T>[];
  /** The list is complete: removes the objects that it did not contain. */
  end(): readonly Change<T>[];
}

export interface Cache<T extends Projected> {
  readonly source: Source<T>;
  /** The cache includes every change of the server up to this revision. Empty before the first list. */
  readonly revision: string;
  readonly size: number;
  readonly tombstones: number;
  readonly selection: Selection;
  get(key: string): T | undefined;
  all(namespace?: string): readonly T[];
  by(index: string, value: string): readonly T[];
  /** When the item got its present stamp. */
  since(key: string): number | undefined;
  keys(): readonly string[];
  list(): Listing<T>;
  /** Applies a watch event. */
  watched(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): Change<T> | undefined;
  /** A bookmark: the watch has sent all changes up to this revision. */
  bookmark(revision: string): void;
  /** Applies the response to a write or a get. */
  answered(object: KubeObject): Change<T> | undefined;
  /** The server reported that the object with this uid does not exist any more. */
  gone(key: string, uid: string): Change<T> | undefined;
  /** Applies a response that shows the final state of an object that the write itself deleted. */
  ended(object: KubeObject): Change<T> | undefined;
}

export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** The reverse of `keyOf`. Names contain no slashes. */
export function partsOf(key: string): { readonly name: string; readonly namespace?: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

const revisionOf = (item: Projected): string => item.metadata.resourceVersion ?? '';

export function createCache<T extends Projected>(source: Source<T>, clock?: Pick<Clock, 'now'>): Cache<T> {
  const selection = selectionOf(source);
  const items = new Map<string, T>();
  const itemAt = (key: string) => items.get(key) as T;
  const order = new SortedKeys(itemAt);
  const tombstones = new Map<string, Tombstone>();
  const indexes = Object.entries(source.indexes ?? {}).map(([name, valuesOf]) => ({
    name,
    valuesOf,
    buckets: new Map<string, SortedKeys<T>>(),
  }));
  const stamped = new Map<string, Stamped>();
  let revision = '';
  /**
   * The newest revision seen in any list, event or response. A list older than this shows that the server went back in
   * time.
   */
  let newest = '';

  const project = (object: KubeObject, old: T | undefined): T => {
    const item = (source.project ? source.project(object, old) : object) as T;
    if (!isSameState(item, object)) {
      throw new InvariantError(`the projection of ${source.resource.plural} lost metadata.uid or resourceVersion`);
    }
    return item;
  };

  /** `isAnew`: the cached state is invalid and must not be used for the projection. */
  function put(key: string, object: KubeObject, isAnew = false): Change<T> | undefined {
    const old = items.get(key);
    const item = project(object, isAnew ? undefined : old);
    tombstones.delete(key);
    items.set(key, item);
    if (source.stamp !== undefined && clock !== undefined) note(key, item, source.stamp(item), clock.now());
    if (old === undefined) order.add(key);
    else order.changed();
    for (const index of indexes) reindex(index, key, old, item);
    return {
      key,
      ...(old === undefined ? {} : { old }),
      item,
      isSame: old !== undefined && sameButRevision(old, item),
    };
  }

  function note(key: string, { metadata: { uid } }: T, stamp: string | undefined, now: number): void {
    const last = stamped.get(key);
    // Any different stamp counts, even an earlier one: the clock of the writer may have been set back.
    if (last?.uid !== uid || last?.stamp !== stamp) stamped.set(key, { uid, stamp, at: now });
  }

  function drop(key: string): Change<T> | undefined {
    const old = items.get(key);
    if (old === undefined) return undefined;
    items.delete(key);
    stamped.delete(key);
    order.delete(key);
    for (const index of indexes) reindex(index, key, old, undefined);
    return { key, old, isSame: false };
  }

  function reindex(index: (typeof indexes)[number], key: string, old: T | undefined, item: T | undefined): void {
    const before = old === undefined ? [] : index.valuesOf(old);
    const after = item === undefined ? [] : index.valuesOf(item);
    for (const value of before) {
      const bucket = index.buckets.get(value);
      if (bucket === undefined) continue;
      if (after.includes(value)) bucket.changed();
      else bucket.delete(key);
      if (bucket.size === 0) index.buckets.delete(value);
    }
    for (const value of after) {
      if (before.includes(value)) continue;
      let bucket = index.buckets.get(value);
      if (bucket === undefined) {
        bucket = new SortedKeys(itemAt);
        index.buckets.set(value, bucket);
      }
      bucket.add(key);
    }
  }

  const keyOfObject = ({ metadata }: KubeObject) => keyOf(metadata.namespace, metadata.name ?? '');

  /** True if neither the cache nor a tombstone has a newer state. */
  function isNews(key: string, object: KubeObject): boolean {
    const at = object.metadata.resourceVersion ?? '';
    const known = items.get(key);
    if (known !== undefined) return byRevision(at, revisionOf(known)) > 0;
    const tombstone = tombstones.get(key);
    if (tombstone === undefined) return true;
    if (tombstone.uid === object.metadata.uid && tombstone.isDead) return false;
    return byRevision(at, tombstone.revision) > 0;
  }

  function bury(key: string, tombstone: Omit<Tombstone, 'formerUid'>): Change<T> | undefined {
    const change = drop(key);
    if (change !== undefined) tombstones.set(key, { ...tombstone, formerUid: change.old?.metadata.uid });
    return change;
  }

  /** True if this deletion is the last event that the tombstone has to reject. */
  const isConfirmed = ({ uid, formerUid }: Tombstone, deleted: string | undefined): boolean =>
    uid === deleted || (selection.filtered && formerUid === deleted);

  return {
    source,
    selection,
    get revision() {
      return revision;
    },
    get size() {
      return items.size;
    },
    get tombstones() {
      return tombstones.size;
    },
    get: (key) => items.get(key),
    all: (namespace) =>
      namespace === undefined || namespace === source.namespace || !source.resource.namespaced
        ? order.items()
        : order.itemsUnder(`${namespace}/`),
    by(name, value) {
      const index = indexes.find((each) => each.name === name);
      if (index === undefined) throw new InvariantError(`${source.resource.plural} are not indexed by "${name}"`);
      return index.buckets.get(value)?.items() ?? [];
    },
    since(key) {
      const found = stamped.get(key);
      if (found === undefined || clock === undefined) return undefined;
      // If the clock was set back, restart the count, or the item would look fresh for hours.
      found.at = Math.min(found.at, clock.now());
      return found.at;
    },
    keys: () => order.keys(),

    list() {
      const floor = newest;
      const seen = new Set<string>();
      let listed: string | undefined;
      // A list is always read from the server, so it can be older than the cache only if the server went back in time
      // (a restored backup, lost writes). Then the list replaces the whole cache.
      let wentBack = false;
      return {
        page(objects, at) {
          if (listed === undefined) {
            listed = at;
            wentBack = byRevision(at, floor) < 0;
          }
          const changes: Change<T>[] = [];
          for (const object of objects) {
            const key = keyOfObject(object);
            seen.add(key);
            const known = items.get(key);
            const isNew = wentBack ? known === undefined || !isSameState(known, object) : isNews(key, object);
            const change = isNew ? put(key, object, wentBack) : undefined;
            if (change !== undefined) changes.push(change);
          }
          return changes;
        },
        end() {
          const at = listed ?? '';
          const changes: Change<T>[] = [];
          for (const key of [...order.keys()]) {
            // An object that was written after the list was taken is missing from the list but exists.
            const isNewer = byRevision(revisionOf(itemAt(key)), at) > 0;
            if (seen.has(key) || (isNewer && !wentBack)) continue;
            const change = drop(key);
            if (change !== undefined) changes.push(change);
          }
          for (const [key, tombstone] of tombstones) {
            if (wentBack || (!seen.has(key) && byRevision(tombstone.revision, at) <= 0)) tombstones.delete(key);
          }
          revision = at;
          newest = wentBack ? at : newerOf(newest, at);
          return changes;
        },
      };
    },

    watched(type, object) {
      const at = object.metadata.resourceVersion ?? '';
      const key = keyOfObject(object);
      const { uid } = object.metadata;
      if (type !== 'DELETED') {
        if (byRevision(at, revision) <= 0) return undefined;
        revision = at;
        newest = newerOf(newest, at);
        return isNews(key, object) ? put(key, object) : undefined;
      }
      revision = newerOf(revision, at);
      newest = newerOf(newest, at);
      const tombstone = tombstones.get(key);
      if (tombstone !== undefined && isConfirmed(tombstone, uid)) tombstones.delete(key);
      const known = items.get(key);
      if (known === undefined) return undefined;
      // A filtered watch sends DELETED also if an object leaves the selection: one of our writes may have brought it
      // back since.
      const isOver = byRevision(at, revisionOf(known)) >= 0 || (known.metadata.uid === uid && !selection.filtered);
      return isOver ? drop(key) : undefined;
    },

    bookmark(at) {
      revision = newerOf(revision, at);
      newest = newerOf(newest, at);
      for (const [key, tombstone] of tombstones) {
        if (!tombstone.isDead && byRevision(tombstone.revision, at) <= 0) tombstones.delete(key);
      }
    },

    answered(object) {
      const at = object.metadata.resourceVersion ?? '';
      // The watch has already passed this revision: if the object is not cached, it was deleted since.
      if (byRevision(at, revision) <= 0) return undefined;
      const key = keyOfObject(object);
      newest = newerOf(newest, at);
      if (!isNews(key, object)) return undefined;
      if (selection.matches(object)) return put(key, object);
      return bury(key, { uid: object.metadata.uid ?? '', revision: at, isDead: false });
    },

    gone(key, uid) {
      const known = items.get(key);
      if (known === undefined || known.metadata.uid !== uid) return undefined;
      return bury(key, { uid, revision: revisionOf(known), isDead: true });
    },

    ended(object) {
      const at = object.metadata.resourceVersion ?? '';
      const key = keyOfObject(object);
      const known = items.get(key);
      if (known === undefined || byRevision(at, revision) <= 0 || byRevision(at, revisionOf(known)) < 0)
        return undefined;
      newest = newerOf(newest, at);
      return bury(key, { uid: object.metadata.uid ?? '', revision: at, isDead: false });
    },
  };
}

const isSameState = (a: Projected, b: Projected): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

function sameButRevision(a: Projected, b: Projected): boolean {
  const left = a as unknown as Readonly<Record<string, unknown>>;
  const right = b as unknown as Readonly<Record<string, unknown>>;
  for (const field in left) if (field !== 'metadata' && !deepEqual(left[field], right[field])) return false;
  for (const field in right) if (right[field] !== undefined && left[field] === undefined) return false;
  const { resourceVersion: _a, ...metadataA } = a.metadata;
  const { resourceVersion: _b, ...metadataB } = b.metadata;
  return deepEqual(metadataA, metadataB);
}
