// Decides which waiting key runs next. Guarantees: changes go before reports, and reports before resyncs; but a report
// waits little more than a second, however many changes there are, and resyncs are not starved either.
import type { Clock } from '../base/clock.ts';
import { Fifo } from './fifo.ts';

/**
 * `fresh`: something changed. `report`: only a status has to be updated, so changes go first for a while. `resync`:
 * nothing happened.
 */
export type WorkClass = 'fresh' | 'report' | 'resync';

/** A report that has waited this long goes before changes. */
const REPORT_PATIENCE_MS = 1000;
/** How many overdue reports run before the next change. */
const REPORTS_BEFORE_FRESH = 3;
const OTHERS_BEFORE_RESYNC = 64;

export interface Lines<T> {
  push(item: T, as: WorkClass): void;
  take(): T | undefined;
  clear(): void;
}

/** `counts`: whether a queued item is still valid. */
export function createLines<T>(clock: Clock, counts: (item: T) => boolean): Lines<T> {
  const fresh = new Fifo<T>();
  const resync = new Fifo<T>();
  const reports = new Fifo<{ readonly item: T; readonly since: number }>();
  let reportsInARow = 0;
  let othersInARow = 0;

  function next(as: WorkClass): T | undefined {
    for (;;) {
      const item = as === 'report' ? reports.shift()?.item : (as === 'fresh' ? fresh : resync).shift();
      if (item === undefined || counts(item)) return item;
    }
  }

  function isOverdue(): boolean {
    while (reports.first !== undefined && !counts(reports.first.item)) reports.shift();
    if (reports.first === undefined) return false;
    const waitedMs = clock.now() - reports.first.since;
    // If the clock was set back, run the report now instead of in hours.
    return waitedMs < 0 || waitedMs >= REPORT_PATIENCE_MS;
  }

  function order(): readonly WorkClass[] {
    if (othersInARow >= OTHERS_BEFORE_RESYNC) return ['resync', 'fresh', 'report'];
    if (reportsInARow < REPORTS_BEFORE_FRESH && isOverdue()) return ['report', 'fresh', 'resync'];
    return ['fresh', 'report', 'resync'];
  }

  return {
    push(item, as) {
      if (as === 'report') reports.push({ item, since: clock.now() });
      else (as === 'fresh' ? fresh : resync).push(item);
    },
    take() {
      for (const as of order()) {
        const item = next(as);
        othersInARow = as === 'resync' ? 0 : othersInARow;
        if (item === undefined) continue;
        if (as !== 'resync') othersInARow++;
        reportsInARow = as === 'report' ? reportsInARow + 1 : 0;
        return item;
      }
      return undefined;
    },
    clear() {
      for (const line of [fresh, reports, resync]) line.clear();
    },
  };
}
