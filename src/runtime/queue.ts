// Keys that must be reconciled; due.ts says when. Guarantees: a key that was added is run after it was added (adding while it runs makes it run again); never
// two runs of one key at a time; changes come before reports and reports before the resync, and none of them starves (lines.ts); a key that
// fails waits longer each time; the loop gets its turn.
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { createDeadlines } from './deadlines.ts';
import {
  type Attempts,
  afterRun,
  clearAttempts,
  forDeadline,
  forNews,
  isForgettable,
  type Next,
  noAttempts,
} from './due.ts';
import { createLines, type WorkClass } from './lines.ts';
import type { TimeSlice } from './time-slice.ts';

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly slice: TimeSlice;
  readonly workers: number;
  /** Never rejects. */
  run(key: string): Promise<Next>;
  /** A key that has just run lets the others go first. */
  readonly yieldToOthers?: (run: () => void) => void;
}

export interface Queue {
  readonly waiting: number;
  readonly running: number;
  /** Keys that failed and wait to be tried again. */
  readonly failing: number;
  /** All keys of which anything is remembered. */
  readonly remembered: number;
  readonly nextWakeAt: number | undefined;
  add(key: string, as: WorkClass): void;
  /** Runs then, with all that comes until then, or before if something else asks for it. */
  addAt(key: string, epochMs: number, as: Coalesced): void;
  /** Replaces what an earlier decision asked for; undefined = no wake-up. `lookedAt`: what time it was for the decision. */
  wakeAt(key: string, epochMs: number | undefined, lookedAt?: number): void;
  /** What stood in its way is gone: it runs now, and its failures so far are forgotten. */
  retryNow(key: string): void;
  /** Starts nothing any more; resolves when what runs is done. */
  stop(): Promise<void>;
}

/** What may wait for a moment. */
export type Coalesced = 'fresh' | 'report';

interface Entry {
  readonly key: string;
  /** In line as these. The first place that comes up counts. */
  readonly queued: Set<WorkClass>;
  /** Counts runs: a place in line from before a run is void. */
  run: number;
  running: boolean;
  /** Added while running. */
  readonly dirty: Set<WorkClass>;
  /** Added while running, as what may wait until then. */
  readonly by: Map<Coalesced, number>;
  readonly attempts: Attempts;
}

export function createQueue(options: QueueOptions): Queue {
  const { clock, random, slice, workers, yieldToOthers = queueMicrotask } = options;
  const entries = new Map<string, Entry>();
  const lines = createLines<{ readonly entry: Entry; readonly run: number }>(
    clock,
    ({ entry, run }) => entry.run === run,
  );
  const retries = createDeadlines(clock, `${options.name} retry`, (key) => due(key));
  const wakes = createDeadlines(clock, `${options.name} wake`, (key) => due(key));
  /** Of a name of their own: nothing is waited for there, only what comes within a moment is looked at together. */
  const coalesced = {
    fresh: createDeadlines(clock, 'coalesce', (key) => due(key)),
    report: createDeadlines(clock, 'coalesce', (key) => due(key, 'report')),
  };
  let waiting = 0;
  let running = 0;
  let isPumping = false;
  let isStopped = false;
  let onDrained: (() => void) | undefined;

  function due(key: string, as: WorkClass = 'fresh'): void {
    enqueue(entryOf(key), as);
  }

  function entryOf(key: string): Entry {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = {
        key,
        queued: new Set(),
        run: 0,
        running: false,
        dirty: new Set(),
        by: new Map(),
        attempts: noAttempts(),
      };
      entries.set(key, entry);
    }
    return entry;
  }

  function enqueue(entry: Entry, as: WorkClass, inLine: (stand: () => void) => void = (stand) => stand()): void {
    if (isStopped) return;
    if (entry.running) {
      entry.dirty.add(as);
      return;
    }
    if (entry.queued.has(as) || (as === 'resync' && entry.queued.size > 0)) return;
    if (entry.queued.size === 0) waiting++;
    entry.queued.add(as);
    retries.clear(entry.key);
    const place = { entry, run: entry.run };
    inLine(() => {
      if (isStopped) return;
      lines.push(place, as);
      pumpSoon();
    });
  }

  // After the running code, so that a burst of events is one run per key.
  function pumpSoon(): void {
    if (isPumping) return;
    isPumping = true;
    queueMicrotask(pump);
  }

  function pump(): void {
    isPumping = false;
    while (!isStopped && running < workers && waiting > 0) {
      if (!slice.mayGoOn()) {
        isPumping = true;
        slice.later(pump);
        return;
      }
      const entry = lines.take()?.entry;
      if (entry === undefined) break;
      entry.queued.clear();
      entry.run++;
      entry.running = true;
      // Whatever has gathered is seen by this run.
      for (const deadlines of Object.values(coalesced)) deadlines.clear(entry.key);
      waiting--;
      running++;
      void start(entry);
    }
  }

  async function start(entry: Entry): Promise<void> {
    const next = await options.run(entry.key);
    entry.running = false;
    running--;
    if (isStopped) {
      if (running === 0) onDrained?.();
      return;
    }
    follow(entry, next);
    for (const as of entry.dirty) enter(entry, as);
    entry.dirty.clear();
    // Only now: what the run asked for has taken the place of whatever was there before.
    for (const [as, epochMs] of entry.by) gather(entry.key, epochMs, as);
    entry.by.clear();
    forget(entry);
    pumpSoon();
  }

  function follow(entry: Entry, next: Next): void {
    const at = afterRun(entry.attempts, next, { now: clock.now(), random });
    if (at === 'next') enqueue(entry, 'fresh', next.atOnce ? undefined : yieldToOthers);
    else if (at !== undefined) retries.set(entry.key, at);
  }

  /** News about a key that may have failed before. */
  function enter(entry: Entry, as: WorkClass): void {
    if (entry.running) {
      enqueue(entry, as);
      return;
    }
    // Without this, a key whose every run follows news would never be seen to rest, and never get out of the quiet.
    if (entry.queued.size === 0) entry.attempts.hasNews ||= as !== 'resync';
    const at = forNews(entry.attempts, as, { now: clock.now(), retryAt: retries.at(entry.key) });
    if (at === 'next') enqueue(entry, as);
    else if (at !== undefined) retries.set(entry.key, at);
  }

  /** News, too, which a key that fails too often does not run for at once. */
  function gather(key: string, epochMs: number, as: Coalesced): void {
    const suppressedUntil = entries.get(key)?.attempts.suppressedUntil ?? 0;
    const isQuiet = suppressedUntil > epochMs;
    const deadlines = isQuiet ? wakes : coalesced[as];
    const at = isQuiet ? suppressedUntil : epochMs;
    const asked = deadlines.at(key);
    if (asked === undefined || asked > at) deadlines.set(key, at);
  }

  function forget(entry: Entry): void {
    if (entry.running || entry.queued.size > 0 || !isForgettable(entry.attempts)) return;
    entries.delete(entry.key);
  }

  return {
    get waiting() {
      return waiting;
    },
    get running() {
      return running;
    },
    get failing() {
      return retries.size;
    },
    get remembered() {
      return entries.size + wakes.size + coalesced.fresh.size + coalesced.report.size;
    },
    get nextWakeAt() {
      const moments = [wakes, ...Object.values(coalesced)].flatMap(({ earliest }) => earliest ?? []);
      return moments.length === 0 ? undefined : Math.min(...moments);
    },
    add(key, as) {
      if (!isStopped) enter(entryOf(key), as);
    },
    addAt(key, epochMs, as) {
      if (isStopped) return;
      const entry = entries.get(key);
      if (!entry?.running) return gather(key, epochMs, as);
      entry.by.set(as, Math.min(entry.by.get(as) ?? Number.POSITIVE_INFINITY, epochMs));
    },
    wakeAt(key, epochMs, lookedAt) {
      if (isStopped) return;
      const now = clock.now();
      if (epochMs === undefined) wakes.clear(key);
      else wakes.set(key, forDeadline(epochMs, lookedAt ?? now, now));
    },
    retryNow(key) {
      if (isStopped) return;
      const entry = entryOf(key);
      clearAttempts(entry.attempts);
      enqueue(entry, 'fresh');
    },
    stop() {
      isStopped = true;
      retries.stop();
      wakes.stop();
      for (const deadlines of Object.values(coalesced)) deadlines.stop();
      lines.clear();
      waiting = 0;
      return running === 0 ? Promise.resolve() : new Promise((resolve) => (onDrained = resolve));
    },
  };
}
