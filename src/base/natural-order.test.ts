import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byName } from './natural-order.ts';

test('counts as people do', () => {
  const names = [
    'member-10',
    'member-2',
    'eu-1',
    'member-02',
    'member',
    'eu',
    '10',
    '9',
    'a99999999999999999999',
    'a100000000000000000000',
  ];
  expect(names.toSorted(byName)).toEqual([
    '9',
    '10',
    'a99999999999999999999',
    'a100000000000000000000',
    'eu',
    'eu-1',
    'member',
    'member-02',
    'member-2',
    'member-10',
  ]);
});

const name = fc.stringMatching(/^[a-c0-2-]{0,6}$/);

test('is a total order', () => {
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      expect(byName(a, b) === 0).toBe(a === b);
      expect(Math.sign(byName(a, b))).toBe(-Math.sign(byName(b, a)) || 0);
      if (byName(a, b) <= 0 && byName(b, c) <= 0) expect(byName(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
