import { expect, test } from 'vitest';
import { COALESCE_MS, changedSince } from './changes.ts';

const no = () => false;
const yes = () => true;

test('a change has a beginning, and an end when it was reported', () => {
  expect(changedSince(undefined, 100, no)).toBeUndefined();
  expect(changedSince(undefined, 200, yes)).toBe(200);
  expect(changedSince(200, 200 + COALESCE_MS, yes)).toBe(200);
  expect(changedSince(200, 300 + COALESCE_MS, no)).toBeUndefined();
});

test('it is not asked again while changes are coalesced', () => {
  const never = () => {
    throw new Error('asked');
  };
  expect(changedSince(200, 199 + COALESCE_MS, never)).toBe(200);
});

test('a clock that is set back restarts the count', () => {
  expect(changedSince(9_000_000, 200, yes)).toBe(200);
  expect(changedSince(200, 100, no)).toBeUndefined();
});
