// /healthz, /readyz and /metrics of a long-running command, on a separate port. It starts first: if the port is taken,
// nothing else has started.
import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Registry } from 'prom-client';
import { wallClock } from '../base/clock.ts';
import { UserError } from '../base/errors.ts';
import { type Health, healthText, liveness, readiness } from '../runtime/health.ts';
import type { Manager } from '../runtime/manager.ts';

export interface HealthServerOptions {
  readonly port: number;
  /** Absent = all addresses of the machine, because probes of a Pod come from outside. */
  readonly host?: string;
  /** undefined = no manager runs yet, or not in this process. */
  manager(): Manager | undefined;
  /** The health without a manager; it is always live. */
  readonly without: { readonly name: string; readonly detail: string; readonly isReady: boolean };
  readonly metrics: Registry;
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Probes use an IP address. A web page could make its own host name resolve to this server (DNS rebinding) and read the
 * metrics.
 */
const isAddress = (host = ''): boolean => {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name.toLowerCase() === 'localhost';
};

export async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  const { port, host, metrics, manager, without } = options;
  const { name, detail, isReady } = without;
  const nothing = (ok: boolean): Health => ({ ok, facts: [{ name, ok, detail }] });
  const health = (path: '/healthz' | '/readyz'): Health => {
    const state = manager()?.state();
    if (state === undefined) return nothing(path === '/healthz' || isReady);
    return path === '/healthz' ? liveness(state, wallClock.now()) : readiness(state);
  };
  const server = createServer(async (request, response) => {
    if (!isAddress(request.headers.host)) {
      response.writeHead(403, { 'content-type': 'text/plain' });
      response.end('use the address of this server, not a name\n');
      return;
    }
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': metrics.contentType });
      response.end(await metrics.metrics());
    } else if (path === '/healthz' || path === '/readyz') {
      const told = health(path);
      const isVerbose = new URLSearchParams(request.url?.split('?')[1]).has('verbose');
      response.writeHead(told.ok ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(told.ok && !isVerbose ? 'ok\n' : healthText(path.slice(1), told));
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
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resolve());
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
