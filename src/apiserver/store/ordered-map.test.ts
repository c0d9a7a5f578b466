import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { OrderedMap } from './ordered-map.ts';

const anyKey = fc
  .tuple(fc.constantFrom('a/', 'a/b/', 'a/b/c', 'b/', '', 'a0'), fc.integer({ min: 0, max: 400 }))
  .map(([prefix, number]) => `${prefix}${number}`);
const anyStep = fc.record({ key: anyKey, remove: fc.boolean() });

describe('an ordered map', () => {
  test('answers like a sorted array, through any inserts and removals', () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 1500, size: 'max' }),
        fc.record({
          prefix: fc.constantFrom('', 'a/', 'a/b/', 'b/', 'zz/'),
          after: fc.option(fc.oneof(anyKey, fc.constantFrom('', 'a/', 'b/999', 'zzz')), { nil: undefined }),
          limit: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
        }),
        (steps, { prefix, after, limit }) => {
          const map = new OrderedMap<string>();
          const model = new Map<string, string>();
          steps.forEach(({ key, remove }, n) => {
            if (remove) expect(map.delete(key)).toBe(model.delete(key));
            else {
              map.set(key, `${n}`);
              model.set(key, `${n}`);
            }
          });
          expect(map.size).toBe(model.size);
          for (const { key } of steps.slice(0, 20)) expect(map.get(key)).toBe(model.get(key));
          const matching = [...model.keys()]
            .sort()
            .filter((key) => key.startsWith(prefix) && (after === undefined || key > after));
          const { values, remaining } = map.range(prefix, after, limit);
          expect(values).toEqual(matching.slice(0, limit).map((key) => model.get(key)));
          expect(remaining).toBe(matching.length - values.length);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  test.each(['ascending', 'descending', 'shuffled'])(
    'holds 20,000 keys that arrive %s, and gives them all back',
    (order) => {
      const keys = Array.from({ length: 20_000 }, (_, i) => `k/${String(i).padStart(6, '0')}`);
      const arrival = order === 'ascending' ? keys : keys.toReversed();
      if (order === 'shuffled') arrival.sort((a, b) => hash(a) - hash(b));
      const map = new OrderedMap<string>();
      for (const key of arrival) map.set(key, key);
      expect(map.range('', undefined).values).toEqual(keys);
      for (const key of arrival.slice(0, 19_990)) map.delete(key);
      expect(map.range('k/', undefined).values).toEqual(arrival.slice(19_990).sort());
      expect(map.size).toBe(10);
    },
  );

  test.each([
    { prefix: 'a/', after: 'a/3', finds: [] },
    { prefix: 'a/', after: 'b/1', finds: [] },
    { prefix: 'a/', after: 'z', finds: [] },
    { prefix: 'b/', after: 'a/1', finds: ['b/1', 'b/2'] },
    { prefix: '', after: 'b/2', finds: [] },
    { prefix: '0/', after: undefined, finds: [] },
    { prefix: 'z/', after: undefined, finds: [] },
  ])('gives $finds for prefix "$prefix" after $after', ({ prefix, after, finds }) => {
    const map = new OrderedMap<string>();
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2']) map.set(key, key);
    expect(map.range(prefix, after)).toEqual({ values: finds, remaining: 0 });
  });

  test('can be made from what is sorted already', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => String(i).padStart(4, '0'));
    const map = OrderedMap.fromSorted(keys, keys);
    map.set('0500x', 'new');
    expect(map.size).toBe(1001);
    expect(map.get('0500x')).toBe('new');
    expect(map.range('05', '0500', 2).values).toEqual(['new', '0501']);
  });
});

const hash = (text: string) => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 9973, 7);
