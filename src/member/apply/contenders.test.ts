import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { contendersIn } from './contenders.ts';

const entry = (manager: string, fieldsV1: object, more: object = {}) => ({
  manager,
  operation: 'Update',
  fieldsV1,
  ...more,
});
const live = (...managedFields: readonly object[]): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields } }) as unknown as KubeObject;

test.each([
  {
    it: 'names the owner of a value',
    fields: { 'f:data': { 'f:value': {} } },
    change: { data: { value: 'x' } },
    by: ['editor'],
  },
  {
    it: 'does not name the owner of another key',
    fields: { 'f:data': { 'f:other': {} } },
    change: { data: { value: 'x' } },
    by: [],
  },
  {
    it: 'takes a whole map for what is in it',
    fields: { 'f:data': {} },
    change: { data: { value: 'x' } },
    by: ['editor'],
  },
  {
    it: 'takes a list as a whole',
    fields: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:image': {} } } } },
    change: { spec: { containers: [{ name: 'a', image: 'b' }] } },
    by: ['editor'],
  },
  { it: 'reads no set that is no map', fields: 'nothing' as unknown as object, change: { data: {} }, by: [] },
])('$it', ({ fields, change, by }) => {
  expect(contendersIn(live(entry('editor', fields)), change)).toEqual(by);
});

test('is neither us nor one that writes a status', () => {
  const fields = { 'f:data': { 'f:value': {} } };
  const object = live(
    entry('work-api-agent', fields),
    entry('controller', fields, { subresource: 'status' }),
    entry('b', fields),
    entry('a', fields),
    entry('a', fields),
  );
  expect(contendersIn(object, { data: { value: 'x' } })).toEqual(['a', 'b']);
});
