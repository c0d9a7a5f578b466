// Sorts lazily: of thousands of candidates, a cycle reads only a few.
import type { Candidate } from './filter.ts';

type Order = (a: Candidate, b: Candidate) => number;

/** The item at a position of the order, or undefined after the last one. Consumes the given list. */
export function bestFirst(items: Candidate[], order: Order): (at: number) => Candidate | undefined {
  const found: Candidate[] = [];
  for (let at = (items.length >> 1) - 1; at >= 0; at--) sink(items, at, order);
  return (at) => {
    while (found.length <= at && items.length > 0) found.push(takeFirst(items, order));
    return found[at];
  };
}

function takeFirst(heap: Candidate[], order: Order): Candidate {
  const first = heap[0] as Candidate;
  const last = heap.pop() as Candidate;
  if (heap.length > 0) {
    heap[0] = last;
    sink(heap, 0, order);
  }
  return first;
}

/** Sifts an item down the heap. */
function sink(heap: Candidate[], from: number, order: Order): void {
  const item = heap[from] as Candidate;
  let at = from;
  for (;;) {
    let next = 2 * at + 1;
    if (next >= heap.length) break;
    if (next + 1 < heap.length && order(heap[next + 1] as Candidate, heap[next] as Candidate) < 0) next++;
    if (order(heap[next] as Candidate, item) >= 0) break;
    heap[at] = heap[next] as Candidate;
    at = next;
  }
  heap[at] = item;
}
