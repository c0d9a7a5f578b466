import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { countsBetween } from './content-diff.ts';

const map = (name: string, value: string, apiVersion = 'v1', namespace = 'shop'): KubeObject => ({
  apiVersion,
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { value },
});

describe('the change on a cluster', () => {
  test.each([
    { it: 'nothing to nothing', before: [], after: [], counts: [0, 0, 0, 0] },
    { it: 'nothing to something', before: [], after: [map('a', '1'), map('b', '1')], counts: [2, 0, 0, 0] },
    { it: 'something to nothing', before: [map('a', '1')], after: [], counts: [0, 0, 1, 0] },
    {
      it: 'one of each',
      before: [map('same', '1'), map('other', '1'), map('gone', '1')],
      after: [map('other', '2'), map('same', '1'), map('new', '1')],
      counts: [1, 1, 1, 1],
    },
    {
      it: 'another namespace is another object',
      before: [map('a', '1')],
      after: [map('a', '1', 'v1', 'x')],
      counts: [1, 0, 1, 0],
    },
    {
      it: 'another version is the same object',
      before: [map('a', '1', 'g/v1')],
      after: [map('a', '1', 'g/v2')],
      counts: [0, 1, 0, 0],
    },
    {
      it: 'the order of fields is no change',
      before: [{ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, p: 1, q: 2 }],
      after: [{ q: 2, p: 1, kind: 'X', apiVersion: 'v1', metadata: { name: 'a' } }],
      counts: [0, 0, 0, 1],
    },
    {
      it: 'names that nobody should have',
      before: [map('__proto__', '1')],
      after: [map('__proto__', '2')],
      counts: [0, 1, 0, 0],
    },
  ])('$it', ({ before, after, counts }) => {
    const [added, changed, removed, unchanged] = counts;
    expect(countsBetween(before as readonly KubeObject[], after as readonly KubeObject[])).toEqual({
      added,
      changed,
      removed,
      unchanged,
    });
  });
});
