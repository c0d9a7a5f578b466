// Watches: one JSON document per line until the client disconnects. Nothing is queued per watcher: a woken watcher
// pulls new events, and one with a full socket pulls later. A watcher that does not read at all is dropped.

import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { FeedEvent, WatchFeed } from '../verbs/call.ts';
import type { Account } from './accounts.ts';
import { type EventEncoder, type EventShape, errorEvent } from './event-encoder.ts';
import type { Limits } from './limits.ts';
import { JSON_TYPE } from './negotiate.ts';
import { asApiError, type Exchange, headersOf } from './respond.ts';

export interface WatchHub {
  readonly size: number;
  open(exchange: Exchange, watch: OpenWatch): void;
  /** Ends all watches like a timeout. */
  endAll(): void;
}

export interface OpenWatch {
  readonly feed: WatchFeed;
  readonly shape: EventShape;
  readonly encoder: EventEncoder;
  /** Account of the watching identity; already counts this watch. */
  readonly account: Pick<Account, 'closeWatch' | 'addUnsent' | 'isUnread'>;
  readonly sendsBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

export interface WatchHubOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Pick<Limits, 'watchBufferBytes' | 'watchStallMs'>;
}

const BOOKMARK_MS = 60_000;
const SHORTEST_TIMEOUT_MS = 30 * 60_000;
/** Watchers served per turn of the event loop: a write that wakes thousands must not delay everything else. */
const SLICE = 512;
const BURST_BYTES = 64 * 1024;

export function createWatchHub({ clock, random, limits }: WatchHubOptions): WatchHub {
  const open = new Set<Watcher>();
  const ready: Watcher[] = [];
  let isScheduled = false;
  /** Already served in this turn. */
  let served = 0;

  // Runs before the controllers in this process react to the change, so that remote clients can react at the same time.
  const schedule = () => {
    if (isScheduled || served >= SLICE) return;
    isScheduled = true;
    queueMicrotask(serveReady);
  };
  const serveReady = () => {
    isScheduled = false;
    if (served === 0) setImmediate(nextTick);
    const now = ready.splice(0, SLICE - served);
    served += now.length;
    for (const watcher of now) watcher.pump();
  };
  const nextTick = () => {
    served = 0;
    if (ready.length > 0) serveReady();
  };

  return {
    get size() {
      return open.size;
    },
    open(exchange, watch) {
      const watcher: Watcher = createWatcher(exchange, watch, {
        clock,
        limits,
        timeoutMs: watch.timeoutSeconds
          ? watch.timeoutSeconds * 1000
          : SHORTEST_TIMEOUT_MS + Math.floor(random.next() * SHORTEST_TIMEOUT_MS),
        wake: () => {
          ready.push(watcher);
          schedule();
        },
        onClosed: () => open.delete(watcher),
      });
      open.add(watcher);
      watcher.start();
    },
    endAll() {
      for (const watcher of [...open]) watcher.end();
    },
  };
}

interface Watcher {
  start(): void;
  /** Writes new events, until the socket is full. */
  pump(): void;
  end(): void;
}

interface Surroundings {
  readonly clock: Clock;
  readonly limits: WatchHubOptions['limits'];
  readonly timeoutMs: number;
  wake(): void;
  onClosed(): void;
}

function createWatcher(exchange: Exchange, watch: OpenWatch, around: Surroundings): Watcher {
  const { response } = exchange;
  const { feed, shape, encoder, account } = watch;
  const { clock, limits } = around;
  const cancels = new Map<'wake' | 'timeout' | 'bookmark' | 'stall', () => void>();
  let pending: readonly FeedEvent[] = [];
  let next = 0;
  let isFirst = true;
  let isQueued = false;
  let isBlocked = false;
  let isOver = false;
  let unsent = 0;

  /** Only bytes that the socket did not accept immediately are counted. */
  const noteUnsent = (bytes: number) => {
    if (bytes === unsent) return;
    account.addUnsent(bytes - unsent);
    unsent = bytes;
  };
  const queue = () => {
    if (isQueued || isBlocked || isOver) return;
    isQueued = true;
    around.wake();
  };
  const close = () => {
    if (isOver) return;
    isOver = true;
    for (const cancel of cancels.values()) cancel();
    noteUnsent(0);
    account.closeWatch();
    around.onClosed();
  };
  const finish = (last?: Uint8Array) => {
    if (isOver) return;
    close();
    response.end(last);
  };
  const encoded = (event: FeedEvent): Uint8Array => {
    const bytes = encoder.encode(shape, event, isFirst);
    isFirst = false;
    return bytes;
  };

  /** The bytes of the next events: a single event is shared by all watchers, a burst is joined into one write. */
  const burst = (): Uint8Array => {
    const first = encoded(pending[next++] as FeedEvent);
    if (next === pending.length) return first;
    const parts = [first];
    let length = first.length;
    while (next < pending.length && length < BURST_BYTES) {
      const part = encoded(pending[next++] as FeedEvent);
      parts.push(part);
      length += part.length;
    }
    return Buffer.concat(parts, length);
  };

  const block = () => {
    isBlocked = true;
    cancels.set(
      'stall',
      clock.at(clock.now() + limits.watchStallMs, 'watcher does not read', () => response.destroy()),
    );
    response.once('drain', () => {
      cancels.get('stall')?.();
      isBlocked = false;
      queue();
    });
  };

  const pump = () => {
    isQueued = false;
    if (isOver || isBlocked) return;
    try {
      for (;;) {
        if (next >= pending.length) {
          pending = feed.pull();
          next = 0;
          if (pending.length === 0) return;
        }
        while (next < pending.length) {
          if (response.writableLength > limits.watchBufferBytes) return block();
          // The client does not read its many watches, so the sent events fill our memory.
          if (account.isUnread()) return void response.destroy();
          if (!response.write(burst())) noteUnsent(response.writableLength);
          // Otherwise the write would wait until all pending microtasks and callbacks have run.
          response.socket?.uncork();
        }
      }
    } catch (error) {
      finish(errorEvent(asApiError(error)));
    }
  };

  /**
   * Reports how far this watcher has seen. Not while data is unsent, because the client would skip it after a
   * reconnect.
   */
  const bookmark = (): Uint8Array | undefined => {
    pump();
    if (isOver || isBlocked || !watch.sendsBookmarks) return undefined;
    return encoder.encode(shape, { type: 'BOOKMARK', revision: feed.revision }, false);
  };
  const bookmarkLater = () => {
    cancels.set(
      'bookmark',
      clock.at(clock.now() + BOOKMARK_MS, 'watch bookmark', () => {
        const bytes = bookmark();
        if (bytes) response.write(bytes);
        if (!isOver) bookmarkLater();
      }),
    );
  };

  return {
    start() {
      response.on('close', close);
      response.on('drain', () => noteUnsent(0));
      // A watch without events for an hour is not an idle connection.
      response.on('timeout', () => {});
      response.writeHead(200, headersOf(exchange, JSON_TYPE));
      // Clients wait for the headers first, and there may be no event for an hour.
      response.flushHeaders();
      cancels.set('wake', feed.onWake(queue));
      cancels.set(
        'timeout',
        clock.at(clock.now() + around.timeoutMs, 'watch timeout', () => finish(bookmark())),
      );
      if (watch.sendsBookmarks) bookmarkLater();
      pump();
    },
    pump,
    end: () => finish(bookmark()),
  };
}

/** A watch that cannot start because its revision has been compacted: a real server reports this inside the stream. */
export function sendExpiredWatch(exchange: Exchange, error: ApiError): void {
  exchange.response.writeHead(200, headersOf(exchange, JSON_TYPE));
  exchange.response.end(errorEvent(error));
}

export const isExpired = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 410;
