import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { greedy, type Place, type Places, type Sized, type Split, splitOf, spread } from './split.ts';

const LIMIT = 819_200;
const sized = (sizes: Readonly<Record<string, number>>): readonly Sized[] =>
  Object.entries(sizes).map(([key, bytes]) => ({ key, bytes }));
const keysOf = (items: readonly Sized[], split: Split) =>
  split.map((part) => part.map((at) => items[at]?.key ?? '').join(' '));
const placesIn = (items: readonly Sized[], split: Split): Places =>
  new Map(
    split.flatMap((part, number) =>
      part.map((at): [string, Place] => [items[at]?.key ?? '', { part: number, bytes: items[at]?.bytes ?? 0 }]),
    ),
  );

describe('a first revision is split in order (03 §4.2)', () => {
  test.each<{ sizes: Readonly<Record<string, number>>; parts: readonly string[] }>([
    {
      sizes: { a: 300_000, b: 400_000, c: 200_000, d: 900_000, e: 10_000 },
      parts: ['a b', 'c', 'd', 'e'],
    },
    { sizes: { a: 409_600, b: 409_600 }, parts: ['a b'] },
    { sizes: { a: 409_600, b: 409_601 }, parts: ['a', 'b'] },
    { sizes: {}, parts: [''] },
    { sizes: { a: 2_000_000 }, parts: ['a'] },
  ])('$sizes', ({ sizes, parts }) => {
    const items = sized(sizes);
    expect(keysOf(items, splitOf(items, LIMIT, undefined))).toEqual(parts);
  });
});

describe('a later revision keeps objects where they are', () => {
  const before = sized({ a: 40, b: 50, c: 60, d: 30, e: 70 });
  const places = placesIn(before, greedy(before, 100));
  test.each<{ it: string; after: Readonly<Record<string, number>>; parts: readonly string[] }>([
    { it: 'if one changes', after: { a: 40, b: 50, c: 61, d: 30, e: 70 }, parts: ['a b', 'c d', 'e'] },
    { it: 'if one is deleted', after: { a: 40, b: 50, c: 60, e: 70 }, parts: ['a b', 'c', 'e'] },
    {
      it: 'and a new one goes into the first with room',
      after: { a: 40, b: 50, c: 60, d: 30, e: 70, f: 10 },
      parts: ['a b f', 'c d', 'e'],
    },
    {
      it: 'and only the one that has outgrown its part moves',
      after: { a: 40, b: 50, c: 60, d: 41, e: 50 },
      parts: ['a b', 'c', 'd e'],
    },
    { it: 'and no part stays empty if a fresh split has none', after: { a: 40, b: 50, e: 70 }, parts: ['a b', 'e'] },
    {
      it: 'unless it takes more parts than splitting again',
      after: { a: 90, b: 10, c: 60, d: 30, e: 10 },
      parts: ['a b', 'c d e'],
    },
    { it: 'and one is enough when all fit', after: { c: 60, e: 10 }, parts: ['c e'] },
  ])('$it', ({ after, parts }) => {
    const items = sized(after);
    expect(keysOf(items, splitOf(items, 100, places))).toEqual(parts);
  });
});

describe('the missing parts of a group', () => {
  test('get all that the others do not have', () => {
    const items = sized({ a: 60, b: 50, c: 50 });
    expect(keysOf(items, spread(items, 100, 2))).toEqual(['a', 'b c']);
  });
  test('are as many as announced, even if fewer were enough', () => {
    const items = sized({ a: 60 });
    expect(keysOf(items, spread(items, 100, 2))).toEqual(['a', '']);
  });
  test('take more than the limit if they must', () => {
    const items = sized({ a: 60, b: 60, c: 60 });
    expect(keysOf(items, spread(items, 100, 2))).toEqual(['a c', 'b']);
  });
});

test('over any history each object is in one part, parts keep to the limit, and there are no more than a fresh split has', () => {
  const anyRevision = fc.dictionary(fc.constantFrom(...'abcdefghij'), fc.integer({ min: 1, max: 130 }));
  void fc.assert(
    fc.property(fc.array(anyRevision, { minLength: 1, maxLength: 6 }), (revisions) => {
      let places: Places | undefined;
      for (const revision of revisions) {
        const items = sized(revision).toSorted((a, b) => (a.key < b.key ? -1 : 1));
        const split = splitOf(items, 100, places);
        expect(split.flat().toSorted((a, b) => a - b)).toEqual(items.map((_, at) => at));
        expect(split.length).toBeLessThanOrEqual(greedy(items, 100).length);
        for (const part of split) {
          const bytes = part.reduce((sum, at) => sum + (items[at]?.bytes ?? 0), 0);
          expect(bytes <= 100 || part.length === 1).toBe(true);
        }
        places = placesIn(items, split);
      }
    }),
  );
});
