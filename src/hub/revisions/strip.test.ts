import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { strip } from './strip.ts';

const an = (apiVersion: string, kind: string, more: object = {}): KubeObject =>
  deepFreeze({ apiVersion, kind, metadata: { name: 'x' }, ...more }) as KubeObject;
const specOf = (object: KubeObject) => strip(object).spec;

describe('strip', () => {
  test('takes what the hub has put there and leaves what the user wrote', () => {
    const metadata = {
      name: 'x',
      namespace: 'team',
      generateName: 'x-',
      labels: { a: 'b' },
      finalizers: ['keep/me'],
      deletionGracePeriodSeconds: 30,
    };
    const object = an('v1', 'ConfigMap', {
      metadata: {
        ...metadata,
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'deployment.kubernetes.io/revision': '3',
          own: 'yes',
        },
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        selfLink: '/x',
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        managedFields: [{}],
        ownerReferences: [{ kind: 'X' }],
      },
      data: { status: 'stays' },
      status: { goes: true },
    });
    expect(strip(object)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, annotations: { own: 'yes' } },
      data: { status: 'stays' },
    });
  });

  test.each([{}, { 'deployment.kubernetes.io/revision': '3' }])(
    'an empty map of annotations goes: %j',
    (annotations) => {
      expect(strip(an('v1', 'ConfigMap', { metadata: { name: 'x', annotations } })).metadata).toEqual({ name: 'x' });
    },
  );

  test('a Service loses what each cluster gives it', () => {
    const ports = [{ port: 80, nodePort: 30_080 }, { port: 81 }];
    const spec = {
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      healthCheckNodePort: 1,
      ports,
      type: 'LoadBalancer',
    };
    expect(specOf(an('v1', 'Service', { spec }))).toEqual({
      ports: [{ port: 80 }, { port: 81 }],
      type: 'LoadBalancer',
    });
  });

  test('a headless Service stays headless', () => {
    const spec = { clusterIP: 'None', clusterIPs: ['None'] };
    expect(specOf(an('v1', 'Service', { spec }))).toEqual(spec);
  });

  test('a Service of another group is left alone', () => {
    const spec = { clusterIP: '10.0.0.1' };
    expect(specOf(an('serving.knative.dev/v1', 'Service', { spec }))).toEqual(spec);
  });

  const job = {
    selector: { matchLabels: { 'controller-uid': 'u', 'batch.kubernetes.io/controller-uid': 'u' } },
    template: {
      metadata: {
        creationTimestamp: null,
        labels: { 'controller-uid': 'u', 'batch.kubernetes.io/controller-uid': 'u', app: 'x' },
      },
      spec: {},
    },
  };
  test('a Job loses the selector that names its uid; emptied maps stay', () => {
    expect(specOf(an('batch/v1', 'Job', { spec: job }))).toEqual({
      selector: { matchLabels: {} },
      template: { metadata: { labels: { app: 'x' } }, spec: {} },
    });
  });

  test('a Job with a selector of its own keeps it', () => {
    const spec = { ...job, manualSelector: true };
    expect(specOf(an('batch/v1', 'Job', { spec }))).toEqual(spec);
  });

  test('strips what is stripped no further, whatever the object holds, and pollutes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('Service', 'ConfigMap'), (spec, kind) => {
        const once = strip(JSON.parse(JSON.stringify(an('v1', kind, { spec }))) as KubeObject);
        expect(strip(once)).toEqual(once);
      }),
    );
    const hostile = JSON.parse(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{"__proto__":"y"}},"__proto__":{"polluted":1}}',
    );
    expect(JSON.stringify(strip(hostile))).toContain('"__proto__":{"polluted":1}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
