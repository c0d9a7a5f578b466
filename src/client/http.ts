// The Transport over the wire: any Kubernetes API server, embedded or real.
//
// Guarantee: calls reject only with ApiError, LostError or AbortError. A write is sent again only if the server has
// reported that it did not process it (429, 401 with other credentials to try, an HTTP/2 refusal); a read also if an
// idle connection turned out to be closed. To a server that returns 429, calls go one after the other for a while.
// Nothing waits forever: calls have a timeout, watches end shortly after their requested timeout, and dead connections
// are detected.

import type { Transport } from '../api/transport.ts';
import { onAbort, unlessAborted } from '../base/abort.ts';
import { type Clock, until } from '../base/clock.ts';
import { AbortError, ApiError, LostError, messageOf } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Connection } from './connection.ts';
import { answerFrom, errorFrom, eventsOf, parsed, wholeBody } from './incoming.ts';
import { createLogin, type Identity } from './login.ts';
import { type Outgoing, outgoingFor, outgoingForWatch } from './outgoing.ts';
import { type Patience, patience } from './patience.ts';
import { createPool } from './pool.ts';
import { createTurns } from './turns.ts';
import { type Incoming, WireError } from './wire.ts';

export interface HttpTransport extends Transport {
  /** GET of any path, for discovery. */
  read(path: string, accept?: string, signal?: AbortSignal): Promise<Json>;
  /** Closes all connections; calls in flight are lost. */
  close(): void;
}

export interface HttpOptions {
  readonly clock: Clock;
  /** Loads the connection again from its source, for renewed credentials. */
  readonly reload?: () => Connection;
  readonly userAgent?: string;
  /** For a whole call, from connecting to the last byte of the response, including all retries. */
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Called with each 429, including those of requests that succeed after a retry. */
  readonly onThrottled?: (refusal: ApiError) => void;
}

const CALL_MS = 60_000;
const CONNECT_MS = 15_000;
/** Maximum of retries when the server requests them. */
const MAX_RETRIES = 8;
/** Maximum of consecutive retries for requests on a connection that was just being closed. */
const MAX_STALE = 3;
/** A watch that is still open this long after its timeout has lost its server. */
const WATCH_GRACE_MS = 30_000;

export function httpTransport(connection: Connection, options: HttpOptions): HttpTransport {
  const { clock, userAgent = 'flotilla', timeoutMs = CALL_MS } = options;
  const login = createLogin(connection, options);
  const pool = createPool({ clock, connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_MS });
  const turns = createTurns(clock);

  async function once(outgoing: Outgoing, isWatch: boolean, { headers, connection }: Identity, signal: AbortSignal) {
    const { method, accept, contentType, body } = outgoing;
    const server = new URL(connection.server);
    const packet = {
      method,
      path: `${server.pathname === '/' ? '' : server.pathname}${outgoing.path}`,
      host: server.host,
      isWatch,
      headers: {
        accept,
        'user-agent': userAgent,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    };
    return pool.send(connection, packet, signal);
  }

  /** Sends until there is a final response. Rejects for every status that is not a success. */
  async function exchange(outgoing: Outgoing, isWatch: boolean, waiting: Patience): Promise<Incoming> {
    const isRead = outgoing.method === 'GET';
    const { signal } = waiting;
    let hasRenewed = false;
    for (let retries = 0, stale = 0; ; ) {
      let identity: Identity;
      try {
        identity = await unlessAborted(login.current(), signal, () => new Error('given up'));
      } catch (cause) {
        throw new WireError(messageOf(cause), { cause, sent: false });
      }
      const leave = await turns.next(signal, () => new WireError('given up', { sent: false }));
      let incoming: Incoming;
      try {
        incoming = await once(outgoing, isWatch, identity, signal);
        // A server is busy with a call until its whole response was received, with a watch until it starts.
        if (isWatch) leave();
        else incoming.body.once('close', leave);
      } catch (error) {
        leave();
        const mayRepeat = error instanceof WireError && error.isStale && (isRead || !error.sent) && !signal.aborted;
        if (mayRepeat && stale++ < MAX_STALE) continue;
        throw error;
      }
      if (incoming.status < 300) return incoming;
      const error = errorFrom(incoming, await wholeBody(cutBy(incoming, signal)));
      if (error.code === 401 && !hasRenewed) {
        hasRenewed = true;
        if (await unlessAborted(login.renew(identity), signal, () => error).catch(() => false)) continue;
      }
      if (error.code === 429) {
        turns.refused();
        options.onThrottled?.(error);
      }
      const waitMs = waitBefore(error, isRead);
      if (waitMs === undefined) throw error;
      if (retries++ >= MAX_RETRIES || clock.now() + waitMs >= waiting.deadlineMs) throw error;
      await until(clock, clock.now() + waitMs, 'server asked to come back later', signal);
    }
  }

  async function answered<T>(
    outgoing: Outgoing,
    signal: AbortSignal | undefined,
    read: (incoming: Incoming, body: string) => T,
  ): Promise<T> {
    using waiting = patience(clock, timeoutMs, signal);
    try {
      if (waiting.end) throw new AbortError('the call was given up before it began');
      const incoming = await exchange(outgoing, false, waiting);
      return read(incoming, await wholeBody(cutBy(incoming, waiting.signal)));
    } catch (error) {
      throw failureOf(error, outgoing, waiting, timeoutMs);
    }
  }

  return {
    call: async (request, signal) =>
      answered(outgoingFor(request), signal, (incoming, body) => answerFrom(request, parsed(body), incoming)),
    async *watch(request, signal, onOpen) {
      const outgoing = outgoingForWatch(request);
      const opened = await openWatch(outgoing, signal);
      if (opened === undefined) return;
      onOpen?.();
      const incoming = cutBy(opened, signal);
      const { timeoutSeconds } = request;
      const cancel =
        timeoutSeconds === undefined
          ? () => {}
          : clock.at(clock.now() + timeoutSeconds * 1000 + WATCH_GRACE_MS, 'watch outlives its timeout', () =>
              incoming.cut('it is still open long after its timeout'),
            );
      try {
        yield* eventsOf(incoming);
      } catch (cause) {
        if (signal.aborted) return;
        if (cause instanceof ApiError || cause instanceof LostError) throw cause;
        throw new LostError(`the watch of ${outgoing.path} broke off: ${messageOf(cause)}`, { cause });
      } finally {
        cancel();
        if (!incoming.body.destroyed) incoming.cut('its reader is closed');
      }
    },
    read: (path, accept = 'application/json', signal) =>
      answered({ method: 'GET', path, accept }, signal, (_, body) => parsed(body)),
    close: () => pool.close(),
  };

  async function openWatch(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming | undefined> {
    using waiting = patience(clock, timeoutMs, signal);
    if (waiting.end) return undefined;
    try {
      return await exchange(outgoing, true, waiting);
    } catch (error) {
      if (waiting.end === 'given up') return undefined;
      throw failureOf(error, outgoing, waiting, timeoutMs);
    }
  }
}

/** The response; its body is cut off when the signal fires. */
function cutBy(incoming: Incoming, signal: AbortSignal): Incoming {
  const { body } = incoming;
  const cut = () => incoming.cut('given up');
  // The body may have no reader at that moment.
  body.on('error', () => {});
  body.once('close', onAbort(signal, cut));
  return incoming;
}

/** How long to wait before the request is sent again; undefined = not at all. */
function waitBefore({ code, details }: ApiError, isRead: boolean): number | undefined {
  const asked = details?.retryAfterSeconds;
  if (code === 429) return (asked ?? 1) * 1000;
  // A server that starts or stops may have executed part of the write.
  return code === 503 && isRead && asked !== undefined ? asked * 1000 : undefined;
}

function failureOf(error: unknown, { method, path }: Outgoing, waiting: Patience, timeoutMs: number): Error {
  if (waiting.end === 'given up') return new AbortError('the call was given up', { cause: error });
  if (error instanceof ApiError || error instanceof AbortError) return error;
  const sent = !(error instanceof WireError) || error.sent;
  const why = waiting.end === 'too late' ? `it took longer than ${timeoutMs / 1000} s` : messageOf(error);
  return new LostError(`no answer to ${method} ${path}: ${why}`, { cause: error, sent });
}
