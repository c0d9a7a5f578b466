// Metrics of a listener. One registry per listener: servers in one process share nothing. Counters on the request path
// are plain numbers, formatted for Prometheus when it scrapes.
import { Gauge, Registry } from 'prom-client';

export interface RequestFacts {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly code: number;
}

export interface Gauges {
  inFlight(): number;
  watchers(): number;
  /** How often identities were rejected, by the limit they had reached. */
  limited(): ReadonlyMap<string, number>;
}

export interface Metrics {
  observe(facts: RequestFacts, milliseconds: number): void;
  /** A cluster's own gauges are read while the text is written. */
  text(clusterGauges: readonly ClusterGauge[]): Promise<{ readonly text: string; readonly contentType: string }>;
}

export interface ClusterGauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000] as const;
const LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'code'] as const;

interface Series {
  readonly facts: RequestFacts;
  count: number;
  sumMs: number;
  /** Requests per duration bucket, not cumulative. */
  readonly buckets: number[];
}

export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry();
  const series = new Map<string, Series>();
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge('apiserver_current_inflight_requests', 'Requests being answered, without watches.', gauges.inFlight);
  gauge('apiserver_longrunning_requests', 'Open watches.', gauges.watchers);

  return {
    observe(facts, milliseconds) {
      const key = `${facts.verb} ${facts.code} ${facts.group}/${facts.version}/${facts.resource}/${facts.subresource}`;
      let one = series.get(key);
      if (!one) {
        one = { facts, count: 0, sumMs: 0, buckets: BUCKETS_MS.map(() => 0) };
        series.set(key, one);
      }
      one.count++;
      one.sumMs += milliseconds;
      const bucket = BUCKETS_MS.findIndex((max) => milliseconds <= max);
      if (bucket >= 0) one.buckets[bucket] = (one.buckets[bucket] as number) + 1;
    },
    async text(clusterGauges) {
      const own = await registry.metrics();
      const parts = [
        requestTotals(series),
        requestDurations(series),
        limitTotals(gauges.limited()),
        own,
        ...clusterGauges.map(gaugeText),
      ];
      return { text: `${parts.filter((part) => part !== '').join('\n')}\n`, contentType: registry.contentType };
    },
  };
}

const labelText = (facts: RequestFacts): string =>
  LABELS.map((name) => `${name}="${String(facts[name]).replace(/["\\\n]/g, '\\$&')}"`).join(',');

function requestTotals(series: ReadonlyMap<string, Series>): string {
  const name = 'apiserver_request_total';
  const lines = [...series.values()].map(({ facts, count }) => `${name}{${labelText(facts)}} ${count}`);
  return [`# HELP ${name} Requests by verb, resource and status code.`, `# TYPE ${name} counter`, ...lines].join('\n');
}

function requestDurations(series: ReadonlyMap<string, Series>): string {
  const name = 'apiserver_request_duration_seconds';
  const lines = [...series.values()].flatMap(({ facts, count, sumMs, buckets }) => {
    const labels = labelText(facts);
    let upTo = 0;
    return [
      ...BUCKETS_MS.map((max, index) => {
        upTo += buckets[index] as number;
        return `${name}_bucket{${labels},le="${max / 1000}"} ${upTo}`;
      }),
      `${name}_bucket{${labels},le="+Inf"} ${count}`,
      `${name}_sum{${labels}} ${sumMs / 1000}`,
      `${name}_count{${labels}} ${count}`,
    ];
  });
  return [`# HELP ${name} How long answers took.`, `# TYPE ${name} histogram`, ...lines].join('\n');
}

function limitTotals(limited: ReadonlyMap<string, number>): string {
  const name = 'flotilla_limited_total';
  const lines = [...limited].map(([limit, count]) => `${name}{limit="${limit}"} ${count}`);
  const help = `# HELP ${name} Requests and watches that were refused because their user had reached a limit.`;
  return [help, `# TYPE ${name} counter`, ...lines].join('\n');
}

const gaugeText = ({ name, help, value }: ClusterGauge): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}`;
