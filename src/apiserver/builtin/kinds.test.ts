// Traits of the built-in kinds as on a real server, and small decisions that need no server.
import { describe, expect, test } from 'vitest';
import { builtinKinds } from '../../api/builtin/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { behaviourFor } from './behaviours.ts';
import { bootstrapObjects } from './bootstrap.ts';
import { placeOf, someone, testCluster } from './cluster.testing.ts';
import { cronScheduleError } from './cron-schedule.ts';
import { cidr, isIpv6 } from './field-checks.ts';
import { builtinResources } from './registry.ts';

const withTrait = (trait: 'countsGeneration' | 'createOnUpdate' | 'returnsDeleted' | 'unconditionalUpdate') =>
  builtinKinds
    .filter(({ verbs }) => verbs.includes('update'))
    .filter(({ group, kind }) => behaviourFor(group, kind)[trait])
    .map(({ kind }) => kind)
    .sort();

test('ConfigMaps and their like have no generation', () => {
  for (const kind of [
    'ConfigMap',
    'Secret',
    'ServiceAccount',
    'Namespace',
    'Node',
    'Event',
    'Lease',
    'Role',
    'Endpoints',
  ]) {
    expect(withTrait('countsGeneration')).not.toContain(kind);
  }
  expect(withTrait('countsGeneration')).toEqual(
    expect.arrayContaining(['Deployment', 'Pod', 'Job', 'Ingress', 'PodDisruptionBudget', 'PriorityClass']),
  );
});

test('a PUT creates what is not there for these kinds only', () => {
  expect(withTrait('createOnUpdate')).toEqual([
    'ClusterRole',
    'ClusterRoleBinding',
    'Endpoints',
    'Event',
    'Event',
    'Lease',
    'LimitRange',
    'Role',
    'RoleBinding',
    'RuntimeClass',
    'Service',
  ]);
});

test('a DELETE answers with the object for these kinds only', () => {
  expect(withTrait('returnsDeleted')).toEqual([
    'CSIDriver',
    'CSINode',
    'DeviceClass',
    'Namespace',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ResourceClaim',
    'ResourceClaimTemplate',
    'ResourceQuota',
    'ResourceSlice',
    'Service',
    'ServiceAccount',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttributesClass',
  ]);
});

test('all built-in resources are one value, and what is asked of them twice is made once', () => {
  expect(builtinResources()).toBe(builtinResources());
  const [first] = builtinResources();
  expect(first?.stored.structure).toBe(first?.stored.structure);
});

describe('namespaces that a cluster needs', () => {
  test.each(['default', 'kube-system', 'kube-public'])('%s cannot be deleted', async (name) => {
    const cluster = testCluster();
    const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await create(cluster, placeOf(cluster, object), object, someone);
    const refused = remove(cluster, placeOf(cluster, object), {}, someone);
    await expect(refused).rejects.toThrow(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
    await expect(refused).rejects.toBeInstanceOf(ApiError);
  });

  test('kube-node-lease can', async () => {
    const cluster = testCluster();
    const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-node-lease' } };
    await create(cluster, placeOf(cluster, object), object, someone);
    await remove(cluster, placeOf(cluster, object), {}, someone);
    expect(cluster.store.get('/namespaces//kube-node-lease')?.object().status).toEqual({ phase: 'Terminating' });
  });
});

describe('what a cluster begins with', () => {
  test('is served, named once, and already in the shape in which it would be stored', () => {
    const { registry } = testCluster();
    const names = new Set<string>();
    for (const object of bootstrapObjects()) {
      const found = registry.findKind(object.apiVersion.split('/').slice(0, -1).join('/'), object.kind);
      expect(found, object.kind).toBeDefined();
      names.add(`${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`);
      const draft = structuredClone(object) as Parameters<NonNullable<ReturnType<typeof behaviourFor>['default']>>[0];
      found?.resource.behaviour.default?.(draft);
      expect(draft).toEqual(object);
    }
    expect(names.size).toBe(bootstrapObjects().length);
    expect(bootstrapObjects()).toBe(bootstrapObjects());
  });
});

describe('cron schedules', () => {
  test.each([
    ['*/5 * * * *', undefined],
    ['0 0 1 JAN sun-tue', undefined],
    ['@daily', undefined],
    ['@every 1h30m', undefined],
    ['1-5/2,7 * ? * *', undefined],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['* * *', 'expected exactly 5 fields, found 3: [* * *]'],
    ['@sometimes', 'unrecognized descriptor: @sometimes'],
    ['TZ=UTC 0 0 * * *', 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
  ])('%s', (schedule, error) => {
    expect(cronScheduleError(schedule, false)).toBe(error);
  });
});

describe('addresses', () => {
  test.each([
    ['::', true],
    ['::1', true],
    ['2001:db8::ffff', true],
    ['1:2:3:4:5:6:7:8', true],
    ['::ffff:10.0.0.1', true],
    ['1:2:3:4:5:6:7', false],
    ['1::2::3', false],
    ['12345::', false],
    ['1:2:3:4:5:6:7:8::', false],
    ['10.0.0.1', false],
  ])('%s', (text, expected) => {
    expect(isIpv6(text)).toBe(expected);
  });

  test.each([
    ['10.0.0.0/8', true],
    ['2001:db8::/64', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0', false],
    ['/8', false],
  ])('range %s', (text, expected) => {
    expect(cidr('f', text).length === 0).toBe(expected);
  });
});
