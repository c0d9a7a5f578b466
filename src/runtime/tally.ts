// Metrics of what happens all the time: counted here, and handed over when somebody reads them, which is seldom. Several parts of one process
// share a registry: numbers add up.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface TallyOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** A counter unless told: one that also goes down. */
  readonly goesDown?: true;
}

/** `values`: of the labels, in their order. */
export type Tally = (values: readonly string[], by?: number) => void;

/** By the labels' values, which have no bar in them. */
type Counts = Map<string, number>;
const known = new WeakMap<Registry, Map<string, Counts>>();

export function tally(options: TallyOptions): Tally {
  const counts = countsOf(options);
  return (values, by = 1) => {
    const key = values.join('|');
    counts.set(key, (counts.get(key) ?? 0) + by);
  };
}

function countsOf({ registry, name, help, labelNames, goesDown }: TallyOptions): Counts {
  const tallies = known.get(registry) ?? new Map<string, Counts>();
  known.set(registry, tallies);
  const before = tallies.get(name);
  if (before !== undefined) return before;
  const counts: Counts = new Map();
  tallies.set(name, counts);
  const Metric = goesDown ? Gauge : Counter;
  new Metric({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const [key, count] of counts) {
        const values = key.split('|');
        this.inc(Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? ''])), count);
      }
    },
  });
  return counts;
}
