import { describe, expect, test } from 'vitest';
import type { Schema } from '../../../api/schema.ts';
import { nodeOf } from '../node.ts';
import { BudgetExceeded } from './budget.ts';
import { compileExpression } from './compile.ts';
import { declaredType, escapeName } from './declare.ts';
import { trueExpressions } from './examples.fixture.ts';
import { CompileError } from './issue.ts';
import { kubernetesFunctions } from './kubernetes.ts';
import { listFunctions } from './lists.ts';
import { standardFunctions } from './standard.ts';
import { textFunctions } from './text.ts';
import type { CelType } from './type.ts';
import { CelError } from './value.ts';

describe('every function', () => {
  test.each(trueExpressions)('%s', (source) => {
    const program = compileExpression(source, {});
    expect(program.type.kind).toBe('bool');
    expect(program.run({})).toBe(true);
  });

  test('has an example', () => {
    const names = [...standardFunctions, ...textFunctions(), ...listFunctions, ...kubernetesFunctions].map(
      ([name]) => name,
    );
    const all = trueExpressions.join('\n');
    const isShown = (name: string): boolean => /^[-!]?_/.test(name) || /^[-!]_$/.test(name) || all.includes(`${name}(`);
    expect(names.filter((name) => !isShown(name))).toEqual([]);
  });
});

describe('an evaluation fails in the words of kube-apiserver 1.34.4', () => {
  test.each([
    ['string(1 / 0)', 'division by zero'],
    ['string(5 % 0)', 'modulus by zero'],
    ['string([1][5])', 'index out of bounds: 5'],
    ['string({"a": 1}["b"])', 'no such key: b'],
    ['string({"a": 1}.b)', 'no such key: b'],
    ['string({"a": {"b": 1}}.a.c)', 'no such key: c'],
    ['string(9223372036854775807 + 1)', 'integer overflow'],
    ['"abc".charAt(5)', 'index out of range: 5'],
    ['"abc".substring(5)', 'index out of range: 5'],
    ['"abc".substring(2, 1)', 'invalid substring range. start: 2, end: 1'],
    ['"abc".indexOf("a", -1) == 0', 'index out of range: -1'],
    ['[].min() == 1', 'min called on empty list'],
    ['quantity("1.5").asInteger() == 1', 'cannot convert value to integer'],
    [
      'quantity("x").asInteger() == 1',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'ip("x").family() == 4',
      'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
    ],
    ['ip("::ffff:1.2.3.4").family() == 4', 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
    [
      'cidr("x").prefixLength() == 4',
      `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x"): no '/'`,
    ],
    [
      'url("x y").getHost() == ""',
      'URL parse error during conversion from string: parse "x y": invalid URI for request',
    ],
    ['semver("1").major() == 1', 'No Major.Minor.Patch elements found'],
    ['semver("1.2.x").major() == 1', 'Invalid character(s) found in patch number "x"'],
    ['semver("v1.2.3").major() == 1', 'Invalid character(s) found in major number "v1"'],
    ['semver("01.2.3").major() == 1', 'Major number must not contain leading zeroes "01"'],
    ['optional.none().value() == 1', 'optional.none() dereference'],
    ['dyn("a") + 1 == 1', 'no such overload'],
    ['dyn("a") > 1', 'no such overload'],
    ['dyn(1).b == 1', 'no such key: b'],
    ['dyn([1]).x == 1', "unsupported index type 'string' in list"],
    ['dyn([1])["x"] == 1', "unsupported index type 'string' in list"],
    ['timestamp("x" + "y").getHours() == 1', "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
    ['duration("x" + "y").getHours() == 1', "type conversion error from 'string' to 'google.protobuf.Duration'"],
    ['timestamp("2020-01-01T00:00:00Z").getHours("X/Y") == 1', 'unknown time zone X/Y'],
    ['[1, 2].map(x, x / 0)[0] == 1', 'division by zero'],
    [
      '"%d".format([dyn(1.5)]) == ""',
      'error during formatting: decimal clause can only be used on integers, was given double',
    ],
    ['"%s %s".format(dyn(["a"])) == ""', 'index 1 out of range'],
  ])('%s', (source, message) => {
    const program = compileExpression(source, {});
    expect(() => program.run({})).toThrow(CelError);
    expect(() => program.run({})).toThrow(message);
  });
});

const object = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const text: Schema = { type: 'string' };
const schema = object({
  a: { type: 'integer' },
  s: text,
  b: { type: 'boolean' },
  n: { type: 'number' },
  l: { type: 'array', items: { type: 'integer' } },
  ls: { type: 'array', items: text },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
  ml: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: object({ k: text, v: { type: 'integer' } }),
  },
  m: { type: 'object', additionalProperties: text },
  mi: { type: 'object', additionalProperties: { type: 'integer' } },
  ios: { 'x-kubernetes-int-or-string': true },
  dt: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  du: { type: 'string', format: 'duration' },
  by: { type: 'string', format: 'byte' },
  pu: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  namespace: text,
  'x-y': text,
  'a.b/c': text,
  a__b: text,
  nn: { type: 'string', nullable: true },
  o: object({ z: text }),
  e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
});
const self = declaredType(nodeOf(schema, undefined), false) as CelType;
const compiled = (source: string) => compileExpression(source, { self, oldSelf: self });

describe('a rule that cannot work is refused in the words of kube-apiserver 1.34.4', () => {
  test.each([
    ['self.foo > 1', "5: undefined field 'foo'"],
    ['self.a > "x"', "8: found no matching overload for '_>_' applied to '(int, string)'"],
    ['self.a == "x"', "8: found no matching overload for '_==_' applied to '(int, string)'"],
    ['self.s.foo()', "11: undeclared reference to 'foo' (in container '')"],
    ['foo(self)', "4: undeclared reference to 'foo' (in container '')"],
    ['bar', "1: undeclared reference to 'bar' (in container '')"],
    ['self.s + self.a == 1', "8: found no matching overload for '_+_' applied to '(string, int)'"],
    ['has(self.nope)', "4: undefined field 'nope'"],
    ['self.l.all(1, true)', '12: argument must be a simple name'],
    ['self.s.matches("(")', '16: invalid matches argument'],
    ['self.s.startsWith(1)', "18: found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ['self.l["x"] == 1', "7: found no matching overload for '_[_]' applied to '(list(int), string)'"],
    ['self.m.foo == 1', "12: found no matching overload for '_==_' applied to '(string, int)'"],
    ['self.m["foo"] == 1', "15: found no matching overload for '_==_' applied to '(string, int)'"],
    ['self.m.all(k, k == 1)', "17: found no matching overload for '_==_' applied to '(string, int)'"],
    ['size(self.a) == 1', "5: found no matching overload for 'size' applied to '(int)'"],
    ['!self.a', "1: found no matching overload for '!_' applied to '(int)'"],
    ['-self.s == 1', "1: found no matching overload for '-_' applied to '(string)'"],
    ['self.a ? true : false', "8: found no matching overload for '_?_:_' applied to '(int, bool, bool)'"],
    ['self.b ? 1 : "x"', "8: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
    ['self.s in [1,2]', "8: found no matching overload for '@in' applied to '(string, list(int))'"],
    ['self.b && self.a', "15: expected type 'bool' but found 'int'"],
    ['[1,"a"] == [1]', "4: expected type 'int' but found 'string'"],
    ['self.metadata.name == "x"', "5: undefined field 'metadata'"],
    ['self.pu.x == 1', "8: undefined field 'x'"],
    ['quantity(self.a)', "9: found no matching overload for 'quantity' applied to '(int)'"],
    ['self.ls.sum() == 3', "12: found no matching overload for 'sum' applied to 'list(string).()'"],
    ['self.nn == null', "9: found no matching overload for '_==_' applied to '(string, null)'"],
    [
      'self.l.map(x, x * 2).exists(y, y == self.s)',
      "34: found no matching overload for '_==_' applied to '(int, string)'",
    ],
    ['self.a.b.c', "7: type 'int' does not support field selection"],
    ['self.l.exists_one(x, x)', "18: found no matching overload for '_?_:_' applied to '(int, int, int)'"],
    ['self.e.spec.x == 1', "7: undefined field 'spec'"],
    ['self.a.isSorted()', "16: found no matching overload for 'isSorted' applied to 'int.()'"],
    ['1 == 1.0', "3: found no matching overload for '_==_' applied to '(int, double)'"],
    ['self.n == 1', "8: found no matching overload for '_==_' applied to '(double, int)'"],
    ['"a".reverse() == "a"', "12: undeclared reference to 'reverse' (in container '')"],
    ['duration("x") == duration("1h")', '10: invalid duration argument'],
    [
      'self.o.all(x, true)',
      "5: expression of type 'selfType.o' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
  ])('%s', (source, problem) => {
    const column = Number(problem.split(':')[0]);
    const expected = `compilation failed: ERROR: <input>:1:${problem}\n | ${source}\n | ${'.'.repeat(column - 1)}^`;
    expect(() => compiled(source)).toThrow(new CompileError(expected));
  });
  test('all mistakes are told, in order', () => {
    expect(() => compiled('cel.bind(x, self.a, x > 1)')).toThrow(
      /1:1: undeclared reference to 'cel'.*1:9: undeclared reference to 'bind'.*1:10: undeclared reference to 'x'.*1:21: undeclared reference to 'x'/s,
    );
  });
  test('constants that cannot be converted', () => {
    expect(() => compiled('int("x") == 1')).toThrow(
      "program instantiation failed: type conversion error from 'string' to 'int'",
    );
    expect(() => compiled('"abc".find("(") == ""')).toThrow(
      'program instantiation failed: error parsing regexp: missing closing ): `(`',
    );
  });
  test.each(['self.a >', '1 + ', '"unclosed', 'self.a === 1', 'self.', '(', 'self.l.all(x)', '', 'a b'])(
    'no expression: %j',
    (source) => {
      expect(() => compiled(source)).toThrow(CompileError);
    },
  );
});

describe('values of an object', () => {
  const value = {
    a: 5,
    s: 'text',
    b: true,
    n: 2,
    l: [1, 2],
    ls: ['a'],
    set: [1, 2, 3],
    ml: [
      { k: 'x', v: 1 },
      { k: 'y', v: 2 },
    ],
    m: { p: 'q' },
    mi: { one: 1 },
    ios: 5,
    dt: '2020-01-01T00:00:00Z',
    date: '2020-01-02',
    du: '1h',
    by: 'YWJj',
    pu: { anything: 1 },
    namespace: 'ns',
    'x-y': 'dash',
    'a.b/c': 'dots',
    a__b: 'under',
    nn: null,
    o: { z: 'zed' },
    e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec: {} },
  };
  const run = (source: string, raw: unknown = value, old: unknown = value): unknown =>
    compiled(source).run({ self: { raw, type: self }, oldSelf: { raw: old, type: self } });

  test.each([
    'self.a == 5 && self.a / 2 == 2 && type(self.a) == int',
    'self.n == 2.0 && type(self.n) == double && self.n / 4.0 == 0.5',
    'self.l.sum() == 3 && self.l[0] == 1 && 2 in self.l',
    'self.m["p"] == "q" && self.m.p == "q" && "p" in self.m && self.m.all(k, self.m[k] == "q") && self.mi.one == 1',
    'type(self.ios) == int && self.ios == 5 && self.ios > 4',
    'self.dt == timestamp("2020-01-01T00:00:00Z") && self.date - self.dt == duration("24h") && self.du == duration("60m")',
    'self.by == b"abc" && size(self.by) == 3',
    'self.__namespace__ == "ns" && self.namespace == "ns" && self.x__dash__y == "dash" && self.a__dot__b__slash__c == "dots" && self.a__underscores__b == "under"',
    'has(self.o.z) && !has(self.o) == false && has(self.nn)',
    'self.o == oldSelf.o && self == oldSelf && self.o != null',
    'self.e.kind == "Pod" && self.e.metadata.name == "pod" && !has(self.e.metadata.generateName)',
    'self.ml.exists(i, i.k == "y" && i.v == 2) && self.ml.map(i, i.v).sum() == 3',
    'self.?a.orValue(0) == 5 && self.?o.?z.orValue("") == "zed"',
    'self.set == [3, 2, 1] && self.set + [3, 4] == [1, 2, 3, 4]',
    'self.nn == "x" ? false : true',
    '"%s has %d".format([self.s, self.a]) == "text has 5"',
  ])('%s', (source) => {
    expect(run(source)).toBe(true);
  });
  test('a missing field is an error, has() asks first', () => {
    expect(() => run('self.a > 1', {})).toThrow('no such key: a');
    expect(run('!has(self.a) || self.a > 1', {})).toBe(true);
    expect(run('has(self.o) && self.o.z == "x"', {})).toBe(false);
  });
  test('sets and map lists compare without order', () => {
    const [one, two] = [
      { set: [1, 2], ml: value.ml },
      { set: [2, 1], ml: value.ml.toReversed() },
    ];
    expect(run('self.set == oldSelf.set && self.ml == oldSelf.ml', one, two)).toBe(true);
    expect(run('self.set == oldSelf.set', { set: [1, 3] }, one)).toBe(false);
    expect(
      run(
        'self.ml == oldSelf.ml',
        {
          ml: [
            { k: 'x', v: 1 },
            { k: 'y', v: 3 },
          ],
        },
        one,
      ),
    ).toBe(false);
    expect(run('self.l == oldSelf.l', { l: [1, 2] }, { l: [2, 1] })).toBe(false);
  });
  test('int or string goes by what it is', () => {
    expect(run("type(self.ios) == string ? self.ios.matches('^[0-9]+%$') : self.ios >= 0", { ios: '25%' })).toBe(true);
    expect(run("type(self.ios) == string ? self.ios.matches('^[0-9]+%$') : self.ios >= 0", { ios: -1 })).toBe(false);
  });
  test('keys that JavaScript reserves are keys', () => {
    const raw = JSON.parse('{"m":{"__proto__":"x","constructor":"y"}}') as unknown;
    expect(
      run(
        'self.m["__proto__"] == "x" && self.m.constructor == "y" && size(self.m) == 2 && !("toString" in self.m)',
        raw,
      ),
    ).toBe(true);
    expect(() => run('self.m.hasOwnProperty == ""', raw)).toThrow('no such key: hasOwnProperty');
  });
  test('and so are fields of that name', () => {
    const type = declaredType(
      nodeOf(object({ toString: text, constructor: text } as Record<string, Schema>), undefined),
      false,
    ) as CelType;
    const program = compileExpression('!has(self.toString) && !has(self.constructor)', { self: type });
    expect(program.run({ self: { raw: {}, type } })).toBe(true);
  });
  test('names that rules cannot say', () => {
    expect([escapeName('1a'), escapeName('a b'), escapeName(''), escapeName('ä')]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a rule that would run away', () => {
  const numbers = Array.from({ length: 3_000 }, (_, at) => at);
  test.each([
    'self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))',
    'self.l.exists(x, self.l.exists(y, self.l.exists(z, x + y + z < 0)))',
    'self.l.all(x, x in self.l || true)',
    'self.l.all(x, self.l == self.l + [1] || true)',
    'self.l.map(x, self.l.map(y, y)).size() > 0',
    'self.l.all(x, self.l == oldSelf.l)',
    'self.l.all(x, self.l.all(y, self.l.all(z, true))) || true',
    '!(self.l.all(x, self.l.all(y, self.l.all(z, true))) && false)',
    'self.l.all(x, (1 / 0 > 0) || self.l.all(y, self.l.all(z, true)))',
    'self.l.all(x, sets.contains(self.l, self.l))',
    "self.l.all(x, self.s.matches('^(a+)+$') || true)",
  ])('%s stops at its budget, whatever it catches', (source) => {
    const raw = { l: numbers, s: `${'a'.repeat(10_000)}!` };
    const old = structuredClone(raw);
    const variables = { self: { raw, type: self }, oldSelf: { raw: old, type: self } };
    expect(() => compiled(source).run(variables)).toThrow(BudgetExceeded);
  });
  test('one that is merely large does not', () => {
    const raw = { l: numbers };
    expect(compiled('self.l.all(x, x >= 0)').run({ self: { raw, type: self } })).toBe(true);
  });
});
