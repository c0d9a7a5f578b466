import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, deepEqual, deepFreeze, mutableCopy } from './json.ts';

describe('equality of data', () => {
  test.each<{ it: string; a: unknown; b: unknown; equal: boolean }>([
    { it: 'the order of keys does not matter', a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, equal: true },
    { it: 'a key set to undefined is no key', a: { x: 1, y: undefined }, b: { x: 1 }, equal: true },
    { it: 'the order of a list does', a: [1, 2], b: [2, 1], equal: false },
    { it: 'a list is no object', a: [], b: {}, equal: false },
    { it: 'null is not absent', a: { x: null }, b: {}, equal: false },
    // Every object inherits something with these names.
    { it: 'a key constructor is a key', a: {}, b: { constructor: 'x' }, equal: false },
    { it: 'a key toString is a key', a: { a: 1 }, b: { a: 1, toString: 'x' }, equal: false },
  ])('$it', ({ a, b, equal }) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });

  test('is what the canonical text says', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => mutableCopy(value));
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(deepEqual(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(deepEqual(a, mutableCopy(deepFreeze(a)))).toBe(true);
      }),
    );
  });
});
