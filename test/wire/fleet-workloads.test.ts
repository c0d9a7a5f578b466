// Workloads on a member behave as people who type kubectl expect: they roll, hang, go back, scale, finish, and say why.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kubectl, kubectlFor } from './fleet.ts';
import { type Result, type Server, skipsKubectl, startServer } from './server.ts';

const pod = (app: string, image: string) => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] },
});
const workload = (kind: string, name: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: pod(name, `${name}:1`), ...spec },
});

const job = (name: string, image: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } } },
});
const alone = (name: string, image: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image, ...more }] },
});
const others = [
  workload('StatefulSet', 'db', { serviceName: 'db', replicas: 2 }),
  workload('DaemonSet', 'agent', {}),
  job('once', 'once:1'),
  job('broken', 'once:crash'),
  alone('loop', 'x:crash'),
  alone('big', 'x:1', { resources: { requests: { cpu: '100' } } }),
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'db' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'db' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'front' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  },
];

describe.skipIf(skipsKubectl)('on a member', () => {
  let fleet: Server;
  let kubectl: Kubectl;
  const on = (...args: readonly string[]) => kubectl.ok(['--context', 'member-1', ...args]);
  const tried = (...args: readonly string[]): Promise<Result> => kubectl.try(['--context', 'member-1', ...args]);
  const create = (object: object) => kubectl.ok(['--context', 'member-1', 'create', '-f', '-'], JSON.stringify(object));
  const columns = async (...args: readonly string[]) =>
    (await on('get', ...args, '--no-headers'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
  /** Status of the Pods of an app, in order. */
  const pods = async (app: string) =>
    (await columns('pods', '-l', `app=${app}`)).map(([, ready, status]) => `${ready} ${status}`).toSorted();
  /** The table under Events, as `Type Reason From Message`. */
  const events = async (...args: readonly string[]) => {
    const described = await on('describe', ...args);
    const table = described.slice(described.indexOf('\nEvents:'));
    return table
      .split('\n')
      .slice(4)
      .filter((line) => line !== '')
      .map((line) => line.trim().split(/ {2,}/))
      .map(([type, reason, , from, message]) => `${type} ${reason} ${from} ${message}`);
  };

  const folder = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'));

  beforeAll(async () => {
    const file = join(folder, 'fleet.yaml');
    writeFileSync(file, 'members:\n- name: member-1\n  rules: {pullSeconds: 0, readySeconds: 1}\n');
    fleet = await startServer({ command: 'up', args: ['--in-memory', '--fleet', file] });
    kubectl = kubectlFor(fleet, folder);
    // Looked at further down; until then they have time.
    await create({ apiVersion: 'v1', kind: 'List', items: others });
  });
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('a Deployment', () => {
    test('rolls out while rollout status tells how far it is', async () => {
      expect(await on('create', 'deployment', 'web', '--image=web:1', '--replicas=3')).toBe(
        'deployment.apps/web created\n',
      );
      const status = await on('rollout', 'status', 'deployment', 'web', '--timeout=30s');
      // How much of it kubectl is in time to see is not ours to say.
      expect(status).toMatch(
        /^(Waiting for deployment "web" rollout to finish: [012] of 3 updated replicas are available\.\.\.\n)*deployment "web" successfully rolled out\n$/,
      );
      expect(await pods('web')).toEqual(['1/1 Running', '1/1 Running', '1/1 Running']);
      expect(await on('get', 'deployment', 'web')).toMatch(
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +3\/3 +3 +3 +\d+s\n$/,
      );
      expect(await on('get', 'pods', '-l', 'app=web', '-o', 'name')).toMatch(
        /^(pod\/web-[a-z0-9]{8,10}-[a-z0-9]{5}\n){3}$/,
      );
    });

    test('and its Pods say in describe what happened to them', async () => {
      expect(await events('deployment', 'web')).toEqual([
        expect.stringMatching(
          /^Normal ScalingReplicaSet deployment-controller Scaled up replica set web-\w+ from 0 to 3$/,
        ),
      ]);
      expect((await events('replicaset', '-l', 'app=web')).map((line) => line.replace(/web-.*/, ''))).toEqual(
        Array.from({ length: 3 }, () => 'Normal SuccessfulCreate replicaset-controller Created pod: '),
      );
      const [first] = (await on('get', 'pods', '-l', 'app=web', '-o', 'name')).split('\n');
      const name = (first as string).slice('pod/'.length);
      expect((await events('pod', name)).toSorted()).toEqual([
        'Normal Created kubelet Created container: web',
        'Normal Pulled kubelet Successfully pulled image "web:1"',
        'Normal Pulling kubelet Pulling image "web:1"',
        expect.stringMatching(
          `^Normal Scheduled default-scheduler Successfully assigned default/${name} to member-1-node-[12]$`,
        ),
        'Normal Started kubelet Started container web',
      ]);
    });

    test('with a bad image hangs, keeps the old Pods, and says why', async () => {
      await on('set', 'image', 'deployment/web', 'web=web:bad');
      await on('wait', 'deployment/web', '--for=jsonpath={.status.unavailableReplicas}=1', '--timeout=30s');
      const reason = '{.status.containerStatuses[0].state.waiting.reason}';
      const pending = ['pods', '-l', 'app=web', '--field-selector=status.phase=Pending'];
      await on('wait', ...pending, `--for=jsonpath=${reason}=ImagePullBackOff`, '--timeout=30s');
      const status = await tried('rollout', 'status', 'deployment', 'web', '--timeout=3s');
      expect(status).toMatchObject({ code: 1, stderr: expect.stringContaining('timed out waiting for the condition') });
      expect(status.stdout).toContain('1 out of 3 new replicas have been updated');
      expect(await pods('web')).toEqual(['0/1 ImagePullBackOff', '1/1 Running', '1/1 Running', '1/1 Running']);
      const broken = (await columns('pods', '-l', 'app=web')).find(([, , state]) => state === 'ImagePullBackOff')?.[0];
      expect(await events('pod', broken as string)).toEqual(
        expect.arrayContaining([
          'Warning Failed kubelet Failed to pull image "web:bad": not found',
          'Normal BackOff kubelet Back-off pulling image "web:bad"',
          'Warning Failed kubelet Error: ImagePullBackOff',
        ]),
      );
    });

    test('exceeds its deadline, if it has a short one', async () => {
      await on('patch', 'deployment', 'web', '-p', '{"spec":{"progressDeadlineSeconds":2}}');
      const status = await tried('rollout', 'status', 'deployment', 'web', '--timeout=30s');
      expect(status).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('error: deployment "web" exceeded its progress deadline'),
      });
    });

    test('goes back, remembers its revisions, and restarts', async () => {
      expect(await on('rollout', 'history', 'deployment', 'web')).toMatch(/\n1 .*\n2 /);
      expect(await on('rollout', 'undo', 'deployment', 'web')).toBe('deployment.apps/web rolled back\n');
      await on('rollout', 'status', 'deployment', 'web', '--timeout=30s');
      expect(await on('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')).toBe(
        'web:1',
      );
      expect(await on('rollout', 'history', 'deployment', 'web')).toMatch(/\n2 .*\n3 /);
      const before = (await on('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n');
      await on('rollout', 'restart', 'deployment', 'web');
      await on('rollout', 'status', 'deployment', 'web', '--timeout=30s');
      await on('wait', '--for=delete', ...before, '--timeout=30s');
      expect(await pods('web')).toEqual(['1/1 Running', '1/1 Running', '1/1 Running']);
      expect(await on('rollout', 'history', 'deployment', 'web', '--revision=4')).toContain('restartedAt');
    });

    test('scales both ways, pauses and resumes', async () => {
      await on('scale', 'deployment', 'web', '--replicas=5');
      await on('wait', '--for=jsonpath={.status.availableReplicas}=5', 'deployment/web', '--timeout=30s');
      await on('rollout', 'pause', 'deployment', 'web');
      await on('set', 'image', 'deployment/web', 'web=web:2');
      expect(await on('get', 'deployment', 'web', '-o', 'jsonpath={.status.updatedReplicas}')).toMatch(/^5?$/);
      await on('scale', 'deployment', 'web', '--replicas=2');
      await on('rollout', 'resume', 'deployment', 'web');
      await on('rollout', 'status', 'deployment', 'web', '--timeout=30s');
      await on('wait', '--for=condition=Available', 'deployment/web', '--timeout=30s');
      expect(
        await on(
          'get',
          'deployment',
          'web',
          '-o',
          'jsonpath={.status.replicas} {.spec.template.spec.containers[0].image}',
        ),
      ).toBe('2 web:2');
    });

    test('replaces a Pod that is deleted, and takes all with it when it goes', async () => {
      const newest = 'jsonpath={.items[?(@.spec.containers[0].image=="web:2")].metadata.name}';
      const [first] = (await on('get', 'pods', '-l', 'app=web', '-o', newest)).split(' ');
      await on('delete', 'pod', first as string, '--timeout=30s');
      await on('wait', '--for=jsonpath={.status.availableReplicas}=2', 'deployment/web', '--timeout=30s');
      await on('delete', 'deployment', 'web', '--timeout=30s');
      await on('wait', '--for=delete', 'pod', '-l', 'app=web', '--timeout=30s');
      expect((await tried('get', 'replicasets,pods', '-l', 'app=web')).stderr).toMatch(/^No resources found/);
    });
  });

  test('a StatefulSet, a DaemonSet, Jobs, a budget and a load balancer do what they are for', async () => {
    await Promise.all([
      on('rollout', 'status', 'statefulset', 'db', '--timeout=30s'),
      on('rollout', 'status', 'daemonset', 'agent', '--timeout=30s'),
      on('wait', '--for=condition=Complete', 'job/once', '--timeout=30s'),
      on('wait', '--for=condition=Failed', 'job/broken', '--timeout=30s'),
    ]);
    const [sets, daemons, jobs, budgets, services, loop] = await Promise.all([
      columns('statefulset', 'db'),
      columns('daemonset', 'agent'),
      columns('jobs'),
      columns('pdb', 'db'),
      columns('service', 'front'),
      columns('pod', 'loop'),
    ]);
    expect(sets[0]?.slice(0, 2)).toEqual(['db', '2/2']);
    expect(daemons[0]?.slice(0, 6)).toEqual(['agent', '2', '2', '2', '2', '2']);
    expect(jobs.map((row) => row.slice(0, 3))).toEqual([
      ['broken', 'Failed', '0/1'],
      ['once', 'Complete', '1/1'],
    ]);
    expect(budgets[0]?.slice(0, 4)).toEqual(['db', '1', 'N/A', '1']);
    expect(services[0]?.[3]).toMatch(/^198\.19\.\d+\.\d+$/);
    expect(loop[0]?.slice(1, 3)).toEqual(['0/1', 'CrashLoopBackOff']);
    expect((await columns('pods', '-l', 'app=db')).map(([name]) => name)).toEqual(['db-0', 'db-1']);
    expect(await events('statefulset', 'db')).toEqual([
      'Normal SuccessfulCreate statefulset-controller create Pod db-0 in StatefulSet db successful',
      'Normal SuccessfulCreate statefulset-controller create Pod db-1 in StatefulSet db successful',
    ]);
    expect(await events('job', 'broken')).toContain(
      'Warning BackoffLimitExceeded job-controller Job has reached the specified backoff limit',
    );
    await on('rollout', 'restart', 'statefulset/db', 'daemonset/agent');
    await Promise.all([
      on('rollout', 'status', 'statefulset', 'db', '--timeout=30s'),
      on('rollout', 'status', 'daemonset', 'agent', '--timeout=30s'),
    ]);
  });

  test('what fits nowhere stays Pending and says so; a namespace takes its workloads with it', async () => {
    await on('create', 'namespace', 'team');
    await on('create', 'deployment', 'inside', '--image=web:1', '-n', 'team');
    expect(await columns('pod', 'big')).toEqual([['big', '0/1', 'Pending', '0', expect.anything()]]);
    expect(await events('pod', 'big')).toEqual([
      'Warning FailedScheduling default-scheduler 0/2 nodes are available: 2 Insufficient cpu.',
    ]);
    await on('rollout', 'status', 'deployment', 'inside', '-n', 'team', '--timeout=30s');
    await on('delete', 'namespace', 'team', '--timeout=40s');
    expect((await tried('get', 'namespace', 'team')).stderr).toContain('not found');
  });
});
