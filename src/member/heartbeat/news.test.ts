import { expect, test } from 'vitest';
import { GATHERING_MS, newsSince } from './news.ts';

const no = () => false;
const yes = () => true;

test('news has a beginning, and an end when it was reported', () => {
  expect(newsSince(undefined, 100, no)).toBeUndefined();
  expect(newsSince(undefined, 200, yes)).toBe(200);
  expect(newsSince(200, 200 + GATHERING_MS, yes)).toBe(200);
  expect(newsSince(200, 300 + GATHERING_MS, no)).toBeUndefined();
});

test('it is not asked again while news are coalesced', () => {
  const never = () => {
    throw new Error('asked');
  };
  expect(newsSince(200, 199 + GATHERING_MS, never)).toBe(200);
});

test('a clock that is set back restarts the count', () => {
  expect(newsSince(9_000_000, 200, yes)).toBe(200);
  expect(newsSince(200, 100, no)).toBeUndefined();
});
