import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

function bench(hasTurns: boolean) {
  let now = 0;
  const turns: (() => void)[] = [];
  const clock = {
    now: () => now,
    at(_epochMs: number, _name: string, run: () => void) {
      turns.push(run);
      return () => {};
    },
  };
  const pace = createPace(clock, hasTurns ? { nextTick: (run) => void turns.push(run) } : {});
  return {
    pace,
    wait(ms: number) {
      now += ms;
    },
    /** The loop goes round once. */
    turn() {
      for (const run of turns.splice(0)) run();
    },
  };
}

test('a slice ends with the turn of the loop: who waited for something else meanwhile need not wait for a turn as well', () => {
  const { pace, wait, turn } = bench(true);
  expect(pace.mayGoOn()).toBe(true);
  wait(4);
  expect(pace.mayGoOn()).toBe(true);
  turn();
  wait(4);
  expect(pace.mayGoOn()).toBe(true);
  wait(4);
  expect(pace.mayGoOn()).toBe(true);
  wait(1);
  expect(pace.mayGoOn()).toBe(false);
});

test('one that lasts for 5 ms without a turn is over, until those who wait have gone on', () => {
  const { pace, wait, turn } = bench(true);
  let hasGoneOn = false;
  expect(pace.mayGoOn()).toBe(true);
  wait(5);
  expect(pace.mayGoOn()).toBe(false);
  pace.later(() => {
    hasGoneOn = true;
  });
  expect(pace.mayGoOn()).toBe(false);
  turn();
  expect(hasGoneOn).toBe(true);
  expect(pace.mayGoOn()).toBe(true);
});

test('however long it takes, nobody goes on before the loop has had its turn', () => {
  const { pace, wait, turn } = bench(true);
  expect(pace.mayGoOn()).toBe(true);
  wait(30);
  expect(pace.mayGoOn()).toBe(false);
  turn();
  expect(pace.mayGoOn()).toBe(true);
});

test('where nobody tells of turns, time does', () => {
  const { pace, wait } = bench(false);
  expect(pace.mayGoOn()).toBe(true);
  wait(6);
  expect(pace.mayGoOn()).toBe(false);
  wait(25);
  expect(pace.mayGoOn()).toBe(true);
});
