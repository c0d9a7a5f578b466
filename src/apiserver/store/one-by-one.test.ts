import { expect, test } from 'vitest';
import { oneByOne } from './one-by-one.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('whoever is next lets those act first who have waited for the one that ended', async () => {
  const inTurn = oneByOne();
  const happened: string[] = [];
  let end = () => {};
  const first = inTurn(() => new Promise<void>((resolve) => (end = resolve)));
  const next = inTurn(async () => void happened.push('the next is synced'));
  // They are notified, read in the next turn of the loop, and write.
  const acting = first.then(turn).then(() => void happened.push('who waited for the first has written'));
  end();
  await Promise.all([acting, next]);
  expect(happened).toEqual(['who waited for the first has written', 'the next is synced']);
});

test('what shares a drive runs one by one, in the order of the calls, and a failure is its own', async () => {
  const inTurn = oneByOne();
  const happened: string[] = [];
  const ends: (() => void)[] = [];
  const sync = (name: string, fails = false) =>
    inTurn(async () => {
      happened.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.push(resolve));
      happened.push(`${name} ends`);
      if (fails) throw new Error(`${name} failed`);
      return name;
    });
  const all = Promise.allSettled([sync('a'), sync('b', true), sync('c')]);
  expect(happened).toEqual(['a begins']);
  for (let ended = 0; ended < 3; ended++) {
    for (let turns = 0; ends.length === 0 && turns < 4; turns++) await turn();
    expect(ends).toHaveLength(1);
    ends.pop()?.();
  }
  expect((await all).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
    'a',
    'b failed',
    'c',
  ]);
  expect(happened).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});
