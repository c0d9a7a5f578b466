// The metrics of a manager. Several managers of one process share a registry: their numbers are summed.
import { Histogram, type Registry } from 'prom-client';
import type { FailureClass } from './outcome.ts';
import { tally } from './tally.ts';

export interface RuntimeMetrics {
  reconciled(controller: string, result: 'idle' | 'acted' | 'failed' | 'not-ours', durationMs: number): void;
  failed(controller: string, kind: FailureClass): void;
  wrote(controller: string, count: number): void;
  /** The change in the number of waiting keys. */
  depth(controller: string, by: number): void;
  watches(by: number): void;
  events(result: 'written' | 'dropped' | 'failed'): void;
}

export const noMetrics: RuntimeMetrics = {
  reconciled() {},
  failed() {},
  wrote() {},
  depth() {},
  watches() {},
  events() {},
};

export function runtimeMetrics(registry: Registry): RuntimeMetrics {
  const counter = (name: string, help: string, ...labelNames: string[]) => tally({ registry, name, help, labelNames });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    tally({ registry, name, help, labelNames, goesDown: true });
  const reconciles = counter('flotilla_reconciles_total', 'Passes over a key, by result.', 'controller', 'result');
  const errors = counter(
    'flotilla_reconcile_errors_total',
    'Failed passes and actions, by class.',
    'controller',
    'class',
  );
  const writes = counter('flotilla_writes_total', 'Actions carried out.', 'controller');
  const events = counter('flotilla_events_total', 'Events, by what became of them.', 'result');
  const depth = gauge('flotilla_queue_depth', 'Keys that wait for a worker.', 'controller');
  const watches = gauge('flotilla_watches', 'Watches that are kept open.');
  const seconds =
    (registry.getSingleMetric(DURATION) as Histogram | undefined) ??
    new Histogram({
      name: DURATION,
      help: 'Time of one pass over a key, its writes included.',
      labelNames: ['controller'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers: [registry],
    });
  return {
    reconciled(controller, result, durationMs) {
      reconciles([controller, result]);
      seconds.observe({ controller }, durationMs / 1000);
    },
    failed: (controller, kind) => errors([controller, kind]),
    wrote: (controller, count) => {
      if (count > 0) writes([controller], count);
    },
    depth: (controller, by) => depth([controller], by),
    watches: (by) => watches([], by),
    events: (result) => events([result]),
  };
}

const DURATION = 'flotilla_reconcile_duration_seconds';
