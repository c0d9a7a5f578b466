// The window of recent changes, by prefix, so that a reader pays for what it asked for and not for what others wrote.
// Guarantee: `since(r)` either tells every change after r or says 'compacted'; it never leaves one out.
import type { Change } from './store.ts';

export interface WindowOptions {
  /** How many changes are kept. */
  readonly windowChanges?: number;
  /** How many bytes of objects they may hold on to. The newest change is always kept. */
  readonly windowBytes?: number;
}

/** The two prefixes, besides '', under which a key is found. */
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

export class History {
  readonly #maxChanges: number;
  readonly #maxBytes: number;
  readonly #all = new Bucket();
  readonly #weights: number[] = [];
  readonly #byPrefix = new Map<string, Bucket>();
  #weightsStart = 0;
  #bytes = 0;
  #floor: number;

  /** `floor`: the revision before which nothing is known. */
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
    if (revision < this.#floor) return 'compacted';
    const bucket = prefix === '' ? this.#all : this.#byPrefix.get(prefix);
    return bucket?.after(revision) ?? [];
  }

  #bucket(prefix: string): Bucket {
    let bucket = this.#byPrefix.get(prefix);
    if (bucket === undefined) {
      bucket = new Bucket();
      this.#byPrefix.set(prefix, bucket);
    }
    return bucket;
  }

  #dropOldest(): void {
    const oldest = this.#all.shift();
    this.#floor = oldest.revision;
    this.#bytes -= this.#weights[this.#weightsStart++]!;
    if (this.#weightsStart > 1024 && this.#weightsStart * 2 > this.#weights.length) {
      this.#weights.splice(0, this.#weightsStart);
      this.#weightsStart = 0;
    }
    const { ofResource, ofNamespace } = prefixesOf(oldest.key);
    this.#shiftFrom(ofResource);
    this.#shiftFrom(ofNamespace);
  }

  // The oldest change of all is also the oldest of each of its buckets.
  #shiftFrom(prefix: string): void {
    const bucket = this.#byPrefix.get(prefix)!;
    bucket.shift();
    if (bucket.length === 0) this.#byPrefix.delete(prefix);
  }
}

/** A queue of changes in order of revision. */
class Bucket {
  #items: (Change | undefined)[] = [];
  #start = 0;

  get length(): number {
    return this.#items.length - this.#start;
  }

  push(change: Change): void {
    this.#items.push(change);
  }

  shift(): Change {
    const oldest = this.#items[this.#start]!;
    this.#items[this.#start++] = undefined; // else the object lives on until the next tidying
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
