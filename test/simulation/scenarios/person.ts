// A simulated user during faults: makes one change after the other, and ignores failures.
import type { Transport } from '../../../src/api/transport.ts';
import { until } from '../../../src/base/clock.ts';
import { AbortError, ApiError, LostError } from '../../../src/base/errors.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import type { Stop } from '../../../src/sim/world.ts';

export interface Habit {
  /** How long the user is active. */
  readonly forMs: number;
  /** The longest pause between two changes. */
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
