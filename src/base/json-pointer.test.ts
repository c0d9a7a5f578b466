import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPointer, indexOfKey, parsePointer, valueAt } from './json-pointer.ts';

test.each([
  ['', []],
  ['/', ['']],
  ['/a/b', ['a', 'b']],
  ['/a~1b/~0x/~01', ['a/b', '~x', '~1']],
  ['a', undefined],
  ['/~2', undefined],
  ['/a~', undefined],
])('the pointer %s', (text, keys) => {
  expect(parsePointer(text)).toEqual(keys);
});

test('keys survive the way through text', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (keys) => {
      expect(parsePointer(formatPointer(keys))).toEqual(keys);
    }),
  );
});

test('leads only to own fields and existing places', () => {
  const document = { a: [{ b: 1 }], '': 2 };
  expect(valueAt(document, ['a', '0', 'b'])).toBe(1);
  expect(valueAt(document, [''])).toBe(2);
  expect(valueAt(document, [])).toBe(document);
  for (const keys of [
    ['a', '1'],
    ['a', '-'],
    ['a', '00'],
    ['a', 'length'],
    ['constructor'],
    ['__proto__'],
    ['', 'x'],
  ]) {
    expect(valueAt(document, keys)).toBeUndefined();
  }
  expect(indexOfKey('10')).toBe(10);
  expect(indexOfKey('01')).toBeUndefined();
  expect(indexOfKey('-1')).toBeUndefined();
});
