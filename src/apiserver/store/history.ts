// The window of recent changes, indexed by prefix, so that the cost of a reader does not depend on writes elsewhere.
// Guarantee: `since(r)` returns every change after r, or 'compacted'. While this process runs, it is compacted only if
// a change under the requested prefix was dropped, so a watch of an idle prefix needs no new list because of other
// writes. (With tens of thousands of prefixes this is no longer known for the ones idle longest.)
import type { Change } from './store.ts';

export interface WindowOptions {
  /** The maximum number of changes. */
  readonly windowChanges?: number;
  /** The maximum of bytes that their objects keep alive. The newest change is always kept. */
  readonly windowBytes?: number;
}

/** The two prefixes of a key, besides ''. */
export interface KeyPrefixes {
  readonly ofResource: string;
  readonly ofNamespace: string;
}

export function prefixesOf(key: string): KeyPrefixes {
  const plural = key.indexOf('/', key.indexOf('/') + 1);
  return { ofResource: key.slice(0, plural + 1), ofNamespace: key.slice(0, key.indexOf('/', plural + 1) + 1) };
}

const DEFAULT_CHANGES = 100_000;
const DEFAULT_BYTES = 64 * 1024 * 1024;
/** The number of prefixes without a change in the window for which the last change is still known. */
const MAX_QUIET = 20_000;

export class History {
  readonly #maxChanges: number;
  readonly #maxBytes: number;
  readonly #all = new Bucket();
  readonly #weights: number[] = [];
  readonly #byPrefix = new Map<string, Bucket>();
  /** Prefixes whose changes were all dropped, in this order. */
  readonly #quiet = new Set<string>();
  #weightsStart = 0;
  #bytes = 0;
  #floor: number;

  /** `floor`: the oldest known revision of any prefix. */
  constructor(floor: number, options: WindowOptions = {}) {
    this.#floor = floor;
    this.#maxChanges = options.windowChanges ?? DEFAULT_CHANGES;
    this.#maxBytes = options.windowBytes ?? DEFAULT_BYTES;
  }

  push(change: Change, prefixes: KeyPrefixes, weight: number): void {
    this.#all.push(change);
    this.#bucket(prefixes.ofResource).push(change);
    this.#bucket(prefixes.ofNamespace).push(change);
    this.#weights.push(weight);
    this.#bytes += weight;
    while (this.#all.length > 1 && (this.#all.length > this.#maxChanges || this.#bytes > this.#maxBytes)) {
      this.#dropOldest();
    }
  }

  since(revision: number, prefix: string): readonly Change[] | 'compacted' {
    const bucket = prefix === '' ? this.#all : this.#byPrefix.get(prefix);
    if (revision < Math.max(this.#floor, bucket?.dropped ?? 0)) return 'compacted';
    return bucket?.after(revision) ?? [];
  }

  #bucket(prefix: string): Bucket {
    let bucket = this.#byPrefix.get(prefix);
    if (bucket === undefined) {
      bucket = new Bucket();
      this.#byPrefix.set(prefix, bucket);
    }
    this.#quiet.delete(prefix);
    return bucket;
  }

  #dropOldest(): void {
    const oldest = this.#all.shift();
    this.#bytes -= this.#weights[this.#weightsStart++]!;
    if (this.#weightsStart > 1024 && this.#weightsStart * 2 > this.#weights.length) {
      this.#weights.splice(0, this.#weightsStart);
      this.#weightsStart = 0;
    }
    const { ofResource, ofNamespace } = prefixesOf(oldest.key);
    this.#shiftFrom(ofResource);
    this.#shiftFrom(ofNamespace);
  }

  // The oldest change overall is also the oldest of each of its buckets.
  #shiftFrom(prefix: string): void {
    const bucket = this.#byPrefix.get(prefix)!;
    bucket.shift();
    if (bucket.length > 0) return;
    this.#quiet.add(prefix);
    if (this.#quiet.size > MAX_QUIET) this.#forgetQuietest();
  }

  #forgetQuietest(): void {
    const [prefix = ''] = this.#quiet;
    this.#quiet.delete(prefix);
    this.#floor = Math.max(this.#floor, this.#byPrefix.get(prefix)?.dropped ?? 0);
    this.#byPrefix.delete(prefix);
  }
}

/** A queue of changes, sorted by revision. */
class Bucket {
  #items: (Change | undefined)[] = [];
  #start = 0;
  #dropped = 0;

  /** The revision of the last dropped change. */
  get dropped(): number {
    return this.#dropped;
  }

  get length(): number {
    return this.#items.length - this.#start;
  }

  push(change: Change): void {
    this.#items.push(change);
  }

  shift(): Change {
    const oldest = this.#items[this.#start]!;
    this.#dropped = oldest.revision;
    this.#items[this.#start++] = undefined; // otherwise the object stays alive until the next compaction
    if (this.#start > 32 && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return oldest;
  }

  after(revision: number): readonly Change[] {
    let low = this.#start;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#items[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#items.slice(low) as Change[];
  }
}
