import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import { compileFields, parseFieldSelector } from './field-selector.ts';

interface Thing {
  readonly name: string;
  readonly phase?: string;
}
const readers = { 'metadata.name': (thing: Thing) => thing.name, 'status.phase': (thing: Thing) => thing.phase ?? '' };
const matches = (text: string, thing: Thing) => {
  const compiled = compileFields(parseFieldSelector(text), readers);
  return compiled.unknownField === undefined ? compiled.matches(thing) : compiled.unknownField;
};

describe('a field selector', () => {
  test.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['status.phase=', true],
    ['status.phase!=', false],
    ['metadata.name=a,status.phase=', true],
    ['status.phase=Running,metadata.name=a', false],
    ['metadata.name=a,', true],
    ['spec.nodeName=x', 'spec.nodeName'],
    ['constructor=x', 'constructor'],
    ['metadata.name=a\\,b', false],
  ])('%s', (text, expected) => {
    expect(matches(text, { name: 'a' })).toBe(expected);
  });

  test.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['b,a', "invalid selector: 'b,a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(new ApiError(400, 'BadRequest', message));
  });

  test('finds any value that was escaped', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        const text = `metadata.name=${name.replace(/[\\,=]/g, '\\$&')},status.phase!=x`;
        expect(matches(text, { name })).toBe(true);
        if (other !== name) expect(matches(text, { name: other })).toBe(false);
      }),
    );
  });
});
