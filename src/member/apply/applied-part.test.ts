import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { appliedPart } from './applied-part.ts';

const live = (fieldsV1: object, more: object, manager = 'work-api-agent', operation = 'Apply'): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', labels: { ours: '1', theirs: '2' }, managedFields: [{ manager, operation, fieldsV1 }] },
    ...more,
  }) as unknown as KubeObject;

test('is what the sets of fields name: keys, entries of lists by key and by value, and whole values', () => {
  const fields = {
    'f:metadata': { 'f:labels': { '.': {}, 'f:ours': {} } },
    'f:spec': {
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:image': {} } },
      'f:words': { 'v:"x"': {} },
      'f:map': {},
      'f:gone': {},
    },
  };
  const spec = {
    containers: [{ name: 'b' }, { name: 'a', image: 'i', tty: true }],
    words: ['y', 'x'],
    map: { k: 1 },
    other: 2,
  };
  expect(appliedPart(live(fields, { spec }))).toEqual({
    metadata: { labels: { ours: '1' } },
    spec: { containers: [{ name: 'a', image: 'i' }], words: ['x'], map: { k: 1 } },
  });
});

test.each([
  ['another manager', live({ 'f:spec': {} }, { spec: 1 }, 'kubectl')],
  ['an update', live({ 'f:spec': {} }, { spec: 1 }, 'work-api-agent', 'Update')],
  ['no set', live('x' as unknown as object, { spec: 1 })],
])('is nothing of %s', (_what, object) => {
  expect(appliedPart(object)).toEqual({});
});
