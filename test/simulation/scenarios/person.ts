// Somebody who uses a cluster while things go wrong around them: does one thing after the other, and shrugs when one fails.
import type { Transport } from '../../../src/api/transport.ts';
import { until } from '../../../src/base/clock.ts';
import { AbortError, ApiError, LostError } from '../../../src/base/errors.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import type { Stop } from '../../../src/sim/world.ts';

export interface Habit {
  /** For how long they are at it. */
  readonly forMs: number;
  /** The longest pause between two deeds. */
  readonly pauseMs: number;
  deed(hub: Transport, roll: (sides: number) => number): Promise<void>;
}

export const person =
  ({ forMs, pauseMs, deed }: Habit) =>
  ({ clock, random, servers }: Deps): Stop => {
    const stopped = new AbortController();
    const hub = servers.hub as Transport;
    const roll = (sides: number) => Math.floor(random.next() * sides);
    const end = clock.now() + forMs;
    const live = async () => {
      for (;;) {
        const next = clock.now() + roll(pauseMs);
        if (next >= end || (await until(clock, next, 'deed', stopped.signal)) === 'aborted') return;
        try {
          await deed(hub, roll);
        } catch (error) {
          if (!(error instanceof ApiError || error instanceof LostError || error instanceof AbortError)) throw error;
        }
      }
    };
    void live();
    return () => stopped.abort();
  };
