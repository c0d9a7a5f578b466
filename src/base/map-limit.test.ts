import { expect, test } from 'vitest';
import { sha256 } from './hash.ts';
import { mapLimit } from './map-limit.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('keeps the order of the items and never runs more than the limit', async () => {
  let running = 0;
  let most = 0;
  const results = await mapLimit([5, 1, 4, 2, 3], 2, async (item, index) => {
    most = Math.max(most, ++running);
    for (let i = 0; i < item; i++) await turn();
    running--;
    return `${index}:${item}`;
  });
  expect(results).toEqual(['0:5', '1:1', '2:4', '3:2', '4:3']);
  expect(most).toBe(2);
});

test('after a failure starts nothing new, waits for what runs and throws the first one', async () => {
  const started: number[] = [];
  let finished = 0;
  const all = mapLimit([0, 1, 2, 3, 4, 5], 2, async (item) => {
    started.push(item);
    await turn();
    if (item === 1) throw new Error('one');
    await turn();
    finished++;
  });
  await expect(all).rejects.toThrow('one');
  expect(started).toEqual([0, 1]);
  expect(finished).toBe(1);
});

test('nothing to do is done', async () => {
  expect(await mapLimit([], 4, async () => 1)).toEqual([]);
});

test('the hash of a text is that of its bytes', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(sha256('é')).toBe(sha256(new TextEncoder().encode('é')));
});
