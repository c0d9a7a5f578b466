import { describe, expect, test } from 'vitest';
import { brokenRuleIn, type Enveloped, envelopeIn, innerIdentifiers, unwrapped } from './enveloped.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';

const object = (apiVersion: string, kind: string, namespace?: string, name = 'a') => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});
const QUOTA = object('v1', 'ResourceQuota', 'shop', 'limits');
const HOOKS = object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', undefined, 'guard');

const FLEET = 'placement.kubernetes-fleet.io/v1beta1';
const wide = (...entries: readonly object[]) =>
  ({ apiVersion: FLEET, kind: 'ClusterResourceEnvelope', metadata: { name: 'wrap' }, data: dataOf(entries) }) as never;
const narrow = (...entries: readonly object[]) =>
  ({
    apiVersion: FLEET,
    kind: 'ResourceEnvelope',
    metadata: { name: 'wrap', namespace: 'shop' },
    data: dataOf(entries),
  }) as never;
const marked = (...entries: readonly object[]) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'wrap', namespace: 'shop', annotations: { [annotations.envelopeConfigMap]: 'true' } },
    data: Object.fromEntries(entries.map((each, at) => [`${at}.yaml`, JSON.stringify(each)])),
  }) as never;
const dataOf = (entries: readonly object[]) => Object.fromEntries(entries.map((each, at) => [`${at}.yaml`, each]));

describe('an entry of an envelope', () => {
  const RULES: readonly (readonly [string, KubeObject, string | undefined, string | undefined])[] = [
    ['a cluster-scoped object in a ClusterResourceEnvelope', wide(HOOKS), undefined, undefined],
    ['a custom object without namespace there', wide(object('x.io/v1', 'X')), undefined, undefined],
    ['an object with a namespace there', wide(QUOTA), undefined, 'it is in namespace "shop"'],
    ['a namespaced kind there', wide(object('v1', 'ConfigMap')), undefined, 'ConfigMap is a namespaced kind'],
    ['an object of its namespace in a ResourceEnvelope', narrow(QUOTA), undefined, undefined],
    ['a custom object of its namespace there', narrow(object('x.io/v1', 'X', 'shop')), undefined, undefined],
    ['an object of another namespace there', narrow(object('v1', 'Secret', 'other')), undefined, 'namespace "other"'],
    ['an object without namespace there', narrow(HOOKS), undefined, 'it has no namespace'],
    [
      'a cluster-scoped kind with the namespace there',
      narrow(object('v1', 'Namespace', 'shop')),
      undefined,
      'Namespace is a cluster-scoped kind',
    ],
    ['either in a ConfigMap', marked(QUOTA, HOOKS), undefined, undefined],
    ['a namespaced kind without namespace there', marked(object('v1', 'Secret')), undefined, 'it has no namespace'],
    ['another namespace there', marked(object('v1', 'Secret', 'other')), undefined, 'namespace "other"'],
    [
      'a cluster-scoped object there, under a ResourcePlacement',
      marked(HOOKS),
      'shop',
      'it has no namespace; only objects of namespace "shop" are allowed (a ResourcePlacement places objects of its own namespace only)',
    ],
    ['its own namespace there, under a ResourcePlacement', marked(QUOTA), 'shop', undefined],
    ['an envelope in an envelope', wide(object(FLEET, 'ClusterResourceEnvelope')), undefined, 'another envelope'],
    ['the second of two, which is named', narrow(QUOTA, object('v1', 'Secret', 'x')), undefined, 'entry "1.yaml"'],
    ['no object', wide('text' as never), undefined, undefined],
    ['no metadata', wide({ apiVersion: 'v1', kind: 'Secret' }), undefined, undefined],
  ];
  test.each(RULES)('%s', (_what, envelope, within, broken) => {
    const found = brokenRuleIn(envelopeIn(envelope) as Enveloped, within);
    if (broken === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(broken);
  });
});

test('entries are sorted by their JSON, descending, so a Work does not depend on keys', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => object('v1', 'Secret', 'shop', name));
  const names = (...entries: readonly (object | undefined)[]) =>
    envelopeIn(narrow(...(entries as object[])))?.entries.map((each) => each.object.metadata.name);
  expect(names(a, b, c)).toEqual(['c', 'b', 'a']);
  expect(names(b, c, a)).toEqual(['c', 'b', 'a']);
});

test('a status names entries with their envelope, without those that have no name', () => {
  expect(innerIdentifiers(narrow(QUOTA, { apiVersion: 'v1', kind: 'Secret' }, 'text' as never))).toEqual([
    {
      version: 'v1',
      kind: 'ResourceQuota',
      namespace: 'shop',
      name: 'limits',
      envelope: { name: 'wrap', namespace: 'shop', type: 'ResourceEnvelope' },
    },
  ]);
});

test('clusters get the objects of an envelope in its place', () => {
  const plain = object('v1', 'ConfigMap', 'shop') as KubeObject;
  expect(unwrapped([plain, narrow(QUOTA), wide('text' as never, HOOKS)])).toEqual([plain, QUOTA, HOOKS]);
});
