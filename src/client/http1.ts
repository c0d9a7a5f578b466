// HTTP/1.1: calls share a bounded pool of persistent connections; every watch has its own.
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../base/abort.ts';
import { messageOf } from '../base/errors.ts';
import { createGate } from './gate.ts';
import { type Incoming, type Packet, WireError } from './wire.ts';

export interface Http1 {
  send(packet: Packet, signal: AbortSignal): Promise<Incoming>;
  /** No request is in flight. */
  readonly isIdle: boolean;
  /** Uses a connection that was opened elsewhere. */
  adopt(socket: Socket): void;
  /** Closes idle connections now, and others after their request. */
  retire(): void;
  destroy(): void;
}

/** More calls wait for a connection: a thousand TLS handshakes would slow down all of them. */
const MAX_CONNECTIONS = 32;

/**
 * API servers close connections that are idle for 90 seconds; the outcome of a write that meets that is unknown. So we
 * close them earlier, but not between two heartbeats, which come once a minute: otherwise every heartbeat would need a
 * handshake.
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
        // One turn later the connection is in the pool again.
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

/** Node has an entry for an address as soon as a connection to it is requested. */
const isUnused = ({ sockets, requests }: Agent): boolean =>
  Object.keys(sockets).length === 0 && Object.keys(requests).length === 0;

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function start({ method, path, host, headers }: Packet, agent: Agent): ClientRequest {
  try {
    return request({ agent, method, path, host, headers: { ...headers, host } });
  } catch (cause) {
    // HTTP cannot represent a header or the path.
    throw new WireError(messageOf(cause), { cause, sent: false });
  }
}

async function send(packet: Packet, signal: AbortSignal, agent: Agent): Promise<Incoming> {
  const outgoing = start(packet, agent);
  let sent = false;
  return new Promise((resolve, reject) => {
    // A request that still waits for its connection emits nothing when it is destroyed, so the signal is handled here.
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
      // The others have been idle for as long, so most likely they are closed, too.
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
