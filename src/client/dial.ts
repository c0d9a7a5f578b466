// Opens connections: TCP, optionally through a proxy's tunnel, and TLS on top. Resolves only with a connection that is
// ready for a request, so if a call fails before that, nothing was sent.
import { request } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import type { Connection } from './connection.ts';

export type Protocol = 'h2' | 'http/1.1';

export interface Dialled {
  readonly socket: Socket;
  readonly protocol: Protocol;
}

export interface DialOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The offered protocols, preferred first. */
  readonly protocols: readonly Protocol[];
}

/** A peer that disappeared silently is probed after this time, and given up about ten seconds later. */
const KEEPALIVE_MS = 15_000;

export async function dial(connection: Connection, options: DialOptions): Promise<Dialled> {
  const { clock, timeoutMs, protocols } = options;
  const server = new URL(connection.server);
  let socket: Socket | undefined;
  const cancel = clock.at(clock.now() + timeoutMs, 'connect timeout', () =>
    socket?.destroy(new Error(`no connection to ${server.host} within ${timeoutMs / 1000} s`)),
  );
  try {
    const first = connection.proxy === undefined ? server : new URL(connection.proxy);
    socket = connectTcp({ host: bare(first), port: portOf(first) });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEPALIVE_MS);
    await ready(socket, 'connect');
    if (connection.proxy !== undefined) {
      if (first.protocol === 'https:') {
        socket = connectTls({ socket, host: bare(first), servername: nameOf(bare(first)) });
        await ready(socket, 'secureConnect');
      }
      socket = await tunnel(socket, first, server);
    }
    if (server.protocol === 'http:') return { socket, protocol: 'http/1.1' };
    const secure: TLSSocket = connectTls({
      socket,
      host: bare(server),
      servername: connection.serverName ?? nameOf(bare(server)),
      ALPNProtocols: [...protocols],
      rejectUnauthorized: !connection.insecure,
      ...(connection.ca === undefined ? {} : { ca: connection.ca }),
      ...(connection.certificate === undefined ? {} : { cert: connection.certificate, key: connection.key }),
    });
    socket = secure;
    await ready(secure, 'secureConnect');
    return { socket: secure, protocol: secure.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
  } catch (error) {
    socket?.destroy();
    throw error;
  } finally {
    cancel();
  }
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the connection was closed while it was being set up'));
    socket.once(event, () => {
      socket.off('error', reject);
      socket.off('close', onClose);
      // Between being ready and being used the socket has no listener, and an unhandled error would end the process.
      socket.on('error', () => {});
      resolve();
    });
    socket.once('error', reject);
    socket.once('close', onClose);
  });
}

/** Opens a tunnel to the server through the proxy. */
function tunnel(socket: Socket, proxy: URL, server: URL): Promise<Socket> {
  const target = `${server.hostname}:${portOf(server)}`;
  const { username, password } = proxy;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const asking = request({
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    createConnection: () => socket,
  });
  return new Promise((resolve, reject) => {
    asking.once('connect', ({ statusCode, statusMessage }, connected: Socket, head: Buffer) => {
      if (statusCode !== 200) {
        return reject(
          new Error(`the proxy ${proxy.host} answered ${statusCode} ${statusMessage} to CONNECT ${target}`),
        );
      }
      if (head.length > 0) connected.unshift(head);
      resolve(connected);
    });
    asking.once('error', reject);
    asking.once('close', () => reject(new Error(`the proxy ${proxy.host} closed the connection`)));
    asking.end();
  });
}

/** The host for a resolver: an IPv6 address without brackets. */
const bare = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** An IP address is not a server name; the certificate is then checked against the address. */
const nameOf = (host: string): string => (isIP(host) === 0 ? host : '');

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));
