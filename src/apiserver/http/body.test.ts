import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { decodeObject, decodeOptions, decodePatch } from './body.ts';

const json = (text: string) => decodeObject(Buffer.from(text), 'json', 'ConfigMap');
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) return error.message;
    throw error;
  }
  return 'fine';
};
const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): ';
const unread = `${unrecognized}couldn't get version/kind; json parse error: `;
const goType =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

describe('a body', () => {
  // Messages of a real server.
  test.each([
    ['{bad', `${unread}invalid character 'b' looking for beginning of object key string ({bad)`],
    ['', `${unread}unexpected end of JSON input (<empty>)`],
    ['x', `${unread}invalid character 'x' looking for beginning of value (78)`],
    ['[]', `${unread}json: cannot unmarshal array into Go value of type ${goType} (5b5d)`],
    ['"str"', `${unread}json: cannot unmarshal string into Go value of type ${goType} (2273747222)`],
    ['{"kind":3}', `${unread}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":3})`],
    [
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}} trailing',
      `${unread}invalid character 't' after top-level value ({"apiVersion":"v1","kind":"Con ...)`,
    ],
    ['['.repeat(20_000), `${unread}invalid character '[' exceeded max depth (${'5b'.repeat(30)} ...)`],
  ])('%.20j is refused', (text, expected) => {
    expect(refusal(() => json(text))).toBe(expected);
  });

  test('nested too deep is refused even if it is JSON', () => {
    const nested = (levels: number) => `{"data":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(refusal(() => json(nested(5_000)))).toContain(`invalid character '[' exceeded max depth`);
    expect(refusal(() => json(nested(150)))).toBe('fine');
  });

  test('of null is an empty object, as in Go', () => {
    expect(json('null')).toEqual({});
  });

  test('may hold many brackets that are not nested, and brackets in text', () => {
    const many = JSON.stringify({ items: Array.from({ length: 3000 }, () => [{}]), text: '['.repeat(5000) });
    expect(json(many)).toEqual(JSON.parse(many));
  });

  test.each(['"__proto__"', '"\\u005f_proto__"', '"__\\u0070roto__"'])(
    'keeps a %s key as data and pollutes nothing',
    (key) => {
      const value = json(`{"a":[{${key}:{"polluted":1},"b":1}],${key}:{"polluted":1}}`) as { a: object[] };
      expect(JSON.stringify(value)).toBe('{"a":[{"__proto__":{"polluted":1},"b":1}],"__proto__":{"polluted":1}}');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  test('in YAML is read as Kubernetes reads it', () => {
    const yaml = (text: string) => decodeObject(Buffer.from(text), 'yaml', 'ConfigMap');
    expect(yaml('a: 0644\nb: yes\nc: "no"\nd: 2020-01-01T00:00:00Z\n1: x')).toEqual({
      1: 'x',
      a: 420,
      b: true,
      c: 'no',
      d: '2020-01-01T00:00:00Z',
    });
    expect(yaml('{"a":1}')).toEqual({ a: 1 });
    expect(yaml('')).toEqual({});
    expect(refusal(() => yaml('a: [b'))).toMatch(
      /^the object provided is unrecognized \(must be of type ConfigMap\): yaml: line 1: .* \(613a205b62\)$/,
    );
  });

  test('in YAML cannot multiply, nest without end or pollute', () => {
    const yaml = (text: string) => decodeObject(Buffer.from(text), 'yaml', 'ConfigMap');
    const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 98; i < 110; i++) {
      const [name, before] = [String.fromCharCode(i), String.fromCharCode(i - 1)];
      laughs.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`);
    }
    expect(refusal(() => yaml(laughs.join('\n')))).toContain('Excessive alias count');
    expect(refusal(() => yaml(`a: ${'['.repeat(100_000)}`))).toContain('exceeded max depth');
    expect(refusal(() => yaml(`${'- '.repeat(100_000)}x`))).toContain(unrecognized);
    expect(JSON.stringify(yaml('__proto__: {polluted: 1}\nb: 1'))).toBe('{"__proto__":{"polluted":1},"b":1}');
    const text = '{"__proto__":{"polluted":1},"b":1}';
    expect(JSON.stringify(yaml(text))).toBe(text);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('in protobuf that is none is refused', () => {
    expect(refusal(() => decodeObject(Buffer.from('abc'), 'protobuf', 'ConfigMap'))).toBe(
      `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (616263)`,
    );
  });
});

describe('a patch', () => {
  test.each([
    ['merge', '{bad', `error decoding patch: invalid character 'b' looking for beginning of object key string`],
    ['strategic', '{bad', `invalid character 'b' looking for beginning of object key string`],
    ['json', '{bad', `error decoding patch: invalid character 'b' looking for beginning of object key string`],
    ['json', '{}', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['merge', '[]', 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      'apply',
      '[]',
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ] as const)('%s %s is refused', (type, text, expected) => {
    expect(refusal(() => decodePatch(Buffer.from(text), type))).toBe(expected);
  });

  test('of server-side apply may be YAML', () => {
    expect(decodePatch(Buffer.from('data:\n  a: b\n'), 'apply')).toEqual({ data: { a: 'b' } });
    expect(refusal(() => decodePatch(Buffer.from('a: [b'), 'apply'))).toMatch(
      /^error decoding YAML: error converting YAML to JSON: yaml: line 1: /,
    );
  });
});

test('options of a deletion may be of the group or of none, but of no other kind', () => {
  const options = (text: string) => decodeOptions(Buffer.from(text), 'json');
  expect(options('{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0}')).toMatchObject({
    gracePeriodSeconds: 0,
  });
  expect(refusal(() => options('{"kind":"Foo","apiVersion":"v1"}'))).toBe(
    'no kind "Foo" is registered for version "v1"',
  );
  expect(refusal(() => options('{bad'))).toContain('json parse error');
  expect(refusal(() => options('[]'))).toContain('cannot unmarshal array');
});
