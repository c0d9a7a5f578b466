// The event loop gets its turn: work that could go on for long asks here, and after 5 ms it waits for the clock's next tick. Shared by
// everything in one manager, so that many queues together do not take many slices.
import type { Clock } from '../base/clock.ts';

export interface TimeSlice {
  /** True while the present slice lasts. The first question after a pause begins a slice. */
  mayGoOn(): boolean;
  /** Runs after the loop had its turn. */
  later(run: () => void): void;
  /** Nothing to wait for, or a promise that resolves in a new slice. */
  turn(): Promise<void> | undefined;
}

const LONG_AFTER_MS = 20;

export interface TimeSliceOptions {
  readonly sliceMs?: number;
  /** Runs something when the loop has had its turn: who waited for something else meanwhile has let it. Without it, time tells. */
  readonly nextTick?: (run: () => void) => void;
}

export function createTimeSlice(clock: Clock, { sliceMs = 5, nextTick }: TimeSliceOptions = {}): TimeSlice {
  let sliceEnds: number | undefined;
  let waiting: (() => void)[] = [];

  const endSlice = () => {
    sliceEnds = undefined;
  };
  /** A clock that was set back must not make a slice last for hours; and without reports of turns, the loop has had its own long after a slice. */
  const isOld = (now: number, ends: number) =>
    ends - now > sliceMs || (nextTick === undefined && now > ends + LONG_AFTER_MS);
  const mayGoOn = () => {
    // Those who wait go first, else one busy part would keep the others out.
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
