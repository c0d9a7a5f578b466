import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFirst, compileJsonPath, JsonPathError } from './json-path.ts';

const object = {
  metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'shop', a: { b: 'nested' } } },
  mixed: [{ t: 'x' }, { t: 1 }],
  spec: { replicas: 3, ports: [80, 443, 8080], none: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', generation: 2 },
      { type: 'Applied', status: 'False', generation: 1, note: 'it)s' },
    ],
  },
};

describe('a JSON path', () => {
  test.each([
    ['.metadata.name', ['web']],
    ['$.metadata.name', ['web']],
    ['@', [object]],
    ['.', []],
    ['.spec .replicas', [3]],
    ['.spec.replicas', [3]],
    ['.spec.none', [null]],
    ['.spec.none.deeper', []],
    ['.spec.absent.deeper', []],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['shop']],
    ["['metadata']['name']", ['web']],
    ['.metadata["name"]', ['web']],
    [".metadata.labels['app\\.kubernetes\\.io/name']", ['shop']],
    [".metadata.labels['a.b']", ['nested']],
    ['.spec.ports[0]', [80]],
    ['.spec.ports[-1]', [8080]],
    ['.spec.ports[3]', []],
    ['.spec.ports[1:]', [443, 8080]],
    ['.spec.ports[0:3:2]', [80, 8080]],
    ['.spec.ports[*]', [80, 443, 8080]],
    ['.spec.ports[0,2]', [80, 8080]],
    ['.spec.ports[:1]', [80]],
    ['.spec.replicas[0]', []],
    ['.status.conditions[*].type', ['Ready', 'Applied']],
    ['.status.conditions[0].status', ['True']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Applied')].status", ['False']],
    ['.status.conditions[?( @.type == "Ready" )].status', ['True']],
    ['.status.conditions[?(@.type!="Ready")].status', ['False']],
    ['.status.conditions[?(@.generation>1)].type', ['Ready']],
    ['.status.conditions[?(@.generation<=1)].type', ['Applied']],
    ['.status.conditions[?(@.note)].type', ['Applied']],
    ['.status.conditions[?(@.note=="it)s")].type', ['Applied']],
    ['.status.conditions[?(@.type=="Absent")].status', []],
    ['.status.conditions[?(@.type==1)].status', []],
    ['.mixed[?(@.t=="x")].t', []],
    ['.status.absent[?(@.type=="Ready")].status', []],
    ['.spec[?(@.type=="Ready")]', []],
    ['..type', ['Ready', 'Applied']],
    ['.metadata.*', ['web', object.metadata.labels]],
    ['.constructor', []],
    ['.__proto__', []],
  ])('%s', (path, expected) => {
    expect(compileJsonPath(path)(object)).toEqual(expected);
    expect(compileFirst(path)(object)).toEqual(expected[0]);
  });

  test.each([
    ['empty', ''],
    ['unrecognized character', 'spec.replicas'],
    ['invalid array index', '.a['],
    ['unterminated array', '.a[0'],
    ['invalid array index x', '.a[x]'],
    ['step must be > 0', '.a[1:2:0]'],
    ['unterminated filter', '.a[?(@.b=="c")'],
    ['unrecognized filter operator =', '.a[?(@.b=~"c")]'],
    ['unrecognized filter operator =!', '.a[?(@.b=!"c")]'],
    ['unterminated filter', '.a[?()]'],
    ['invalid multiple recursive descent', '.a....b'],
    ['unrecognized character', '.a}'],
    ['nested too deeply', `.a${'[?(@'.repeat(50)}`],
    ['longer than', `.${'a'.repeat(10_001)}`],
  ])('refuses with: %s', (reason, path) => {
    expect(() => compileJsonPath(path)).toThrow(JsonPathError);
    expect(() => compileJsonPath(path)).toThrow(reason);
  });

  test('any text either compiles or is refused with a reason, and then never throws on data', () => {
    const piece = fc.constantFrom(
      '.',
      '..',
      'a',
      '[',
      ']',
      '0',
      '*',
      '?(',
      '@',
      '==',
      '"x"',
      ')',
      "'",
      '\\',
      ':',
      ',',
      ' ',
      '-',
      '$',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.json(), (pieces, json) => {
        let path: ReturnType<typeof compileJsonPath>;
        try {
          path = compileJsonPath(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPathError);
          return;
        }
        expect(Array.isArray(path(JSON.parse(json)))).toBe(true);
      }),
    );
  });

  test('a path of escaped names reaches exactly the value below them', () => {
    const anyName = fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '*' && name !== '__proto__');
    fc.assert(
      fc.property(fc.array(anyName, { minLength: 1, maxLength: 4 }), (names) => {
        const path = names.map((name) => `.${name.replace(/[^A-Za-z0-9]/g, '\\$&')}`).join('');
        const value = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), 'here');
        expect(compileFirst(path)(value)).toBe('here');
      }),
    );
  });
});
