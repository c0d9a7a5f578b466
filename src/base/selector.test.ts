import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError, UserError } from './errors.ts';
import { deepFreeze } from './json.ts';
import { compileLabelMap, compileLabelSelector, formatSelector, matchesLabels, parseSelector } from './selector.ts';

const labels = { app: 'web', tier: 'front', 'example.com/stage': 'prod', rank: '7', empty: '' };

describe('the text of a label selector', () => {
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app=db', false],
    ['app!=db', true],
    ['app!=web', false],
    ['nope!=x', true],
    ['app in (web,db)', true],
    ['app in (db)', false],
    ['nope in (db)', false],
    ['app notin (db, cache)', true],
    ['app notin (web)', false],
    ['nope notin (web)', true],
    ['app', true],
    ['nope', false],
    ['!nope', true],
    ['!app', false],
    ['example.com/stage=prod,app=web', true],
    ['example.com/stage=prod,app=db', false],
    ['app=', false],
    ['empty=', true],
    ['empty in ()', true],
    ['empty in (a,)', true],
    ['empty in (,a)', true],
    ['empty in (a,,b)', true],
    ['nope=', false],
    ['rank>6', true],
    ['rank>7', false],
    ['rank<8', true],
    ['app<8', false],
    ['constructor', false],
    ['!constructor', true],
    ['toString notin (a)', true],
    ['a in (b,c,d,e,f,g,h,i,j),app', false],
    ['app in (b,c,d,e,f,g,h,i,web)', true],
    ['app in (in,web)', true],
    ['in=a', false],
    ['notin', false],
  ])('%s: %s', (text, expected) => {
    expect(parseSelector(text).matches(labels)).toBe(expected);
  });

  test('without labels only what asks for absence matches', () => {
    expect(parseSelector('!a').matches(undefined)).toBe(true);
    expect(parseSelector('a').matches(undefined)).toBe(false);
    expect(parseSelector('a=1,b=2').matches(undefined)).toBe(false);
  });

  const value =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const name =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  test.each([
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (=', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a==!b', "unable to parse requirement: found '!', expected: identifier"],
    ['-a=b', `unable to parse requirement: <nil>: Invalid value: "-a": name part ${name}`],
    ['a=-b', `unable to parse requirement: values[0][a]: Invalid value: "-b": ${value}`],
    ['__proto__=b', `unable to parse requirement: <nil>: Invalid value: "__proto__": name part ${name}`],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('refuses %s', (text, message) => {
    expect(() => parseSelector(text)).toThrow(new ApiError(400, 'BadRequest', message));
  });

  test('refuses a text that is too long', () => {
    expect(() => parseSelector('a,'.repeat(40_000))).toThrow(/longer than 65536/);
  });
});

describe('a LabelSelector', () => {
  test.each([
    ['absent selects nothing', undefined, false],
    ['empty selects everything', {}, true],
    ['matchLabels', { matchLabels: { app: 'web' } }, true],
    ['a differing label', { matchLabels: { app: 'web', tier: 'back' } }, false],
    ['In', { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }, true],
    ['NotIn', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false],
    ['Exists', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, true],
    ['DoesNotExist', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, false],
  ])('%s', (_, selector, expected) => {
    expect(matchesLabels(selector, labels)).toBe(expected);
    expect(matchesLabels(deepFreeze(selector), labels)).toBe(expected);
  });

  test.each([
    [{ matchExpressions: [{ key: 'a', operator: 'Near' }] }, '"Near" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'constructor' }] },
      '"constructor" is not a valid label selector operator',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
  ])('refuses %j', (selector, message) => {
    expect(() => compileLabelSelector(selector)).toThrow(new UserError('InvalidSelector', message));
  });

  test('is compiled once if it cannot change any more', () => {
    const frozen = deepFreeze({ matchLabels: { app: 'web' } });
    expect(compileLabelSelector(frozen)).toBe(compileLabelSelector(frozen));
    const open = { matchLabels: { app: 'web' } };
    expect(matchesLabels(open, labels)).toBe(true);
    open.matchLabels.app = 'db';
    expect(matchesLabels(open, labels)).toBe(false);
  });

  test('is written as query text, sorted by key', () => {
    const selector = compileLabelSelector({
      matchLabels: { tier: 'front', app: 'web' },
      matchExpressions: [
        { key: 'b', operator: 'In', values: ['y', 'x'] },
        { key: 'c', operator: 'DoesNotExist' },
        { key: 'd', operator: 'Exists' },
      ],
    });
    expect(formatSelector(selector)).toBe('app=web,b in (x,y),!c,d,tier=front');
    expect(formatSelector(compileLabelMap({ z: '1', a: '2' }))).toBe('a=2,z=1');
  });
});

const anyWord = fc.stringMatching(/^[a-z][a-z0-9.-]{0,6}[a-z0-9]$/);
const anyValue = fc.oneof(anyWord, fc.constant(''));
const anySelector = fc.record({
  matchLabels: fc.dictionary(anyWord, anyValue, { maxKeys: 3 }),
  matchExpressions: fc.array(
    fc.oneof(
      fc.record({ key: anyWord, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
      fc.record({
        key: anyWord,
        operator: fc.constantFrom('In', 'NotIn'),
        values: fc.array(anyValue, { minLength: 1, maxLength: 12 }),
      }),
    ),
    { maxLength: 4 },
  ),
});

test('a selector and its text select the same', () => {
  fc.assert(
    fc.property(anySelector, fc.dictionary(anyWord, anyValue), (selector, others) => {
      const compiled = compileLabelSelector(selector);
      const again = parseSelector(formatSelector(compiled));
      expect(formatSelector(again)).toBe(formatSelector(compiled));
      for (const each of [others, { ...others, ...selector.matchLabels }]) {
        expect(again.matches(each)).toBe(compiled.matches(each));
      }
    }),
  );
});
