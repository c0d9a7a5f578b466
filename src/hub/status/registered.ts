// Registers a metric on first use: the controllers of both families, and several managers of one process, share it.
import type { Registry } from 'prom-client';

export const registered = <M>(registry: Registry, name: string, make: () => M): M =>
  (registry.getSingleMetric(name) as M | undefined) ?? make();
