// The common part of all housekeeping: one subscription, a queue of keys per loop, retries after conflicts, and
// back-off after other failures. The failure of one loop never stops another.
//
// Guarantee: no polling; a key is worked on because an object changed, or because a retry is due. Keys are worked on in
// the order of the store's revisions, so two runs with the same writes do the same.
import { until } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Cluster } from '../cluster.ts';
import { RevisionMismatch, type Stored } from '../store/store.ts';

export interface Seen {
  readonly key: string;
  /** The stored object; for a deletion the last state. */
  readonly stored: Stored;
  readonly deleted: boolean;
  /** True for objects that existed before the loop started. */
  readonly isOld: boolean;
}

export interface Loop {
  readonly name: string;
  /** Receives every object and every change, and enqueues keys. Must be fast: every write of the cluster calls it. */
  notice(seen: Seen, want: (key: string) => void): void;
  /** Called when kinds were added or removed. */
  noticeKinds?(want: (key: string) => void): void;
  /** Clears its state: all objects will be passed to `notice` again. */
  reset?(): void;
  /** Reconciles one key. There may be nothing to do. */
  work(key: string): Promise<void> | void;
}

export interface Housekeeping {
  stop(): void;
  /** Resolves when the queues are empty, except for retries that are not due. */
  settled(): Promise<void>;
}

const AT_ONCE = 64;
const BETWEEN_PAUSES = 2048;
const TRIES_BEFORE_BACK_OFF = 16;
const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 60_000;

export function runLoops(
  cluster: Cluster,
  loops: readonly Loop[],
  onError: (error: unknown, what: string) => void,
): Housekeeping {
  const { store, clock, registry } = cluster;
  const queues = loops.map(() => new Set<string>());
  const failures = loops.map(() => new Map<string, number>());
  const wants = queues.map((queue) => (key: string) => void queue.add(key));
  const timers = new Set<() => void>();
  const waiting: (() => void)[] = [];
  let seen: number | undefined;
  let epoch = registry.epoch;
  let isRunning = false;
  let isStopped = false;

  function tell(what: Seen): void {
    loops.forEach((loop, index) => {
      try {
        loop.notice(what, wants[index] as (key: string) => void);
      } catch (error) {
        onError(error, `${loop.name}: noticing ${what.key}`);
      }
    });
  }

  function lookAtAll(): void {
    for (const loop of loops) loop.reset?.();
    const { items, revision } = store.range('');
    for (const stored of items) tell({ key: stored.key, stored, deleted: false, isOld: true });
    seen = revision;
  }

  function pull(): void {
    const changes = seen === undefined ? 'compacted' : store.since(seen, '');
    if (changes === 'compacted') lookAtAll();
    else {
      for (const { key, stored, deleted, revision } of changes) {
        tell({ key, stored, deleted, isOld: false });
        seen = revision;
      }
    }
    if (epoch === registry.epoch) return;
    epoch = registry.epoch;
    loops.forEach((loop, index) => void loop.noticeKinds?.(wants[index] as (key: string) => void));
  }

  const isIdle = (): boolean =>
    !isRunning &&
    (isStopped ||
      (queues.every((queue) => queue.size === 0) && seen === store.visible && store.head === store.visible));

  async function attempt(index: number, key: string): Promise<void> {
    const loop = loops[index] as Loop;
    try {
      await loop.work(key);
      failures[index]?.delete(key);
    } catch (error) {
      again(index, key, error);
    }
  }

  function again(index: number, key: string, error: unknown): void {
    const tries = (failures[index]?.get(key) ?? 0) + 1;
    failures[index]?.set(key, tries);
    // Another writer was faster: evaluate its result.
    const isRace =
      error instanceof RevisionMismatch || (error instanceof ApiError && (error.code === 409 || error.code === 404));
    if (isRace && tries <= TRIES_BEFORE_BACK_OFF) {
      queues[index]?.add(key);
      return;
    }
    const name = loops[index]?.name ?? '';
    onError(error, `${name}: ${key}`);
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(tries - 1, 16));
    const cancel = clock.at(clock.now() + delayMs, `housekeeping/${name}`, () => {
      timers.delete(cancel);
      queues[index]?.add(key);
      wake();
    });
    timers.add(cancel);
  }

  async function run(): Promise<void> {
    isRunning = true;
    let done = 0;
    while (!isStopped) {
      pull();
      const index = queues.findIndex((queue) => queue.size > 0);
      const queue = queues[index];
      if (queue === undefined) break;
      const keys = [...queue].slice(0, AT_ONCE);
      for (const key of keys) queue.delete(key);
      await Promise.all(keys.map((key) => attempt(index, key)));
      done += keys.length;
      if (done >= BETWEEN_PAUSES) {
        // Yields the event loop.
        done = 0;
        await until(clock, clock.now(), 'housekeeping pauses');
      }
    }
    isRunning = false;
    if (isIdle()) for (const resolve of waiting.splice(0)) resolve();
  }

  function wake(): void {
    if (isRunning || isStopped) return;
    run().catch((error: unknown) => {
      isRunning = false;
      onError(error, 'housekeeping');
    });
  }

  const unsubscribe = store.subscribe('', wake);
  wake();
  return {
    stop() {
      isStopped = true;
      unsubscribe();
      for (const cancel of timers) cancel();
      for (const resolve of waiting.splice(0)) resolve();
    },
    settled: () =>
      new Promise((resolve) => {
        if (isIdle()) resolve();
        else {
          waiting.push(resolve);
          wake();
        }
      }),
  };
}
