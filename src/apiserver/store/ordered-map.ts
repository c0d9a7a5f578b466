// A sorted map with string keys: sorted chunks of bounded length. Lookup is O(log n), inserting and removing moves one
// chunk, and counting the entries between two keys is one addition per chunk.
import { byText } from '../../base/compare.ts';

const FULL = 256;
const SPARSE = 48;

interface Chunk<V> {
  keys: string[];
  values: V[];
}

interface Place {
  readonly chunk: number;
  readonly index: number;
}

export interface Span<V> {
  readonly values: V[];
  /** The number of keys with the prefix after the last one returned. */
  readonly remaining: number;
}

export class OrderedMap<V> {
  #chunks: Chunk<V>[] = [];
  #size = 0;

  /** From entries in strictly ascending order. */
  static fromSorted<V>(keys: readonly string[], values: readonly V[]): OrderedMap<V> {
    const map = new OrderedMap<V>();
    for (let from = 0; from < keys.length; from += FULL) {
      map.#chunks.push({ keys: keys.slice(from, from + FULL), values: values.slice(from, from + FULL) });
    }
    map.#size = keys.length;
    return map;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkFor(key)];
    if (chunk === undefined) return undefined;
    const index = lowerBound(chunk.keys, key);
    return chunk.keys[index] === key ? chunk.values[index] : undefined;
  }

  set(key: string, value: V): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], values: [value] });
      this.#size++;
      return;
    }
    const index = lowerBound(chunk.keys, key);
    if (chunk.keys[index] === key) {
      chunk.values[index] = value;
      return;
    }
    this.#size++;
    if (chunk.keys.length < FULL) {
      chunk.keys.splice(index, 0, key);
      chunk.values.splice(index, 0, value);
      return;
    }
    // Keys that arrive in order fill their chunks; only an insert in the middle splits a chunk into halves.
    const cut = at === this.#chunks.length - 1 && index === FULL ? FULL : FULL / 2;
    const right: Chunk<V> = { keys: chunk.keys.splice(cut), values: chunk.values.splice(cut) };
    this.#chunks.splice(at + 1, 0, right);
    const target = index > cut || cut === FULL ? right : chunk;
    const offset = target === right ? index - cut : index;
    target.keys.splice(offset, 0, key);
    target.values.splice(offset, 0, value);
  }

  delete(key: string): boolean {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const index = lowerBound(chunk.keys, key);
    if (chunk.keys[index] !== key) return false;
    chunk.keys.splice(index, 1);
    chunk.values.splice(index, 1);
    this.#size--;
    if (chunk.keys.length < SPARSE) this.#thicken(at);
    return true;
  }

  /** Values whose keys start with `prefix` and come strictly after `after`, sorted, at most `limit` of them. */
  range(prefix: string, after: string | undefined, limit = Number.POSITIVE_INFINITY): Span<V> {
    const from =
      after !== undefined && after >= prefix ? this.#firstPlace(after, 'after') : this.#firstPlace(prefix, 'at');
    const end = prefix === '' ? this.#endPlace() : this.#firstPlace(successor(prefix), 'at');
    const total = Math.max(0, this.#between(from, end)); // `after` may be beyond the prefix
    const values: V[] = [];
    let wanted = Math.min(limit, total);
    let { chunk, index } = from;
    while (wanted > 0) {
      const source = this.#chunks[chunk]!.values;
      const upTo = Math.min(source.length, index + wanted);
      for (let i = index; i < upTo; i++) values.push(source[i]!);
      wanted -= upTo - index;
      chunk++;
      index = 0;
    }
    return { values, remaining: total - values.length };
  }

  /** The chunk that contains the key, or into which it would be inserted. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #firstPlace(key: string, side: 'at' | 'after'): Place {
    const chunk = this.#chunkFor(key);
    const keys = this.#chunks[chunk]?.keys;
    if (keys === undefined) return { chunk: 0, index: 0 };
    let index = lowerBound(keys, key);
    if (side === 'after' && keys[index] === key) index++;
    return index < keys.length ? { chunk, index } : { chunk: chunk + 1, index: 0 };
  }

  #endPlace(): Place {
    return { chunk: this.#chunks.length, index: 0 };
  }

  #between(from: Place, end: Place): number {
    if (from.chunk > end.chunk) return 0;
    let count = end.index - from.index;
    for (let chunk = from.chunk; chunk < end.chunk; chunk++) count += this.#chunks[chunk]!.keys.length;
    return count;
  }

  // Merges a nearly empty chunk with a neighbor if both fit, so that the number of chunks stays proportional to the
  // keys.
  #thicken(at: number): void {
    const chunk = this.#chunks[at]!;
    if (chunk.keys.length === 0) {
      this.#chunks.splice(at, 1);
      return;
    }
    const left = this.#chunks[at - 1];
    const right = this.#chunks[at + 1];
    if (left !== undefined && left.keys.length + chunk.keys.length <= FULL / 2) {
      this.#chunks.splice(at - 1, 2, joined(left, chunk));
    } else if (right !== undefined && right.keys.length + chunk.keys.length <= FULL / 2) {
      this.#chunks.splice(at, 2, joined(chunk, right));
    }
  }
}

const joined = <V>(left: Chunk<V>, right: Chunk<V>): Chunk<V> => ({
  keys: left.keys.concat(right.keys),
  values: left.values.concat(right.values),
});

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byText(keys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The smallest string that is greater than every string with this prefix. */
function successor(prefix: string): string {
  let end = prefix.length - 1;
  while (end >= 0 && prefix.charCodeAt(end) === 0xffff) end--;
  return prefix.slice(0, end) + String.fromCharCode(prefix.charCodeAt(end) + 1);
}
