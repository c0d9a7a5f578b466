// A Transport that remembers what was asked of it.
import type { Request, Transport, WatchRequest } from '../../src/api/transport.ts';

export interface Counted extends Transport {
  readonly calls: Request[];
  readonly watches: WatchRequest[];
  /** Watches that are open now. */
  readonly open: () => number;
  writes(): readonly string[];
}

export function counted(transport: Transport): Counted {
  const calls: Request[] = [];
  const watches: WatchRequest[] = [];
  let open = 0;
  return {
    calls,
    watches,
    open: () => open,
    writes: () =>
      calls
        .filter(({ verb }) => verb !== 'get' && verb !== 'list')
        .map((request) => `${request.verb} ${request.at.resource.plural} ${nameOf(request)}`),
    call(request, signal) {
      calls.push(request);
      return transport.call(request, signal);
    },
    async *watch(request, signal) {
      watches.push(request);
      open++;
      try {
        yield* transport.watch(request, signal);
      } finally {
        open--;
      }
    },
  };
}

const nameOf = (request: Request): string =>
  request.at.name ?? ('object' in request ? (request.object.metadata.name ?? '') : '');
