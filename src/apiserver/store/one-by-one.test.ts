import { expect, test } from 'vitest';
import { oneByOne } from './one-by-one.ts';

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
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
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
