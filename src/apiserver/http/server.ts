// The listener: node:https with client certificates, or node:http on the loopback interface for one user. No client can
// stop the server; closing it closes all connections.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { User } from '../../api/object.ts';
import { statusOf } from '../../api/status.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import { createHandler, type HandlerOptions } from './handler.ts';
import type { HttpCluster } from './http-cluster.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { isLoopback, loopbackFault } from './loopback.ts';

export interface ServeOptions {
  /** By the name in `/clusters/<name>/…`; '' is the cluster at the root. */
  clusters(name: string): HttpCluster | undefined;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** PEM texts. `clientCa` signs the certificates of clients. */
  readonly tls?: { readonly key: string; readonly certificate: string; readonly clientCa: string };
  /** Instead of `tls`: no encryption, loopback only, and every client is this user. */
  readonly plainHttp?: { readonly user: User };
  readonly limits?: Partial<Limits>;
  readonly clock: Clock;
  readonly random?: Random;
  readonly onFailure?: HandlerOptions['onFailure'];
  readonly onLimit?: HandlerOptions['onLimit'];
}

export interface Listening {
  readonly port: number;
  readonly host: string;
  /** Open watches, requests in flight, and all connections. */
  readonly load: { readonly watches: number; readonly requests: number; readonly connections: number };
  /** Accepts no more connections, ends watches, waits for requests, then closes all connections. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Resolves when the port is open. Rejects with the system's error (EADDRINUSE …), or a UserError for invalid options.
 */
export async function serve(options: ServeOptions): Promise<Listening> {
  const { host, port, clock, plainHttp, tls } = options;
  const limits = { ...defaultLimits, ...options.limits };
  if ((plainHttp === undefined) === (tls === undefined)) {
    throw new UserError('BadListener', 'a listener needs either a certificate or plain http, not both');
  }
  if (plainHttp && !isLoopback(host)) {
    throw new UserError(
      'BadListener',
      `plain http is only for this machine: cannot listen on "${host}", use 127.0.0.1`,
    );
  }
  const handler = createHandler({
    clusters: options.clusters,
    clock,
    random: options.random ?? systemRandom,
    limits,
    ...(plainHttp ? { everybody: plainHttp.user } : {}),
    ...(options.onFailure ? { onFailure: options.onFailure } : {}),
    ...(options.onLimit ? { onLimit: options.onLimit } : {}),
  });
  const handle = plainHttp ? guarded(handler.handle, () => listeningPort) : handler.handle;
  const common = {
    maxHeaderSize: limits.headerBytes,
    keepAlive: true,
    noDelay: true,
    keepAliveTimeout: limits.keepAliveMs,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
  };
  const server: Server = tls
    ? createHttpsServer(
        {
          ...common,
          key: tls.key,
          cert: tls.certificate,
          ca: tls.clientCa,
          // Clients without a certificate are accepted, because they may have a token; each request is authenticated.
          requestCert: true,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
          minVersion: 'TLSv1.2',
          handshakeTimeout: limits.headersMs,
        },
        handle,
      )
    : createHttpServer(common, handle);
  server.maxConnections = limits.connections;
  // Without traffic in either direction: a client that does not read its responses is disconnected, too. A watch may be
  // idle for longer.
  server.timeout = limits.idleMs;
  server.on('clientError', refuseWith(clock));
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    socket.once('close', () => connections--);
  });
  // No 'upgrade' listener: requests for exec and attach are handled like ordinary requests.

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const listeningPort = (server.address() as AddressInfo).port;

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise<void>((resolve) => {
      const cancel = clock.at(clock.now() + limits.closeMs, 'listener closes hard', () => server.closeAllConnections());
      server.close(() => {
        cancel();
        resolve();
      });
      handler.windDown();
      server.closeIdleConnections();
    });
    return closing;
  };
  return {
    port: listeningPort,
    host,
    load: {
      get watches() {
        return handler.watchers;
      },
      get requests() {
        return handler.inFlight;
      },
      get connections() {
        return connections;
      },
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** A web page in a browser can reach the loopback interface, too; its Host or Origin header shows it. */
function guarded(handle: Handle, port: () => number): Handle {
  return (request, response) => {
    const fault = loopbackFault(request.headers, port());
    if (fault === undefined) return handle(request, response);
    const body = JSON.stringify(statusOf(new ApiError(403, 'Forbidden', fault, {})));
    response.writeHead(403, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  };
}

const REFUSALS: Readonly<Partial<Record<string, string>>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const LINGER_MS = 1000;

/** The client sent no HTTP, or sent too slowly. The connection is closed, whether or not the client reads the error. */
const refuseWith =
  (clock: Clock) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // Before the end of the handshake nothing can be sent: the response would wait for it, and keep the connection
    // open.
    const isMute = /^ERR_(TLS|SSL)_/.test(error.code ?? '');
    if (!socket.writable || isMute || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const line = (Object.hasOwn(REFUSALS, error.code ?? '') && REFUSALS[error.code ?? '']) || '400 Bad Request';
    const cancel = clock.at(clock.now() + LINGER_MS, 'refused connection ends', () => socket.destroy());
    socket.once('close', cancel);
    socket.end(
      `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${line.length}\r\n\r\n${line}`,
      () => socket.destroy(),
    );
  };
