import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { withImage } from '../../cli/plan/plan-rollout.ts';
import { diffBetween } from './field-diff.ts';

const deployment = (image: string, more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    template: {
      spec: {
        containers: [
          { name: 'web', image },
          { name: 'side', image: 'side:1' },
        ],
      },
    },
    ...more,
  },
});
const map: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { 'a.b': '1' } };

test('each field that differs is named, with what it was and what it becomes', () => {
  const after = deployment('web:2', { replicas: 2 });
  expect(diffBetween([deployment('web:1'), map], [after, { ...map, data: { 'a.b': '2' } }])).toEqual([
    {
      object: 'Deployment "shop/web"',
      change: 'changed',
      fields: ['spec.template.spec.containers[0].image: "web:1" -> "web:2"', 'spec.replicas: (none) -> 2'],
    },
    { object: 'ConfigMap "m"', change: 'changed', fields: ['data["a.b"]: "1" -> "2"'] },
  ]);
});

test('objects that are added and removed are named', () => {
  expect(diffBetween([map], [deployment('web:1')]).map(({ object, change }) => `${change} ${object}`)).toEqual([
    'added Deployment "shop/web"',
    'removed ConfigMap "m"',
  ]);
  expect(diffBetween([map], [map])).toEqual([]);
});

test('no value of a Secret is shown, nor of one in an envelope', () => {
  const secret = (name: string, data: object): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' } },
    data,
  });
  const wrap = (inner: KubeObject): KubeObject => ({
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ResourceEnvelope',
    metadata: { name: 'wrap', namespace: 'shop' },
    data: { inner },
  });
  const before = [secret('a', { key: 'dmFsdWU0', old: 'dmFsdWU1' }), wrap(secret('b', { key: 'dmFsdWU2' }))];
  const after = [secret('a', { key: 'dmFsdWU3', fresh: 'dmFsdWU5' }), wrap(secret('b', { key: 'dmFsdWU4' }))];
  expect(diffBetween(before, after).map(({ object, fields }) => [object, ...fields])).toEqual([
    ['Secret "shop/a"', 'data.key: (changed)', 'data.old: (removed)', 'data.fresh: (added)'],
    ['Secret "shop/b" (in ResourceEnvelope "shop/wrap")', 'data.key: (changed)'],
  ]);
});

test('an image replaces that of containers with this name only', () => {
  const before = deployment('web:1');
  expect(withImage(before, 'web=web:2')).toEqual(deployment('web:2'));
  expect(withImage(before, 'web=web:1')).toBe(before);
  expect(withImage(before, 'other=web:2')).toBe(before);
  expect(() => withImage(before, 'web')).toThrow('CONTAINER=IMAGE');
});
