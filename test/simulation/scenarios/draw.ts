// Which worlds are played, in which order.

export interface Drawn {
  readonly scenario: string;
  readonly seed: number;
}

export interface Share {
  readonly scenario: string;
  /** How many seeds; in a time box the share relative to the others. */
  readonly runs: number;
}

export interface Draw {
  /** The next world; undefined = there is none left. */
  next(): Drawn | undefined;
  /** No more seeds of this scenario. */
  skip(scenario: string): void;
}

/** All seeds of one scenario, then those of the next. */
export function drawAll(shares: readonly Share[], firstSeed: number): Draw {
  const skipped = new Set<string>();
  let at = 0;
  let played = 0;
  return {
    next() {
      for (; at < shares.length; at++, played = 0) {
        const { scenario, runs } = shares[at] as Share;
        if (played < runs && !skipped.has(scenario)) return { scenario, seed: firstSeed + played++ };
      }
      return undefined;
    },
    skip: (scenario) => void skipped.add(scenario),
  };
}

/** All scenarios in turn, in proportion to their shares, until the time is over; each of them at least once. */
export function drawUntil(shares: readonly Share[], firstSeed: number, isOver: () => boolean): Draw {
  const played = new Map(shares.map(({ scenario }) => [scenario, 0]));
  const progress = ({ scenario, runs }: Share) => (played.get(scenario) as number) / runs;
  const skipped = new Set<string>();
  return {
    next() {
      const left = shares.filter(({ scenario }) => !skipped.has(scenario));
      const [first, ...others] = isOver() ? left.filter((share) => progress(share) === 0) : left;
      if (first === undefined) return undefined;
      const { scenario } = others.reduce((least, share) => (progress(share) < progress(least) ? share : least), first);
      const count = played.get(scenario) as number;
      played.set(scenario, count + 1);
      return { scenario, seed: firstSeed + count };
    },
    skip: (scenario) => void skipped.add(scenario),
  };
}

/**
 * More seeds of the wanted scenarios, the first one first, while any is wanted; for each at most as many again as its
 * share.
 */
export function drawMore(shares: readonly Share[], firstSeed: number, wanted: () => readonly string[]): Draw {
  const played = new Map<string, number>();
  const skipped = new Set<string>();
  const countOf = (scenario: string) => played.get(scenario) ?? 0;
  return {
    next() {
      const open = shares.filter(({ scenario, runs }) => countOf(scenario) < runs && !skipped.has(scenario));
      const share = wanted().flatMap((name) => open.find(({ scenario }) => scenario === name) ?? [])[0];
      if (share === undefined) return undefined;
      const { scenario, runs } = share;
      const count = countOf(scenario);
      played.set(scenario, count + 1);
      return { scenario, seed: firstSeed + runs + count };
    },
    skip: (scenario) => void skipped.add(scenario),
  };
}
