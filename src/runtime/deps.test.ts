import { expect, test } from 'vitest';
import { afterDisk, spreadOverTurns } from './deps.ts';

test('those who let others go first in one turn go on in one turn, after what was ready then', async () => {
  const after = afterDisk();
  const happened: string[] = [];
  const tick = () => process.nextTick(() => happened.push('a turn in between'));
  const done = new Promise<void>((resolve) => {
    after(() => {
      happened.push('first');
      tick();
    });
    after(() => {
      happened.push('second');
      setImmediate(resolve);
    });
    setImmediate(() => {
      happened.push('what was ready');
      after(() => happened.push('asked later'));
    });
  });
  await done;
  await new Promise((resolve) => setImmediate(resolve));
  expect(happened).toEqual(['what was ready', 'first', 'second', 'a turn in between', 'asked later']);
});

test('what nobody waits for goes on one by one, with a turn of the loop between two', async () => {
  const inTurn = spreadOverTurns();
  const happened: string[] = [];
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  for (const name of ['a', 'b']) inTurn(() => happened.push(name));
  expect(happened).toEqual([]);
  await turn();
  expect(happened).toEqual(['a']);
  inTurn(() => happened.push('c'));
  await turn();
  expect(happened).toEqual(['a', 'b']);
  await turn();
  await turn();
  inTurn(() => happened.push('d'));
  expect(happened).toEqual(['a', 'b', 'c']);
  await turn();
  expect(happened).toEqual(['a', 'b', 'c', 'd']);
});

test('of many several go on together', async () => {
  const inTurn = spreadOverTurns();
  let count = 0;
  for (let i = 0; i < 800; i++) inTurn(() => count++);
  await new Promise((resolve) => setImmediate(resolve));
  expect(count).toBe(100);
});
