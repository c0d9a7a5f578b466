import { expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import type { Clock } from '../base/clock.ts';
import { createDeadlines } from './deadlines.ts';

/** A clock that can be set back; its timers keep running, as on a real machine. */
function aMachine() {
  const time = testClock();
  let back = 0;
  const clock: Clock = {
    now: () => time.now() - back,
    at: (epochMs, name, run) => time.at(epochMs + back, name, run),
  };
  return {
    clock,
    pass: (ms: number) => time.advance(ms),
    setBack(ms: number) {
      back += ms;
    },
  };
}

test.each([
  { backMs: 0, dueAfterMs: 100 },
  { backMs: 20, dueAfterMs: 120 },
  { backMs: 3_600_000, dueAfterMs: 100 },
])('a deadline in 100 ms comes due after $dueAfterMs ms if the clock is set back by $backMs ms', (row) => {
  const machine = aMachine();
  const due: string[] = [];
  const deadlines = createDeadlines(machine.clock, 'test', (key) => due.push(key));
  const now = machine.clock.now();
  deadlines.set('a', now + 100);
  deadlines.set('later', now + 10_000);
  machine.pass(10);
  machine.setBack(row.backMs);
  machine.pass(row.dueAfterMs - 11);
  expect(due).toEqual([]);
  machine.pass(1);
  expect(due).toEqual(['a']);
});
