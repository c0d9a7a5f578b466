// Counters for frequent events: counted here and passed to prom-client only when scraped. Several parts of one process
// share a registry: their numbers are summed.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface TallyOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Makes it a gauge, which can go down; the default is a counter. */
  readonly goesDown?: true;
}

/** `values`: the label values, in the order of the labels. */
export type Tally = (values: readonly string[], by?: number) => void;

/** By the label values, joined with "|", which they do not contain. */
type Counts = Map<string, number>;
/** The counts of each metric until the next scrape. */
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
