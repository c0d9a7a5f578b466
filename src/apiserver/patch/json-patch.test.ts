import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patience } from '../../../scripts/gate/patience.ts';
import { ApiError } from '../../base/errors.ts';
import { deepFreeze, type Json } from '../../base/json.ts';
import { formatPointer } from '../../base/json-pointer.ts';
import { applyJsonPatch } from './json-patch.ts';

const original = deepFreeze({ a: { b: 1, 'x/y': 2, list: ['p', 'q'] }, n: null });
const apply = (...patch: Json[]) => applyJsonPatch(original, deepFreeze(patch));

describe('a JSON patch', () => {
  test.each<{ it: string; patch: Json[]; result: Json }>([
    {
      it: 'adds a field',
      patch: [{ op: 'add', path: '/a/c', value: 3 }],
      result: { ...original, a: { ...original.a, c: 3 } },
    },
    { it: 'adds over a field', patch: [{ op: 'add', path: '/n', value: 3 }], result: { ...original, n: 3 } },
    {
      it: 'inserts into a list',
      patch: [{ op: 'add', path: '/a/list/1', value: 'i' }],
      result: { ...original, a: { ...original.a, list: ['p', 'i', 'q'] } },
    },
    {
      it: 'appends to a list',
      patch: [
        { op: 'add', path: '/a/list/-', value: 'i' },
        { op: 'add', path: '/a/list/3', value: 'j' },
      ],
      result: { ...original, a: { ...original.a, list: ['p', 'q', 'i', 'j'] } },
    },
    {
      it: 'counts from the end',
      patch: [{ op: 'remove', path: '/a/list/-1' }],
      result: { ...original, a: { ...original.a, list: ['p'] } },
    },
    { it: 'removes', patch: [{ op: 'remove', path: '/a' }], result: { n: null } },
    { it: 'removes a null', patch: [{ op: 'remove', path: '/n' }], result: { a: original.a } },
    {
      it: 'replaces by an escaped key',
      patch: [{ op: 'replace', path: '/a/x~1y', value: 9 }],
      result: { ...original, a: { ...original.a, 'x/y': 9 } },
    },
    {
      it: 'replaces a field that is absent',
      patch: [{ op: 'replace', path: '/z', value: 1 }],
      result: { ...original, z: 1 },
    },
    { it: 'replaces everything', patch: [{ op: 'replace', path: '', value: { z: 1 } }], result: { z: 1 } },
    {
      it: 'moves',
      patch: [{ op: 'move', from: '/a/list/0', path: '/first' }],
      result: { ...original, a: { ...original.a, list: ['q'] }, first: 'p' },
    },
    { it: 'moves a value to where it is', patch: [{ op: 'move', from: '/a', path: '/a' }], result: original },
    {
      it: 'copies, and the copy lives its own life',
      patch: [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'replace', path: '/a/list/0', value: 'changed' },
        { op: 'add', path: '/c/d', value: 1 },
      ],
      result: {
        ...original,
        a: { ...original.a, list: ['changed', 'q'] },
        c: { ...original.a, d: 1 },
      },
    },
    {
      it: 'a value that was added and copied lives twice',
      patch: [
        { op: 'add', path: '/v', value: { k: [1] } },
        { op: 'add', path: '/v/k/-', value: 2 },
        { op: 'copy', from: '/v', path: '/w' },
        { op: 'add', path: '/v/k/-', value: 3 },
      ],
      result: { ...original, v: { k: [1, 2, 3] }, w: { k: [1, 2] } },
    },
    { it: 'tests', patch: [{ op: 'test', path: '/a/list', value: ['p', 'q'] }], result: original },
    { it: 'tests absence as null', patch: [{ op: 'test', path: '/none', value: null }], result: original },
    { it: 'writes null without a value', patch: [{ op: 'add', path: '/z' }], result: { ...original, z: null } },
  ])('$it', ({ patch, result }) => {
    expect(apply(...patch)).toEqual(result);
  });

  test.each<[string, Json]>([
    ['an unknown operation', { op: 'foo', path: '/a' }],
    ['no operation', { path: '/a' }],
    ['no path', { op: 'add', value: 1 }],
    ['a path without a slash', { op: 'add', path: 'a', value: 1 }],
    ['a test that fails', { op: 'test', path: '/a/b', value: 2 }],
    ['removing nothing', { op: 'remove', path: '/none' }],
    ['removing everything', { op: 'remove', path: '' }],
    ['replacing nothing in a list', { op: 'replace', path: '/a/list/7', value: 1 }],
    ['replacing nothing in nothing', { op: 'replace', path: '/none/x', value: 1 }],
    ['adding everything', { op: 'add', path: '', value: {} }],
    ['a test inside of nothing', { op: 'test', path: '/none/x', value: null }],
    ['a parent that is not there', { op: 'add', path: '/none/x', value: 1 }],
    ['a parent that is a number', { op: 'add', path: '/a/b/x', value: 1 }],
    ['a place beyond the list', { op: 'add', path: '/a/list/3', value: 1 }],
    ['a place that is no number', { op: 'replace', path: '/a/list/x', value: 1 }],
    ['a copy of nothing', { op: 'copy', from: '/none/x', path: '/x' }],
    ['no from', { op: 'move', path: '/x' }],
    ['a move into itself', { op: 'move', from: '/a', path: '/a/b/c' }],
    ['inherited fields', { op: 'test', path: '/constructor/name', value: 'Object' }],
    ['a prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
  ])('refuses %s', (_, operation) => {
    try {
      apply(operation);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect((error as ApiError).code).toBe(422);
      expect((error as ApiError).reason).toBe('Invalid');
      expect((error as ApiError).message).toBe('the server rejected our request due to an error in our request');
      expect((error as ApiError).details).toEqual({});
      return;
    }
    expect.unreachable('it was accepted');
  });

  test('does all or nothing', () => {
    const before = JSON.stringify(original);
    expect(() => apply({ op: 'remove', path: '/a' }, { op: 'remove', path: '/none' })).toThrow(ApiError);
    expect(JSON.stringify(original)).toBe(before);
  });

  test.each<[Json, number, string]>([
    [{}, 400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [[1], 400, 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      [{ op: 1 }],
      400,
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    [
      new Array(10_001).fill({ op: 'test', path: '/n', value: null }),
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ],
  ])('case %#: is refused as malformed or too long', (patch, code, message) => {
    try {
      applyJsonPatch(original, patch);
    } catch (error) {
      expect([(error as ApiError).code, (error as ApiError).message]).toEqual([code, message]);
      return;
    }
    expect.unreachable('it was accepted');
  });

  test('doubles nothing beyond its limit', () => {
    const bomb = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '', path: `/copy${i}` }));
    expect(() => applyJsonPatch({ seed: 'x'.repeat(1000) }, bomb)).toThrow(ApiError);
  });

  test('ten thousand writes into a large list are quick', () => {
    const list = deepFreeze({ list: Array.from({ length: 50_000 }, (_, i) => i) });
    const patch = Array.from({ length: 10_000 }, (_, i) => ({ op: 'replace', path: `/list/${i}`, value: -1 }));
    const start = process.hrtime.bigint();
    const result = applyJsonPatch(list, patch) as { list: number[] };
    expect(Number(process.hrtime.bigint() - start) / 1e6).toBeLessThan(patience(1000));
    expect(result.list[9_999]).toBe(-1);
    expect(list.list[0]).toBe(0);
  });

  test('a key called __proto__ stays a key', () => {
    const result = apply({ op: 'add', path: '/__proto__', value: { polluted: 1 } }) as Record<string, unknown>;
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect(result['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('add then remove is nothing, and what add wrote is what test finds', () => {
    const anyKeys = fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(anyKeys, fc.string(), fc.jsonValue(), (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key) && key !== '__proto__');
        const path = formatPointer([key]);
        const add = { op: 'add', path, value: value as Json };
        expect(applyJsonPatch(document as Json, [add, { op: 'remove', path }])).toEqual(document);
        expect(applyJsonPatch(document as Json, [add, { op: 'test', path, value: value as Json }])).toEqual({
          ...document,
          [key]: value,
        });
      }),
    );
  });

  test('cannot nest deeper than a body can, though each of its operations is small', () => {
    const nesting = (levels: number): Json[] =>
      Array.from({ length: levels }, (_, level) => {
        const [outer, inner] = level % 2 === 0 ? ['x', 'y'] : ['y', 'x'];
        return [
          { op: 'add', path: `/${outer}`, value: {} },
          { op: 'move', from: `/${inner}`, path: `/${outer}/${inner}` },
        ];
      }).flat();
    const patch = (levels: number) => applyJsonPatch({ y: 1 }, nesting(levels));
    expect(() => patch(199)).not.toThrow();
    expect(() => patch(200)).toThrow('the server rejected our request');
    expect(() => patch(4_900)).toThrow('the server rejected our request');
  });
});
