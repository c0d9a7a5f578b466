// Calls to a server that returned 429 go one after the other for a while; otherwise they are not limited. A slow call
// does not block the others: with a server that does not respond they would never run.
import type { Clock } from '../base/clock.ts';
import { createGate } from './gate.ts';

export interface Turns {
  /** The server has rejected a call. */
  refused(): void;
  /**
   * Resolves with a function to leave when it is the caller's turn. Rejects with `instead()` if the signal fires first.
   */
  next(signal: AbortSignal, instead: () => Error): Promise<() => void>;
}

/** After the last refusal. */
const ONE_BY_ONE_MS = 10_000;
const LONGEST_TURN_MS = 1000;

const atOnce = () => {};

export function createTurns(clock: Clock): Turns {
  const gate = createGate(1);
  let oneByOneUntil = Number.NEGATIVE_INFINITY;
  return {
    refused() {
      oneByOneUntil = clock.now() + ONE_BY_ONE_MS;
    },
    async next(signal, instead) {
      if (clock.now() >= oneByOneUntil) return atOnce;
      const leave = await gate.enter(signal, instead);
      const cancel = clock.at(clock.now() + LONGEST_TURN_MS, 'a turn takes long', leave);
      return () => {
        cancel();
        leave();
      };
    },
  };
}
