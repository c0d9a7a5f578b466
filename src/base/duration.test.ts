import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['0', 0],
  ['60s', 60_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['-2m', -120_000],
  ['+.5s', 500],
  ['100us', 0.1],
  ['', undefined],
  ['-', undefined],
  ['5', undefined],
  ['5x', undefined],
  ['1h ', undefined],
  ['.s', undefined],
  ['9999999999h', undefined],
])('the duration %s is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  [0, '0s'],
  [250, '250ms'],
  [1500, '1.5s'],
  [60_000, '1m0s'],
  [5_400_000, '1h30m0s'],
  [-60_000, '-1m0s'],
  [93_600_000, '26h0m0s'],
])('%d ms is written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('whole milliseconds survive the way through text', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 3);
    }),
  );
});
