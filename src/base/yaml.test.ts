import { describe, expect, test } from 'vitest';
import { parseYaml, parseYamlDocuments, YamlError } from './yaml.ts';

describe('YAML', () => {
  test.each([
    ['a: 0644', { a: 420 }],
    ['a: yes\nb: off\nc: true\nd: y', { a: true, b: false, c: true, d: 'y' }],
    ['a: 1e3\nb: 0x1f\nc: ~\nd:\n', { a: 1000, b: 31, c: null, d: null }],
    ['a: 22:30\nb: 2020-01-01', { a: '22:30', b: '2020-01-01' }],
    ['1: x\ntrue: y', { 1: 'x', true: 'y' }],
    ['base: &b {x: 1}\na:\n  <<: *b\n  y: 2', { base: { x: 1 }, a: { x: 1, y: 2 } }],
    ['a: |\n  two\n  lines\n', { a: 'two\nlines\n' }],
    ['', null],
    ['# nothing', null],
    ['{"a": [1, "b"]}', { a: [1, 'b'] }],
  ])('%j is read as Kubernetes reads it', (text, expected) => {
    expect(parseYaml(text)).toEqual(expected);
  });

  test('of several documents is a list without the empty ones', () => {
    expect(parseYamlDocuments('---\na: 1\n---\n---\n# none\n---\nb: 2\n')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(() => parseYaml('a: 1\n---\nb: 2')).toThrow('more than one document');
  });

  test.each([
    ['a: [b', /^line 1: /],
    ['a: 1\nb: 2\na: 3', /^line 3: key "a" already set in map$/],
    ['a:\n\t- b', /^line 2: /],
    ['a: *nobody', /nobody/],
  ])('%j is refused with its line', (text, expected) => {
    expect(() => parseYaml(text)).toThrow(expected);
  });

  test('from a stranger costs little: nesting, aliases and length are bounded', () => {
    const nested = [
      '['.repeat(3_000),
      `${'['.repeat(300)}${']'.repeat(300)}`,
      `${'{a: '.repeat(300)}1${'}'.repeat(300)}`,
      `${'- '.repeat(2_000)}x`,
      `${'? '.repeat(2_000)}x`,
      Array.from({ length: 250 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    ];
    for (const text of nested) expect(() => parseYaml(text), text.slice(0, 20)).toThrow(YamlError);
    const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [name, before] of [...'bcdefgh'].map((name, index) => [name, 'abcdefg'[index]])) {
      laughs.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`);
    }
    expect(() => parseYaml(laughs.join('\n'))).toThrow('Excessive alias count');
    expect(() => parseYaml('a: b', { length: 3 })).toThrow('longer than 3 characters');
  });

  test('with a __proto__ key gives an object with this key, and its usual prototype', () => {
    const value = parseYaml('__proto__:\n  polluted: 1\na: {__proto__: {polluted: 1}}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['polluted']).toBeUndefined();
    expect((value['a'] as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
