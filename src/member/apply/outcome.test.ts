import { describe, expect, test } from 'vitest';
import { ApiError, type StatusCause } from '../../base/errors.ts';
import { applyFailure } from './outcome.ts';

const IDENTIFIER = { ordinal: 0, group: 'apps', version: 'v1', kind: 'StatefulSet', namespace: 'shop', name: 'db' };
const refusal = (...causes: readonly Partial<StatusCause>[]) =>
  new ApiError(422, 'Invalid', 'the server says so', { causes: causes as readonly StatusCause[] });
const said = (error: Error, doing: 'create' | 'patch' = 'patch', identifier: object = IDENTIFIER) =>
  applyFailure(identifier as typeof IDENTIFIER, doing, error).message;

const PLAIN = 'the member refused StatefulSet "shop/db": the server says so';

describe('a field of a live object', () => {
  test.each([
    ['FieldValueInvalid', 'spec.selector', 'Invalid value: {}: field is immutable'],
    ['FieldValueInvalid', 'spec.clusterIPs[0]', 'Invalid value: []: may not change once set'],
    ['FieldValueInvalid', 'roleRef', 'Invalid value: {}: cannot change roleRef'],
    ['FieldValueForbidden', 'value', 'Forbidden: may not be changed in an update.'],
    ['FieldValueForbidden', 'parameters', 'Forbidden: updates to parameters are forbidden.'],
    ['FieldValueForbidden', 'spec', 'Forbidden: spec is immutable after creation except resources.requests'],
    ['FieldValueForbidden', 'spec', 'Forbidden: pod updates may not change fields other than `spec.tolerations`'],
    ['FieldValueForbidden', 'spec.containers', 'Forbidden: pod updates may not add or remove containers'],
    ['FieldValueForbidden', 'spec.tolerations', 'Forbidden: existing toleration can not be modified except its …'],
    [
      'FieldValueForbidden',
      'spec',
      "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden",
    ],
  ])('cannot be changed: %s %s %s', (reason, field, message) => {
    expect(said(refusal({ reason, field, message }))).toBe(
      `cannot change StatefulSet "shop/db": ${field} cannot be changed on an existing object (the server says so); change it back, give the object another name, or delete it on the member so that it is created again`,
    );
    expect(said(refusal({ reason, field, message }), 'create')).toBe(PLAIN);
    expect(applyFailure(IDENTIFIER, 'patch', refusal({ reason, field, message })).cause).toEqual({
      code: 'FieldImmutable',
    });
  });

  test.each([
    {
      it: 'is wrong in itself',
      cause: { reason: 'FieldValueForbidden', field: 'spec.ports', message: 'Forbidden: may not be set with that' },
    },
    { it: 'is what a policy does not like', cause: { message: 'images must have immutable tags' } },
  ])('can be changed if it $it', ({ cause }) => {
    expect(said(refusal(cause))).toBe(PLAIN);
  });
});

test('of a Secret nothing is quoted', () => {
  const secret = { ordinal: 0, group: '', version: 'v1', kind: 'Secret', namespace: 'shop', name: 'key' };
  const cause = { reason: 'FieldValueInvalid', field: 'data[a]', message: 'Invalid value: "hunter2"' };
  expect(said(refusal(cause), 'create', secret)).toBe(
    'the member refused Secret "shop/key": 422 Invalid: data[a] FieldValueInvalid',
  );
  expect(said(refusal({ message: 'hunter2 is no good' }), 'create', secret)).toBe(
    'the member refused Secret "shop/key": 422 Invalid',
  );
});

test('a namespace that is missing is known by what the server names, not by its words', () => {
  const missing = new ApiError(404, 'NotFound', 'whatever it says', { kind: 'namespaces', name: 'shop' });
  expect(applyFailure(IDENTIFIER, 'create', missing).cause).toEqual({ code: 'NamespaceMissing' });
  const other = new ApiError(404, 'NotFound', 'namespaces "shop" not found', { kind: 'pods', name: 'shop' });
  expect(applyFailure(IDENTIFIER, 'create', other).cause).toBeUndefined();
});
