import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UserError } from './errors.ts';
import { countAtLeastOne, countAtLeastOneOfShare, countRoundedUp, percentOf } from './int-or-percent.ts';

describe('a count or a share', () => {
  test.each([
    // value, total, rounded up, at least one, at least one of a share
    [3, 10, 3, 3, 3],
    [0, 10, 0, 1, 0],
    [-2, 10, 0, 1, 0],
    ['25%', 10, 3, 2, 2],
    ['25%', 8, 2, 2, 2],
    ['1%', 10, 1, 1, 1],
    ['0%', 10, 0, 1, 1],
    ['100%', 7, 7, 7, 7],
    ['50%', 0, 0, 1, 1],
  ])('%s of %d', (value, total, up, stage, partition) => {
    expect(countRoundedUp(value, total)).toBe(up);
    expect(countAtLeastOne(value, total)).toBe(stage);
    expect(countAtLeastOneOfShare(value, total)).toBe(partition);
  });

  test.each(['25', '%', '2.5%', '-5%', ' 5%', 1.5, Number.NaN])('%s is neither', (value) => {
    expect(() => countRoundedUp(value, 10)).toThrow(UserError);
  });

  test('rounding up is never below rounding down, and neither passes the total', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100_000), (share, total) => {
        expect(percentOf(`${share}%`)).toBe(share);
        const up = countRoundedUp(`${share}%`, total);
        expect(up).toBeLessThanOrEqual(total);
        expect(up * 100).toBeGreaterThanOrEqual(share * total);
        if (total > 0) expect(countAtLeastOne(`${share}%`, total)).toBeLessThanOrEqual(Math.max(1, up));
      }),
    );
  });
});
