// Metrics of what happens all the time: counted here, and handed over when they are scraped, which is seldom. Several parts of one process
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
/** What hangs on a metric until it is read. */
const countsOf = new WeakMap<object, Counts>();

export function tally(options: TallyOptions): Tally {
  const { registry, name } = options;
  const counts = countsOf.get(registry.getSingleMetric(name) ?? make(options)) as Counts;
  return (values, by = 1) => {
    const key = values.join('|');
    counts.set(key, (counts.get(key) ?? 0) + by);
  };
}

function make({ registry, name, help, labelNames, goesDown }: TallyOptions): object {
  const counts: Counts = new Map();
  const Metric = goesDown ? Gauge : Counter;
  const metric = new Metric({
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
  countsOf.set(metric, counts);
  return metric;
}
