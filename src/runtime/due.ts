// When a key runs next, and when something about it is due again. Pure: reasons and rules are data, what is remembered of a key is a record, and the
// time is given. queue.ts carries out the answers. The table of all reasons is in docs/architecture.md.
import { deepEqual } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import { type BackOff, backOffMs } from './back-off.ts';
import type { WorkClass } from './lines.ts';

// ---- the next run of a key

/**
 * What a run asks for: `rest` = nothing; `more` = it changed something and must run again; `again` = it met a change by another client and has
 * read it; `back-off` and `slowly` = it failed. The first few `more` and `again` in a row follow at once; then they wait as if failed.
 */
export interface Next {
  readonly next: 'rest' | 'more' | 'again' | 'back-off' | 'slowly';
  readonly notBefore?: number;
  /** Others do not go first. */
  readonly atOnce?: true;
}

/** What is remembered of the runs of a key. */
export interface Attempts {
  failures: number;
  /** `more` and `again` in a row. */
  immediateRetries: number;
  /** Until then news do not run the key at once: it failed too often for that. */
  suppressedUntil: number;
  /** News have come since the last run: the next one may run again at once, however many immediate retries there were. */
  hasNews: boolean;
}

const BACK_OFF: BackOff = { firstMs: 200, maxMs: 60_000 };
const SLOWLY: BackOff = { firstMs: 30_000, maxMs: 600_000 };
const MAX_IMMEDIATE_RETRIES = 16;
/** From this many failures in a row on, news wait a moment too: they may be own writes of our failing attempts. */
const FAILURES_BEFORE_QUIET = 4;
const QUIET_MS = 1000;

export const noAttempts = (): Attempts => ({ failures: 0, immediateRetries: 0, suppressedUntil: 0, hasNews: false });

export const isForgettable = ({ failures, immediateRetries }: Attempts): boolean =>
  failures === 0 && immediateRetries === 0;

/** The obstacle is removed, or a run found nothing to do: earlier failures do not count any more. */
export function clearAttempts(attempts: Attempts): void {
  attempts.failures = 0;
  attempts.immediateRetries = 0;
  attempts.suppressedUntil = 0;
}

/** When the key runs again because of how a run ended: a moment, 'next' = as soon as it is its turn, undefined = not because of that. */
export function afterRun(
  attempts: Attempts,
  { next, notBefore = 0 }: Next,
  { now, random }: { readonly now: number; readonly random: Random },
): number | 'next' | undefined {
  const { hasNews } = attempts;
  attempts.hasNews = false;
  if (next === 'rest') {
    clearAttempts(attempts);
    return undefined;
  }
  if (next === 'more') attempts.failures = 0;
  const isImmediate = next === 'more' || next === 'again';
  if (isImmediate && (++attempts.immediateRetries <= MAX_IMMEDIATE_RETRIES || hasNews) && notBefore <= now) {
    if (attempts.immediateRetries > MAX_IMMEDIATE_RETRIES) attempts.suppressedUntil = now + QUIET_MS;
    return 'next';
  }
  attempts.failures++;
  const failures = Math.max(attempts.failures, attempts.immediateRetries - MAX_IMMEDIATE_RETRIES);
  const waitMs = backOffMs(next === 'slowly' ? SLOWLY : BACK_OFF, failures, random);
  const retryAt = Math.max(now + waitMs, notBefore);
  if (attempts.failures >= FAILURES_BEFORE_QUIET || attempts.immediateRetries > MAX_IMMEDIATE_RETRIES) {
    attempts.suppressedUntil = Math.min(retryAt, now + QUIET_MS);
  }
  return retryAt;
}

/** When a key that does not run now runs because of news; `retryAt`: when it is retried in any case. undefined = not because of that. */
export function forNews(
  { suppressedUntil }: Attempts,
  as: WorkClass,
  { now, retryAt }: { readonly now: number; readonly retryAt: number | undefined },
): number | 'next' | undefined {
  if (suppressedUntil > now) {
    return as !== 'resync' && (retryAt === undefined || retryAt > suppressedUntil) ? suppressedUntil : undefined;
  }
  // A resync knows nothing that the retry would not see.
  return as === 'resync' && retryAt !== undefined ? undefined : 'next';
}

/** When a deadline of a decision wakes its key. `decidedAt`: what time it was for the decision. */
export function forDeadline(deadline: number, decidedAt: number, now: number): number {
  // A moment that had passed when it was asked for would turn the key into a loop; one that passed since is due.
  return deadline > decidedAt ? Math.max(deadline, now) : now + QUIET_MS;
}

// ---- how often something is done about a key

/** When something may be done, as data. An absent field does not delay. */
export interface Rule {
  /** After it was done last. */
  readonly gapMs?: number;
  /** A millisecond longer for each so many items that it was done for: its cost grows with them. */
  readonly itemsPerMs?: number;
  /** Times within any second. */
  readonly perSecond?: number;
  /** After the last change: further changes are coalesced. */
  readonly quietMs?: number;
  /** After the first change, however many follow. */
  readonly maxWaitMs?: number;
}

/** Changes that nothing was done about yet. */
export interface Pending {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** What is remembered, for one key, of one thing that is not done all the time. In memory: after a restart it may be done at once. */
export interface Throttle {
  /** What was there last: a status, or what is to be done. */
  seen?: { readonly value: unknown };
  /** When it was done, the latest at the end. */
  times: readonly number[];
  /** For so many items it was done last. */
  items: number;
  pending?: Pending;
}

export const newThrottle = (): Throttle => ({ times: [], items: 0 });

/** The earliest moment to do it. If the clock was set back, nothing waits for longer than the rule says. */
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

/** It is done now, for so many items. */
export function done(of: Throttle, { perSecond = 1 }: Rule, now: number, items = 0): void {
  of.times = [...of.times.map((time) => Math.min(time, now)), now].slice(-perSecond);
  of.items = items;
}

/** Notes what is there now. If it is another value than before, it was done: by this program or by another client. */
export function sawDone(of: Throttle, rule: Rule, value: unknown, now: number, items = 0): void {
  const isSame = of.seen === undefined || deepEqual(of.seen.value ?? {}, value ?? {});
  of.seen = { value };
  if (!isSame) done(of, rule, now, items);
}

/** Notes what is to be done, and since when: another value is a further change. */
export function sawChange(of: Throttle, value: unknown, now: number): Pending {
  // If the clock was set back, the count restarts instead of lasting for hours.
  const before = of.pending !== undefined && of.pending.lastSeen <= now ? of.pending : undefined;
  if (before !== undefined && deepEqual(of.seen?.value, value)) return before;
  of.seen = { value };
  of.pending = { firstSeen: before?.firstSeen ?? now, lastSeen: now };
  return of.pending;
}

/** Nothing is to be done any more. */
export function sawNoChange(of: Throttle): void {
  delete of.seen;
  delete of.pending;
}

// ---- when news of a watch wake a key

/** Absent fields do not delay. */
// biome-ignore lint/suspicious/noExplicitAny: rules of controllers with different memories stand in one list; each is typed where it is written.
export interface Wait<Memory = any> {
  /** Further news until then are seen by the same run. */
  readonly coalesceMs?: number;
  /** Not before this is due. A key of which nothing is remembered is due. */
  readonly until?: { readonly rule: Rule; of(memory: Memory): Throttle };
}

export function forWait({ coalesceMs = 0, until }: Wait, memory: unknown, now: number): number {
  const due = until === undefined || memory === undefined ? now : dueAt(until.of(memory), until.rule, now);
  return Math.max(now + coalesceMs, due);
}
