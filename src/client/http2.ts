// HTTP/2: any number of calls and watches over one connection. Guarantee: a dead connection is detected within PING_MS
// + PONG_MS, and everything on it fails then.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { type Incoming, type Packet, WireError } from './wire.ts';

export interface Http2 {
  /** Another request is possible. */
  readonly hasRoom: boolean;
  readonly isIdle: boolean;
  readonly isOver: boolean;
  send(packet: Packet, signal: AbortSignal): Promise<Incoming>;
  /** Accepts no more requests; closes after those in flight. */
  retire(): void;
  destroy(): void;
}

export const PING_MS = 15_000;
export const PONG_MS = 10_000;

/** Servers allow about a hundred; more than this on one connection is no improvement. */
const MAX_STREAMS = 250;
/**
 * How far one stream may be ahead of its reader. With the default, long lists would wait for the network a hundred
 * times.
 */
const STREAM_WINDOW = 1024 * 1024;
const MAX_MEMORY_MB = 512;
const CONNECTION_WINDOW = 16 * STREAM_WINDOW;

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** Resolves when the server's settings have arrived. */
export async function http2(socket: Socket, origin: string, clock: Clock, timeoutMs: number): Promise<Http2> {
  const session = connect(origin, {
    createConnection: () => socket,
    // Node rejects new streams if unread ones hold more than this; the windows below are the effective limit.
    maxSessionMemory: MAX_MEMORY_MB,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
  });
  await greeted(session, clock, timeoutMs);
  session.setLocalWindowSize(CONNECTION_WINDOW);
  const stopPings = keepAsking(session, clock);
  session.once('close', stopPings);
  let streams = 0;
  // An idle connection must not keep a finished program alive.
  session.unref();

  const isOver = () => session.closed || session.destroyed;
  return {
    get hasRoom() {
      const allowed = session.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS;
      return !isOver() && streams < Math.min(allowed, MAX_STREAMS);
    },
    get isIdle() {
      return streams === 0;
    },
    get isOver() {
      return isOver();
    },
    async send(packet, signal) {
      const stream = open(session, packet);
      if (streams++ === 0) session.ref();
      stream.once('close', () => {
        if (--streams === 0 && !session.destroyed) session.unref();
      });
      return responseOf(stream, packet, signal);
    },
    retire: () => session.close(),
    destroy: () => session.destroy(),
  };
}

function greeted(session: ClientHttp2Session, clock: Clock, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + timeoutMs, 'http2 settings timeout', () =>
      session.destroy(new Error('the server does not support HTTP/2')),
    );
    session.once('remoteSettings', () => {
      cancel();
      resolve();
    });
    session.on('error', reject);
    session.once('close', () => {
      cancel();
      reject(new Error('the connection was closed while it was being set up'));
    });
  });
}

function keepAsking(session: ClientHttp2Session, clock: Clock): () => void {
  let cancel = () => {};
  const askLater = () => {
    cancel = clock.at(clock.now() + PING_MS, 'http2 ping', ask);
  };
  const ask = () => {
    if (session.destroyed) return;
    cancel = clock.at(clock.now() + PONG_MS, 'http2 ping timeout', () =>
      session.destroy(new Error(`the connection is dead: no answer to a ping within ${PONG_MS / 1000} s`)),
    );
    session.ping((error) => {
      if (error !== null) return;
      cancel();
      if (!session.destroyed) askLater();
    });
  };
  askLater();
  return () => cancel();
}

function open(session: ClientHttp2Session, { method, path, host, headers, body }: Packet): ClientHttp2Stream {
  try {
    const stream = session.request(
      { ...headers, ':method': method, ':path': path, ':authority': host, ':scheme': 'https' },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    return stream;
  } catch (cause) {
    throw new WireError(messageOf(cause), { cause, sent: false, isStale: true });
  }
}

function responseOf(stream: ClientHttp2Stream, packet: Packet, signal: AbortSignal): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const forget = onAbort(signal, () => {
      const sent = !stream.pending;
      stream.close(NGHTTP2_CANCEL);
      reject(new WireError('given up', { sent }));
    });
    stream.once('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
      forget();
      resolve({
        status: headers[':status'] ?? 0,
        headers,
        body: stream,
        isWhole: () => stream.rstCode === NGHTTP2_NO_ERROR && !stream.aborted,
        cut(reason) {
          // Explicitly, because the server would take a destroyed stream for a protocol error.
          stream.close(NGHTTP2_CANCEL);
          stream.destroy(new Error(reason));
        },
      });
    });
    stream.on('error', (cause) => {
      failure = cause;
    });
    // Node does not report every end of a stream as an error: a reset without a reason only closes it.
    stream.once('close', () => {
      forget();
      const isRefused = stream.rstCode === NGHTTP2_REFUSED_STREAM || stream.id === undefined;
      const message =
        failure === undefined ? `the server reset ${packet.method} (code ${stream.rstCode})` : failure.message;
      reject(new WireError(message, { cause: failure, sent: !isRefused, isStale: isRefused }));
    });
  });
}
