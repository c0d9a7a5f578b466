// Keys that must be reconciled; due.ts says when. Guarantees: a key runs after it was added, and again if it is added
// while it runs; one key never runs twice at a time; changes go before reports and reports before the resync, and none
// of them starves (lines.ts); a key that fails waits longer each time; the event loop gets its turn.
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { createDeadlines, type Deadlines } from './deadlines.ts';
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
import { createLines, type Lines, type WorkClass } from './lines.ts';
import type { TimeSlice } from './time-slice.ts';

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly slice: TimeSlice;
  readonly workers: number;
  /** Never rejects. */
  run(key: string): Promise<Next>;
  /** Delays a key that has written, so that other keys go first. */
  readonly yieldToOthers?: (run: () => void) => void;
}

export interface Queue {
  readonly waiting: number;
  readonly running: number;
  /** Keys that failed and wait for a retry. */
  readonly failing: number;
  /** All keys of which anything is remembered. */
  readonly remembered: number;
  readonly nextWakeAt: number | undefined;
  add(key: string, as: WorkClass): void;
  /** Runs the key then, or before if something else asks for it. */
  addAt(key: string, epochMs: number, as: Coalesced): void;
  /** Replaces the wake-up of an earlier decision; undefined = none. `lookedAt`: the time of the decision. */
  wakeAt(key: string, epochMs: number | undefined, lookedAt?: number): void;
  /** Runs the key now and forgets its failures, because what blocked it is gone. */
  retryNow(key: string): void;
  /** Starts no key any more; resolves when the running ones are done. */
  stop(): Promise<void>;
}

/** Classes of work that may be coalesced. */
export type Coalesced = 'fresh' | 'report';

interface Entry {
  readonly key: string;
  /** The lines that the key stands in. The first one that comes up counts. */
  readonly queued: Set<WorkClass>;
  /** Counts runs, because a place in line from before a run is void. */
  run: number;
  running: boolean;
  /** Added while running. */
  readonly dirty: Set<WorkClass>;
  /** Added while running, to run at the given time. */
  readonly by: Map<Coalesced, number>;
  readonly attempts: Attempts;
}

/** Where an entry stands in line. */
interface Place {
  readonly entry: Entry;
  readonly run: number;
}

interface QueueState {
  readonly options: QueueOptions;
  readonly yieldToOthers: (run: () => void) => void;
  readonly entries: Map<string, Entry>;
  readonly lines: Lines<Place>;
  readonly retries: Deadlines;
  readonly wakes: Deadlines;
  /** Their timers have a name of their own: they delay nothing, they put the changes of a moment together. */
  readonly coalesced: Readonly<Record<Coalesced, Deadlines>>;
  /** Called after the running code, so that a burst of events is one run per key. */
  readonly pump: () => void;
  waiting: number;
  running: number;
  isPumping: boolean;
  isStopped: boolean;
  onDrained: (() => void) | undefined;
}

function stateOf(options: QueueOptions): QueueState {
  const { name, clock, yieldToOthers = queueMicrotask } = options;
  const due = (key: string) => enqueue(state, entryOf(state, key), 'fresh');
  const state: QueueState = {
    options,
    yieldToOthers,
    entries: new Map(),
    lines: createLines<Place>(clock, ({ entry, run }) => entry.run === run),
    retries: createDeadlines(clock, `${name} retry`, due),
    wakes: createDeadlines(clock, `${name} wake`, due),
    coalesced: {
      fresh: createDeadlines(clock, 'coalesce', due),
      report: createDeadlines(clock, 'coalesce', (key) => enqueue(state, entryOf(state, key), 'report')),
    },
    pump: () => pump(state),
    waiting: 0,
    running: 0,
    isPumping: false,
    isStopped: false,
    onDrained: undefined,
  };
  return state;
}

export function createQueue(options: QueueOptions): Queue {
  const state = stateOf(options);
  const { entries, retries, wakes, coalesced } = state;
  return {
    get waiting() {
      return state.waiting;
    },
    get running() {
      return state.running;
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
      if (!state.isStopped) enter(state, entryOf(state, key), as);
    },
    addAt: (key, epochMs, as) => addAt(state, key, epochMs, as),
    wakeAt: (key, epochMs, lookedAt) => wakeAt(state, key, epochMs, lookedAt),
    retryNow: (key) => retryNow(state, key),
    stop: () => stop(state),
  };
}

function entryOf({ entries }: QueueState, key: string): Entry {
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

// ---- in line

function enqueue(
  state: QueueState,
  entry: Entry,
  as: WorkClass,
  inLine: (stand: () => void) => void = (stand) => stand(),
): void {
  if (state.isStopped) return;
  if (entry.running) {
    entry.dirty.add(as);
    return;
  }
  if (entry.queued.has(as) || (as === 'resync' && entry.queued.size > 0)) return;
  if (entry.queued.size === 0) state.waiting++;
  entry.queued.add(as);
  state.retries.clear(entry.key);
  const place = { entry, run: entry.run };
  inLine(() => {
    if (state.isStopped) return;
    state.lines.push(place, as);
    pumpSoon(state);
  });
}

function pumpSoon(state: QueueState): void {
  if (state.isPumping) return;
  state.isPumping = true;
  queueMicrotask(state.pump);
}

function pump(state: QueueState): void {
  const { workers, slice } = state.options;
  state.isPumping = false;
  while (!state.isStopped && state.running < workers && state.waiting > 0) {
    if (!slice.mayGoOn()) {
      state.isPumping = true;
      slice.later(state.pump);
      return;
    }
    const entry = state.lines.take()?.entry;
    if (entry === undefined) break;
    entry.queued.clear();
    entry.run++;
    entry.running = true;
    // This run includes what was coalesced until now.
    for (const deadlines of Object.values(state.coalesced)) deadlines.clear(entry.key);
    state.waiting--;
    state.running++;
    void start(state, entry);
  }
}

// ---- a run

async function start(state: QueueState, entry: Entry): Promise<void> {
  const next = await state.options.run(entry.key);
  entry.running = false;
  state.running--;
  if (state.isStopped) {
    if (state.running === 0) state.onDrained?.();
    return;
  }
  follow(state, entry, next);
  for (const as of entry.dirty) enter(state, entry, as);
  entry.dirty.clear();
  // Only now, because the run has replaced the wake-up from before it.
  for (const [as, epochMs] of entry.by) gather(state, entry.key, epochMs, as);
  entry.by.clear();
  forget(state, entry);
  pumpSoon(state);
}

function follow(state: QueueState, entry: Entry, next: Next): void {
  const { clock, random } = state.options;
  const at = afterRun(entry.attempts, next, { now: clock.now(), random });
  if (at === 'next') enqueue(state, entry, 'fresh', next.atOnce ? undefined : state.yieldToOthers);
  else if (at !== undefined) state.retries.set(entry.key, at);
}

function forget({ entries }: QueueState, entry: Entry): void {
  if (entry.running || entry.queued.size > 0 || !isForgettable(entry.attempts)) return;
  entries.delete(entry.key);
}

// ---- changes

/** A change that concerns a key, which may have failed before. */
function enter(state: QueueState, entry: Entry, as: WorkClass): void {
  if (entry.running) {
    enqueue(state, entry, as);
    return;
  }
  const { clock } = state.options;
  // Without this, a key whose every run follows a change would never count as idle and stay suppressed.
  if (entry.queued.size === 0) entry.attempts.hasNews ||= as !== 'resync';
  const at = forNews(entry.attempts, as, { now: clock.now(), retryAt: state.retries.at(entry.key) });
  if (at === 'next') enqueue(state, entry, as);
  else if (at !== undefined) state.retries.set(entry.key, at);
}

function addAt(state: QueueState, key: string, epochMs: number, as: Coalesced): void {
  if (state.isStopped) return;
  const entry = state.entries.get(key);
  if (!entry?.running) gather(state, key, epochMs, as);
  else entry.by.set(as, Math.min(entry.by.get(as) ?? Number.POSITIVE_INFINITY, epochMs));
}

/** As `enter`, at a time: a key that fails too often runs later than that. */
function gather({ entries, wakes, coalesced }: QueueState, key: string, epochMs: number, as: Coalesced): void {
  const suppressedUntil = entries.get(key)?.attempts.suppressedUntil ?? 0;
  const isQuiet = suppressedUntil > epochMs;
  const deadlines = isQuiet ? wakes : coalesced[as];
  const at = isQuiet ? suppressedUntil : epochMs;
  const asked = deadlines.at(key);
  if (asked === undefined || asked > at) deadlines.set(key, at);
}

function wakeAt(state: QueueState, key: string, epochMs: number | undefined, lookedAt: number | undefined): void {
  if (state.isStopped) return;
  const now = state.options.clock.now();
  if (epochMs === undefined) state.wakes.clear(key);
  else state.wakes.set(key, forDeadline(epochMs, lookedAt ?? now, now));
}

function retryNow(state: QueueState, key: string): void {
  if (state.isStopped) return;
  const entry = entryOf(state, key);
  clearAttempts(entry.attempts);
  enqueue(state, entry, 'fresh');
}

function stop(state: QueueState): Promise<void> {
  state.isStopped = true;
  state.retries.stop();
  state.wakes.stop();
  for (const deadlines of Object.values(state.coalesced)) deadlines.stop();
  state.lines.clear();
  state.waiting = 0;
  return state.running === 0 ? Promise.resolve() : new Promise((resolve) => (state.onDrained = resolve));
}
