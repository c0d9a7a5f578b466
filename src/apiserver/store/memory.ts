// The store without persistence: every write is durable and visible immediately. It keeps frozen objects, and encodes
// bytes on demand.
import type { KubeObject } from '../../api/object.ts';
import { checkExpected } from './expect.ts';
import { type Committed, ObjectTooLarge, type Store, type Stored, type Write } from './store.ts';
import { DeletedStored, jsonOf, stamped } from './stored-form.ts';
import { type Image, type StateOptions, VisibleState } from './visible-state.ts';

export interface MemoryStoreOptions extends StateOptions {
  /** The initial content, for instance `range('')` of another store. Shared, not copied. */
  readonly image?: Image;
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}

const DURABLE = Promise.resolve();

class MemoryStore implements Store {
  readonly #state: VisibleState;
  #wakeScheduled = false;

  constructor(options: MemoryStoreOptions) {
    this.#state = new VisibleState(options, options.image);
  }

  get head(): number {
    return this.#state.revision;
  }

  get visible(): number {
    return this.#state.revision;
  }

  get(key: string): Stored | undefined {
    return this.#state.get(key);
  }

  range(prefix: string, page?: { readonly after?: string; readonly limit?: number }): ReturnType<Store['range']> {
    return this.#state.range(prefix, page);
  }

  rangeAtHead(prefix: string): readonly Stored[] {
    return this.#state.range(prefix).items;
  }

  since(revision: number, prefix: string): ReturnType<Store['since']> {
    return this.#state.since(revision, prefix);
  }

  subscribe(prefix: string, wake: () => void): () => void {
    return this.#state.subscribe(prefix, wake);
  }

  commit(write: Write): Committed {
    const { key, value } = write;
    const previous = this.#state.get(key);
    checkExpected(write, previous);
    const revision = this.#state.revision + 1;
    const deleted = value === undefined;
    const stored = deleted
      ? new DeletedStored(previous!, revision)
      : new ObjectStored(key, revision, stamped(value, revision));
    if (stored instanceof ObjectStored && stored.isAbove(write.maxBytes)) throw new ObjectTooLarge();
    const weight = weightOf(stored) + weightOf(previous);
    if (this.#state.apply({ revision, key, stored, deleted, previous }, weight)) this.#scheduleWake();
    return { revision, stored, durable: DURABLE };
  }

  durable(): Promise<void> {
    return DURABLE;
  }

  // Runs after the current code, so that readers never interrupt a writer, and a burst wakes them once.
  #scheduleWake(): void {
    if (this.#wakeScheduled) return;
    this.#wakeScheduled = true;
    queueMicrotask(() => {
      this.#wakeScheduled = false;
      this.#state.wake();
    });
  }
}

class ObjectStored implements Stored {
  readonly key: string;
  readonly revision: number;
  readonly #object: KubeObject;
  readonly weight: number;
  #bytes: Uint8Array | undefined;

  constructor(key: string, revision: number, object: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.#object = object;
    this.weight = roughBytes(object);
  }

  /** Encodes only objects that may be too large: JSON has at most six bytes per byte of the estimate. */
  isAbove(maxBytes = Number.POSITIVE_INFINITY): boolean {
    return this.weight * 6 > maxBytes && this.bytes().length > maxBytes;
  }

  object(): KubeObject {
    return this.#object;
  }

  bytes(): Uint8Array {
    this.#bytes ??= Buffer.from(jsonOf(this.#object));
    return this.#bytes;
  }
}

const weightOf = (stored: Stored | undefined): number => (stored instanceof ObjectStored ? stored.weight : 0);

/** An estimate of the JSON's size: enough to limit a window without encoding. */
function roughBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 2;
  if (Array.isArray(value)) for (const item of value) sum += roughBytes(item) + 1;
  else for (const key in value) sum += key.length + 4 + roughBytes((value as Record<string, unknown>)[key]);
  return sum;
}
