import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { comparable, specHash } from './spec-hash.ts';

const map = (parts: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...parts }) as KubeObject;

describe('the hash of a manifest', () => {
  test('is that of this very text', () => {
    const manifest = map({
      metadata: {
        name: 'app-config-1',
        namespace: 'application-1',
        generateName: 'app-',
        uid: 'u',
        resourceVersion: '1449',
        generation: 3,
        creationTimestamp: '2024-05-07T08:06:27Z',
        finalizers: ['x'],
        labels: { app: 'a<b', 'kubernetes.io/metadata.name': 'x' },
        annotations: {
          'cro-test-annotation': 'cro-test-annotation-val',
          'kubernetes-fleet.io/spec-hash': 'h',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'node.k8s.io/x': 'y',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
        managedFields: [{}],
      },
      data: { data: 'test' },
      status: { a: 1 },
    });
    const text =
      '{"apiVersion":"v1","data":{"data":"test"},"kind":"ConfigMap","metadata":{"annotations":{"cro-test-annotation":"cro-test-annotation-val"},"finalizers":[],"labels":{"app":"a\\u003cb"},"managedFields":[],"ownerReferences":[]}}';
    expect(goJson(comparable(manifest))).toBe(text);
    expect(specHash(manifest)).toBe(sha256(text));
  });

  test('is this one for the annotated ConfigMap', () => {
    // Computed independently of this code, with another SHA-256 program.
    const manifest = map({
      metadata: { name: 'a', annotations: { 'cro-test-annotation': 'cro-test-annotation-val' } },
      data: { data: 'test' },
    });
    expect(specHash(manifest)).toBe('0095539412b787c76f9ff9a79c4ba53fa035e6b575fa0a9ef3bb7a234960dd46');
  });

  test.each([
    {
      it: 'what a cluster fills in',
      a: map({}),
      b: map({ metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation: 4 }, status: {} }),
      same: true,
    },
    { it: 'the name', a: map({}), b: map({ metadata: { name: 'b' } }), same: true },
    {
      it: 'a template’s creationTimestamp',
      a: map({ spec: { template: { metadata: {} } } }),
      b: map({ spec: { template: { metadata: { creationTimestamp: null } } } }),
      same: true,
    },
    {
      it: 'a job template’s creationTimestamp',
      a: map({ spec: { jobTemplate: { spec: { template: { metadata: {} } } } } }),
      b: map({ spec: { jobTemplate: { spec: { template: { metadata: { creationTimestamp: null } } } } } }),
      same: true,
    },
    { it: 'a label', a: map({}), b: map({ metadata: { name: 'a', labels: { a: 'b' } } }), same: false },
    { it: 'data', a: map({ data: { a: '1' } }), b: map({ data: { a: '2' } }), same: false },
  ])('$it: does it change? same = $same', ({ a, b, same }) => expect(specHash(a) === specHash(b)).toBe(same));
});
