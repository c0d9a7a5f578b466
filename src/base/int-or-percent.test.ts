import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UserError } from './errors.ts';
import { countAtLeastOne, countRoundedUp, partitionLimit, percentOf } from './int-or-percent.ts';

describe('a count or a share', () => {
  test.each([
    // value, total, rounded up, at least one, partitions
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
    expect(partitionLimit(total, value)).toBe(partition);
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

describe('the number rule of partitions (spec 08 §2)', () => {
  test.each<[number, readonly (number | string | undefined)[], number]>([
    [10, [5], 5],
    [10, [15], 10],
    [10, [-4], 0],
    [10, [0], 0],
    [0, [15], 1],
    [-15, [15], 1],
    [0, ['abc'], 1],
    [10, ['500'], 500],
    [10, ['5'], 5],
    [10, [undefined, 10], 10],
    [10, [undefined, 3, '50%'], 3],
    [50, [], 50],
    [50, [undefined], 50],
    [10, ['50%'], 5],
    [10, ['49%'], 4],
    [10, ['150%'], 10],
    [11, ['100%'], 11],
    [5, ['10%'], 1],
    [10, ['0%'], 1],
    [10, ['-10%'], 1],
    [230, ['25%'], 57],
    [7, ['14.9%'], 1],
    // A15
    [4, [0], 0],
    [4, ['1%'], 1],
    [4, ['25%'], 1],
    [4, ['49%'], 1],
    [4, ['50%'], 2],
  ])('%d of %j', (total, values, expected) => {
    expect(partitionLimit(total, ...values)).toBe(expected);
  });

  test.each(['0', '-5', '', 'abc', '%', 'x%', 'NaN%', 'Inf%', '0x1p4%', '1e3%', '5 %', 1.5, Number.NaN])(
    '%j is refused',
    (value) => {
      expect(() => partitionLimit(10, value)).toThrow(UserError);
    },
  );
});
