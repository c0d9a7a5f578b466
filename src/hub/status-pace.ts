// How often a status is written: it may change with every cluster that moves, and nobody reads that fast.
import { deepEqual } from '../base/json.ts';

/** At most one write in this time, per object. */
export const STATUS_INTERVAL_MS = 100;

/** Since when each status stands as it does. In memory: after a restart it may be written at once. */
export interface StatusPace<Status> {
  /** Notes what is there now; returns the earliest moment of the next write. */
  seen(key: string, status: Status | undefined, now: number): number;
  forget(key: string): void;
  readonly size: number;
}

export function createStatusPace<Status>(): StatusPace<Status> {
  const noted = new Map<string, { readonly status: Status | undefined; readonly due: number }>();
  return {
    seen(key, status, now) {
      const last = noted.get(key);
      const isSame = last !== undefined && (last.status === status || deepEqual(last.status ?? {}, status ?? {}));
      // If the clock was set back, nothing has to wait for hours.
      const due =
        last === undefined ? now : isSame ? Math.min(last.due, now + STATUS_INTERVAL_MS) : now + STATUS_INTERVAL_MS;
      noted.set(key, { status, due });
      return due;
    },
    forget: (key) => {
      noted.delete(key);
    },
    get size() {
      return noted.size;
    },
  };
}
