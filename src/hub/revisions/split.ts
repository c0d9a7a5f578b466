// How the objects of a revision are split into the snapshots of its group. Objects stay in the part that they were in
// before, so that a small change updates one Work. Pure.

export interface Sized {
  /** The same for one object in two revisions. */
  readonly key: string;
  readonly bytes: number;
}

/** The part and the size of an object in an earlier revision. */
export interface Place {
  readonly part: number;
  readonly bytes: number;
}

/** The place of each object, by key. */
export type Places = ReadonlyMap<string, Place>;

/** Indexes of items, ascending within a part; the first part is the master, which always exists. */
export type Split = readonly (readonly number[])[];

/** Fills one part after the other up to the limit; a larger item gets a part of its own. */
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
 * Differs from KubeFleet: it splits every revision from scratch, so that the growth of one object moves others from
 * Work to Work. Here only an object that no longer fits its part moves, unless that takes more parts than a new split.
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
  // Objects that have not grown still fit their part.
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

/** The split of the missing parts of a group: the remaining items, in exactly this many parts. */
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

/** An empty part in between stays, because removing it would move the objects of the parts after it. */
function trimmed(bins: readonly Bin[]): Split {
  const last = bins.findLastIndex(({ items }) => items.length > 0);
  const parts = bins.slice(0, Math.max(1, last + 1)).map(({ items }) => items.toSorted((a, b) => a - b));
  return parts.length === 0 ? [[]] : parts;
}
