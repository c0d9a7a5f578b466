// JSON patch (RFC 6902): add, remove, replace, move, copy, test, all or nothing. Pure: containers are copied once,
// before the first write into them; the rest is shared with the original.
// Bounded: copies grow the object by at most 3 MiB, and the result has the same maximum depth as any body, so that a
// short patch cannot exhaust a server.
import { deepEqual, isObject, type Json, setField } from './json.ts';
import { isDeeper, MAX_DEPTH } from './json-nesting.ts';
import { parsePointer } from './json-pointer.ts';

export type JsonOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/** Not validated. */
export interface RawOperation {
  readonly op: unknown;
  readonly path: unknown;
  readonly from?: unknown;
  readonly value?: Json;
}

/** An operation cannot be applied; nothing was changed. */
export class JsonPatchError extends Error {}

const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/** The original with all operations applied. Throws JsonPatchError. */
export function patched(original: Json, operations: readonly (JsonOperation | RawOperation)[]): Json {
  const document = new Patching(original);
  for (const operation of operations) document.perform(operation);
  if (isDeeper(document.root, MAX_DEPTH)) throw inapplicable('the outcome is nested too deeply');
  return document.root;
}

/** Keys as a JSON pointer. */
export const pathTo = (...keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const inapplicable = (why: string): JsonPatchError => new JsonPatchError(why);

type Container = Json[] | Record<string, Json>;

class Patching {
  root: Json;
  /** Containers created here, which may be changed. */
  readonly #own = new WeakSet<object>();
  #copiedBytes = 0;

  constructor(root: Json) {
    this.root = root;
  }

  perform({ op, path, from, value }: RawOperation): void {
    const keys = keysOf(path, 'path');
    // As on a real server an operation without a value writes null.
    const given = value ?? null;
    switch (op) {
      case 'add':
        this.#add(keys, given);
        return;
      case 'remove':
        this.#take(keys);
        return;
      case 'replace':
        this.#replace(keys, given);
        return;
      case 'move':
        this.#move(keysOf(from, 'from'), keys);
        return;
      case 'copy':
        this.#add(keys, this.#copyOf(keysOf(from, 'from')));
        return;
      case 'test':
        if (!this.#equals(keys, given)) throw inapplicable(`the test of ${path} failed`);
        return;
      default:
        throw inapplicable(`unknown operation ${JSON.stringify(op)}`);
    }
  }

  /** An absent field equals null; if its parent is not an object, nothing is equal. */
  #equals(keys: readonly string[], value: Json): boolean {
    const found = this.#find(keys);
    if (found !== undefined) return deepEqual(found, value);
    return value === null && isObject(this.#find(keys.slice(0, -1)));
  }

  #find(keys: readonly string[]): Json | undefined {
    let here: Json | undefined = this.root;
    for (const key of keys) {
      if (Array.isArray(here)) here = here[placeIn(here, key) ?? -1];
      else if (isObject(here) && Object.hasOwn(here, key)) here = here[key] as Json;
      else return undefined;
    }
    return here;
  }

  /** The container of the last key; copies all containers on the path, once. */
  #writable(keys: readonly string[]): Container {
    this.root = this.#owned(this.root, keys);
    let here = this.root as Container;
    for (let i = 0; i < keys.length - 1; i++) {
      const key = keys[i] as string;
      if (Array.isArray(here)) {
        const place = placeIn(here, key);
        if (place === undefined) throw inapplicable(`no list entry ${key}`);
        here[place] = this.#owned(here[place], keys);
        here = here[place] as Container;
      } else {
        const child = Object.hasOwn(here, key) ? here[key] : undefined;
        const owned = this.#owned(child, keys);
        setField(here, key, owned);
        here = owned;
      }
    }
    return here;
  }

  #owned(value: Json | undefined, keys: readonly string[]): Container {
    if (value === null || typeof value !== 'object') throw inapplicable(`nothing to write into on the way to ${keys}`);
    if (this.#own.has(value)) return value as Container;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    return copy as Container;
  }

  #add(keys: readonly string[], value: Json): void {
    const last = keys.at(-1);
    if (last === undefined) throw inapplicable('the whole can only be replaced');
    const container = this.#writable(keys);
    if (!Array.isArray(container)) {
      setField(container, last, value);
      return;
    }
    // Counts as if the new entry existed: the index after the last one is allowed, and -1 is that index.
    const place = last === '-' ? container.length : listIndex(last, container.length + 1);
    if (place === undefined) throw inapplicable(`no list place ${last}`);
    container.splice(place, 0, value);
  }

  #replace(keys: readonly string[], value: Json): void {
    const last = keys.at(-1);
    if (last === undefined) {
      this.root = value;
      return;
    }
    const container = this.#writable(keys);
    if (!Array.isArray(container)) {
      // As on a real server an absent field can be replaced, too.
      setField(container, last, value);
      return;
    }
    const place = placeIn(container, last);
    if (place === undefined) throw inapplicable(`no list entry ${last} to replace`);
    container[place] = value;
  }

  #take(keys: readonly string[]): Json {
    const last = keys.at(-1);
    const value = this.#find(keys);
    if (last === undefined || value === undefined) throw inapplicable('nothing there to remove');
    const container = this.#writable(keys);
    if (Array.isArray(container)) container.splice(placeIn(container, last) as number, 1);
    else delete container[last];
    return value;
  }

  #move(from: readonly string[], to: readonly string[]): void {
    if (from.length < to.length && from.every((key, index) => key === to[index])) {
      throw inapplicable('a value cannot be moved into itself');
    }
    this.#add(to, this.#take(from));
  }

  #copyOf(from: readonly string[]): Json {
    const value = this.#find(from);
    // As on a real server an absent field is copied as null.
    if (value === undefined && from.length > 0 && isObject(this.#find(from.slice(0, -1)))) return null;
    if (value === undefined) throw inapplicable('nothing there to copy');
    this.#copiedBytes += jsonSize(value);
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw inapplicable('the copies of this patch are too large');
    // A separate copy, because later operations may change either of the two.
    return structuredClone(value);
  }
}

function keysOf(pointer: unknown, field: string): readonly string[] {
  const keys = typeof pointer === 'string' ? parsePointer(pointer) : undefined;
  if (keys === undefined) throw inapplicable(`${field} is no JSON pointer`);
  return keys;
}

/** Negative indexes count from the end, `-1` is the last one, as on a real server. */
function listIndex(key: string, length: number): number | undefined {
  if (!/^-?\d{1,9}$/.test(key)) return undefined;
  const place = Number(key) < 0 ? Number(key) + length : Number(key);
  return place >= 0 && place < length ? place : undefined;
}

const placeIn = (list: readonly Json[], key: string): number | undefined => listIndex(key, list.length);

/** The approximate size of the JSON text in bytes. */
function jsonSize(value: Json | undefined): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += jsonSize(item as Json) + 1;
  else for (const key in value) size += key.length + 4 + jsonSize((value as Record<string, Json>)[key]);
  return size;
}
