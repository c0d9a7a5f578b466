import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFault } from './json-fault.ts';

const fault = (text: string) => jsonFault(Buffer.from(text), 1000);

describe('what is wrong with JSON', () => {
  // Messages of a real server.
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":"b', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['[1,', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['{bad', `invalid character 'b' looking for beginning of object key string`],
    ['x', `invalid character 'x' looking for beginning of value`],
    ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
    ['{"a":01}', `invalid character '1' after object key:value pair`],
    ['{"a" 1}', `invalid character '1' after object key`],
    ['[1 2]', `invalid character '2' after array element`],
    ['{} t', `invalid character 't' after top-level value`],
    ['"a\nb"', `invalid character '\\n' in string literal`],
    ['"\\x"', `invalid character 'x' in string escape code`],
    ['"\\u00zz"', `invalid character 'z' in \\u hexadecimal character escape`],
    ['-a', `invalid character 'a' in numeric literal`],
    ['1.a', `invalid character 'a' after decimal point in numeric literal`],
    ['1ea', `invalid character 'a' in exponent of numeric literal`],
    ['trux', `invalid character 'x' in literal true (expecting 'e')`],
    [`'`, `invalid character '\\'' looking for beginning of value`],
    ['[]]', `invalid character ']' after top-level value`],
    ['[}', `invalid character '}' looking for beginning of value`],
  ])('%j: %s', (text, expected) => {
    expect(fault(text)).toBe(expected);
  });

  test('counts nesting', () => {
    expect(jsonFault(Buffer.from('[[[]]]'), 3)).toBeUndefined();
    expect(jsonFault(Buffer.from('[[[[]]]]'), 3)).toBe(`invalid character '[' exceeded max depth`);
    expect(fault('['.repeat(100_000))).toBe(`invalid character '[' exceeded max depth`);
  });

  test('is found exactly where JSON.parse refuses', () => {
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const nearJson = fc.string({ unit: fc.constantFrom(...'{}[]":,\\ 0123.-+eEtruefalsn\tub'), maxLength: 12 });
    fc.assert(
      fc.property(fc.oneof(nearJson, fc.json()), (text) => {
        expect(fault(text) === undefined).toBe(isJson(text));
      }),
    );
  });
});
