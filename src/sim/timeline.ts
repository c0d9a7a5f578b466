// Future events, sorted by time, then by insertion.

export class Timeline<Entry extends object> {
  readonly #heap: { readonly at: number; readonly order: number; readonly entry: Entry }[] = [];
  readonly #gone = new WeakSet<Entry>();
  #orders = 0;

  add(at: number, entry: Entry): void {
    const node = { at, order: this.#orders++, entry };
    const heap = this.#heap;
    let index = heap.length;
    heap.push(node);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(node, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = node;
  }

  remove(entry: Entry): void {
    this.#gone.add(entry);
  }

  /** When the next entry is due; undefined if there is none. */
  next(): number | undefined {
    while (this.#heap.length > 0 && this.#gone.has(this.#heap[0]!.entry)) this.#pop();
    return this.#heap[0]?.at;
  }

  /** The next entry due until then. */
  take(until: number): Entry | undefined {
    const at = this.next();
    return at === undefined || at > until ? undefined : this.#pop();
  }

  /** All entries, in no particular order. */
  *[Symbol.iterator](): Iterator<Entry> {
    for (const { entry } of this.#heap) if (!this.#gone.has(entry)) yield entry;
  }

  #pop(): Entry {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      let index = 0;
      for (;;) {
        let child = 2 * index + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
        if (!isBefore(heap[child]!, last)) break;
        heap[index] = heap[child]!;
        index = child;
      }
      heap[index] = last;
    }
    return first.entry;
  }
}

interface Timed {
  readonly at: number;
  readonly order: number;
}

const isBefore = (a: Timed, b: Timed): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
