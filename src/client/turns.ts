// Calls to a server that has said it gets too many at once (429) go one after the other for a while; to any other they go as they come.
// A slow call does not hold up the others: behind a server that does not answer at all they would never get their turn.
import type { Clock } from '../base/clock.ts';
import { createGate } from './gate.ts';

export interface Turns {
  /** The server has refused one. */
  refused(): void;
  /** Resolves with the way out when it is one's turn. Rejects with `instead()` if the signal fires first. */
  next(signal: AbortSignal, instead: () => Error): Promise<() => void>;
}

/** Since the last refusal. */
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
