import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { goJson } from './go-json.ts';

describe("JSON as Go's encoder writes it", () => {
  test.each([
    {
      it: 'sorts keys and leaves no white space',
      value: { b: 1, a: [true, null, 'x'] },
      text: '{"a":[true,null,"x"],"b":1}',
    },
    {
      it: 'escapes what could end a script',
      value: '<a> & b\u2028\u2029',
      text: '"\\u003ca\\u003e \\u0026 b\\u2028\\u2029"',
    },
    { it: 'escapes keys too', value: { 'a&b': 1 }, text: '{"a\\u0026b":1}' },
    { it: 'leaves out what is not there', value: { a: undefined }, text: '{}' },
    { it: 'writes numbers plainly', value: [1e21, 1e-7, 1.5, 1000000], text: '[1e+21,1e-7,1.5,1000000]' },
    {
      it: 'puts the last rows of the basic plane before emoji',
      value: { '\u{1f600}': 1, '\uff21': 2 },
      text: '{"\uff21":2,"\u{1f600}":1}',
    },
  ])('$it', ({ value, text }) => expect(goJson(value)).toBe(text));

  test('says the same data as any other JSON, keys in byte order', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (value) => {
        expect(JSON.parse(goJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        const keys = Object.keys(value).filter((key) => key !== '__proto__');
        const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(goJson(Object.fromEntries([...keys].map((key) => [key, 0])))).toBe(
          `{${sorted.map((key) => `${goJson(key)}:0`).join(',')}}`,
        );
      }),
    );
  });
});
