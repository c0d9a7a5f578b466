// What is known of one Source: projections, ordered by key, with indexes. It reads its own writes.
//
// Guarantees, whatever order lists, events and answers arrive in:
// - knowledge never goes back: what is older than what is known is ignored (but for a server that itself went back, see `list`);
// - what was deleted does not come back to life by an answer or an event that was under way (tombstones, and the rule that an answer
//   from a time the watch has already shown brings nothing new);
// - an object that a complete list lacks is gone.
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
  /** The projection differs in nothing but its resourceVersion: a decision on it is the same. */
  readonly isSame: boolean;
}

/** What is remembered of an object that we know to be gone while the watch may still speak of it. */
interface Tombstone {
  readonly uid: string;
  /** Of what was known here before. In a selection the watch may end with this one's deletion and never mention the other. */
  readonly formerUid: string | undefined;
  readonly revision: string;
  /** The object cannot come back: news of this uid are old news. Otherwise news up to `revision` are. */
  readonly isDead: boolean;
}

interface Stamped {
  readonly uid: string | undefined;
  readonly stamp: string | undefined;
  at: number;
}

export interface Listing<T> {
  page(objects: readonly KubeObject[], revision: string): readonly Change<T>[];
  /** The list is complete. */
  end(): readonly Change<T>[];
}

export interface Cache<T extends Projected> {
  readonly source: Source<T>;
  /** Everything the server did up to here is folded in. Empty before the first list. */
  readonly revision: string;
  readonly size: number;
  readonly tombstones: number;
  readonly selection: Selection;
  get(key: string): T | undefined;
  all(namespace?: string): readonly T[];
  by(index: string, value: string): readonly T[];
  /** Since when the item has had its stamp. */
  since(key: string): number | undefined;
  keys(): readonly string[];
  list(): Listing<T>;
  /** An event of the watch. */
  watched(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): Change<T> | undefined;
  /** The watch has shown everything up to here. */
  bookmark(revision: string): void;
  /** The answer to a write or a get. */
  answered(object: KubeObject): Change<T> | undefined;
  /** The server said that this very object is gone. */
  gone(key: string, uid: string): Change<T> | undefined;
  /** The answer shows an object in its last moment: deleted as soon as it was written. */
  ended(object: KubeObject): Change<T> | undefined;
}

export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** The way back. Names have no slashes. */
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
  /** The newest thing ever seen, from whatever side. A list that is older than this tells of a server that went back. */
  let newest = '';

  const project = (object: KubeObject, old: T | undefined): T => {
    const item = (source.project ? source.project(object, old) : object) as T;
    if (!isSameState(item, object)) {
      throw new InvariantError(`the projection of ${source.resource.plural} lost metadata.uid or resourceVersion`);
    }
    return item;
  };

  /** `isAnew`: what was known of it is void. */
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
    // Any other stamp counts, an earlier one, too: the clock of its writer may have been set back.
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

  /** True when nothing that is known says otherwise. */
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

  /** True when the watch has said all that the tombstone was to guard against. */
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
      // If the clock was set back, the count restarts instead of lasting for hours.
      found.at = Math.min(found.at, clock.now());
      return found.at;
    },
    keys: () => order.keys(),

    list() {
      const floor = newest;
      const seen = new Set<string>();
      let listed: string | undefined;
      // Every list is a fresh read, so it can only be older than what was known when it was asked for if the server went back, by a
      // restored backup or lost writes. Then the list is the truth and all knowledge from the undone time is void.
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
            // What was written after the list was taken is missing from it without being gone.
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
      // Of an object that only left the selection we may know by our own write that it is back.
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
      // The watch has been there: if we do not have it, it is because it has gone since.
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
