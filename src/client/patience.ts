// How long somebody waits: until a deadline of the clock, or until the caller has had enough. One signal for both.
import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';

export interface Patience extends Disposable {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** Why the signal fired. */
  readonly end: 'given up' | 'too late' | undefined;
}

export function patience(clock: Clock, forMs: number, caller: AbortSignal | undefined): Patience {
  const controller = new AbortController();
  const deadlineMs = clock.now() + forMs;
  let end: Patience['end'];
  const finish = (why: Patience['end']) => {
    end ??= why;
    controller.abort();
  };
  const cancel = clock.at(deadlineMs, 'call timeout', () => finish('too late'));
  const forget = caller === undefined ? () => {} : onAbort(caller, () => finish('given up'));
  return {
    signal: controller.signal,
    deadlineMs,
    get end() {
      return end;
    },
    [Symbol.dispose]() {
      cancel();
      forget();
    },
  };
}

/** Runs once when the signal fires, at once if it already has. Returns a function that cancels. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  // One signal ends hundreds of watches; Node would take that for a leak and say so on standard error.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** The promise's outcome, or `instead()` thrown as soon as the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, instead: () => Error): Promise<T> {
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(instead()));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}
