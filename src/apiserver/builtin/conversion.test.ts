import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { objectIn } from '../represent.ts';
import { create } from '../verbs/create.ts';
import { autoscalerV1 } from './autoscaling.ts';
import { placeOf, someone, testCluster } from './cluster.testing.ts';
import { coreEvent, eventConversion, newEvent } from './event.ts';

const core: KubeObject = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'team' },
  involvedObject: { kind: 'Pod', name: 'p', namespace: 'team', uid: 'u' },
  reason: 'Why',
  message: 'because',
  source: { component: 'kubelet' },
  firstTimestamp: '2024-01-01T00:00:00Z',
  lastTimestamp: '2024-01-01T00:00:00Z',
  count: 2,
  type: 'Warning',
  eventTime: null,
  reportingComponent: 'c',
  reportingInstance: 'i',
};

describe('events', () => {
  test('are called differently in events.k8s.io and come back as they were', () => {
    const shown = eventConversion.fromStored(core);
    expect(shown).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: core.involvedObject,
      note: 'because',
      deprecatedSource: { component: 'kubelet' },
      deprecatedCount: 2,
      reportingController: 'c',
    });
    expect(shown).not.toHaveProperty('message');
    expect(eventConversion.toStored(shown)).toEqual(core);
  });

  test.each([
    [coreEvent, 'involvedObject.name', 'p'],
    [coreEvent, 'source', 'kubelet'],
    [newEvent, 'regarding.uid', 'u'],
    [newEvent, 'reportingController', 'c'],
  ] as const)('can be selected by their fields (%#)', (behaviour, field, value) => {
    expect(behaviour.selectableFields?.[field]?.(core)).toBe(value);
  });

  test('of both groups are the same objects, kept in one place', async () => {
    const { registry } = testCluster();
    const found = registry.find('events.k8s.io', 'v1', 'events');
    expect(found?.resource.keptAs).toEqual({ group: '', plural: 'events' });
    expect(found?.resource.stored.schema).toBe(registry.find('', 'v1', 'events')?.resource.stored.schema);
  });
});

describe('autoscalers', () => {
  const stored: KubeObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h', namespace: 'team', annotations: { own: 'x' } },
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
      ],
      behavior: { scaleDown: { selectPolicy: 'Min' } },
    },
    status: { desiredReplicas: 3, currentReplicas: 2, currentMetrics: null },
  };

  test('of version 1 say CPU by a number, the rest in annotations, and lose nothing', () => {
    const shown = autoscalerV1.fromStored(stored);
    expect(shown.spec).toMatchObject({ targetCPUUtilizationPercentage: 50 });
    expect(shown.status).toEqual({ desiredReplicas: 3, currentReplicas: 2 });
    expect(Object.keys(shown.metadata.annotations ?? {})).toEqual([
      'own',
      'autoscaling.alpha.kubernetes.io/metrics',
      'autoscaling.alpha.kubernetes.io/behavior',
    ]);
    expect(autoscalerV1.toStored(shown)).toEqual(stored);
  });

  test('with annotations that are no JSON are accepted as if they had none', () => {
    const odd = { ...stored.metadata, annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{' } };
    const spec = { maxReplicas: 1, scaleTargetRef: {}, targetCPUUtilizationPercentage: 10 };
    const made = autoscalerV1.toStored({ ...stored, apiVersion: 'autoscaling/v1', metadata: odd, spec });
    expect(made.spec).toMatchObject({ metrics: [{ resource: { name: 'cpu' } }] });
  });

  test('written in one version are read in the other', async () => {
    const cluster = testCluster();
    const put = (object: KubeObject) => create(cluster, placeOf(cluster, object, 'team'), object, someone);
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    const spec = {
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 40,
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    };
    const written = await put({ apiVersion: 'autoscaling/v1', kind: stored.kind, metadata: { name: 'h' }, spec });
    const found = cluster.registry.find('autoscaling', 'v2', 'horizontalpodautoscalers')!;
    expect(objectIn(found.resource, found.version, written.stored).spec).toMatchObject({
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 40 } } }],
    });
  });
});
