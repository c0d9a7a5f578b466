import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { CelRule, Schema } from '../../api/schema.ts';
import { structureOf } from './structure.ts';

const object = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };
const ruled = (schema: Schema, ...rules: (CelRule | string)[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
const thing = (spec: unknown, name = 'x'): KubeObject => ({
  apiVersion: 'a.example/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});
const says = (spec: Schema, value: unknown, old?: unknown): string[] =>
  structureOf(object({ spec }))
    .validate(thing(value), old === undefined ? undefined : thing(old))
    .map((cause) => `${cause.field}: ${cause.message}`);

describe('a rule', () => {
  test('that fails says its message, or itself', () => {
    expect(says(ruled(object({ a: whole }), { rule: 'self.a > 3', message: 'a too small' }), { a: 1 })).toEqual([
      'spec: Invalid value: "object": a too small',
    ]);
    expect(says(ruled(object({ a: whole }), 'self.a > 3'), { a: 1 })).toEqual([
      'spec: Invalid value: "object": failed rule: self.a > 3',
    ]);
  });
  test('that stumbles says over what', () => {
    expect(says(ruled(object({ a: whole }), { rule: 'self.a > 3', message: 'a too small' }), {})).toEqual([
      'spec: Invalid value: "object": no such key: a evaluating rule: a too small',
    ]);
    expect(says(ruled(object({ a: { 'x-kubernetes-int-or-string': true } }), 'self.a + 1 > 3'), { a: 'x' })).toEqual([
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.a + 1 > 3`,
    ]);
  });
  test('stands on scalars, lists, maps and their values', () => {
    const schema = object({
      s: ruled(text, "self != 'bad'"),
      l: ruled({ type: 'array', items: ruled(whole, 'self > 0') }, 'size(self) < 3'),
      m: ruled({ type: 'object', additionalProperties: ruled(text, "self != 'bad'") }, "!('z' in self)"),
    });
    expect(says(schema, { s: 'bad', l: [0, 1, 2], m: { 'a.b': 'bad', z: 'x' } })).toEqual([
      `spec.s: Invalid value: "string": failed rule: self != 'bad'`,
      'spec.l: Invalid value: "array": failed rule: size(self) < 3',
      'spec.l[0]: Invalid value: "integer": failed rule: self > 0',
      `spec.m: Invalid value: "object": failed rule: !('z' in self)`,
      `spec.m[a.b]: Invalid value: "string": failed rule: self != 'bad'`,
    ]);
  });
  test('does not look at null', () => {
    const schema = object({ s: ruled({ type: 'string', nullable: true }, "self == 'good'") });
    expect(says(schema, { s: null })).toEqual([]);
    expect(says(schema, { s: 'x' })).toHaveLength(1);
  });
  test('at the root sees type, name and generateName', () => {
    const schema = ruled(
      object({ spec: object({}) }),
      "self.kind == 'Thing' && self.apiVersion == 'a.example/v1' && size(self.metadata.name) < 4 && !has(self.metadata.generateName)",
    );
    expect(structureOf(schema).validate(thing({}, 'abc'), undefined)).toEqual([]);
    expect(
      structureOf(schema)
        .validate(thing({}, 'abcd'), undefined)
        .map(({ field }) => field),
    ).toEqual(['<nil>']);
    const labels = ruled(object({ spec: object({}) }), 'size(self.metadata.labels) == 0');
    expect(structureOf(labels).validate(thing({}), undefined)[0]?.message).toContain(
      "rule compile error: compilation failed: ERROR: <input>:1:19: undefined field 'labels'",
    );
  });
  test('words its message by an expression, with the fixed one to fall back on', () => {
    const schema = (messageExpression: string): Schema =>
      ruled(object({ a: whole, b: whole }), { rule: 'self.a > 3', message: 'fixed', messageExpression });
    expect(says(schema(`'a is ' + string(self.a)`), { a: 1 })).toEqual(['spec: Invalid value: "object": a is 1']);
    for (const bad of ['string(self.b)', `''`, `' '`, `'a\\nb'`])
      expect(says(schema(bad), { a: 1 }), bad).toEqual(['spec: Invalid value: "object": fixed']);
  });
  test.each<[Partial<CelRule>, string]>([
    [{ reason: 'FieldValueForbidden' }, 'spec: Forbidden: no'],
    [{ reason: 'FieldValueRequired' }, 'spec: Required value: no'],
    [{ reason: 'FieldValueDuplicate' }, 'spec: Duplicate value: "object"'],
    [{ reason: 'FieldValueInvalid' }, 'spec: Invalid value: "object": no'],
    [{ fieldPath: '.a' }, 'spec.a: Invalid value: "object": no'],
    [{ fieldPath: ".m['x.y']" }, 'spec.m[x.y]: Invalid value: "object": no'],
  ])('%j', (more, expected) => {
    expect(says(ruled(object({ a: whole }), { rule: 'false', message: 'no', ...more }), {})).toEqual([expected]);
  });
  test('inside an allOf counts as well', () => {
    const schema = object(
      { a: whole },
      { allOf: [{ properties: { a: { 'x-kubernetes-validations': [{ rule: 'self > 3' }] } } }] },
    );
    expect(says(schema, { a: 1 })).toEqual(['spec.a: Invalid value: "integer": failed rule: self > 3']);
  });
  test('that runs out of budget is the last one', () => {
    const schema = ruled(
      object({ l: { type: 'array', items: whole } }),
      { rule: 'self.l.all(a, self.l.all(b, self.l.all(c, true)))', message: 'cubic' },
      'false',
    );
    expect(says(schema, { l: Array.from({ length: 500 }, () => 1) })).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: cubic`,
    ]);
  });
});

describe('a transition rule', () => {
  const immutable = 'self == oldSelf';
  test('runs only where there is an old value', () => {
    const schema = object({ a: ruled(whole, immutable) });
    expect(says(schema, { a: 1 })).toEqual([]);
    expect(says(schema, { a: 1 }, {})).toEqual([]);
    expect(says(schema, {}, { a: 1 })).toEqual([]);
    expect(says(schema, { a: 1 }, { a: 1 })).toEqual([]);
    expect(says(schema, { a: 2 }, { a: 1 })).toEqual([
      'spec.a: Invalid value: "integer": failed rule: self == oldSelf',
    ]);
  });
  test('with an optional old value runs always', () => {
    const schema = object({ a: ruled(whole, { rule: 'oldSelf.hasValue() || self == 1', optionalOldSelf: true }) });
    expect(says(schema, { a: 1 })).toEqual([]);
    expect(says(schema, { a: 2 })).toHaveLength(1);
    expect(says(schema, { a: 2 }, { a: 3 })).toEqual([]);
    expect(
      says(
        object({ a: ruled(whole, { rule: 'oldSelf.orValue(self) == self', optionalOldSelf: true }) }),
        { a: 2 },
        { a: 3 },
      ),
    ).toHaveLength(1);
  });
  test('follows map keys and map lists, never positions', () => {
    const item = (schema: Schema): Schema => object({ k: text, v: ruled(schema, immutable) });
    const byKey: Schema = object({
      l: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: item(whole) },
    });
    expect(
      says(
        byKey,
        {
          l: [
            { k: 'b', v: 2 },
            { k: 'a', v: 1 },
          ],
        },
        {
          l: [
            { k: 'a', v: 1 },
            { k: 'b', v: 2 },
          ],
        },
      ),
    ).toEqual([]);
    expect(
      says(
        byKey,
        { l: [{ k: 'b', v: 3 }] },
        {
          l: [
            { k: 'a', v: 1 },
            { k: 'b', v: 2 },
          ],
        },
      ),
    ).toEqual(['spec.l[0].v: Invalid value: "integer": failed rule: self == oldSelf']);
    for (const listType of ['atomic', 'set'] as const) {
      const byPlace = object({ l: { type: 'array', 'x-kubernetes-list-type': listType, items: item(whole) } });
      expect(says(byPlace, { l: [{ k: 'a', v: 2 }] }, { l: [{ k: 'a', v: 1 }] })).toEqual([]);
    }
    const map = object({ m: { type: 'object', additionalProperties: ruled(whole, immutable) } });
    expect(says(map, { m: { x: 2 } }, { m: { x: 1 } })).toEqual([
      'spec.m[x]: Invalid value: "integer": failed rule: self == oldSelf',
    ]);
  });
});

describe('an object from before a rule', () => {
  const schema = object({
    a: ruled(whole, 'self < 5'),
    o: ruled(object({ b: whole, c: whole }), 'self.b < 5'),
    t: ruled(whole, 'self < 5 || self == oldSelf + 1'),
  });
  test('can be updated elsewhere', () => {
    expect(says(schema, { a: 9, o: { b: 1 } }, { a: 9 })).toEqual([]);
    expect(says(schema, { a: 8 }, { a: 9 })).toHaveLength(1);
    expect(says(schema, { o: { b: 9, c: 1 } }, { o: { b: 9 } })).toHaveLength(1);
  });
  test('is forgiven items of a list that did not change as a whole', () => {
    const list = object({ l: { type: 'array', items: ruled(whole, 'self < 5') } });
    expect(says(list, { l: [9] }, { l: [9] })).toEqual([]);
    expect(says(list, { l: [9, 1] }, { l: [9] })).toHaveLength(1);
  });
  test('is still held to transition rules', () => {
    expect(says(schema, { t: 9 }, { t: 9 })).toHaveLength(1);
  });
});

describe('errors of the schema', () => {
  const schema = object({ f: { type: 'integer', minimum: 3 }, g: ruled(text, "self != 'bad'") });
  test('that could trip a rule stop all rules, and say so', () => {
    expect(says(schema, { f: 'x', g: 'bad' }).at(-1)).toBe(
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    );
    expect(says(schema, { f: 2, g: 'bad' })).toEqual([
      'spec.f: Invalid value: 2: spec.f in body should be greater than or equal to 3',
      `spec.g: Invalid value: "string": failed rule: self != 'bad'`,
    ]);
  });
});
