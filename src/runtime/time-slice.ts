// Keeps the event loop responsive: long-running work checks here, and yields after 5 ms until the next tick of the
// clock. All queues of one manager share one slice, so that together they do not take many.
import type { Clock } from '../base/clock.ts';

export interface TimeSlice {
  /** True while the current slice lasts. The first call after a yield starts a new slice. */
  mayGoOn(): boolean;
  /** Runs a callback after the event loop had a turn. */
  later(run: () => void): void;
  /** undefined = continue now; else a promise that resolves in a new slice. */
  turn(): Promise<void> | undefined;
}

const LONG_AFTER_MS = 20;

export interface TimeSliceOptions {
  readonly sliceMs?: number;
  /**
   * Runs a callback in the next turn of the event loop, so that a slice ends if the caller has yielded for another
   * reason. Without it, slices end by time.
   */
  readonly nextTick?: (run: () => void) => void;
}

export function createTimeSlice(clock: Clock, { sliceMs = 5, nextTick }: TimeSliceOptions = {}): TimeSlice {
  let sliceEnds: number | undefined;
  let waiting: (() => void)[] = [];

  const endSlice = () => {
    sliceEnds = undefined;
  };
  /**
   * If the clock was set back, a slice must not last for hours. Without `nextTick`, the event loop has had its turn a
   * while after the slice.
   */
  const isOld = (now: number, ends: number) =>
    ends - now > sliceMs || (nextTick === undefined && now > ends + LONG_AFTER_MS);
  const mayGoOn = () => {
    // Waiting callbacks go first, or one busy part would starve the others.
    if (waiting.length > 0) return false;
    const now = clock.now();
    if (sliceEnds === undefined) nextTick?.(endSlice);
    if (sliceEnds === undefined || isOld(now, sliceEnds)) sliceEnds = now + sliceMs;
    return now < sliceEnds;
  };
  const later = (run: () => void) => {
    waiting.push(run);
    if (waiting.length > 1) return;
    clock.at(clock.now(), 'next slice', () => {
      const runs = waiting;
      waiting = [];
      sliceEnds = undefined;
      for (const each of runs) each();
    });
  };
  return {
    mayGoOn,
    later,
    turn: () => (mayGoOn() ? undefined : new Promise<void>(later)),
  };
}
