import { describe, expect, test } from 'vitest';
import type { DaemonSetStatus, DeploymentStatus, JobStatus, Pod, StatefulSetStatus } from '../../api/builtin/shapes.ts';
import type { KubeObject } from '../../api/object.ts';
import {
  aDeployment,
  aPretendCluster,
  aTemplate,
  NAMESPACE,
  type PretendCluster,
  withImage,
} from './cluster.testing.ts';
import { conditionOf } from './reading.ts';
import { someNodes } from './rules/node.ts';

const statusOf = async <T>(world: PretendCluster, plural: string, name: string): Promise<T> =>
  (await world.cluster.get(plural, NAMESPACE, name)).status as T;
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);
const podsOf = async (world: PretendCluster) => (await world.list('pods')) as readonly Pod[];
const waitingReason = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
const reasonOf = (status: DeploymentStatus, type: string) => conditionOf(status.conditions, type)?.reason;
const total = (count: ReadonlyMap<string, number>) => [...count.values()].reduce((sum, each) => sum + each, 0);

describe('a Deployment', () => {
  test('becomes available after its image is pulled and it is ready, in exactly so many writes', async () => {
    await using world = await aPretendCluster();
    world.count.clear();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.settles();
    expect((await podsOf(world)).map(waitingReason)).toEqual([
      'ContainerCreating',
      'ContainerCreating',
      'ContainerCreating',
    ]);
    await world.pass(1000);
    expect((await podsOf(world)).map((pod) => pod.status?.phase)).toEqual(['Running', 'Running', 'Running']);
    expect((await statusOf<DeploymentStatus>(world, 'deployments', 'web')).availableReplicas).toBeUndefined();
    await world.pass(1000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
    expect(Object.fromEntries(world.count)).toEqual({
      'create events': 1 + 3 + 3 * 5, // scaled; per Pod: created, bound, pulling, pulled, container created, started
      'create replicasets': 1,
      'patch replicasets/status': 2, // three Pods exist; three are available
      'patch deployments/status': 3, // started; progressing; complete
      'create pods': 3,
      'create pods/binding': 3,
      'patch pods/status': 9, // each: creating, running, ready
    });
  });

  test('without delays is available at once, and its Pods are reported once', async () => {
    await using world = await aPretendCluster({ profile: { pullMs: 0, readyMs: 0 } });
    world.count.clear();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(1));
    await world.settles();
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ availableReplicas: 1 });
    expect(Object.fromEntries(world.count)).toMatchObject({
      'create pods': 1,
      'create pods/binding': 1,
      'patch pods/status': 1,
    });
  });

  test('rolls to a new image one by one, in exactly so many writes, and then writes nothing', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.pass(3000);
    world.count.clear();
    await world.patch('deployments', 'web', withImage('web:2'));
    await world.pass(12_000);
    const status = await statusOf<DeploymentStatus>(world, 'deployments', 'web');
    expect(status).toMatchObject({ observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 });
    expect(reasonOf(status, 'Progressing')).toBe('NewReplicaSetAvailable');
    expect((await podsOf(world)).map((pod) => pod.spec?.containers[0]?.image)).toEqual(['web:2', 'web:2', 'web:2']);
    expect(Object.fromEntries(world.count)).toEqual({
      'create events': 6 + 3 * 6 + 3 * 2, // six sizes; three Pods are created, three are deleted and end
      'create replicasets': 1,
      'patch replicasets': 5, // the new one grows twice, the old one shrinks three times
      'patch replicasets/status': 9,
      'patch deployments/status': 10,
      'create pods': 3,
      'create pods/binding': 3,
      'patch pods/status': 9,
      'delete pods': 6, // each of three: deletion requested, deleted
    });
    world.count.clear();
    await world.pass(120_000, 10_000);
    expect(Object.fromEntries(world.count)).toEqual({});
  });

  test('with a bad image hangs: old Pods stay, the new one waits for its image, the deadline passes', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3, { progressDeadlineSeconds: 60 }));
    await world.pass(3000);
    await world.patch('deployments', 'web', withImage('registry:5000/team/web:v2-bad'));
    await world.pass(5000);
    const hanging = await statusOf<DeploymentStatus>(world, 'deployments', 'web');
    expect(hanging).toMatchObject({ replicas: 4, updatedReplicas: 1, availableReplicas: 3, unavailableReplicas: 1 });
    expect((await podsOf(world)).map(waitingReason).filter(Boolean)).toEqual(['ImagePullBackOff']);
    await world.pass(50_000, 1000);
    expect(reasonOf(await statusOf(world, 'deployments', 'web'), 'Progressing')).toBe('ReplicaSetUpdated');
    await world.pass(12_000, 1000);
    const late = await statusOf<DeploymentStatus>(world, 'deployments', 'web');
    expect(conditionOf(late.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
    });
    await world.patch('deployments', 'web', withImage('web:3'));
    await world.pass(15_000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
    });
  });

  test('is scaled up and down', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(3000);
    await world.patch('deployments', 'web', { spec: { replicas: 6 } });
    await world.pass(3000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ availableReplicas: 6 });
    await world.patch('deployments', 'web', { spec: { replicas: 1 } });
    await world.pass(3000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ replicas: 1, availableReplicas: 1 });
    expect(await podsOf(world)).toHaveLength(1);
  });

  test('replaces a Pod that is deleted', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(3000);
    const [first] = names(await podsOf(world));
    await world.remove('pods', first ?? '');
    await world.pass(4000);
    expect(names(await podsOf(world))).toHaveLength(2);
    expect(names(await podsOf(world))).not.toContain(first);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ availableReplicas: 2 });
  });

  test('that crashes is started again after 10, 20, 40 … seconds and is never available', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(1, {}, 'web:crash'));
    await world.pass(2000);
    const restarts = async () => (await podsOf(world))[0]?.status?.containerStatuses?.[0]?.restartCount;
    expect(waitingReason((await podsOf(world))[0])).toBe('CrashLoopBackOff');
    expect(await restarts()).toBe(1);
    await world.pass(10_000, 1000);
    expect(await restarts()).toBe(2);
    await world.pass(18_000, 1000);
    expect(await restarts()).toBe(2);
    await world.pass(2000, 1000);
    expect(await restarts()).toBe(3);
    expect((await statusOf<DeploymentStatus>(world, 'deployments', 'web')).availableReplicas).toBeUndefined();
  });

  test('takes everything with it when it is deleted, and one of the same name starts afresh', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(3000);
    await world.remove('deployments', 'web');
    await world.settles();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(10_000);
    expect(await podsOf(world)).toHaveLength(2);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ replicas: 2, availableReplicas: 2 });
    await world.remove('deployments', 'web');
    await world.pass(10_000);
    expect(await podsOf(world)).toEqual([]);
    expect(await world.list('replicasets')).toEqual([]);
  });

  test('continues after a restart in the middle of a rollout', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(4));
    await world.pass(3000);
    await world.patch('deployments', 'web', withImage('web:2'));
    for (let i = 0; i < 12; i++) {
      await world.pass(500);
      await world.restart();
    }
    await world.pass(10_000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({
      replicas: 4,
      updatedReplicas: 4,
      availableReplicas: 4,
    });
  });

  test('gives way to a ReplicaSet of somebody else that has its name', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('deployments', NAMESPACE, aDeployment(1));
    await world.pass(3000);
    const [set] = await world.list('replicasets');
    await world.remove('deployments', 'web');
    await world.pass(5000);
    await world.cluster.create('replicasets', NAMESPACE, {
      metadata: { name: set?.metadata.name, labels: { app: 'other' } },
      spec: { replicas: 0, selector: { matchLabels: { app: 'other' } }, template: aTemplate('other', 'other:1') },
    });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(1));
    await world.pass(3000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ collisionCount: 1, availableReplicas: 1 });
    expect((await world.cluster.get('replicasets', NAMESPACE, set?.metadata.name ?? '')).metadata.labels).toEqual({
      app: 'other',
    });
  });
});

describe('a StatefulSet', () => {
  const set = {
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: aTemplate('db', 'db:1'),
    },
  };

  test('starts its Pods in order, each when the one before is ready, and updates them from the last', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('statefulsets', NAMESPACE, set);
    await world.pass(1500);
    expect(names(await podsOf(world))).toEqual(['db-0']);
    await world.pass(2000);
    expect(names(await podsOf(world))).toEqual(['db-0', 'db-1']);
    await world.pass(4000);
    expect(await statusOf(world, 'statefulsets', 'db')).toMatchObject({
      replicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
    });
    await world.patch('statefulsets', 'db', withImage('db:2'));
    const order: string[] = [];
    for (let i = 0; i < 60; i++) {
      await world.pass(250);
      for (const pod of await podsOf(world)) {
        const isNew = pod.spec?.containers[0]?.image === 'db:2' && pod.metadata.deletionTimestamp === undefined;
        if (isNew && !order.includes(pod.metadata.name ?? '')) order.push(pod.metadata.name ?? '');
      }
    }
    expect(order).toEqual(['db-2', 'db-1', 'db-0']);
    const status = await statusOf<StatefulSetStatus>(world, 'statefulsets', 'db');
    expect(status).toMatchObject({ availableReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
    expect(status.currentRevision).toBe(status.updateRevision);
  });
});

describe('a DaemonSet', () => {
  test('has a Pod on every node, also on one that comes later, and none on one that is gone', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('daemonsets', NAMESPACE, {
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: { app: 'agent' } }, template: aTemplate('agent', 'agent:1') },
    });
    await world.pass(3000);
    expect(await statusOf(world, 'daemonsets', 'agent')).toMatchObject({
      desiredNumberScheduled: 2,
      numberAvailable: 2,
    });
    await world.cluster.create('nodes', undefined, {
      metadata: { name: 'extra', labels: { 'flotilla.dev/pretend': 'added' } },
    });
    await world.pass(3000);
    expect(await statusOf(world, 'daemonsets', 'agent')).toMatchObject({
      desiredNumberScheduled: 3,
      numberAvailable: 3,
    });
    expect((await podsOf(world)).map((pod) => pod.spec?.nodeName).toSorted()).toEqual([
      'extra',
      'test-node-1',
      'test-node-2',
    ]);
    await world.remove('nodes', 'extra');
    await world.pass(3000);
    expect(await statusOf<DaemonSetStatus>(world, 'daemonsets', 'agent')).toMatchObject({ desiredNumberScheduled: 2 });
    expect(await podsOf(world)).toHaveLength(2);
  });
});

describe('a Job', () => {
  const job = (name: string, spec: object, image = 'task:1') => ({
    metadata: { name },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } }, ...spec },
  });

  test('completes after its Pods have run', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('jobs', NAMESPACE, job('sum', { completions: 4, parallelism: 2 }));
    await world.pass(2000);
    expect(await statusOf(world, 'jobs', 'sum')).toMatchObject({ active: 2, ready: 2 });
    await world.pass(8000);
    const status = await statusOf<JobStatus>(world, 'jobs', 'sum');
    expect(status).toMatchObject({ succeeded: 4, ready: 0 });
    expect(conditionOf(status.conditions, 'Complete')?.status).toBe('True');
    expect((await podsOf(world)).map((pod) => pod.status?.phase)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
  });

  test('that crashes is tried again, later each time, and fails', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('jobs', NAMESPACE, job('sum', { backoffLimit: 1 }, 'task:crash'));
    await world.pass(9000);
    expect(await statusOf(world, 'jobs', 'sum')).toMatchObject({ failed: 1 });
    await world.pass(5000);
    const status = await statusOf<JobStatus>(world, 'jobs', 'sum');
    expect(status.failed).toBe(2);
    expect(conditionOf(status.conditions, 'Failed')?.reason).toBe('BackoffLimitExceeded');
  });
});

describe('a PodDisruptionBudget', () => {
  test('allows what is healthy beyond its minimum', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('poddisruptionbudgets', NAMESPACE, {
      metadata: { name: 'web' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(3));
    await world.pass(1500);
    expect(await statusOf(world, 'poddisruptionbudgets', 'web')).toMatchObject({
      disruptionsAllowed: 0,
      expectedPods: 3,
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    await world.pass(1500);
    expect(await statusOf(world, 'poddisruptionbudgets', 'web')).toMatchObject({
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    });
  });
});

describe('a Service', () => {
  const ports = [{ port: 80 }];

  test('of type LoadBalancer gets an address and keeps it; of another type it gets none', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('services', NAMESPACE, {
      metadata: { name: 'web' },
      spec: { type: 'LoadBalancer', ports },
    });
    await world.cluster.create('services', NAMESPACE, { metadata: { name: 'inner' }, spec: { ports } });
    await world.settles();
    const status = await statusOf(world, 'services', 'web');
    expect(status).toEqual({
      loadBalancer: { ingress: [{ ip: expect.stringMatching(/^198\.19\.\d+\.\d+$/), ipMode: 'VIP' }] },
    });
    expect(await statusOf(world, 'services', 'inner')).toEqual({ loadBalancer: {} });
    await world.restart();
    expect(await statusOf(world, 'services', 'web')).toEqual(status);
    await world.patch('services', 'web', { spec: { type: 'ClusterIP' } });
    await world.settles();
    expect(await statusOf(world, 'services', 'web')).toEqual({ loadBalancer: {} });
  });
});

describe('a ServiceExport', () => {
  const crd = (version: string) => ({
    metadata: { name: 'serviceexports.networking.fleet.azure.com' },
    spec: {
      group: 'networking.fleet.azure.com',
      names: {
        plural: 'serviceexports',
        singular: 'serviceexport',
        kind: 'ServiceExport',
        listKind: 'ServiceExportList',
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });

  test.each([
    { it: 'without weight: valid and without conflict', weight: undefined, valid: 'True', conflict: 'False' },
    { it: 'with weight: likewise', weight: '500', valid: 'True', conflict: 'False' },
    { it: 'with weight 0: valid, nobody asks about conflicts', weight: '0', valid: 'True', conflict: undefined },
    { it: 'with a weight that is none: invalid', weight: '1001', valid: 'False', conflict: undefined },
  ])('$it', async ({ weight, valid, conflict }) => {
    await using world = await aPretendCluster();
    await world.cluster.create('customresourcedefinitions', undefined, crd('v1'));
    await world.settles();
    await world.cluster.create('services', NAMESPACE, { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
    const annotations = weight === undefined ? {} : { 'networking.fleet.azure.com/weight': weight };
    await world.cluster.create('serviceexports', NAMESPACE, { metadata: { name: 'web', annotations } });
    await world.settles();
    const { conditions } = await statusOf<DeploymentStatus>(world, 'serviceexports', 'web');
    expect(conditionOf(conditions, 'Valid')).toMatchObject({ status: valid, observedGeneration: 1 });
    expect(conditionOf(conditions, 'Conflict')?.status).toBe(conflict);
  });

  test('costs nothing while nobody has its CRD, nor after the CRD is gone', async () => {
    await using world = await aPretendCluster();
    await world.pass(600_000, 60_000);
    expect(world.reads.get('list serviceexports')).toBeUndefined();
    await world.cluster.create('customresourcedefinitions', undefined, crd('v1alpha1'));
    await world.settles();
    expect(world.reads.get('list serviceexports')).toBe(1);
    const at = world.cluster.at('customresourcedefinitions', undefined, 'serviceexports.networking.fleet.azure.com');
    await world.cluster.call({ verb: 'delete', at });
    await world.pass(600_000, 60_000);
    expect(world.reads.get('list serviceexports')).toBe(1);
    expect(world.cluster.errors).toEqual([]);
  });
});

describe('a Pod', () => {
  const bare = (spec: object = {}) => ({
    metadata: { name: 'bare' },
    spec: { containers: [{ name: 'main', image: 'a' }], ...spec },
  });

  test('that ignores the signal ends when its grace is over', async () => {
    await using world = await aPretendCluster({ profile: { stopMs: 3_600_000 } });
    await world.cluster.create('pods', NAMESPACE, bare({ terminationGracePeriodSeconds: 30 }));
    await world.pass(3000);
    await world.remove('pods', 'bare');
    await world.pass(29_000, 1000);
    expect(await podsOf(world)).toHaveLength(1);
    await world.pass(1000);
    expect(await podsOf(world)).toEqual([]);
  });

  test('that heeds it ends sooner, and at once when it is forced', async () => {
    await using world = await aPretendCluster({ profile: { stopMs: 2000 } });
    await world.cluster.create('pods', NAMESPACE, bare());
    await world.pass(3000);
    await world.remove('pods', 'bare');
    await world.pass(1500);
    expect(await podsOf(world)).toHaveLength(1);
    await world.pass(1000);
    expect(await podsOf(world)).toEqual([]);
    await world.cluster.create('pods', NAMESPACE, bare());
    await world.pass(3000);
    await world.remove('pods', 'bare', 0);
    expect(await podsOf(world)).toEqual([]);
  });

  test('that fits nowhere waits and says why, until there is room', async () => {
    await using world = await aPretendCluster({ nodes: someNodes('small', 1, { cpu: '2', memory: '1Gi' }) });
    const asks = (cpu: string) => ({ containers: [{ name: 'main', image: 'a', resources: { requests: { cpu } } }] });
    await world.cluster.create('pods', NAMESPACE, { metadata: { name: 'first' }, spec: asks('1500m') });
    await world.cluster.create('pods', NAMESPACE, { metadata: { name: 'second' }, spec: asks('1') });
    await world.pass(3000);
    const second = (await world.cluster.get('pods', NAMESPACE, 'second')) as Pod;
    expect(second.spec?.nodeName).toBeUndefined();
    expect(conditionOf(second.status?.conditions, 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    });
    world.count.clear();
    await world.pass(60_000, 10_000);
    expect(Object.fromEntries(world.count)).toEqual({});
    await world.remove('pods', 'first', 0);
    await world.pass(3000);
    expect(((await world.cluster.get('pods', NAMESPACE, 'second')) as Pod).status?.phase).toBe('Running');
  });

  test('on a node of somebody else is left alone', async () => {
    await using world = await aPretendCluster();
    await world.cluster.create('nodes', undefined, { metadata: { name: 'foreign' } });
    await world.cluster.create('pods', NAMESPACE, bare({ nodeName: 'foreign' }));
    world.count.clear();
    await world.pass(10_000, 1000);
    await world.remove('pods', 'bare');
    await world.pass(60_000, 10_000);
    expect(await podsOf(world)).toHaveLength(1);
    expect(Object.fromEntries(world.count)).toEqual({});
  });

  test('spreads over the nodes', async () => {
    await using world = await aPretendCluster({ nodes: someNodes('test', 3) });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(6));
    await world.settles();
    expect((await podsOf(world)).map((pod) => pod.spec?.nodeName).toSorted()).toEqual([
      'test-node-1',
      'test-node-1',
      'test-node-2',
      'test-node-2',
      'test-node-3',
      'test-node-3',
    ]);
  });
});

describe('Nodes', () => {
  test('are there, ready, without taint, of the size and with the labels they were given', async () => {
    await using world = await aPretendCluster({
      nodes: someNodes('eu', 1, { cpu: '8', memory: '32Gi', region: 'eu-1', labels: { disk: 'ssd' } }),
    });
    const node = (await world.cluster.get('nodes', undefined, 'eu-node-1')) as KubeObject<
      { taints?: unknown },
      { capacity: unknown; conditions: [] }
    >;
    expect(node.spec?.taints).toBeUndefined();
    expect(node.status?.capacity).toEqual({ cpu: '8', memory: '32Gi', pods: '110' });
    expect(conditionOf(node.status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    expect(node.metadata.labels).toMatchObject({
      disk: 'ssd',
      'topology.kubernetes.io/region': 'eu-1',
      'kubernetes.io/hostname': 'eu-node-1',
    });
  });

  test('idle: one Lease write per node and ten seconds, a status every five minutes, nothing else', async () => {
    await using world = await aPretendCluster({ profile: { leaseMs: 10_000 } });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.pass(5000);
    world.count.clear();
    await world.pass(280_000, 1000);
    expect(Object.fromEntries(world.count)).toEqual({ 'patch leases': 2 * 28 });
    await world.pass(20_000, 1000);
    expect(world.count.get('patch nodes/status')).toBe(2);
    expect(total(world.count)).toBe(2 * 30 + 2);
  });

  test('that are no longer configured go, those that somebody added stay', async () => {
    await using before = await aPretendCluster({ nodes: someNodes('test', 3) });
    await before.cluster.create('nodes', undefined, {
      metadata: { name: 'mine', labels: { 'flotilla.dev/pretend': 'added' } },
    });
    await before.settles();
    await before.restart({ nodes: someNodes('test', 1) });
    expect(names(await before.list('nodes'))).toEqual(['mine', 'test-node-1']);
  });
});

describe('the sets', () => {
  test('node alone runs what is there and makes no Pods', async () => {
    await using world = await aPretendCluster({ sets: ['node'] });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(2));
    await world.cluster.create('pods', NAMESPACE, {
      metadata: { name: 'bare' },
      spec: { containers: [{ name: 'main', image: 'a' }] },
    });
    await world.pass(3000);
    expect((await podsOf(world)).map((pod) => [pod.metadata.name, pod.status?.phase])).toEqual([['bare', 'Running']]);
    expect((await statusOf<DeploymentStatus>(world, 'deployments', 'web')).observedGeneration).toBeUndefined();
  });
});

describe('a profile', () => {
  test('makes a cluster slow', async () => {
    await using world = await aPretendCluster({ profile: { slowness: 10 } });
    await world.cluster.create('deployments', NAMESPACE, aDeployment(1));
    await world.pass(19_000, 1000);
    expect((await statusOf<DeploymentStatus>(world, 'deployments', 'web')).availableReplicas).toBeUndefined();
    await world.pass(2000, 1000);
    expect(await statusOf(world, 'deployments', 'web')).toMatchObject({ availableReplicas: 1 });
  });

  test('gives the same history for the same seed and another for another', async () => {
    const history = async (seed: number) => {
      await using world = await aPretendCluster({ profile: { seed, pullMs: { fromMs: 0, toMs: 20_000 } }, seed: 7 });
      await world.cluster.create('deployments', NAMESPACE, aDeployment(5));
      const seen: unknown[] = [];
      for (let i = 0; i < 25; i++) {
        await world.pass(1000);
        seen.push((await statusOf<DeploymentStatus>(world, 'deployments', 'web')).availableReplicas ?? 0);
      }
      return seen;
    };
    const first = await history(1);
    expect(await history(1)).toEqual(first);
    expect(await history(2)).not.toEqual(first);
    expect(first.at(-1)).toBe(5);
  });
});
