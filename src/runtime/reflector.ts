// Keeps one cache up to date: a paginated list, then a watch from the revision of the list, until the signal fires. It
// never gives up and never misses a deletion: if the watch cannot resume at its exact revision, everything is listed
// again and the differences are emitted.
import type { KubeObject } from '../api/object.ts';
import type { Target, Transport, WatchEvent } from '../api/transport.ts';
import { onAbort } from '../base/abort.ts';
import { type Clock, until } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { type BackOff, backOffMs } from './back-off.ts';
import type { Cache, Change } from './cache.ts';
import type { Projected } from './controller.ts';
import type { Log } from './deps.ts';
import { isNoAnswer, retryAfterMs } from './outcome.ts';
import { byRevision } from './revision.ts';
import type { TimeSlice } from './time-slice.ts';

export interface ReflectorOptions<T extends Projected> {
  readonly name: string;
  readonly cache: Cache<T>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: TimeSlice;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called at once for each batch; the cache is already updated. */
  onChanges(changes: readonly Change<T>[]): void;
  /**
   * Called with each full object of a watch with `isReadWhole`, before its change is emitted. `isNew`: it was not
   * cached before.
   */
  onWhole?(object: KubeObject, isNew: boolean): void;
  /** The first list is complete. */
  onSynced(): void;
  /** The first failure, or a failure with another cause than before. */
  onTrouble?(): void;
  readonly pageSize?: number;
  /** The timeout of a watch: between this and twice this. */
  readonly watchMs?: number;
  /** A watch without events for this long is considered dead. Servers send bookmarks every minute. */
  readonly silenceMs?: number;
  readonly backOff?: BackOff;
}

export interface ReflectorState {
  readonly phase: 'listing' | 'watching' | 'waiting' | 'stopped';
  readonly synced: boolean;
  readonly lists: number;
  readonly watches: number;
  readonly failures: number;
  /** When the server last answered, by our clock. */
  readonly heardAt: number | undefined;
  readonly lastError?: string;
  /** The `reason` of that error, if the server sent one. */
  readonly lastReason?: string;
}

export interface Reflector {
  state(): ReflectorState;
  /** The server answers again: end the back-off now. */
  retryNow(): void;
  /** Resolves after the signal fired. Never rejects. */
  readonly done: Promise<void>;
}

const BACK_OFF: BackOff = { firstMs: 500, maxMs: 30_000 };

export function startReflector<T extends Projected>(options: ReflectorOptions<T>): Reflector {
  const { cache, transport, clock, random, pace: slice, log, signal, backOff = BACK_OFF } = options;
  const { pageSize = 500, watchMs = 300_000, silenceMs = 300_000 } = options;
  const { source } = cache;
  const at: Target = {
    resource: source.resource,
    ...(source.namespace === undefined ? {} : { namespace: source.namespace }),
  };
  const asked = {
    at,
    ...(source.view === undefined ? {} : { view: source.view }),
    ...(source.labels === undefined ? {} : { labels: source.labels }),
    ...(source.fields === undefined ? {} : { fields: source.fields }),
  };
  const listed = source.isReadWhole ? { ...asked, view: 'metadata' as const } : asked;
  let phase: ReflectorState['phase'] = 'listing';
  let isSynced = false;
  let mustList = true;
  let lists = 0;
  let watches = 0;
  let failures = 0;
  let heardAt: number | undefined;
  let lastError: string | undefined;
  let lastReason: string | undefined;
  /** The next attempt is likely to succeed, so it skips the back-off. */
  let isCured = false;
  let notBefore = 0;
  let isUnanswered = false;
  let endRest = () => {};
  /** `retryNow` was called during an attempt, which may have begun before the server recovered. */
  let isHurried = false;

  const tell = (changes: readonly Change<T>[]) => {
    if (changes.length > 0) options.onChanges(changes);
  };

  async function run(): Promise<void> {
    while (!signal.aborted) {
      isHurried = false;
      try {
        if (mustList) await list();
        else await follow();
      } catch (error) {
        if (signal.aborted) break;
        fail(error);
      }
      if (failures > 0 && !signal.aborted) await rest();
    }
    phase = 'stopped';
  }

  /** Logs only the first of equal failures in a row. */
  function fail(error: unknown): void {
    const text = messageOf(error);
    const isNew = text !== lastError;
    if (isNew) log.warn('watch interrupted', { source: options.name, error: text });
    lastError = text;
    lastReason = error instanceof ApiError ? error.reason : undefined;
    isUnanswered = isNoAnswer(error);
    failures = isHurried && isUnanswered ? 1 : failures + 1;
    notBefore = clock.now() + retryAfterMs(error);
    if (isNew) options.onTrouble?.();
    if (!(error instanceof ApiError)) return;
    // A list fixes any refusal of our revision (too old, too new, unknown). It is also tried if a server keeps refusing
    // the watch for another reason.
    const isRefused = isRevisionRefused(error);
    isCured = isRefused && failures === 1;
    if (isRefused || failures > 3) mustList = true;
  }

  async function rest(): Promise<void> {
    if (isCured) {
      isCured = false;
      return;
    }
    phase = 'waiting';
    const wakeAt = Math.max(notBefore, clock.now() + backOffMs(backOff, failures, random));
    const ending = new AbortController();
    const forget = onAbort(signal, () => ending.abort());
    endRest = () => ending.abort();
    await until(clock, wakeAt, `${options.name} back-off`, ending.signal);
    endRest = () => {};
    forget();
  }

  async function list(): Promise<void> {
    phase = 'listing';
    lists++;
    const listing = cache.list();
    let token: string | undefined;
    do {
      const { list: page } = await transport.call(
        { verb: 'list', ...listed, limit: pageSize, ...(token === undefined ? {} : { continue: token }) },
        signal,
      );
      if (page === undefined) throw new Error(`the list of ${options.name} came back without items`);
      heardAt = clock.now();
      tell(listing.page(page.items, page.metadata.resourceVersion));
      token = page.metadata.continue === '' ? undefined : page.metadata.continue;
      await unlessAborted(slice.turn(), signal);
      if (signal.aborted) return;
    } while (token !== undefined);
    tell(listing.end());
    mustList = false;
    failures = 0;
    lastError = undefined;
    if (!isSynced) {
      isSynced = true;
      options.onSynced();
    }
  }

  async function follow(): Promise<void> {
    phase = 'watching';
    watches++;
    const openedAt = clock.now();
    const stop = new AbortController();
    const forget = onAbort(signal, () => stop.abort());
    let quietSince = openedAt;
    let isDead = false;
    let cancel = () => {};
    // One timer per watch, moved only when it fires.
    const arm = () => {
      cancel = clock.at(quietSince + silenceMs, `${options.name} silence`, () => {
        if (clock.now() - quietSince < silenceMs) return arm();
        isDead = true;
        stop.abort();
      });
    };
    arm();
    const timeoutSeconds = Math.ceil((watchMs * (1 + random.next())) / 1000);
    const batches = transport
      .watch({ ...asked, revision: cache.revision, bookmarks: true, timeoutSeconds }, stop.signal)
      [Symbol.asyncIterator]();
    let heard = false;
    const next = nextUnless(batches, stop.signal);
    try {
      for (;;) {
        const batch = await next();
        if (batch === undefined) break;
        heard = true;
        quietSince = clock.now();
        heardAt = quietSince;
        failures = 0;
        lastError = undefined;
        if (!takeIn(batch)) {
          mustList = true;
          break;
        }
        await unlessAborted(slice.turn(), signal);
      }
    } finally {
      cancel();
      forget();
      stop.abort();
      // Not awaited: a dead connection may never answer.
      batches.return?.(undefined)?.catch(() => {});
    }
    // A server that ends every watch at once must not be called in a tight loop.
    if (!heard && !isDead && !mustList && !signal.aborted && clock.now() - openedAt < 1000) {
      throw new Error('the server ended the watch at once');
    }
    failures = 0;
  }

  /** False if the events are older than the cache: the server went back in time. */
  function takeIn(batch: readonly WatchEvent[]): boolean {
    const changes: Change<T>[] = [];
    let isInOrder = true;
    for (const { type, object } of batch) {
      if (type !== 'DELETED' && byRevision(object.metadata.resourceVersion ?? '', cache.revision) < 0) {
        isInOrder = false;
        break;
      }
      if (type === 'BOOKMARK') cache.bookmark(object.metadata.resourceVersion ?? '');
      else {
        const change = cache.watched(type, object as KubeObject);
        if (change === undefined) continue;
        if (type !== 'DELETED' && source.isReadWhole) {
          options.onWhole?.(object as KubeObject, change.old === undefined);
        }
        changes.push(change);
      }
    }
    tell(changes);
    return isInOrder;
  }

  return {
    state: () => ({
      phase,
      synced: isSynced,
      lists,
      watches,
      failures,
      heardAt,
      ...(lastError === undefined ? {} : { lastError }),
      ...(lastError === undefined || lastReason === undefined ? {} : { lastReason }),
    }),
    retryNow() {
      isHurried = true;
      if (phase !== 'waiting' || !isUnanswered) return;
      failures = 1;
      endRest();
    },
    done: run(),
  };
}

/** A stopped reflector does not wait for the next slice: the clock may have stopped too. */
const unlessAborted = (turn: Promise<void> | undefined, signal: AbortSignal): Promise<void> | undefined =>
  turn &&
  new Promise((resolve) => {
    const forget = onAbort(signal, resolve);
    void turn.then(() => {
      forget();
      resolve();
    });
  });

/** A 410, or an error about a revision that this server does not know. */
const isRevisionRefused = (error: ApiError): boolean =>
  error.code === 410 ||
  error.reason === 'Expired' ||
  error.reason === 'Gone' ||
  error.code === 400 ||
  (error.details?.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge') ||
  error.message.includes('Too large resource version');

/**
 * Each call returns the next value, or undefined at the end or when the signal fires, even if the iterator never
 * settles.
 */
function nextUnless<V>(iterator: AsyncIterator<V>, signal: AbortSignal): () => Promise<V | undefined> {
  let giveUp = () => {};
  onAbort(signal, () => giveUp());
  return () =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined);
      if (signal.aborted) giveUp();
      else iterator.next().then((result) => resolve(result.done ? undefined : result.value), reject);
    });
}
