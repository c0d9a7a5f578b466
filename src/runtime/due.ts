// Decides when a key runs next, and when a throttled action is due. Pure: rules are data, the state of a key is a
// record, and the time is a parameter. queue.ts carries it out. docs/architecture.md has the table of all reasons.
import { deepEqual } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import { type BackOff, backOffMs } from './back-off.ts';
import type { WorkClass } from './lines.ts';

// ---- the next run of a key

/**
 * What a reconcile asks for: `done` = nothing; `continue` = it changed something and must run again; `retry` = it met a
 * change by another client and has read it; `back-off` and `slow-back-off` = it failed. The first few `continue` and
 * `retry` in a row run at once; after that they back off like failures.
 */
export interface Next {
  readonly next: 'done' | 'continue' | 'retry' | 'back-off' | 'slow-back-off';
  readonly notBefore?: number;
  /** Do not let other keys run first. */
  readonly atOnce?: true;
}

/** The retry state of a key. */
export interface Attempts {
  failures: number;
  /** The number of `continue` and `retry` results in a row. */
  immediateRetries: number;
  /** Until this time a watch event does not run the key at once, because the key failed too often. */
  suppressedUntil: number;
  /**
   * A watch event has arrived since the last reconcile: the next one may run again at once, whatever the number of
   * immediate retries.
   */
  hasNews: boolean;
}

const BACK_OFF: BackOff = { firstMs: 200, maxMs: 60_000 };
const SLOW_BACK_OFF: BackOff = { firstMs: 30_000, maxMs: 600_000 };
const MAX_IMMEDIATE_RETRIES = 16;
/**
 * From this many failures in a row on, watch events wait a moment too: they may show our own writes of the failing
 * attempts.
 */
const FAILURES_BEFORE_QUIET = 4;
const QUIET_MS = 1000;

export const noAttempts = (): Attempts => ({ failures: 0, immediateRetries: 0, suppressedUntil: 0, hasNews: false });

export const isForgettable = ({ failures, immediateRetries }: Attempts): boolean =>
  failures === 0 && immediateRetries === 0;

/** A reconcile succeeded or the cause is fixed: resets the back-off. */
export function clearAttempts(attempts: Attempts): void {
  attempts.failures = 0;
  attempts.immediateRetries = 0;
  attempts.suppressedUntil = 0;
}

/**
 * When the key runs again because of the result of a reconcile: a time, 'next' = as soon as it is its turn, undefined =
 * not because of it.
 */
export function afterRun(
  attempts: Attempts,
  { next, notBefore = 0 }: Next,
  { now, random }: { readonly now: number; readonly random: Random },
): number | 'next' | undefined {
  const { hasNews } = attempts;
  attempts.hasNews = false;
  if (next === 'done') {
    clearAttempts(attempts);
    return undefined;
  }
  if (next === 'continue') attempts.failures = 0;
  const isImmediate = next === 'continue' || next === 'retry';
  if (isImmediate && (++attempts.immediateRetries <= MAX_IMMEDIATE_RETRIES || hasNews) && notBefore <= now) {
    if (attempts.immediateRetries > MAX_IMMEDIATE_RETRIES) attempts.suppressedUntil = now + QUIET_MS;
    return 'next';
  }
  attempts.failures++;
  const failures = Math.max(attempts.failures, attempts.immediateRetries - MAX_IMMEDIATE_RETRIES);
  const waitMs = backOffMs(next === 'slow-back-off' ? SLOW_BACK_OFF : BACK_OFF, failures, random);
  const retryAt = Math.max(now + waitMs, notBefore);
  if (attempts.failures >= FAILURES_BEFORE_QUIET || attempts.immediateRetries > MAX_IMMEDIATE_RETRIES) {
    attempts.suppressedUntil = Math.min(retryAt, now + QUIET_MS);
  }
  return retryAt;
}

/**
 * When an idle key runs because of a watch event. `retryAt` is the time of its scheduled retry. undefined = the event
 * does not change the schedule.
 */
export function forNews(
  { suppressedUntil }: Attempts,
  as: WorkClass,
  { now, retryAt }: { readonly now: number; readonly retryAt: number | undefined },
): number | 'next' | undefined {
  if (suppressedUntil > now) {
    return as !== 'resync' && (retryAt === undefined || retryAt > suppressedUntil) ? suppressedUntil : undefined;
  }
  // A resync brings nothing that the retry would not see.
  return as === 'resync' && retryAt !== undefined ? undefined : 'next';
}

/** When a deadline of a decision requeues its key. `decidedAt` is the time that the decision saw. */
export function forDeadline(deadline: number, decidedAt: number, now: number): number {
  // A deadline that had already passed at the decision would requeue the key in a tight loop; one that passed since
  // then is due now.
  return deadline > decidedAt ? Math.max(deadline, now) : now + QUIET_MS;
}

// ---- throttles: how often an action may run for a key

/** The limits of an action, as data. An absent field does not delay it. */
export interface Rule {
  /** The minimum time between two runs. */
  readonly gapMs?: number;
  /** Adds a millisecond to the gap per this many items of the last run, because the cost grows with them. */
  readonly itemsPerMs?: number;
  /** The maximum number of runs within a second. */
  readonly perSecond?: number;
  /** The time without changes to wait for: further changes are coalesced. */
  readonly quietMs?: number;
  /** The longest wait after the first change, however many follow. */
  readonly maxWaitMs?: number;
}

/** Changes that were not acted on yet. */
export interface Pending {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** The state of one throttled action of one key. In memory only: after a restart the action may run at once. */
export interface Throttle {
  /** The value seen last: a status, or the pending change. */
  seen?: { readonly value: unknown };
  /** The times of the last runs, the latest at the end. */
  times: readonly number[];
  /** The number of items of the last run. */
  items: number;
  pending?: Pending;
}

export const newThrottle = (): Throttle => ({ times: [], items: 0 });

/** The earliest time of the next run. If the clock was set back, the wait is still no longer than the rule says. */
export function dueAt({ times, items, pending }: Throttle, rule: Rule, now: number): number {
  const { gapMs = 0, itemsPerMs, perSecond, quietMs = 0, maxWaitMs = Number.POSITIVE_INFINITY } = rule;
  const gap = Math.max(gapMs, itemsPerMs === undefined ? 0 : Math.floor(items / itemsPerMs));
  const last = times.at(-1);
  const tooMany = perSecond === undefined ? undefined : times.at(-perSecond);
  return Math.max(
    now,
    last === undefined ? now : Math.min(last, now) + gap,
    tooMany === undefined ? now : Math.min(tooMany, now) + 1000,
    pending === undefined ? now : Math.min(pending.lastSeen + quietMs, pending.firstSeen + maxWaitMs),
  );
}

/** Records a run now, for this many items. */
export function done(of: Throttle, { perSecond = 1 }: Rule, now: number, items = 0): void {
  of.times = [...of.times.map((time) => Math.min(time, now)), now].slice(-perSecond);
  of.items = items;
}

/**
 * Records the value that is there now. If it differs from the last one, the action has run, by this program or by
 * another client.
 */
export function sawDone(of: Throttle, rule: Rule, value: unknown, now: number, items = 0): void {
  const isSame = of.seen === undefined || deepEqual(of.seen.value ?? {}, value ?? {});
  of.seen = { value };
  if (!isSame) done(of, rule, now, items);
}

/** Records a pending change and since when it is pending. A different value counts as a further change. */
export function sawChange(of: Throttle, value: unknown, now: number): Pending {
  // If the clock was set back, restart the count instead of waiting for hours.
  const before = of.pending !== undefined && of.pending.lastSeen <= now ? of.pending : undefined;
  if (before !== undefined && deepEqual(of.seen?.value, value)) return before;
  of.seen = { value };
  of.pending = { firstSeen: before?.firstSeen ?? now, lastSeen: now };
  return of.pending;
}

/** No change is pending any more. */
export function sawNoChange(of: Throttle): void {
  delete of.seen;
  delete of.pending;
}

// ---- when a watch event requeues a key

/** An absent field does not delay the requeue. */
// biome-ignore lint/suspicious/noExplicitAny: rules of controllers with different memories stand in one list; each is typed where it is written.
export interface Wait<Memory = any> {
  /** Further events within this time are coalesced into the same reconcile. */
  readonly coalesceMs?: number;
  /** Not before this throttle is due. A key without memory is due at once. */
  readonly until?: { readonly rule: Rule; of(memory: Memory): Throttle };
}

export function forWait({ coalesceMs = 0, until }: Wait, memory: unknown, now: number): number {
  const due = until === undefined || memory === undefined ? now : dueAt(until.of(memory), until.rule, now);
  return Math.max(now + coalesceMs, due);
}
