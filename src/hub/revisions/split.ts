// How the objects of a revision are spread over the snapshots of its group. Objects stay in the part that had them in the revision before, so a
// small change is a change of one Work. Pure.

export interface Sized {
  /** Equal for the same object in two revisions. */
  readonly key: string;
  readonly bytes: number;
}

/** Where an object is in an earlier revision, and how large it was there. */
export interface Place {
  readonly part: number;
  readonly bytes: number;
}

/** Keys of objects to where they are. */
export type Places = ReadonlyMap<string, Place>;

/** Numbers of items, ascending within a part; the first part is the master, which is never missing. */
export type Split = readonly (readonly number[])[];

/** In their order, each part filled up to the limit; an item above it gets a part of its own. */
export function greedy(items: readonly Sized[], limit: number): Split {
  const parts: number[][] = [[]];
  let total = 0;
  items.forEach(({ bytes }, at) => {
    if (total + bytes > limit && parts.at(-1)?.length !== 0) {
      parts.push([]);
      total = 0;
    }
    parts.at(-1)?.push(at);
    total += bytes;
  });
  return parts;
}

/**
 * Differs from KubeFleet: it splits every revision like the first, so growth of one object moves others from Work to Work. Here only an object that
 * no longer fits into its part moves, unless that takes more parts than splitting all of them.
 */
export function splitOf(items: readonly Sized[], limit: number, before: Places | undefined): Split {
  const first = greedy(items, limit);
  if (before === undefined || before.size === 0 || first.length === 1) return first;
  const kept = stable(items, limit, before);
  return kept.length > first.length ? first : kept;
}

function stable(items: readonly Sized[], limit: number, before: Places): Split {
  const parts: Bin[] = [];
  const known = items.map(({ key }) => before.get(key));
  const hasGrown = (at: number) => (items[at]?.bytes ?? 0) > (known[at]?.bytes ?? 0);
  const placed = items.map((_, at) => at).filter((at) => known[at] !== undefined);
  const moving = items.map((_, at) => at).filter((at) => known[at] === undefined);
  // The ones that have not grown still fit where they are.
  for (const at of [...placed.filter((each) => !hasGrown(each)), ...placed.filter(hasGrown)]) {
    const bin = binAt(parts, known[at]?.part ?? 0);
    if (hasGrown(at) && !fits(bin, items[at], limit)) moving.push(at);
    else put(bin, at, items[at]);
  }
  for (const at of moving.toSorted((a, b) => a - b)) {
    const bin = parts.find((each) => fits(each, items[at], limit)) ?? binAt(parts, parts.length);
    put(bin, at, items[at]);
  }
  return trimmed(parts);
}

/** For the missing parts of a group: the items that the others do not have, spread over exactly these parts. */
export function spread(items: readonly Sized[], limit: number, parts: number): Split {
  const split = greedy(items, limit);
  if (split.length <= parts) return Array.from({ length: parts }, (_, at) => split[at] ?? []);
  const bins = Array.from({ length: parts }, (): Bin => ({ items: [], bytes: 0 }));
  items.forEach((item, at) => {
    const roomy = bins.find((each) => fits(each, item, limit));
    const smallest = bins.reduce((best, each) => (each.bytes < best.bytes ? each : best));
    put(roomy ?? smallest, at, item);
  });
  return bins.map((each) => each.items);
}

interface Bin {
  readonly items: number[];
  bytes: number;
}

function binAt(bins: Bin[], part: number): Bin {
  while (bins.length <= part) bins.push({ items: [], bytes: 0 });
  return bins[part] as Bin;
}

const fits = (bin: Bin, item: Sized | undefined, limit: number): boolean =>
  bin.items.length === 0 || bin.bytes + (item?.bytes ?? 0) <= limit;

function put(bin: Bin, at: number, item: Sized | undefined): void {
  bin.items.push(at);
  bin.bytes += item?.bytes ?? 0;
}

/** A part without objects in between stays: the objects behind it would move otherwise. */
function trimmed(bins: readonly Bin[]): Split {
  const last = bins.findLastIndex(({ items }) => items.length > 0);
  const parts = bins.slice(0, Math.max(1, last + 1)).map(({ items }) => items.toSorted((a, b) => a - b));
  return parts.length === 0 ? [[]] : parts;
}
