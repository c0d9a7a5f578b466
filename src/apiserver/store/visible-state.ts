// The visible state of one cluster: the sorted objects, the window of changes, and the subscribers. Both stores use it
// and differ only in when they apply a change.
import { History, prefixesOf, type WindowOptions } from './history.ts';
import { OrderedMap } from './ordered-map.ts';
import type { Change, Store, Stored } from './store.ts';
import { Subscribers, warnOfError } from './subscribers.ts';

export interface StateOptions extends WindowOptions {
  /** Called with errors that woken subscribers throw. */
  readonly report?: (error: unknown) => void;
}

/** An initial state, sorted by key. Shared, not copied. */
export interface Image {
  readonly items: readonly Stored[];
  readonly revision: number;
}

// As in etcd an empty cluster is at revision 1: a list of it must not return "0", which means "any" when a client sends
// it back.
const FIRST_REVISION = 1;

export class VisibleState {
  readonly entries: OrderedMap<Stored>;
  readonly #history: History;
  readonly #subscribers: Subscribers;
  #revision: number;

  constructor(options: StateOptions = {}, image?: Image) {
    this.entries =
      image === undefined
        ? new OrderedMap()
        : OrderedMap.fromSorted(
            image.items.map((stored) => stored.key),
            image.items,
          );
    this.#revision = image?.revision ?? FIRST_REVISION;
    this.#history = new History(image?.revision ?? 0, options);
    this.#subscribers = new Subscribers(options.report ?? warnOfError);
  }

  get revision(): number {
    return this.#revision;
  }

  get(key: string): Stored | undefined {
    return this.entries.get(key);
  }

  range(prefix: string, page: { readonly after?: string; readonly limit?: number } = {}): ReturnType<Store['range']> {
    const limit = page.limit === undefined || page.limit <= 0 ? undefined : page.limit;
    const { values, remaining } = this.entries.range(prefix, page.after, limit);
    return { items: values, revision: this.#revision, more: remaining > 0, remaining };
  }

  since(revision: number, prefix: string): readonly Change[] | 'compacted' {
    return this.#history.since(revision, prefix);
  }

  subscribe(prefix: string, wake: () => void): () => void {
    return this.#subscribers.subscribe(prefix, wake);
  }

  /** Makes a change visible. `weight`: the bytes that its objects keep alive. True if a watch should be woken. */
  apply(change: Change, weight: number): boolean {
    if (change.deleted) this.entries.delete(change.key);
    else this.entries.set(change.key, change.stored);
    this.#revision = change.revision;
    const prefixes = prefixesOf(change.key);
    this.#history.push(change, prefixes, weight);
    return this.#subscribers.touch(prefixes);
  }

  wake(): void {
    this.#subscribers.wake();
  }

  wakeAll(): void {
    this.#subscribers.touchAll();
    this.#subscribers.wake();
  }
}
