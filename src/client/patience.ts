// How long a caller waits: until a deadline of the clock, or until it aborts. One signal for both.
import { onAbort } from '../base/abort.ts';
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
