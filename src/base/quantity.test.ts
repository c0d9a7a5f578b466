import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityError,
} from './quantity.ts';

const q = (text: string): Quantity => parseQuantity(text) as Quantity;

describe('a quantity', () => {
  // Right-hand sides as Kubernetes 1.34 prints them.
  test.each([
    ['0', '0'],
    ['0.0Ki', '0'],
    ['1', '1'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['0.500', '500m'],
    ['1.5', '1500m'],
    ['1.500', '1.500'],
    ['1.234', '1.234'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1024Ki', '1Mi'],
    ['1025Ki', '1025Ki'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['8Ki', '8Ki'],
    ['100Mi', '100Mi'],
    ['1e3', '1e3'],
    ['10e2', '1e3'],
    ['1E3', '1E3'],
    ['1E', '1E'],
    ['+5', '+5'],
    ['-1024Mi', '-1Gi'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['100000000Ei', '9223372036854775807'],
    ['12.345k', '12.345k'],
  ])('%s is stored as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  test.each([
    ['', format],
    ['x', format],
    ['1Kb', format],
    ['1.2.3', format],
    ['1 ', format],
    ['1KK', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1e999999999', "unable to parse quantity's suffix"],
    ['9'.repeat(300), format],
  ])('%.12s is none', (text, message) => {
    expect(quantityError(text)).toBe(message);
    expect(isQuantity(text)).toBe(false);
    expect(() => canonicalQuantity(text)).toThrow(message);
  });

  test('JSON numbers are quantities', () => {
    expect(canonicalQuantity(2)).toBe('2');
    expect(canonicalQuantity(0.1)).toBe('100m');
    expect(isQuantity(Number.NaN)).toBe(false);
    expect(isQuantity({})).toBe(false);
  });

  const anyQuantity = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.nat(99_999),
      fc.constantFrom('', '.5', '.25', '.125', '.001'),
      fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-2'),
    )
    .map((parts) => parts.join(''));

  test('keeps its value through its canonical text', () => {
    fc.assert(
      fc.property(anyQuantity, (text) => {
        expect(compareQuantities(q(formatQuantity(q(text))), q(text))).toBe(0);
        expect(compareQuantities(q(canonicalQuantity(text)), q(text))).toBe(0);
        const once = canonicalQuantity(text);
        const twice = canonicalQuantity(once);
        // Kubernetes writes a binary amount that is not a multiple of 1024 without a suffix; when it is read again, it
        // is decimal.
        const isTakenForDecimal = text.endsWith('i') && !once.endsWith('i');
        expect(isTakenForDecimal ? canonicalQuantity(twice) : once).toBe(twice);
      }),
    );
  });

  test('that is binary and no multiple of 1024 has no suffix', () => {
    expect(canonicalQuantity('13031.25Ki')).toBe('13344000');
    expect(canonicalQuantity('13344000')).toBe('13344k');
  });

  test('adds exactly, and is ordered', () => {
    fc.assert(
      fc.property(anyQuantity, anyQuantity, anyQuantity, (a, b, c) => {
        expect(addQuantities(q(a), q(b)).nano).toBe(addQuantities(q(b), q(a)).nano);
        expect(addQuantities(q(a), q(b)).nano - q(b).nano).toBe(q(a).nano);
        expect(compareQuantities(q(a), q(b))).toBe(-compareQuantities(q(b), q(a)) + 0);
        const sorted = [q(a), q(b), q(c)].sort(compareQuantities);
        expect(compareQuantities(sorted[0] as Quantity, sorted[2] as Quantity)).toBeLessThanOrEqual(0);
      }),
    );
    expect(formatQuantity(addQuantities(q('1Gi'), q('512Mi')))).toBe('1536Mi');
    expect(formatQuantity(addQuantities(q('0'), q('512Mi')))).toBe('512Mi');
  });
});
