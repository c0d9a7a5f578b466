import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinSchema, resolveBuiltin } from '../../api/builtin/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import type { Draft } from '../registry.ts';
import { structureOf } from './structure.ts';

const object = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const thing = (spec: unknown): Draft & KubeObject => ({
  apiVersion: 'probe.example/v1',
  kind: 'Thing',
  metadata: { name: 'x' },
  spec,
});
const ofSpec = (properties: Record<string, Schema>): Schema => object({ spec: object(properties) });
const says = (schema: Schema, spec: unknown, old?: unknown): string[] =>
  structureOf(schema)
    .validate(thing(spec), old === undefined ? undefined : thing(old))
    .map((cause) => `${cause.field}: ${cause.message}`);

const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };

describe('validation speaks as kube-apiserver 1.34.4 did when it was asked the same', () => {
  const table: readonly (readonly [name: string, schema: Schema, value: unknown, ...texts: string[]])[] = [
    [
      'below a minimum',
      { type: 'integer', minimum: 3 },
      2,
      'spec.f: Invalid value: 2: spec.f in body should be greater than or equal to 3',
    ],
    [
      'above a maximum',
      { type: 'integer', maximum: 10 },
      11,
      'spec.f: Invalid value: 11: spec.f in body should be less than or equal to 10',
    ],
    [
      'at an exclusive minimum',
      { type: 'integer', minimum: 3, exclusiveMinimum: true },
      3,
      'spec.f: Invalid value: 3: spec.f in body should be greater than 3',
    ],
    [
      'a whole number against a bound with a fraction',
      { type: 'number', maximum: 9.5 },
      10,
      'spec.f: Invalid value: 10: spec.f in body should be less than or equal to 9',
    ],
    [
      'no multiple',
      { type: 'integer', multipleOf: 5 },
      7,
      'spec.f: Invalid value: 7: spec.f in body should be a multiple of 5',
    ],
    [
      'no multiple of a fraction',
      { type: 'number', multipleOf: 0.5 },
      0.3,
      'spec.f: Invalid value: 0.3: spec.f in body should be a multiple of 0.5',
    ],
    [
      'a whole number against a multiple with a fraction',
      { type: 'number', multipleOf: 0.5 },
      10,
      'spec.f: Invalid value: 0: factor MultipleOf declared for spec.f must be positive: 0',
    ],
    [
      'text for a number',
      whole,
      'x',
      'spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"',
    ],
    [
      'a wrong type that is measured all the same',
      { type: 'integer', minimum: 3 },
      1.5,
      'spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"',
      'spec.f: Invalid value: 1.5: spec.f in body should be greater than or equal to 3',
    ],
    [
      'an integer beyond 64 bits',
      { type: 'integer', format: 'int32' },
      1e30,
      'spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"',
    ],
    ['an int32 beyond 32 bits, which nobody minds', { type: 'integer', format: 'int32' }, 4294967296],
    [
      'a number for text',
      text,
      5,
      'spec.f: Invalid value: "integer": spec.f in body must be of type string: "integer"',
    ],
    [
      'text for a boolean',
      { type: 'boolean' },
      'true',
      'spec.f: Invalid value: "string": spec.f in body must be of type boolean: "string"',
    ],
    [
      'too short',
      { type: 'string', minLength: 2 },
      'a',
      'spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long',
    ],
    ['too long', { type: 'string', maxLength: 4 }, 'abcde', 'spec.f: Too long: may not be more than 4 bytes'],
    ['too long by one', { type: 'string', maxLength: 1 }, 'ab', 'spec.f: Too long: may not be more than 1 byte'],
    ['characters are counted, not UTF-16 units', { type: 'string', maxLength: 2 }, '🚢🚢'],
    [
      'no match',
      { type: 'string', pattern: '^a' },
      'bb',
      'spec.f: Invalid value: "bb": spec.f in body should match \'^a\'',
    ],
    [
      'not in an enum',
      { type: 'string', enum: ['A', 'B'] },
      'C',
      'spec.f: Unsupported value: "C": supported values: "A", "B"',
    ],
    [
      'not in an enum of numbers',
      { type: 'integer', enum: [1, 2] },
      3,
      'spec.f: Unsupported value: 3: supported values: "1", "2"',
    ],
    [
      'text for an enum of numbers',
      { type: 'integer', enum: [1, 2] },
      '1',
      'spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"',
      'spec.f: Unsupported value: "1": supported values: "1", "2"',
    ],
    [
      'too few items',
      { type: 'array', minItems: 1, items: text },
      [],
      'spec.f: Invalid value: 0: spec.f in body should have at least 1 items',
    ],
    [
      'too many items',
      { type: 'array', maxItems: 2, items: text },
      ['a', 'b', 'c'],
      'spec.f: Too many: 3: must have at most 2 items',
    ],
    [
      'two for one',
      { type: 'array', maxItems: 1, items: text },
      ['a', 'b'],
      'spec.f: Too many: 2: must have at most 1 item',
    ],
    [
      'a wrong item',
      { type: 'array', items: text },
      [1],
      'spec.f[0]: Invalid value: "integer": spec.f[0] in body must be of type string: "integer"',
    ],
    [
      'too few properties',
      { type: 'object', minProperties: 1, additionalProperties: whole },
      {},
      'spec.f: Invalid value: 0: spec.f in body should have at least 1 properties',
    ],
    [
      'too many properties',
      { type: 'object', maxProperties: 1, additionalProperties: whole },
      { a: 1, b: 2 },
      'spec.f: Too many: 2: must have at most 1 item',
    ],
    [
      'a wrong map value',
      { type: 'object', additionalProperties: whole },
      { a: 'x' },
      'spec.f.a: Invalid value: "string": spec.f.a in body must be of type integer: "string"',
    ],
    ['int or string: an int', { 'x-kubernetes-int-or-string': true }, 1],
    ['int or string: text', { 'x-kubernetes-int-or-string': true }, '1%'],
    [
      'int or string: neither',
      { 'x-kubernetes-int-or-string': true },
      true,
      'spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"',
    ],
    [
      'int or string: a fraction',
      { 'x-kubernetes-int-or-string': true },
      1.5,
      'spec.f: Invalid value: "number": spec.f in body must be of type integer,string: "number"',
    ],
    [
      'a bad format',
      { type: 'string', format: 'date-time' },
      'x',
      'spec.f: Invalid value: "x": spec.f in body must be of type date-time: "x"',
    ],
    ['a format that nobody knows', { type: 'string', format: 'nonsense' }, 'x'],
    [
      'no alternative fits: the nearest is quoted',
      { type: 'string', anyOf: [{ pattern: '^x' }, { minLength: 5 }] },
      'abc',
      '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
      'spec.f: Invalid value: "abc": spec.f in body should match \'^x\'',
    ],
    [
      'no alternative fits: of two, the one that got further is quoted',
      object({ a: text, b: text }, { anyOf: [{ required: ['b'] }, { properties: { a: { minLength: 5 } } }] }),
      { a: 'x' },
      '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
      'spec.f.a: Invalid value: "x": spec.f.a in body should be at least 5 chars long',
    ],
    [
      'no alternative fits: of two that got as far, the first is quoted',
      object(
        { a: text, b: text },
        {
          anyOf: [
            { properties: { a: { minLength: 5 } }, required: ['b'] },
            { properties: { a: { minLength: 1 } }, required: ['b'] },
          ],
        },
      ),
      { a: 'x' },
      '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
      'spec.f.a: Invalid value: "x": spec.f.a in body should be at least 5 chars long',
      'spec.f.b: Required value',
    ],
    [
      'none of oneOf fits',
      object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      {},
      '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid',
      'spec.f.a: Required value',
    ],
    [
      'two of oneOf fit',
      object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      { a: 'x', b: 'y' },
      '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      'none of allOf fits',
      { type: 'string', allOf: [{ pattern: '^x' }, { minLength: 5 }] },
      'ab',
      'spec.f: Invalid value: "ab": spec.f in body should match \'^x\'',
      'spec.f: Invalid value: "ab": spec.f in body should be at least 5 chars long',
      '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf). None validated',
    ],
    [
      'one of allOf fits',
      { type: 'string', allOf: [{ pattern: '^x' }, { minLength: 5 }] },
      'xb',
      'spec.f: Invalid value: "xb": spec.f in body should be at least 5 chars long',
      '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf)',
    ],
    [
      'what must not fit, fits',
      { type: 'string', not: { pattern: '^x' } },
      'xa',
      '<nil>: Invalid value: "": "spec.f" must not validate the schema (not)',
    ],
    [
      'a set with repetitions',
      { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
      ['a', 'a', 'a', 'b', 'b'],
      'spec.f[1]: Duplicate value: "a"',
      'spec.f[4]: Duplicate value: "b"',
    ],
    [
      'a map list with a key twice',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: text }, { required: ['k'] }),
      },
      [{ k: 'a' }, { k: 'a' }],
      'spec.f[1]: Duplicate value: {"k":"a"}',
    ],
    [
      'a map list with two keys',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'p'],
        items: object({ k: text, p: whole }),
      },
      [
        { k: 'a', p: 1 },
        { k: 'a', p: 2 },
        { k: 'a', p: 1 },
      ],
      'spec.f[2]: Duplicate value: {"k":"a","p":1}',
    ],
    [
      'a map list without its key',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: text }, { required: ['k'] }),
      },
      [{}],
      'spec.f[0].k: Required value',
    ],
    [
      'an embedded object without a type',
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      {},
      'spec.f.apiVersion: Required value',
      'spec.f.kind: Required value',
    ],
    [
      'an embedded object with a bad label',
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'a_b', labels: { 'x y': 'z' } } },
      "spec.f.metadata.labels: Invalid value: \"x y\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
    ['null where it may be', { type: 'string', nullable: true }, null],
    ['a missing field', object({ a: text }, { required: ['a'] }), {}, 'spec.f.a: Required value'],
    [
      'text for an object',
      object({ a: text }),
      'x',
      'spec.f: Invalid value: "string": spec.f in body must be of type object: "string"',
    ],
  ];
  for (const [name, schema, value, ...texts] of table) {
    test(name, () => expect(says(ofSpec({ f: schema }), { f: value })).toEqual(texts));
  }
});

describe('random objects, created and updated, fare as on kube-apiserver 1.34.4', () => {
  interface Golden {
    readonly old?: unknown;
    readonly spec: unknown;
    readonly becomes?: unknown;
    readonly causes?: readonly string[];
  }
  const [head = '', ...lines] = readFileSync(new URL('./structure.golden.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const structure = structureOf((JSON.parse(head) as { schema: Schema }).schema);
  test.each(lines.map((line) => JSON.parse(line) as Golden))('%#', ({ old, spec, becomes, causes = [] }) => {
    const draft = thing(structuredClone(spec));
    structure.prune(draft);
    structure.default(draft);
    const found = structure.validate(draft, old === undefined ? undefined : thing(old));
    const texts = new Set(found.map(({ field, reason, message }) => `${field}|${reason}|${message}`));
    expect([...texts].sort()).toEqual(causes);
    if (becomes !== undefined) expect(draft.spec).toEqual(becomes);
  });
});

describe('formats', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    [
      'date-time',
      ['2020-01-01T00:00:00Z', '2020-02-29T23:59:59.5+02:00', '2020-01-01t00:00:00z'],
      ['2021-02-29T00:00:00Z', '2020-01-01', '2020-01-01T24:00:00Z', ''],
    ],
    ['date', ['2020-02-29'], ['2021-02-29', '2020-1-1']],
    ['duration', ['1h', '1h30m', '-1.5s', '22 ns', '3 days', '0'], ['5x', '', 'h']],
    ['byte', ['YWJj', 'YQ=='], ['%%', 'abc']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'], ['123e4567']],
    ['ipv4', ['10.0.0.1'], ['10.0.0.256', '10.0.0', '::1']],
    ['ipv6', ['::1', 'fe80::1:2', '2001:db8:0:0:0:0:0:1'], ['1.2.3.4', ':::', '1::2::3', '12345::']],
    ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0/33', '10.0.0.0', '10.0.0.0/08']],
    ['hostname', ['a', 'example.com', 'a-b.example.org'], ['-a', 'a.1', 'a_b', `${'a'.repeat(64)}.com`]],
    ['email', ['a@b.c', 'Jo <a@b.c>'], ['a', '@b', 'a b@c']],
    ['uri', ['https://a/b', '/a/b', 'urn:x:y'], ['a/b', '', 'https://a b']],
    ['mac', ['01:23:45:67:89:ab'], ['01:23:45:67:89']],
    ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
    ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112']],
    ['hexcolor', ['#fff'], ['#ff']],
    ['k8s-short-name', ['a-b'], ['A', 'a.b', '-a']],
    ['k8s-long-name', ['a-b.c'], ['a..b']],
  ])('%s', (format, good, bad) => {
    const schema = ofSpec({ f: { type: 'string', format } });
    for (const value of good) expect(says(schema, { f: value }), value).toEqual([]);
    for (const value of bad) expect(says(schema, { f: value }), value).toHaveLength(1);
  });
});

describe('an update', () => {
  const schema = ofSpec({
    a: object({ n: { type: 'integer', maximum: 5 }, s: text }),
    list: { type: 'array', items: { type: 'integer', maximum: 5 } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: object({ k: text, n: { type: 'integer', maximum: 5 } }),
    },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
  });
  test('is not blamed for what it left as it was', () => {
    expect(says(schema, { a: { n: 9, s: 'new' } }, { a: { n: 9, s: 'old' } })).toEqual([]);
    expect(says(schema, { a: { n: 8 } }, { a: { n: 9 } })).toHaveLength(1);
  });
  test('finds the items of a map list again by their keys, of other lists only as a whole', () => {
    const one = { k: 'x', n: 9 };
    expect(says(schema, { map: [{ k: 'new', n: 1 }, one] }, { map: [one] })).toEqual([]);
    expect(says(schema, { map: [{ k: 'new', n: 9 }, one] }, { map: [one] })).toHaveLength(1);
    expect(says(schema, { list: [9] }, { list: [9] })).toEqual([]);
    expect(says(schema, { list: [9, 1] }, { list: [9] })).toHaveLength(1);
  });
  test('may leave a broken set broken', () => {
    expect(says(schema, { set: ['a', 'a', 'b', 'b'] }, { set: ['a', 'a'] })).toEqual([]);
    expect(says(schema, { set: ['a', 'a'] }, { set: ['a'] })).toHaveLength(1);
  });
});

describe('defaulting', () => {
  const defaulted = (properties: Record<string, Schema>, spec: unknown): unknown => {
    const draft = thing(spec);
    structureOf(ofSpec(properties)).default(draft);
    return draft.spec;
  };
  test('fills in what is absent, also inside what it filled in', () => {
    const schema = { a: object({ b: { type: 'string', default: 'B' } }, { default: {} }) };
    expect(defaulted(schema, {})).toEqual({ a: { b: 'B' } });
    expect(defaulted(schema, { a: { b: 'x' } })).toEqual({ a: { b: 'x' } });
  });
  test('reaches into lists and maps', () => {
    const item = object({ p: { type: 'string', default: 'TCP' } });
    expect(
      defaulted(
        { l: { type: 'array', items: item }, m: { type: 'object', additionalProperties: item } },
        { l: [{}], m: { x: {} } },
      ),
    ).toEqual({ l: [{ p: 'TCP' }], m: { x: { p: 'TCP' } } });
  });
  test('a null that may not be is absent; one that may be stays', () => {
    expect(
      defaulted(
        { a: { type: 'string', default: 'A' }, b: text, c: { type: 'string', nullable: true, default: 'C' } },
        { a: null, b: null, c: null },
      ),
    ).toEqual({ a: 'A', c: null });
  });
  test('of an applied configuration a null without a default stays, and is refused', () => {
    const schema = { a: { type: 'string', default: 'A' }, o: object({ x: text }) } as Record<string, Schema>;
    const draft = thing({ a: null, o: null });
    structureOf(ofSpec(schema)).default(draft, 'keep');
    expect(draft.spec).toEqual({ a: 'A', o: null });
    expect(says(ofSpec(schema), draft.spec)).toEqual([
      'spec.o: Invalid value: "null": spec.o in body must be of type object: "null"',
    ]);
  });
  test('gives every object a copy of its own', () => {
    const schema = { a: { type: 'array', items: text, default: ['x'] } as Schema };
    const one = defaulted(schema, {}) as { a: string[] };
    one.a.push('y');
    expect(defaulted(schema, {})).toEqual({ a: ['x'] });
  });
});

describe('pruning', () => {
  const pruned = (properties: Record<string, Schema>, draft: Draft): { unknown: readonly string[]; draft: Draft } => ({
    unknown: structureOf(ofSpec(properties)).prune(draft),
    draft,
  });
  test('names what it takes out, sorted, as strict decoding prints it', () => {
    const draft = {
      ...thing({ q: 1, arr: [{ x: 1, y: 2 }], m: { a: 1 } }),
      metadata: { name: 'x', foo: 1, labels: { a: 'b' }, ownerReferences: [{ bad: 1 }] },
      zzz: 1,
    } as unknown as Draft;
    const { unknown } = pruned(
      { arr: { type: 'array', items: object({ x: whole }) }, m: { type: 'object', additionalProperties: whole } },
      draft,
    );
    expect(unknown).toEqual(['metadata.foo', 'metadata.ownerReferences[0].bad', 'spec.arr[0].y', 'spec.q', 'zzz']);
    expect(draft).toEqual({
      ...thing({ arr: [{ x: 1 }], m: { a: 1 } }),
      metadata: { name: 'x', labels: { a: 'b' }, ownerReferences: [{}] },
    });
  });
  test('keeps unknown fields where the schema says so, and prunes the known ones below', () => {
    const schema = { p: object({ known: object({ a: text }) }, { 'x-kubernetes-preserve-unknown-fields': true }) };
    const { unknown, draft } = pruned(schema, thing({ p: { any: { b: 1 }, known: { a: 'x', c: 1 } } }));
    expect(unknown).toEqual(['spec.p.known.c']);
    expect(draft.spec).toEqual({ p: { any: { b: 1 }, known: { a: 'x' } } });
  });
  test('treats the metadata of an embedded object like its own', () => {
    const schema: Schema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const { unknown } = pruned(
      { e: schema },
      thing({ e: { apiVersion: 'v1', kind: 'P', metadata: { name: 'a', nope: 1 }, free: 1 } }),
    );
    expect(unknown).toEqual(['spec.e.metadata.nope']);
  });
});

describe('metadata of an embedded object', () => {
  const embedded: Schema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const schema = ofSpec({ e: embedded });
  test.each<[metadata: unknown, becomes: unknown]>([
    [{ creationTimestamp: null, labels: {}, annotations: null, name: '', finalizers: [], generation: 0, uid: '' }, {}],
    [
      {
        creationTimestamp: '2020-01-01T00:00:00Z',
        name: 'a',
        labels: { a: '' },
        generation: 3,
        deletionTimestamp: null,
      },
      { creationTimestamp: '2020-01-01T00:00:00Z', name: 'a', labels: { a: '' }, generation: 3 },
    ],
    [{}, {}],
    [null, {}],
  ])('%j is kept as %j', (metadata, becomes) => {
    const draft = thing({ e: { apiVersion: 'v1', kind: 'P', metadata, status: null, spec: { a: null } } });
    structureOf(schema).prune(draft);
    structureOf(schema).default(draft);
    expect(draft.spec).toEqual({
      e: { apiVersion: 'v1', kind: 'P', metadata: becomes, status: null, spec: { a: null } },
    });
  });
  test('names its owners fully', () => {
    const metadata = { ownerReferences: [{ apiVersion: '', kind: 'K', name: 'n', uid: '' }] };
    expect(says(schema, { e: { apiVersion: 'v1', kind: 'P', metadata } })).toEqual([
      'spec.e.metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'spec.e.metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
  });
});

describe('names that JavaScript reserves', () => {
  const hostile = () =>
    JSON.parse(
      '{"apiVersion":"probe.example/v1","kind":"Thing","metadata":{"name":"x"},"spec":{"__proto__":{"polluted":1},"constructor":{"a":1},"m":{"__proto__":"x","constructor":"y","toString":"z"}}}',
    ) as Draft;
  test('are unknown fields, or keys of a map, and nothing else', () => {
    const structure = structureOf(ofSpec({ m: { type: 'object', additionalProperties: text } }));
    const draft = hostile();
    expect(structure.prune(draft)).toEqual(['spec.__proto__', 'spec.constructor']);
    structure.default(draft);
    expect(structure.validate(draft as KubeObject, hostile() as KubeObject)).toEqual([]);
    expect(Object.keys((draft.spec as { m: object }).m)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
  test('may be properties of a schema', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"spec":{"type":"object","properties":{"constructor":{"type":"integer"},"__proto__":{"type":"string"}}}}}',
    ) as Schema;
    const draft = JSON.parse(
      '{"apiVersion":"a/v1","kind":"K","metadata":{},"spec":{"constructor":"x","__proto__":5}}',
    ) as Draft & KubeObject;
    expect(structureOf(schema).prune(draft)).toEqual([]);
    expect(
      structureOf(schema)
        .validate(draft, undefined)
        .map((cause) => cause.field),
    ).toEqual(['spec.constructor', 'spec.__proto__']);
  });
});

describe('decoding a built-in kind', () => {
  const structure = structureOf(builtinSchema('io.k8s.api.apps.v1.Deployment'), {
    resolve: resolveBuiltin,
    builtin: true,
  });
  const deployment = (...changes: readonly (readonly [path: string, value: unknown])[]): Draft => {
    const draft: Draft = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    };
    for (const [path, value] of changes) {
      const steps = path.replace('C', 'spec.template.spec.containers.0').split('.');
      let at = draft as Record<string, unknown>;
      for (const step of steps.slice(0, -1)) at = at[step] as Record<string, unknown>;
      at[steps.at(-1) ?? ''] = value;
    }
    return draft;
  };
  const field = 'into Go struct field';
  const quantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  test.each<[path: string, value: unknown, expected: string | undefined]>([
    ['spec.replicas', 'x', `json: cannot unmarshal string ${field} DeploymentSpec.spec.replicas of type int32`],
    ['spec.replicas', 1.5, `json: cannot unmarshal number 1.5 ${field} DeploymentSpec.spec.replicas of type int32`],
    [
      'spec.replicas',
      99999999999,
      `json: cannot unmarshal number 99999999999 ${field} DeploymentSpec.spec.replicas of type int32`,
    ],
    ['spec.replicas', 5, undefined],
    [
      'C.image',
      5,
      `json: cannot unmarshal number ${field} Container.spec.template.spec.containers.image of type string`,
    ],
    [
      'spec.template.spec.containers',
      {},
      `json: cannot unmarshal object ${field} PodSpec.spec.template.spec.containers of type []v1.Container`,
    ],
    [
      'spec.template.spec.containers',
      ['x'],
      `json: cannot unmarshal string ${field} PodSpec.spec.template.spec.containers of type v1.Container`,
    ],
    [
      'spec.template',
      'x',
      `json: cannot unmarshal string ${field} DeploymentSpec.spec.template of type v1.PodTemplateSpec`,
    ],
    [
      'metadata.labels',
      [],
      `json: cannot unmarshal array ${field} ObjectMeta.metadata.labels of type map[string]string`,
    ],
    [
      'spec.template.metadata.labels',
      { a: true },
      `json: cannot unmarshal bool ${field} ObjectMeta.spec.template.metadata.labels of type string`,
    ],
    ['spec.paused', 'yes', `json: cannot unmarshal string ${field} DeploymentSpec.spec.paused of type bool`],
    ['C.resources', { limits: { cpu: 'abc' } }, quantity],
    ['C.resources', { limits: { cpu: true } }, quantity],
    ['C.resources', { limits: { cpu: '' } }, quantity],
    ['C.resources', { limits: { cpu: '1Q' } }, quantity],
    ['C.resources', { limits: { cpu: 2, memory: '1.5Gi' } }, undefined],
    [
      'spec.strategy',
      { rollingUpdate: { maxSurge: true } },
      `json: cannot unmarshal bool ${field} RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32`,
    ],
    [
      'spec.strategy',
      { rollingUpdate: { maxSurge: 1.5 } },
      `json: cannot unmarshal number 1.5 ${field} RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32`,
    ],
    ['spec.strategy', { rollingUpdate: { maxSurge: '25%' } }, undefined],
    [
      'metadata.creationTimestamp',
      'foo',
      'parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006"',
    ],
    [
      'metadata.creationTimestamp',
      '2020-01-01',
      'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
    ],
    ['metadata.creationTimestamp', '2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
    [
      'metadata.creationTimestamp',
      5,
      `json: cannot unmarshal number ${field} ObjectMeta.metadata.creationTimestamp of type string`,
    ],
    ['metadata.creationTimestamp', null, undefined],
    ['spec', 'x', `json: cannot unmarshal string ${field} Deployment.spec of type v1.DeploymentSpec`],
    [
      'spec.selector.matchExpressions',
      'x',
      `json: cannot unmarshal string ${field} LabelSelector.spec.selector.matchExpressions of type []v1.LabelSelectorRequirement`,
    ],
    [
      'spec.template.spec.volumes',
      [{ name: 'a', emptyDir: 'x' }],
      `json: cannot unmarshal string ${field} Volume.spec.template.spec.volumes.emptyDir of type v1.EmptyDirVolumeSource`,
    ],
  ])('%s = %j', (path, value, expected) => {
    expect(structure.decodeError(deployment([path, value]))).toBe(expected);
  });
  test('a type that reads itself has the last word', () => {
    const draft = deployment(['metadata.labels', { a: 1 }], ['C.resources', { limits: { cpu: 'abc' } }]);
    expect(structure.decodeError(draft)).toBe(quantity);
  });
  test('bytes are base64', () => {
    const secret = structureOf(builtinSchema('io.k8s.api.core.v1.Secret'), { resolve: resolveBuiltin, builtin: true });
    const withData = (data: unknown): Draft => ({ apiVersion: 'v1', kind: 'Secret', metadata: {}, data });
    expect(secret.decodeError(withData({ a: 'YWJj' }))).toBeUndefined();
    expect(secret.decodeError(withData({ a: '%%%' }))).toBe('illegal base64 data at input byte 0');
    expect(secret.decodeError(withData({ a: 5 }))).toBe(
      'json: cannot unmarshal number into Go struct field Secret.data of type []uint8',
    );
  });
  test('unknown fields come in the order of the document', () => {
    const draft = deployment(['C.zz', 1], ['spec.foo', 1], ['aaa', 1]);
    expect(structure.prune(draft)).toEqual(['spec.template.spec.containers[0].zz', 'spec.foo', 'aaa']);
  });
  test('a type that contains itself, thousands deep, is refused and not a crash', () => {
    const crd = structureOf(
      builtinSchema('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition'),
      { resolve: resolveBuiltin, builtin: true },
    );
    let schema: Record<string, unknown> = { type: 'object' };
    for (let i = 0; i < 5_000; i++) schema = { not: schema };
    const draft = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {},
      spec: { versions: [{ schema: { openAPIV3Schema: schema } }] },
    } as Draft;
    expect(crd.decodeError(draft)).toBe('exceeded max depth');
  });
});

describe('decoding a custom kind', () => {
  const structure = structureOf(
    object({
      spec: object({
        e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      }),
    }),
  );
  test.each<[Record<string, unknown>, string | undefined]>([
    [
      { metadata: { labels: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
    [
      { metadata: { finalizers: 'a' } },
      'json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string',
    ],
    [{ metadata: 'x' }, 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [
      { metadata: { creationTimestamp: 'foo' } },
      'parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006"',
    ],
    [
      { metadata: {}, spec: { e: { metadata: { labels: 5 } } } },
      'spec.e.metadata: Invalid value: {"labels":5}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
    ],
    [{ metadata: {}, spec: { anything: 5 } }, undefined],
  ])('%j', (draft, expected) => {
    expect(structure.decodeError({ apiVersion: 'a/v1', kind: 'K', ...draft } as Draft)).toBe(expected);
  });
});

describe('for any object', () => {
  const schema = ofSpec({
    a: object(
      { b: { type: 'string', default: 'B' } as Schema, c: { type: 'array', items: object({ d: whole }) } },
      { default: {} },
    ),
    m: { type: 'object', additionalProperties: { type: 'array', items: text } },
    p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  });
  const structure = structureOf(schema);
  const anySpec = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { a: fc.jsonValue(), m: fc.dictionary(fc.string(), fc.jsonValue()), p: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  );
  test('pruning and defaulting twice is the same as once, and nothing throws', () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const draft = thing(structuredClone(spec));
        structure.prune(draft);
        structure.default(draft);
        const once = structuredClone(draft);
        expect(structure.prune(draft)).toEqual([]);
        structure.default(draft);
        expect(draft).toEqual(once);
        structure.validate(draft, undefined);
        expect(structure.validate(draft, once)).toEqual([]);
      }),
    );
  });
});
