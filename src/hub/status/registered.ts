// A metric that is made when it is first asked for: the controllers of both families, and several managers of one process, share it.
import type { Registry } from 'prom-client';

export const registered = <M>(registry: Registry, name: string, make: () => M): M =>
  (registry.getSingleMetric(name) as M | undefined) ?? make();
