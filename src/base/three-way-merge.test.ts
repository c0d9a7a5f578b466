import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from './json.ts';
import { threeWayPatch } from './three-way-merge.ts';

describe('a three-way merge patch', () => {
  test.each([
    { it: 'is empty when all is as wanted', last: { a: 1 }, wanted: { a: 1 }, live: { a: 1, b: 2 }, patch: {} },
    { it: 'sets what changed', last: { a: 1 }, wanted: { a: 2 }, live: { a: 1 }, patch: { a: 2 } },
    { it: 'heals what somebody changed', last: { a: 1 }, wanted: { a: 1 }, live: { a: 5 }, patch: { a: 1 } },
    {
      it: 'takes out what is no longer wanted',
      last: { a: 1, b: 1 },
      wanted: { a: 1 },
      live: { a: 1, b: 7 },
      patch: { b: null },
    },
    { it: 'leaves alone what others added', last: {}, wanted: { a: 1 }, live: { a: 1, b: { c: 1 } }, patch: {} },
    {
      it: 'goes into objects',
      last: { s: { a: 1, b: 1 } },
      wanted: { s: { a: 2 } },
      live: { s: { a: 1, b: 1, c: 1 } },
      patch: { s: { a: 2, b: null } },
    },
    { it: 'replaces lists whole', last: { l: [1] }, wanted: { l: [1, 2] }, live: { l: [1, 3] }, patch: { l: [1, 2] } },
    { it: 'does not ask for what is gone already', last: { a: 1 }, wanted: {}, live: {}, patch: {} },
    { it: 'replaces a scalar by an object', last: {}, wanted: { a: { b: 1 } }, live: { a: 1 }, patch: { a: { b: 1 } } },
  ])('$it', ({ last, wanted, live, patch }) => {
    expect(threeWayPatch({ last, wanted, live } as never)).toEqual(patch);
  });

  test('once applied leaves nothing to do, and never touches keys that neither side wanted', () => {
    const value = fc.object({
      maxDepth: 3,
      values: [fc.integer(), fc.string(), fc.boolean()],
      key: fc.constantFrom('a', 'b', 'c', 'd'),
    });
    fc.assert(
      fc.property(value, value, value, (last, wanted, live) => {
        const input = { last: last as JsonObject, wanted: wanted as JsonObject, live: live as JsonObject };
        const merged = merge(live as JsonObject, threeWayPatch(input));
        expect(threeWayPatch({ ...input, last: wanted as JsonObject, live: merged })).toEqual({});
        for (const key of Object.keys(live)) {
          if (!(key in last) && !(key in wanted)) expect(merged[key]).toEqual((live as JsonObject)[key]);
        }
      }),
    );
  });
});

function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (isObject(value))
      merged[key] = merge((isObject(merged[key]) ? merged[key] : {}) as JsonObject, value as JsonObject);
    else merged[key] = value;
  }
  return merged as JsonObject;
}
