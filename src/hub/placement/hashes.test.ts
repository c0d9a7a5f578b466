// The hashes are identical to those that other programs have written or would write.
import { describe, expect, test } from 'vitest';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { deepFreeze } from '../../base/json.ts';
import { contentOf } from '../revisions/content.ts';
import { policyHashOf, policyJson } from './policy-hash.ts';

const hex = (policy: PlacementPolicy | undefined) => Buffer.from(policyHashOf(policy), 'base64').toString();

describe('the hash of a policy', () => {
  test.each<[string, PlacementPolicy | undefined, string]>([
    ['none', undefined, '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b'],
    ['PickAll', { placementType: 'PickAll' }, '8cc57dee59684ff88766e26936c8fb125f4bde234a2beb5c54aded4569db0d5a'],
    ['PickN', { placementType: 'PickN' }, '479f405eb7808cfc58366b2648680a3a815ef914fe6756ae8df0d6f74885416a'],
    [
      'PickN, whatever N is',
      { placementType: 'PickN', numberOfClusters: 7 },
      '479f405eb7808cfc58366b2648680a3a815ef914fe6756ae8df0d6f74885416a',
    ],
  ])('%s', (_name, policy, hash) => {
    expect(hex(policy)).toBe(hash);
  });

  test('is taken over the fields in the order in which they are declared, without what is empty', () => {
    const policy: PlacementPolicy = {
      tolerations: [{ effect: 'NoSchedule', operator: 'Exists', key: 'a' }],
      topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule', topologyKey: 'region', maxSkew: 1 }],
      affinity: {
        clusterAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { preference: { propertySorter: { sortOrder: 'Ascending', name: 'p' } }, weight: -5 },
          ],
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [
              {
                propertySelector: { matchExpressions: [{ values: ['4'], operator: 'Ge', name: 'cpu' }] },
                labelSelector: {
                  matchExpressions: [{ operator: 'Exists', key: 'k', values: [] }],
                  matchLabels: { b: '1', 9: 'x', 10: 'y', a: '<&>' },
                },
              },
            ],
          },
        },
      },
      clusterNames: [],
      placementType: 'PickN',
    };
    expect(policyJson(policy)).toBe(
      '{"placementType":"PickN","affinity":{"clusterAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"clusterSelectorTerms":[' +
        '{"labelSelector":{"matchLabels":{"10":"y","9":"x","a":"\\u003c\\u0026\\u003e","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]},' +
        '"propertySelector":{"matchExpressions":[{"name":"cpu","operator":"Ge","values":["4"]}]}}]},' +
        '"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":-5,"preference":{"propertySorter":{"name":"p","sortOrder":"Ascending"}}}]}},' +
        '"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"region","whenUnsatisfiable":"DoNotSchedule"}],' +
        '"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"}]}',
    );
  });
});

describe('the hash of what is selected', () => {
  const namespace: KubeObject = deepFreeze({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { labels: { 'kubernetes.io/metadata.name': 'test' }, name: 'test', uid: 'u', resourceVersion: '1' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
  const configMap: KubeObject = deepFreeze({
    apiVersion: 'v1',
    data: { key1: 'value1', key2: 'value2', key3: 'value3' },
    kind: 'ConfigMap',
    metadata: { name: 'test-1', namespace: 'test', generation: 3 },
  });

  test('nothing', () => {
    expect(contentOf([])).toMatchObject({
      hash: '83ff749c5d8eb5a0b62d714175bcbaef1409b371fc5a229a002db6fcc1f144e1',
      bytes: 0,
      resources: [],
    });
  });

  test('the sample of the documentation', () => {
    expect(contentOf([namespace, configMap])).toMatchObject({
      hash: 'e0927e7d75c7f52542a6d4299855995018f4a6de46edf0f814cfaa6e806543f3',
      resources: [
        { version: 'v1', kind: 'Namespace', name: 'test' },
        { version: 'v1', kind: 'ConfigMap', namespace: 'test', name: 'test-1' },
      ],
      envelopes: [],
    });
  });

  test('counts bytes as UTF-8, with a newline each', () => {
    const umlaut = { apiVersion: 'v1', kind: 'X', metadata: { name: 'ü' } } as KubeObject;
    expect(contentOf([umlaut]).bytes).toBe(
      Buffer.byteLength('{"apiVersion":"v1","kind":"X","metadata":{"name":"ü"}}') + 1,
    );
  });

  test('leaves the tokens of service accounts out', () => {
    const secret = (type: string) =>
      ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: type.slice(0, 3) }, type }) as unknown as KubeObject;
    expect(contentOf([secret('kubernetes.io/service-account-token'), secret('Opaque')]).resources).toEqual([
      { version: 'v1', kind: 'Secret', name: 'Opa' },
    ]);
  });

  test('knows envelopes, a ConfigMap by what it holds', () => {
    const envelope = (kind: string, group: string) =>
      ({ apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'x' } }) as KubeObject;
    const marked = (name: string, value: string) =>
      ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, annotations: { [annotations.envelopeConfigMap]: 'true' } },
        data: { value },
      }) as unknown as KubeObject;
    const all = [
      envelope('ResourceEnvelope', 'placement.kubernetes-fleet.io'),
      envelope('ClusterResourceEnvelope', 'placement.kubernetes-fleet.io'),
      envelope('ResourceEnvelope', 'other.example'),
      marked('wrap', 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: inner\n'),
      marked('plain', 'words'),
    ];
    expect(contentOf(all).envelopes).toEqual([
      { group: 'placement.kubernetes-fleet.io', version: 'v1beta1', kind: 'ResourceEnvelope', name: 'x' },
      { group: 'placement.kubernetes-fleet.io', version: 'v1beta1', kind: 'ClusterResourceEnvelope', name: 'x' },
      { version: 'v1', kind: 'ConfigMap', name: 'wrap' },
    ]);
  });
});
