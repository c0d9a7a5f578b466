import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ageText, shortDuration, stampMs } from './age.ts';

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;
const y = 365 * d;

describe('ages', () => {
  test.each([
    [-2 * s, '<invalid>'],
    [-1.9 * s, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [7.9 * s, '7s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [8 * m + 11 * s, '8m11s'],
    [10 * m - 1, '9m59s'],
    [10 * m + 30 * s, '10m'],
    [179 * m, '179m'],
    [3 * h, '3h'],
    [3 * h + 5 * m, '3h5m'],
    [8 * h + 5 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [5 * d + 3 * h, '5d3h'],
    [8 * d + 3 * h, '8d'],
    [2 * y - 1, '729d'],
    [2 * y, '2y'],
    [2 * y + 34 * d, '2y34d'],
    [8 * y + 34 * d, '8y'],
  ])('%d ms is %s', (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });

  test('an age counts from a stamp to now', () => {
    expect(ageText(1000, 6000)).toBe('5s');
    expect(ageText(Number.NaN, 6000)).toBe('<invalid>');
  });

  test('a longer time never reads shorter', () => {
    const value = (text: string) =>
      [...text.matchAll(/(\d+)([smhdy])/g)].reduce(
        (sum, [, n, u]) => sum + Number(n) * ({ s, m, h, d, y }[u ?? ''] ?? 0),
        0,
      );
    fc.assert(
      fc.property(fc.nat(10 * y), fc.nat(d), (ms, more) => {
        expect(value(shortDuration(ms + more))).toBeGreaterThanOrEqual(value(shortDuration(ms)));
      }),
    );
  });

  test.each([
    ['2024-05-01T10:00:00Z', 1714557600000],
    ['2024-05-01T10:00:00.250Z', 1714557600250],
    ['2024-05-01T12:00:00+02:00', 1714557600000],
    ['2024-05-01', Number.NaN],
    ['May 1, 2024', Number.NaN],
    ['', Number.NaN],
  ])('the stamp %s is %d', (text, ms) => {
    expect(stampMs(text)).toBe(ms);
  });
});
