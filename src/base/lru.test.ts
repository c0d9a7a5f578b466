import { describe, expect, test } from 'vitest';
import { createLru } from './lru.ts';

describe('a bounded memory', () => {
  test('forgets what was not used for the longest time', () => {
    const lru = createLru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    expect(lru.get('a')).toBe(1);
    lru.set('c', 3);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
    expect(lru.size).toBe(2);
  });

  test('replaces and deletes', () => {
    const lru = createLru<string, number>(2);
    lru.set('a', 1);
    lru.set('a', 2);
    expect([lru.size, lru.get('a')]).toEqual([1, 2]);
    lru.delete('a');
    expect([lru.size, lru.get('a')]).toEqual([0, undefined]);
  });
});
