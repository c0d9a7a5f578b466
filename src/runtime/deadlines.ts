// Many deadlines on one timer. A key has at most one deadline, and setting another replaces it. Deadlines of the same
// time fire in the order in which they were set.
import type { Clock } from '../base/clock.ts';

interface Entry {
  readonly key: string;
  readonly at: number;
  readonly turn: number;
}

export interface Deadlines {
  readonly size: number;
  readonly earliest: number | undefined;
  at(key: string): number | undefined;
  set(key: string, epochMs: number): void;
  clear(key: string): void;
  stop(): void;
}

/** A timer that fires this much too early is armed again. */
const MAX_EARLY_MS = 50;

export function createDeadlines(clock: Clock, name: string, onDue: (key: string) => void): Deadlines {
  /** A binary heap. Replaced entries stay in it until they reach the top or make up more than half of it. */
  let heap: Entry[] = [];
  const current = new Map<string, Entry>();
  let turn = 0;
  let timer: { readonly at: number; readonly cancel: () => void } | undefined;

  function fire(): void {
    const now = clock.now();
    // If the clock was set back while the timer ran, the timer has still waited long enough: fire now, or the deadline
    // would wait for hours.
    const isSetBack = timer !== undefined && timer.at - now > MAX_EARLY_MS;
    const until = isSetBack ? (timer?.at ?? now) : now;
    timer = undefined;
    const due: string[] = [];
    for (let top = live(); top !== undefined && top.at <= until; top = live()) {
      pop();
      current.delete(top.key);
      due.push(top.key);
    }
    arm();
    for (const key of due) onDue(key);
  }

  /** The earliest entry that was not replaced. */
  function live(): Entry | undefined {
    while (heap.length > 0 && current.get((heap[0] as Entry).key) !== heap[0]) pop();
    return heap[0];
  }

  function arm(): void {
    const top = live();
    if (timer !== undefined && timer.at === top?.at) return;
    timer?.cancel();
    timer = top === undefined ? undefined : { at: top.at, cancel: clock.at(top.at, name, fire) };
  }

  function push(entry: Entry): void {
    let hole = heap.push(entry) - 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!isBefore(entry, heap[parent] as Entry)) break;
      heap[hole] = heap[parent] as Entry;
      hole = parent;
    }
    heap[hole] = entry;
  }

  function pop(): void {
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let hole = 0;
    for (;;) {
      let child = hole * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[hole] = heap[child] as Entry;
      hole = child;
    }
    heap[hole] = last;
  }

  function tidy(): void {
    if (heap.length < 64 || heap.length < current.size * 2) return;
    heap = [...current.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1)); // a sorted array is a heap
  }

  return {
    get size() {
      return current.size;
    },
    get earliest() {
      return live()?.at;
    },
    at: (key) => current.get(key)?.at,
    set(key, epochMs) {
      if (current.get(key)?.at === epochMs) return;
      const entry = { key, at: epochMs, turn: turn++ };
      current.set(key, entry);
      push(entry);
      tidy();
      arm();
    },
    clear(key) {
      if (!current.delete(key)) return;
      tidy();
      arm();
    },
    stop() {
      timer?.cancel();
      timer = undefined;
      heap = [];
      current.clear();
    },
  };
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.turn < b.turn);
