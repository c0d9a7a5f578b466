import { describe, expect, test } from 'vitest';
import { compilePreference, share } from './preferences.ts';
import { aMember, sortedBy } from './scheduler.testing.ts';

describe('what a sorter adds', () => {
  const range = { min: 10, max: 100 };

  test.each([
    { value: 20, order: 'Descending', weight: 100, adds: 11 },
    { value: 20, order: 'Ascending', weight: 100, adds: 89 },
    { value: 10, order: 'Descending', weight: 100, adds: 0 },
    { value: 100, order: 'Descending', weight: 100, adds: 100 },
    { value: 10, order: 'Ascending', weight: -100, adds: -100 },
    { value: 100, order: 'Ascending', weight: -100, adds: 0 },
    // Halves round away from zero.
    { value: 55, order: 'Descending', weight: 5, adds: 3 },
    { value: 55, order: 'Descending', weight: -5, adds: -3 },
    { value: 55, order: 'Ascending', weight: 1, adds: 1 },
    { value: 55, order: 'Ascending', weight: -1, adds: -1 },
  ] as const)('$value, $order, $weight', ({ value, order, weight, adds }) => {
    expect(share(value, range, order, weight)).toBe(adds);
  });

  test('nothing where all have the same', () => {
    expect(share(10, { min: 10, max: 10 }, 'Ascending', 100)).toBe(0);
  });

  test('by the numbers of all members, those that cannot be picked included', () => {
    const members = ['0', '5', '10'].map((size, at) =>
      aMember(`m-${at}`, { properties: { size }, ...(at === 2 ? { leaving: true, heartbeat: undefined } : {}) }),
    );
    const { scoreOf } = compilePreference({ weight: 100, preference: sortedBy('size', 'Descending') }, members);
    expect(members.map(scoreOf)).toEqual([0, 50, 100]);
  });
});
