import { describe, expect, test } from 'vitest';
import type { DaemonSet, Deployment, JobStatus, StatefulSet } from '../../../api/builtin/shapes.ts';
import {
  aDeployment,
  aPretendCluster,
  aTemplate,
  NAMESPACE,
  type PretendCluster,
  withImage,
} from '../cluster.testing.ts';
import { conditionOf } from '../reading.ts';
import { playRollout } from './rollout-time.ts';

/** The conditions that a member agent checks. */
const isAvailable = {
  deployments({ metadata, spec, status }: Deployment): boolean {
    const wanted = spec?.replicas ?? 1;
    return (
      status?.observedGeneration === metadata.generation &&
      (status?.availableReplicas ?? 0) === wanted &&
      (status?.updatedReplicas ?? 0) === wanted &&
      (status?.unavailableReplicas ?? 0) === 0
    );
  },
  statefulsets({ metadata, spec, status }: StatefulSet): boolean {
    return (
      status?.observedGeneration === metadata.generation &&
      status?.availableReplicas === spec?.replicas &&
      status?.currentReplicas === status?.updatedReplicas &&
      status?.currentRevision === status?.updateRevision
    );
  },
  daemonsets({ metadata, status }: DaemonSet): boolean {
    return (
      status?.observedGeneration === metadata.generation &&
      (status?.numberAvailable ?? 0) === status?.desiredNumberScheduled &&
      status?.currentNumberScheduled === (status?.updatedNumberScheduled ?? 0)
    );
  },
} as const;

type Plural = keyof typeof isAvailable;

/** Seconds until it is available after each change. */
async function history(statusOnly: boolean, plural: Plural, object: object, changes: readonly object[], profile = {}) {
  await using world = await aPretendCluster({ statusOnly, profile });
  const name = (object as { metadata: { name: string } }).metadata.name;
  await world.cluster.create(plural, NAMESPACE, object);
  const times = [await untilAvailable(world, plural, name)];
  for (const change of changes) {
    await world.patch(plural, name, change);
    times.push(await untilAvailable(world, plural, name));
    // Old Pods finish their grace period before the next change, as in a quiet cluster.
    await world.pass(2000, 500);
  }
  return { times, pods: (await world.list('pods')).length, object: await world.cluster.get(plural, NAMESPACE, name) };
}

async function untilAvailable(world: PretendCluster, plural: Plural, name: string): Promise<number | undefined> {
  await world.settles();
  for (let halves = 0; halves < 200; halves++) {
    const object = await world.cluster.get(plural, NAMESPACE, name);
    if (isAvailable[plural](object as never)) return halves / 2;
    await world.pass(500);
  }
  return undefined;
}

const statefulSet = (spec: object = {}) => ({
  metadata: { name: 'db' },
  spec: {
    replicas: 3,
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: aTemplate('db', 'db:1'),
    ...spec,
  },
});
const daemonSet = {
  metadata: { name: 'agent' },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: aTemplate('agent', 'agent:1') },
};
const rolling = (maxSurge: number, maxUnavailable: number) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

describe('without Pods a workload becomes available when it would with them', () => {
  test.each<{ it: string; plural: Plural; object: object; changes: readonly object[]; profile?: object }>([
    {
      it: 'a Deployment, updated and scaled',
      plural: 'deployments',
      object: aDeployment(3),
      changes: [withImage('web:2'), { spec: { replicas: 6 } }, { spec: { replicas: 2 } }],
    },
    {
      it: 'one with a larger budget',
      plural: 'deployments',
      object: aDeployment(10, rolling(3, 2)),
      changes: [withImage('web:2'), withImage('web:3')],
    },
    {
      it: 'one without surge',
      plural: 'deployments',
      object: aDeployment(4, rolling(0, 1)),
      changes: [withImage('web:2')],
    },
    {
      it: 'one of none',
      plural: 'deployments',
      object: aDeployment(0),
      changes: [{ spec: { replicas: 2 } }, { spec: { replicas: 0 } }],
    },
    {
      it: 'one that must be ready for a while',
      plural: 'deployments',
      object: aDeployment(2, { minReadySeconds: 5 }),
      changes: [withImage('web:2')],
    },
    {
      it: 'one on a slow cluster',
      plural: 'deployments',
      object: aDeployment(2),
      changes: [withImage('web:2')],
      profile: { slowness: 3 },
    },
    {
      it: 'one that is recreated',
      plural: 'deployments',
      object: aDeployment(2, { strategy: { type: 'Recreate' } }),
      changes: [withImage('web:2')],
    },
    {
      it: 'one without delays',
      plural: 'deployments',
      object: aDeployment(3),
      changes: [withImage('web:2')],
      profile: { pullMs: 0, readyMs: 0 },
    },
    {
      it: 'a StatefulSet',
      plural: 'statefulsets',
      object: statefulSet(),
      changes: [withImage('db:2'), { spec: { replicas: 5 } }],
    },
    {
      it: 'a parallel one',
      plural: 'statefulsets',
      object: statefulSet({ podManagementPolicy: 'Parallel' }),
      changes: [withImage('db:2')],
    },
    { it: 'a DaemonSet', plural: 'daemonsets', object: daemonSet, changes: [withImage('agent:2')] },
  ])('$it', async ({ plural, object, changes, profile }) => {
    const without = await history(true, plural, object, changes, profile);
    const having = await history(false, plural, object, changes, profile);
    expect(without.times).toEqual(having.times);
    expect(without.times).not.toContain(undefined);
    expect(without.pods).toBe(0);
    const { conditions: _a, collisionCount: _b, ...status } = (without.object.status ?? {}) as Record<string, unknown>;
    expect(having.object.status).toMatchObject(
      Object.fromEntries(
        Object.entries(status).filter(([, value]) => typeof value === 'number' || typeof value === 'boolean'),
      ),
    );
  });
});

describe('a Deployment without Pods', () => {
  test('is written twice per change, once when nothing takes time, and never when it is idle', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    world.count.clear();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.pass(5000);
    expect(Object.fromEntries(world.count)).toEqual({ 'patch deployments/status': 2 });
    await world.patch('deployments', 'web', withImage('web:2'));
    await world.pass(20_000);
    expect(Object.fromEntries(world.count)).toEqual({ 'patch deployments/status': 4 });
    await world.patch('deployments', 'web', { metadata: { labels: { a: 'b' } } });
    await world.restart();
    await world.pass(250_000, 10_000);
    expect(Object.fromEntries(world.count)).toEqual({ 'patch deployments/status': 4 });
    expect((await world.cluster.get('deployments', NAMESPACE, 'web')).metadata.annotations).toEqual({
      'deployment.kubernetes.io/revision': '2',
    });
  });

  test('with a bad image keeps its old Pods, reports one new one, and misses its deadline; a good image cures it', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3, { progressDeadlineSeconds: 30 }));
    await world.pass(5000);
    await world.patch('deployments', 'web', withImage('web:bad'));
    await world.pass(25_000, 1000);
    const stuck = (await world.cluster.get('deployments', NAMESPACE, 'web')) as Deployment;
    expect(stuck.status).toMatchObject({
      replicas: 4,
      updatedReplicas: 1,
      availableReplicas: 3,
      unavailableReplicas: 1,
    });
    expect(conditionOf(stuck.status?.conditions, 'Progressing')?.reason).toBe('ReplicaSetUpdated');
    await world.pass(10_000, 1000);
    const late = (await world.cluster.get('deployments', NAMESPACE, 'web')) as Deployment;
    expect(late.status).toMatchObject({ replicas: 4, updatedReplicas: 1, availableReplicas: 3 });
    expect(conditionOf(late.status?.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
    });
    expect(conditionOf(late.status?.conditions, 'Available')?.status).toBe('True');
    await world.patch('deployments', 'web', withImage('web:3'));
    await world.pass(20_000, 1000);
    expect(isAvailable.deployments((await world.cluster.get('deployments', NAMESPACE, 'web')) as Deployment)).toBe(
      true,
    );
  });

  test('continues after a restart in the middle', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.pass(5000);
    await world.patch('deployments', 'web', withImage('web:2'));
    await world.pass(2000);
    await world.restart();
    expect(await untilAvailable(world, 'deployments', 'web')).toBe(4);
  });

  test('waits while it is paused', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(5000);
    await world.patch('deployments', 'web', { spec: { paused: true } });
    await world.patch('deployments', 'web', withImage('web:2'));
    await world.pass(20_000, 1000);
    expect((await world.cluster.get('deployments', NAMESPACE, 'web')).status).toMatchObject({
      replicas: 2,
      availableReplicas: 2,
    });
    expect(isAvailable.deployments((await world.cluster.get('deployments', NAMESPACE, 'web')) as Deployment)).toBe(
      false,
    );
    await world.patch('deployments', 'web', { spec: { paused: false } });
    await world.pass(20_000, 1000);
    expect(isAvailable.deployments((await world.cluster.get('deployments', NAMESPACE, 'web')) as Deployment)).toBe(
      true,
    );
  });
});

describe('other workloads without Pods', () => {
  const job = (spec: object, image = 'task:1') => ({
    metadata: { name: 'sum' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } }, ...spec },
  });

  test('a Job completes, in two writes', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    world.count.clear();
    await world.cluster.create('jobs', NAMESPACE, job({ completions: 4, parallelism: 2 }));
    await world.pass(7000, 500);
    expect((await world.cluster.get('jobs', NAMESPACE, 'sum')).status).toMatchObject({ active: 2 });
    await world.pass(2000, 500);
    const status = (await world.cluster.get('jobs', NAMESPACE, 'sum')).status as JobStatus;
    expect(status).toMatchObject({ succeeded: 4 });
    expect(conditionOf(status.conditions, 'Complete')?.status).toBe('True');
    expect(Object.fromEntries(world.count)).toEqual({ 'patch jobs/status': 2 });
  });

  test('a Job that crashes fails', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('jobs', NAMESPACE, job({ backoffLimit: 1 }, 'task:crash'));
    await world.pass(15_000, 1000);
    const status = (await world.cluster.get('jobs', NAMESPACE, 'sum')).status as JobStatus;
    expect(status.failed).toBe(2);
    expect(conditionOf(status.conditions, 'Failed')?.reason).toBe('BackoffLimitExceeded');
  });

  test('a PodDisruptionBudget counts what workloads report', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('poddisruptionbudgets', NAMESPACE, {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.pass(1000);
    expect((await world.cluster.get('poddisruptionbudgets', NAMESPACE, 'web')).status).toMatchObject({
      disruptionsAllowed: 0,
      desiredHealthy: 2,
      conditions: [{ reason: 'InsufficientPods' }],
    });
    await world.pass(2000);
    expect((await world.cluster.get('poddisruptionbudgets', NAMESPACE, 'web')).status).toMatchObject({
      disruptionsAllowed: 1,
      currentHealthy: 3,
      conditions: [{ reason: 'SufficientPods' }],
    });
  });

  test('a DaemonSet follows the nodes', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await world.cluster.create('daemonsets', NAMESPACE, daemonSet);
    await world.pass(3000);
    await world.cluster.create('nodes', undefined, {
      metadata: { name: 'extra', labels: { 'flotilla.dev/pretend': 'added' } },
    });
    await world.pass(3000);
    expect((await world.cluster.get('daemonsets', NAMESPACE, 'agent')).status).toMatchObject({
      desiredNumberScheduled: 3,
      numberAvailable: 3,
    });
  });
});

describe('a rollout played through', () => {
  test.each([
    {
      it: 'three one by one',
      start: { replicas: 3, budget: { surge: 1, unavailable: 0 }, older: 3, newest: 0 },
      first: { older: 3, newest: 1, available: 3 },
      durationMs: 3000,
    },
    {
      it: 'all at once',
      start: { replicas: 3, budget: { surge: 3, unavailable: 0 }, older: 3, newest: 0 },
      first: { older: 3, newest: 3, available: 3 },
      durationMs: 1000,
    },
    {
      it: 'nothing to do',
      start: { replicas: 3, budget: { surge: 1, unavailable: 0 }, older: 0, newest: 3 },
      first: { older: 0, newest: 3, available: 3 },
      durationMs: 0,
    },
    {
      it: 'down to none',
      start: { replicas: 0, budget: { surge: 0, unavailable: 0 }, older: 2, newest: 3 },
      first: { older: 0, newest: 0, available: 0 },
      durationMs: 0,
    },
    {
      it: 'a budget of two',
      start: { replicas: 4, budget: { surge: 0, unavailable: 2 }, older: 4, newest: 0 },
      first: { older: 2, newest: 2, available: 2 },
      durationMs: 2000,
    },
  ])('$it', ({ start, first, durationMs }) => {
    expect(playRollout({ ...start, availableAfterMs: () => 1000 })).toEqual({ first, durationMs });
  });

  test('that can never end says so', () => {
    const played = playRollout({
      replicas: 3,
      budget: { surge: 1, unavailable: 0 },
      older: 3,
      newest: 0,
      availableAfterMs: () => Number.POSITIVE_INFINITY,
    });
    expect(played).toEqual({ first: { older: 3, newest: 1, available: 3 }, durationMs: Number.POSITIVE_INFINITY });
  });
});
