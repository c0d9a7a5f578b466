// A server that says what a test tells it to: for what a well-behaved API server never does.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { pki, portOf } from './subjects.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Scripted extends AsyncDisposable {
  readonly port: number;
  /** Everything that was asked, whole. */
  readonly asked: readonly Asked[];
  /** Connections that are open now, and how many there ever were. */
  readonly sockets: ReadonlySet<Socket>;
  readonly connections: number;
  /** Resolves when so many requests have come. */
  seen(count: number): Promise<void>;
}

/** Answers the nth request, counted from 0. */
export type Reply = (response: ServerResponse, asked: Asked, nth: number) => void;

export async function scripted(reply: Reply, options: { readonly tls?: true } = {}): Promise<Scripted> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let waiting: { count: number; resolve: () => void }[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
    asked.push(one);
    for (const each of waiting) if (asked.length >= each.count) each.resolve();
    waiting = waiting.filter((each) => asked.length < each.count);
    reply(response, one, asked.length - 1);
  };
  const { server: own, authority } = pki();
  const server: Server = options.tls
    ? createSecureServer({ key: own.privateKey, cert: own.certificate, ca: authority.certificate }, listener)
    : createServer(listener);
  server.keepAliveTimeout = 0;
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    asked,
    sockets,
    get connections() {
      return connections;
    },
    seen: (count) =>
      asked.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export const json = (
  response: ServerResponse,
  value: unknown,
  code = 200,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(code, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

export const status = (code: number, reason: string, more: object = {}) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `${reason}!`,
  reason,
  code,
  ...more,
});
