import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { mutableCopy } from '../../base/json.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { placeOf, someone, testCluster } from './cluster.testing.ts';
import type { PodSpec } from './drafts.ts';
import { pod, qosClassOf } from './pod.ts';
import { pullPolicyOf } from './pod-spec.ts';

const aPod = (spec: PodSpec, phase = 'Pending'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'team' },
  spec,
  status: { phase },
});

describe('the deletion of a Pod waits', () => {
  test.each([
    {
      it: 'not at all while nobody runs it',
      of: aPod({ terminationGracePeriodSeconds: 30 }),
      asked: undefined,
      seconds: 0,
    },
    {
      it: 'as long as its spec says',
      of: aPod({ nodeName: 'n', terminationGracePeriodSeconds: 30 }),
      asked: undefined,
      seconds: 30,
    },
    {
      it: 'as long as was asked',
      of: aPod({ nodeName: 'n', terminationGracePeriodSeconds: 30 }),
      asked: 5,
      seconds: 5,
    },
    {
      it: 'not at all if that was asked',
      of: aPod({ nodeName: 'n', terminationGracePeriodSeconds: 30 }),
      asked: 0,
      seconds: 0,
    },
    {
      it: 'not at all after it has ended',
      of: aPod({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Succeeded'),
      asked: undefined,
      seconds: 0,
    },
    {
      it: 'a second if the number makes no sense',
      of: aPod({ nodeName: 'n', terminationGracePeriodSeconds: -5 }),
      asked: undefined,
      seconds: 1,
    },
  ])('$it', ({ of, asked, seconds }) => {
    expect(pod.graceSeconds?.(of, asked)).toBe(seconds);
  });

  test('a bound Pod stays, terminating, until it is deleted with grace 0', async () => {
    const cluster = testCluster();
    const put = (object: KubeObject) => create(cluster, placeOf(cluster, object, 'team'), mutableCopy(object), someone);
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
    await put(aPod({ nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }));
    const at = placeOf(cluster, aPod({}));
    await remove(cluster, at, {}, someone);
    const waiting = cluster.store.get('/pods/team/p')?.object();
    expect(waiting?.metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: '2025-01-01T00:00:30Z',
    });
    await remove(cluster, at, { graceSeconds: 0 }, someone);
    expect(cluster.store.get('/pods/team/p')).toBeUndefined();
  });
});

describe('the class of service', () => {
  const all = { cpu: '1', memory: '1Gi' };
  test.each([
    { it: 'BestEffort' as const, containers: [{}] },
    { it: 'BestEffort' as const, containers: [{ requests: { cpu: '0' } }] },
    { it: 'Burstable' as const, containers: [{ requests: { cpu: '1' } }] },
    { it: 'Burstable' as const, containers: [{ limits: all, requests: { cpu: '1', memory: '512Mi' } }] },
    { it: 'Burstable' as const, containers: [{ limits: all, requests: all }, {}] },
    { it: 'Guaranteed' as const, containers: [{ limits: all, requests: { cpu: '1000m', memory: '1024Mi' } }] },
  ])('$it for $containers', ({ it, containers }) => {
    expect(qosClassOf({ containers: containers.map((resources) => ({ resources })) })).toBe(it);
  });
});

describe('an image is pulled', () => {
  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.27', 'IfNotPresent'],
    ['host:5000/nginx', 'Always'],
    ['host:5000/nginx:1', 'IfNotPresent'],
    ['a/b/c@sha256:0123', 'IfNotPresent'],
    ['a:latest@sha256:0123', 'Always'],
    ['Not An Image', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ])('%s %s', (image, policy) => {
    expect(pullPolicyOf(image)).toBe(policy);
  });
});

describe('admission of a Pod', () => {
  async function admitted(spec: PodSpec, account: object = {}, others: readonly KubeObject[] = []): Promise<PodSpec> {
    const cluster = testCluster();
    const put = (object: KubeObject) => create(cluster, placeOf(cluster, object, 'team'), mutableCopy(object), someone);
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' }, ...account });
    for (const other of others) await put(other);
    const containers = [{ name: 'c', image: 'i' }];
    return (await put(aPod({ containers, ...spec }))).stored.object().spec as PodSpec;
  }

  test('takes pull secrets from the account unless the Pod has its own', async () => {
    const account = { imagePullSecrets: [{ name: 'of-account' }] };
    expect((await admitted({}, account)).imagePullSecrets).toEqual([{ name: 'of-account' }]);
    const own = await admitted({ imagePullSecrets: [{ name: 'own' }] }, account);
    expect(own.imagePullSecrets).toEqual([{ name: 'own' }]);
  });

  test('mounts no token if the account does not want it, but for a Pod that does', async () => {
    const account = { automountServiceAccountToken: false };
    expect((await admitted({}, account)).volumes).toBeUndefined();
    expect((await admitted({ automountServiceAccountToken: true }, account)).volumes).toHaveLength(1);
  });

  test('leaves a container alone that mounts something there itself', async () => {
    const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
    const spec = await admitted({
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath }] }],
    });
    expect(spec.volumes).toEqual([{ name: 'v', emptyDir: {} }]);
  });

  test('gives the priority of the class that is the default for all', async () => {
    const priorityClass = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'usual' },
      value: 7,
      globalDefault: true,
      preemptionPolicy: 'Never',
    };
    const spec = await admitted({}, {}, [priorityClass]);
    expect(spec).toMatchObject({ priorityClassName: 'usual', priority: 7, preemptionPolicy: 'Never' });
  });

  test('adds no toleration where the Pod tolerates everything', async () => {
    expect((await admitted({ tolerations: [{ operator: 'Exists' }] })).tolerations).toEqual([{ operator: 'Exists' }]);
  });
});
