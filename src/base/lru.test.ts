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

  test('keeps what weighs no more than the maximum together, and nothing that weighs more by itself', () => {
    const lru = createLru<string, string>(5, (text) => text.length);
    lru.set('a', 'xx');
    lru.set('b', 'xxx');
    expect(lru.weight).toBe(5);
    lru.set('c', 'x');
    expect([lru.peek('a'), lru.peek('b'), lru.peek('c'), lru.weight]).toEqual([undefined, 'xxx', 'x', 4]);
    lru.set('b', 'xxxxxx');
    expect([lru.peek('b'), lru.size, lru.weight]).toEqual([undefined, 1, 1]);
  });

  test('does not count a peek as a use', () => {
    const lru = createLru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    lru.peek('a');
    lru.set('c', 3);
    expect([lru.peek('a'), lru.peek('b')]).toEqual([undefined, 2]);
  });
});
