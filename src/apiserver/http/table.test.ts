import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { tableFor } from '../builtin/tables/for-kind.ts';
import { tableOf } from './table.ts';

const object: KubeObject = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n', resourceVersion: '7', creationTimestamp: '1970-01-01T00:00:00Z' },
  data: { a: '1' },
});
const shape = tableFor('', 'ConfigMap');

describe('a table', () => {
  test('of one object has its resourceVersion and carries its metadata', () => {
    expect(tableOf([object], shape, { now: 3000 })).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      columnDefinitions: shape.columns,
      rows: [
        {
          cells: ['c', 1, '3s'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
        },
      ],
    });
  });

  test('of a list has the list’s metadata and as much of the objects as was asked for', () => {
    const metadata = { resourceVersion: '9', continue: 'abc', remainingItemCount: 5 };
    expect(tableOf([], shape, { now: 0, metadata })).toMatchObject({ metadata, rows: [] });
    expect(tableOf([object], shape, { now: 0, metadata, include: 'Object' }).rows[0]?.object).toBe(object);
    expect(tableOf([object], shape, { now: 0, metadata, include: 'None' }).rows[0]?.object).toBeNull();
  });

  test('of a later event of a watch has no columns', () => {
    expect(tableOf([object], shape, { now: 0, withColumns: false }).columnDefinitions).toBeNull();
  });
});
