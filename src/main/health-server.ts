// /healthz, /readyz and /metrics of a long-running command, on a port of its own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { UserError } from '../base/errors.ts';
import type { Health } from '../runtime/health.ts';

export interface HealthServerOptions {
  readonly port: number;
  live(): Health;
  ready(): Health;
  readonly metrics: Registry;
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

export async function serveHealth({ port, live, ready, metrics }: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': metrics.contentType });
      response.end(await metrics.metrics());
    } else if (path === '/healthz' || path === '/readyz') {
      const health = path === '/healthz' ? live() : ready();
      const lines = health.facts.map(({ name, ok, detail }) => `[${ok ? '+' : '-'}] ${name}: ${detail}`);
      response.writeHead(health.ok ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(`${[...lines, health.ok ? 'ok' : 'not ok'].join('\n')}\n`);
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('/healthz, /readyz and /metrics are here\n');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new UserError(
          'PortInUse',
          `cannot serve health on port ${port}: ${cause.message}; choose another with --health-port`,
          { cause },
        ),
      ),
    );
    server.listen(port, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
