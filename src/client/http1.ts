// HTTP/1.1: calls share a bounded pool of connections that stay open; every watch has one of its own.
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../base/abort.ts';
import { messageOf } from '../base/errors.ts';
import { createGate } from './gate.ts';
import { type Incoming, type Packet, WireError } from './wire.ts';

export interface Http1 {
  send(packet: Packet, signal: AbortSignal): Promise<Incoming>;
  /** No request is under way. */
  readonly isIdle: boolean;
  /** A connection that another part opened. */
  adopt(socket: Socket): void;
  /** Closes idle connections; those in use are closed after it. */
  retire(): void;
  destroy(): void;
}

/** More calls at once than this wait for each other: a thousand TLS handshakes make all of them slow. */
const MAX_CONNECTIONS = 32;

/**
 * API servers close what was idle for 90 seconds; a write that meets that on its way may have been done or not. So we let go first, but not
 * between two heartbeats, which come once a minute: every other one would begin with a handshake.
 */
export const IDLE_MS = 75_000;

export function http1(dial: () => Promise<Socket>, idleMs = IDLE_MS): Http1 {
  const spare: Socket[] = [];
  const connect = (): Promise<Socket> => {
    for (let socket = spare.pop(); socket; socket = spare.pop()) if (!socket.destroyed) return Promise.resolve(socket);
    return dial();
  };
  // Node's own limit does not count connections that are still being opened.
  const gate = createGate(MAX_CONNECTIONS);
  const calls = agentOver(connect, { keepAlive: true, timeout: idleMs });
  const watches = agentOver(connect, { keepAlive: false });
  return {
    async send(packet, signal) {
      if (packet.isWatch) return send(packet, signal, watches);
      const leave = await gate.enter(signal, () => new WireError('given up', { sent: false }));
      try {
        const incoming = await send(packet, signal, calls);
        // A turn later the connection is back in the pool.
        incoming.body.once('close', () => setImmediate(leave));
        return incoming;
      } catch (error) {
        leave();
        throw error;
      }
    },
    get isIdle() {
      return isUnused(calls) && isUnused(watches);
    },
    adopt: (socket) => spare.push(socket),
    retire() {
      for (const socket of spare.splice(0)) socket.destroy();
      closeIdle(calls);
      calls.maxFreeSockets = 0;
    },
    destroy() {
      for (const socket of spare.splice(0)) socket.destroy();
      calls.destroy();
      watches.destroy();
    },
  };
}

function agentOver(connect: () => Promise<Socket>, options: ConstructorParameters<typeof Agent>[0]): Agent {
  const agent = new Agent(options);
  agent.createConnection = (_options, callback) => {
    connect().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

/** Node has an entry for an address from the moment that a connection to it is wanted. */
const isUnused = ({ sockets, requests }: Agent): boolean =>
  Object.keys(sockets).length === 0 && Object.keys(requests).length === 0;

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function start({ method, path, host, headers }: Packet, agent: Agent): ClientRequest {
  try {
    return request({ agent, method, path, host, headers: { ...headers, host } });
  } catch (cause) {
    // A header or a path that HTTP has no form for.
    throw new WireError(messageOf(cause), { cause, sent: false });
  }
}

async function send(packet: Packet, signal: AbortSignal, agent: Agent): Promise<Incoming> {
  const outgoing = start(packet, agent);
  let sent = false;
  return new Promise((resolve, reject) => {
    // A request that still waits for its connection does not say that it was destroyed, so the signal is heard here.
    const forget = onAbort(signal, () => {
      outgoing.destroy();
      reject(new WireError('given up', { sent }));
    });
    outgoing.on('socket', () => {
      sent = true;
    });
    outgoing.on('response', (response) => {
      forget();
      resolve(incomingFrom(response));
    });
    outgoing.on('error', (cause) => {
      forget();
      const isStale = outgoing.reusedSocket;
      // The others have been idle for as long: most likely they are closed as well.
      if (isStale) closeIdle(agent);
      reject(new WireError(messageOf(cause), { cause, sent, isStale }));
    });
    if (!signal.aborted) outgoing.end(packet.body);
  });
}

const incomingFrom = (response: IncomingMessage): Incoming => ({
  status: response.statusCode ?? 0,
  headers: response.headers,
  body: response,
  isWhole: () => response.complete,
  cut: (reason) => void response.destroy(new Error(reason)),
});
