// How often a status is written: it may change with every cluster that moves, and nobody reads that fast.
import { deepEqual } from '../../base/json.ts';

/** At most one write in this time, per object. */
export const STATUS_INTERVAL_MS = 100;

/**
 * A status that tells of a thousand clusters is as much larger: it is written once a second, or its writes would cost more than what they tell of.
 * There is no most: the time it takes to work it out has none either.
 */
export const statusIntervalMs = (clusters: number): number => Math.max(STATUS_INTERVAL_MS, clusters);

/** Since when each status stands as it does. In memory: after a restart it may be written at once. */
export interface StatusThrottle<Status> {
  /** Notes what is there now; returns the earliest moment of the next write. */
  seen(key: string, status: Status | undefined, now: number, intervalMs: number): number;
  /** That moment, as it was returned last. */
  due(key: string, now: number): number;
  forget(key: string): void;
  readonly size: number;
}

export function createStatusThrottle<Status>(): StatusThrottle<Status> {
  const noted = new Map<
    string,
    { readonly status: Status | undefined; readonly due: number; readonly maxMs: number }
  >();
  const due = (key: string, now: number): number => {
    const last = noted.get(key);
    // If the clock was set back, nothing has to wait for hours.
    return last === undefined ? now : Math.min(last.due, now + last.maxMs);
  };
  return {
    seen(key, status, now, intervalMs) {
      const last = noted.get(key);
      const isSame = last === undefined || last.status === status || deepEqual(last.status ?? {}, status ?? {});
      noted.set(key, { status, due: isSame ? due(key, now) : now + intervalMs, maxMs: intervalMs });
      return due(key, now);
    },
    due,
    forget: (key) => {
      noted.delete(key);
    },
    get size() {
      return noted.size;
    },
  };
}
