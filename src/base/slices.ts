// Runs long work in slices with pauses in between, so that nothing blocks the event loop for long.
import { type Clock, until } from './clock.ts';

const SLICE_MS = 5;

/**
 * Calls `each` for one item after the other, until it returns 'stop'. Returns a promise only if one slice is not
 * enough. On a clock that does not advance, as in a simulated world, everything runs in one slice.
 */
export function inSlices<Item>(
  clock: Clock,
  name: string,
  items: readonly Item[],
  each: (item: Item) => unknown,
): undefined | Promise<void> {
  const next = slice(clock, items, 0, each);
  return next === undefined ? undefined : goOn(clock, name, items, next, each);
}

async function goOn<Item>(
  clock: Clock,
  name: string,
  items: readonly Item[],
  from: number,
  each: (item: Item) => unknown,
): Promise<void> {
  for (let next: number | undefined = from; next !== undefined; ) {
    await until(clock, clock.now(), name);
    next = slice(clock, items, next, each);
  }
}

/** The start of the next slice; undefined if there is none. */
function slice<Item>(
  clock: Clock,
  items: readonly Item[],
  from: number,
  each: (item: Item) => unknown,
): number | undefined {
  const end = clock.now() + SLICE_MS;
  for (let at = from; at < items.length; at++) {
    if (each(items[at] as Item) === 'stop') return undefined;
    if (clock.now() >= end && at + 1 < items.length) return at + 1;
  }
  return undefined;
}
