// Timers that only gather what happens within a moment into one write. They have a name of their own, so that a test can tell them from timers
// that something waits for.
import type { Clock } from '../base/clock.ts';
import { createDeadlines } from '../runtime/deadlines.ts';

export interface Coalescing {
  /** For `begin` of a controller. */
  begin(wake: (key: string) => void, signal: AbortSignal): void;
  /** The key is looked at again then; undefined = no need. */
  at(key: string, epochMs: number | undefined): void;
}

export function createCoalescing(clock: Clock): Coalescing {
  let wakeKey: (key: string) => void = () => {};
  const due = createDeadlines(clock, 'coalesce', (key) => wakeKey(key));
  return {
    begin(wake, signal) {
      wakeKey = wake;
      signal.addEventListener('abort', () => due.stop(), { once: true });
    },
    at(key, epochMs) {
      if (epochMs === undefined) due.clear(key);
      else due.set(key, epochMs);
    },
  };
}
