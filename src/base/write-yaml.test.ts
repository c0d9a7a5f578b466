import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeYaml } from './write-yaml.ts';
import { parseYaml } from './yaml.ts';

const words = [
  'on',
  'Off',
  'y',
  'N',
  'yes',
  'no',
  'true',
  'null',
  '~',
  '<<',
  '=',
  '0644',
  '0o17',
  '0x1f',
  '1_000',
  '1:30',
  '1e3',
  '.inf',
];
const word = fc.oneof(fc.constantFrom(...words), fc.string(), fc.string({ unit: 'binary' }));

describe('YAML that we write', () => {
  test.each(words)('keeps the word %s a text, as a value and as a key', (text) => {
    expect(writeYaml({ [text]: text })).toBe(`"${text}": "${text}"\n`);
  });

  test('leaves plain what nobody can misread', () => {
    const object = { apiVersion: 'v1', kind: 'List', items: [{ name: 'a-b', size: 3, isBig: false, rest: null }] };
    const text = 'apiVersion: v1\nkind: List\nitems:\n- name: a-b\n  size: 3\n  isBig: false\n  rest: null\n';
    expect(writeYaml(object)).toBe(text);
  });

  test('repeats what occurs twice instead of pointing at it', () => {
    const shared = { a: 1 };
    expect(writeYaml([shared, shared])).toBe('- a: 1\n- a: 1\n');
  });

  test('is read as the same data by readers of the new and of the old YAML', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      map: fc.dictionary(
        word.filter((key) => key !== '__proto__'),
        tie('value'),
        { maxKeys: 3 },
      ),
    })).value;
    fc.assert(
      fc.property(value, (data) => {
        const text = writeYaml(data);
        const plain = JSON.parse(JSON.stringify(data)) as unknown;
        expect(parse(text)).toEqual(plain);
        expect(parse(text, { version: '1.1', merge: true })).toEqual(plain);
        expect(parseYaml(text)).toEqual(plain);
      }),
    );
  });
});
