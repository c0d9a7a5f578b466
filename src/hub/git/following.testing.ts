// A clock that a test advances; in between, all promises settle.
import type { Clock } from '../../base/clock.ts';

export interface TestClock extends Clock {
  settles(): Promise<void>;
  passes(ms: number): Promise<void>;
}

export function createTestClock(): TestClock {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const settles = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    now: () => now,
    at(at, _name, run) {
      const timer = { at, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    settles,
    async passes(ms) {
      const end = now + ms;
      for (;;) {
        await settles();
        const next = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
      await settles();
    },
  };
}
