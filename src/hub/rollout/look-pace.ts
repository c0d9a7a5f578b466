// How soon all clusters of a placement are looked at because some of them have news. A look costs as much as there are clusters, and each of them
// has news: without this, ten times the clusters would cost a hundred times as much. What comes after a while without news is looked at once.

/**
 * So many clusters may be looked at in a millisecond, over time: 1,000 of them every 40 ms, less than 25 whenever there is news. There is no most: a
 * look at more of them takes as much longer.
 */
const CLUSTERS_PER_MS = 25;

export interface LookPace {
  readonly size: number;
  /** So many are to be looked at. */
  among(key: string, clusters: number): void;
  /** There is news: when it is early enough to look. */
  due(key: string, now: number): number;
  forget(key: string): void;
}

/** `weight`: for so many each of them counts. */
export function createLookPace(weight = 1): LookPace {
  /** `next`: when news are looked at, or were. */
  const noted = new Map<string, { next: number; gapMs: number }>();
  return {
    get size() {
      return noted.size;
    },
    among(key, clusters) {
      const gapMs = Math.floor((clusters * weight) / CLUSTERS_PER_MS);
      const known = noted.get(key);
      if (known === undefined) noted.set(key, { next: 0, gapMs });
      else known.gapMs = gapMs;
    },
    due(key, now) {
      const known = noted.get(key);
      if (known === undefined) return now;
      // Never further away than that, also if the clock was set back.
      known.next = Math.min(known.next > now ? known.next : Math.max(now, known.next + known.gapMs), now + known.gapMs);
      return known.next;
    },
    forget(key) {
      noted.delete(key);
    },
  };
}
