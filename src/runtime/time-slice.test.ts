import { expect, test } from 'vitest';
import { createTimeSlice } from './time-slice.ts';

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
  const slice = createTimeSlice(clock, hasTurns ? { nextTick: (run) => void turns.push(run) } : {});
  return {
    pace: slice,
    wait(ms: number) {
      now += ms;
    },
    /** Runs one turn of the event loop. */
    turn() {
      for (const run of turns.splice(0)) run();
    },
  };
}

test('a slice ends with the turn of the loop: who waited for something else meanwhile need not wait for a turn as well', () => {
  const { pace: slice, wait, turn } = bench(true);
  expect(slice.mayGoOn()).toBe(true);
  wait(4);
  expect(slice.mayGoOn()).toBe(true);
  turn();
  wait(4);
  expect(slice.mayGoOn()).toBe(true);
  wait(4);
  expect(slice.mayGoOn()).toBe(true);
  wait(1);
  expect(slice.mayGoOn()).toBe(false);
});

test('one that lasts for 5 ms without a turn is over, until those who wait have gone on', () => {
  const { pace: slice, wait, turn } = bench(true);
  let hasGoneOn = false;
  expect(slice.mayGoOn()).toBe(true);
  wait(5);
  expect(slice.mayGoOn()).toBe(false);
  slice.later(() => {
    hasGoneOn = true;
  });
  expect(slice.mayGoOn()).toBe(false);
  turn();
  expect(hasGoneOn).toBe(true);
  expect(slice.mayGoOn()).toBe(true);
});

test('however long it takes, nobody goes on before the loop has had its turn', () => {
  const { pace: slice, wait, turn } = bench(true);
  expect(slice.mayGoOn()).toBe(true);
  wait(30);
  expect(slice.mayGoOn()).toBe(false);
  turn();
  expect(slice.mayGoOn()).toBe(true);
});

test('where nobody tells of turns, time does', () => {
  const { pace: slice, wait } = bench(false);
  expect(slice.mayGoOn()).toBe(true);
  wait(6);
  expect(slice.mayGoOn()).toBe(false);
  wait(25);
  expect(slice.mayGoOn()).toBe(true);
});
