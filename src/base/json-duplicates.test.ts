import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repeatedKeys } from './json-duplicates.ts';

const found = (text: string) => repeatedKeys(text, JSON.parse(text));

describe('fields that a text names twice', () => {
  test.each([
    { text: '{"a":1,"a":2}', paths: ['a'] },
    { text: '{"a":1,"a":2,"a":3}', paths: ['a'] },
    { text: '{"a":{"b":1,"b":2},"c":{"b":1}}', paths: ['a.b'] },
    { text: '{"a":[{"b":1},{"b":1,"c":[[],[0,{"d":1,"d":2}]],"b":2}]}', paths: ['a[1].c[1][1].d', 'a[1].b'] },
    { text: '{"data":{"x":"1","x":"2"},"data":{"x":"1"}}', paths: ['data.x', 'data'] },
    { text: '[{"op":"add","value":"1","value":"2"}]', paths: ['[0].value'] },
    { text: '{"\\u0061":1,"a":2}', paths: ['a'] },
    { text: '{"__proto__":1,"__proto__":2}', paths: ['__proto__'] },
    { text: '{"a":":","b":"{\\"a\\":1,\\"a\\":2}","c":"\\\\","d":"\\\\\\":"}', paths: [] },
    { text: '{}', paths: [] },
    { text: '"a:b"', paths: [] },
    { text: ' { "a" : 1 , "b" : { "a" : [ 1 , 2 ] } } ', paths: [] },
  ])('$text: $paths', ({ text, paths }) => expect(found(text)).toEqual(paths));

  test('are not found in any text that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(found(JSON.stringify(value))).toEqual([]);
      }),
    );
  });

  test('are found wherever one member is written twice', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(json, fc.nat(), fc.boolean(), (value, pick, isNested) => {
        const members = Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${JSON.stringify(of)}`);
        const text = `{${[...members, members[pick % members.length]].join(',')}}`;
        const key = Object.keys(value)[pick % members.length];
        expect(found(isNested ? `{"list":[0,${text}]}` : text)).toEqual([isNested ? `list[1].${key}` : key]);
      }),
    );
  });
});
