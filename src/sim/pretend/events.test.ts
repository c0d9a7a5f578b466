import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import {
  aDeployment,
  aPretendCluster,
  aTemplate,
  NAMESPACE,
  type PretendCluster,
  withImage,
} from './cluster.testing.ts';
import { someNodes } from './rules/node.ts';

interface Event extends KubeObject {
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly source: { readonly component: string };
}

/** As printed by `describe`: about the objects of one kind, without generated parts of names. */
async function told(world: PretendCluster, kind: string): Promise<readonly string[]> {
  const events = (await world.list('events')) as readonly Event[];
  return events
    .filter(({ involvedObject }) => involvedObject.kind === kind)
    .map(({ type, reason, source, message, count }) => {
      const text = message.replace(/web-[a-z0-9]{10}-[a-z0-9]{5}|(once|agent)-[a-z0-9]{5}/g, '<pod>');
      const plain = text.replace(/web-[a-z0-9]{10}/g, '<set>').replace(/\([-0-9a-f]{36}\)/, '(<uid>)');
      return `${type} ${reason} ${source.component}: ${plain}${count > 1 ? ` (${count} times)` : ''}`;
    })
    .toSorted();
}

const create = async (world: PretendCluster, plural: string, object: object): Promise<void> => {
  await world.cluster.create(plural, NAMESPACE, object);
  await world.settles();
};

describe('Events tell', () => {
  test('of a Deployment and of all below it', async () => {
    await using world = await aPretendCluster({ nodes: someNodes('test', 1) });
    await create(world, 'deployments', aDeployment(1));
    await world.pass(3_000);
    expect(await told(world, 'Deployment')).toEqual([
      'Normal ScalingReplicaSet deployment-controller: Scaled up replica set <set> from 0 to 1',
    ]);
    expect(await told(world, 'ReplicaSet')).toEqual([
      'Normal SuccessfulCreate replicaset-controller: Created pod: <pod>',
    ]);
    expect(await told(world, 'Pod')).toEqual([
      'Normal Created kubelet: Created container: main',
      'Normal Pulled kubelet: Successfully pulled image "web:1"',
      'Normal Pulling kubelet: Pulling image "web:1"',
      'Normal Scheduled default-scheduler: Successfully assigned default/<pod> to test-node-1',
      'Normal Started kubelet: Started container main',
    ]);
    await world.patch('deployments', 'web', { spec: { replicas: 0 } });
    await world.pass(3_000);
    expect(await told(world, 'Deployment')).toContain(
      'Normal ScalingReplicaSet deployment-controller: Scaled down replica set <set> from 1 to 0',
    );
    expect(await told(world, 'ReplicaSet')).toContain(
      'Normal SuccessfulDelete replicaset-controller: Deleted pod: <pod>',
    );
    expect(await told(world, 'Pod')).toContain('Normal Killing kubelet: Stopping container main');
  });

  test('of an image that cannot be pulled', async () => {
    await using world = await aPretendCluster();
    await create(world, 'deployments', aDeployment(1, {}, 'web:bad'));
    await world.pass(60_000, 5_000);
    const pod = (await told(world, 'Pod')).filter((line) => !line.includes('scheduler'));
    expect(pod).toEqual([
      'Normal BackOff kubelet: Back-off pulling image "web:bad"',
      'Normal Pulling kubelet: Pulling image "web:bad"',
      'Warning Failed kubelet: Error: ErrImagePull',
      'Warning Failed kubelet: Error: ImagePullBackOff',
      'Warning Failed kubelet: Failed to pull image "web:bad": not found',
    ]);
    await world.patch('deployments', 'web', withImage('web:2'));
    await world.pass(5_000);
    expect((await told(world, 'Deployment')).length).toBe(3);
  });

  test('of a container that crashes, as counts', async () => {
    await using world = await aPretendCluster();
    await create(world, 'pods', { metadata: { name: 'loop' }, ...aTemplateOf('x:crash') });
    await world.pass(200_000, 5_000);
    const events = await told(world, 'Pod');
    expect(events).toContainEqual(
      expect.stringMatching(
        /^Warning BackOff kubelet: Back-off restarting failed container main in pod loop_default\(<uid>\) \(\d times\)$/,
      ),
    );
    expect(events).toContainEqual(
      expect.stringMatching(/^Normal Pulled kubelet: Container image "x:crash" already present on machine/),
    );
    // Scheduled, Pulling, Pulled (two ways), Created, Started, BackOff: more restarts cause no more Events.
    expect(events).toHaveLength(7);
  });

  test('of a Pod that fits nowhere', async () => {
    await using world = await aPretendCluster({ nodes: someNodes('test', 1) });
    const resources = { requests: { cpu: '100' } };
    await create(world, 'pods', {
      metadata: { name: 'big' },
      spec: { containers: [{ name: 'main', image: 'x:1', resources }] },
    });
    expect(await told(world, 'Pod')).toEqual([
      'Warning FailedScheduling default-scheduler: 0/1 nodes are available: 1 Insufficient cpu.',
    ]);
  });

  test('of StatefulSets, DaemonSets, Jobs and load balancers', async () => {
    await using world = await aPretendCluster({ nodes: someNodes('test', 1) });
    const selector = (app: string) => ({ selector: { matchLabels: { app } }, template: aTemplate(app, `${app}:1`) });
    await create(world, 'statefulsets', {
      metadata: { name: 'db' },
      spec: { serviceName: 'db', replicas: 1, ...selector('db') },
    });
    await create(world, 'daemonsets', { metadata: { name: 'agent' }, spec: selector('agent') });
    await create(world, 'jobs', aJob('once', 'once:1'));
    await create(world, 'jobs', aJob('broken', 'once:crash'));
    await create(world, 'services', {
      metadata: { name: 'front' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
    await world.pass(10_000);
    expect(await told(world, 'StatefulSet')).toEqual([
      'Normal SuccessfulCreate statefulset-controller: create Pod db-0 in StatefulSet db successful',
    ]);
    expect(await told(world, 'DaemonSet')).toEqual([
      'Normal SuccessfulCreate daemonset-controller: Created pod: <pod>',
    ]);
    expect(await told(world, 'Job')).toEqual(
      [
        'Normal Completed job-controller: Job completed',
        expect.stringMatching(/^Normal SuccessfulCreate job-controller: Created pod: broken-/),
        'Normal SuccessfulCreate job-controller: Created pod: <pod>',
        'Warning BackoffLimitExceeded job-controller: Job has reached the specified backoff limit',
      ].toSorted(),
    );
    expect(await told(world, 'Service')).toEqual([
      'Normal EnsuredLoadBalancer service-controller: Ensured load balancer',
    ]);
    await world.remove('pods', 'db-0');
    // An equal Event is written at most once a minute.
    await world.pass(60_000, 5_000);
    expect(await told(world, 'StatefulSet')).toEqual([
      'Normal SuccessfulCreate statefulset-controller: create Pod db-0 in StatefulSet db successful (2 times)',
    ]);
  });

  test('nothing without Pods', async () => {
    await using world = await aPretendCluster({ statusOnly: true });
    await create(world, 'deployments', aDeployment(3));
    await world.pass(10_000);
    expect(await world.list('events')).toEqual([]);
  });

  test('the same for the same seed', async () => {
    const history = async () => {
      await using world = await aPretendCluster();
      await create(world, 'deployments', aDeployment(2));
      await world.pass(5_000);
      return (await world.list('events')).map(({ metadata }) => metadata.name);
    };
    const first = await history();
    expect(first).toHaveLength(1 + 2 * 6);
    expect(await history()).toEqual(first);
  });
});

const aTemplateOf = (image: string): object => ({ spec: { containers: [{ name: 'main', image }] } });

const aJob = (name: string, image: string): object => ({
  metadata: { name },
  spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } } },
});
