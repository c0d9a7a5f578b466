import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { deepFreeze, type Json } from '../../base/json.ts';
import { applyMergePatch } from './merge-patch.ts';

describe('a merge patch', () => {
  // The table of RFC 7386, appendix A, where both sides are objects; nulls inside new lists are removed as on a real
  // server.
  test.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 'text' }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    [{}, { a: [{ b: null, c: 1 }] }, { a: [{ c: 1 }] }],
    [{ b: 1, a: 2 }, { a: 3 }, { b: 1, a: 3 }],
  ])('%j with %j', (original, patch, result) => {
    expect(applyMergePatch(deepFreeze(original), deepFreeze(patch))).toEqual(result);
  });

  test.each<[Json, string]>([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [true, 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}'],
  ])('%j is none', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(new ApiError(400, 'BadRequest', message));
  });

  test('shares what it does not touch, keeps the order of keys and does not pollute prototypes', () => {
    const original = deepFreeze({ metadata: { name: 'x' }, spec: { big: [1] } });
    const patch = JSON.parse('{"metadata":{"name":"y"},"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}}');
    const result = applyMergePatch(original, patch) as Record<string, unknown>;
    expect(result['spec']).toBe(original.spec);
    expect(Object.keys(result)).toEqual(['metadata', 'spec', '__proto__', 'a']);
    expect(result['polluted']).toBeUndefined();
    expect((result['a'] as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  const anyDocument = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.letrec((again) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, 1, 'x', true),
        fc.array(fc.nat(3), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), again('value')),
      ),
    })).value,
  ) as fc.Arbitrary<Json>;

  test('applied twice is applied once, and fields that it sets are set', () => {
    fc.assert(
      fc.property(anyDocument, anyDocument, (original, patch) => {
        const once = applyMergePatch(original, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
