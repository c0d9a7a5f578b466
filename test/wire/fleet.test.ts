// A fleet in one command, as whoever started it sees it: members that are there, that stay through a crash, that come by hand and leave again.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { shellWord } from '../../src/base/shell.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import { flotilla, kubectlFor, type Running, start } from './fleet.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const READY_WITHIN_MS = patience(20_000);
const STOPPED_WITHIN_MS = patience(5_000);

describe.skipIf(skipsKubectl)('a fleet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'));
  const running: AsyncDisposable[] = [];
  let fleet: Server;
  let other: Server;

  const up = async (): Promise<Server> => {
    const server = await startServer({ command: 'up', folder });
    running.push(server);
    return server;
  };
  const keep = <T extends AsyncDisposable>(item: T): T => {
    running.push(item);
    return item;
  };
  const kubectl = () => kubectlFor(fleet, folder);
  const hub = (args: readonly string[]) => kubectl().ok(['--context', 'hub', ...args]);
  const member = (name: string, args: readonly string[]) => kubectl().ok(['--context', name, ...args]);

  beforeAll(async () => {
    const began = performance.now();
    // A second API server, for members and hubs of one's own.
    [fleet, other] = await Promise.all([up(), startServer({ args: ['--in-memory'] }).then(keep)]);
    expect(performance.now() - began).toBeLessThan(READY_WITHIN_MS);
  });
  afterAll(async () => {
    for (const each of running.toReversed()) await each[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is ready when it says so: three members, their nodes and what they have', async () => {
    expect(fleet.output()).toMatch(/^flotilla: ready: hub https:\/\/127\.0\.0\.1:\d+ with 3 members \(data in .*\)$/m);
    expect(fleet.output()).toContain(`export KUBECONFIG=${shellWord(fleet.kubeconfig)}\n`);
    const table = await hub(['get', 'memberclusters', '-o', 'wide']);
    const [header, ...rows] = table.trimEnd().split('\n');
    expect(header?.split(/ {2,}/)).toEqual([
      'NAME',
      'JOINED',
      'HEALTHY',
      'AGE',
      'MEMBER-AGENT-LAST-SEEN',
      'NODE-COUNT',
      'AVAILABLE-CPU',
      'AVAILABLE-MEMORY',
      'ALLOCATABLE-CPU',
      'ALLOCATABLE-MEMORY',
    ]);
    expect(rows.map((row) => row.replace(/\d+s/g, '<age>').split(/ +/).join(' '))).toEqual(
      [1, 2, 3].map((number) => `member-${number} True True <age> <age> 2 8 32Gi 8 32Gi`),
    );
    expect(await hub(['get', 'memberclusters', '-o', 'jsonpath={.items[*].metadata.labels.environment}'])).toBe(
      'staging canary production',
    );
  });

  test('has a context for the hub and one for each member, and the hub is the usual one', async () => {
    expect((await kubectl().ok(['config', 'get-contexts', '-o', 'name'])).trim().split('\n')).toEqual([
      'hub',
      'member-1',
      'member-2',
      'member-3',
    ]);
    expect(await kubectl().ok(['config', 'current-context'])).toBe('hub\n');
    expect(await member('member-2', ['get', 'nodes', '-o', 'name'])).toBe(
      'node/member-2-node-1\nnode/member-2-node-2\n',
    );
    expect(statSync(fleet.kubeconfig).mode & 0o777).toBe(0o600);
  });

  test('gives each member its own namespace, role and identity on the hub', async () => {
    const inNamespace = ['-n', 'fleet-member-member-1', '-o', 'name'];
    expect(await hub(['get', 'internalmemberclusters,roles,rolebindings', ...inNamespace])).toBe(
      'internalmembercluster.cluster.kubernetes-fleet.io/member-1\n' +
        'role.rbac.authorization.k8s.io/fleet-role-member-1\n' +
        'rolebinding.rbac.authorization.k8s.io/fleet-rolebinding-member-1\n',
    );
    const as = ['--as', 'system:serviceaccount:fleet-system:member-1-hub-cluster-access'];
    const may = async (verb: string, what: string, where: string) =>
      (await kubectl().try(['auth', 'can-i', verb, what, '-n', where, ...as])).stdout.trim();
    expect(await may('list', 'works.placement.kubernetes-fleet.io', 'fleet-member-member-1')).toBe('yes');
    expect(await may('list', 'works.placement.kubernetes-fleet.io', 'fleet-member-member-2')).toBe('no');
    expect(await may('list', 'secrets', 'fleet-system')).toBe('no');
  });

  test('keeps everything through a kill -9', async () => {
    await member('member-3', ['create', 'deployment', 'keeps', '--image=web:1', '--replicas=2']);
    await member('member-3', ['rollout', 'status', 'deployment', 'keeps', '--timeout=30s']);
    const facts = async () => ({
      members: await hub(['get', 'memberclusters', '-o', 'jsonpath={.items[*].metadata.uid}']),
      imcs: await hub(['get', 'internalmemberclusters', '-A', '-o', 'jsonpath={.items[*].metadata.uid}']),
      nodes: await member('member-3', ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.uid}']),
      deployments: await member('member-3', [
        'get',
        'deployments,replicasets',
        '-o',
        'jsonpath={range .items[*]}{.metadata.uid} {.status.availableReplicas}/{.metadata.generation} {end}',
      ]),
      pods: await member('member-3', [
        'get',
        'pods',
        '-o',
        'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.phase} {.status.containerStatuses[0].restartCount} {end}',
      ]),
    });
    const before = await facts();
    expect(before.pods.trim().split(' ')).toHaveLength(8);
    await fleet.stop('SIGKILL');
    const began = performance.now();
    fleet = await up();
    expect(performance.now() - began).toBeLessThan(READY_WITHIN_MS);
    expect(await facts()).toEqual(before);
    expect(
      await hub(['get', 'memberclusters', '-o', 'jsonpath={.items[*].status.conditions[?(@.type=="Joined")].status}']),
    ).toBe('True True True');
    // And it goes on working.
    await member('member-3', ['scale', 'deployment', 'keeps', '--replicas=3']);
    await member('member-3', ['rollout', 'status', 'deployment', 'keeps', '--timeout=30s']);
  });

  describe('takes in a fourth by hand', () => {
    const file = join(folder, 'fourth.kubeconfig');
    let agent: Running;

    test('join makes its identity and a kubeconfig that only its owner may read', async () => {
      const args = ['join', 'fourth', '--kubeconfig', fleet.kubeconfig, '--context', 'hub', '-l', 'tier=edge,order=4'];
      const joined = await flotilla(folder, [...args, '--heartbeat-period-seconds', '1', '-o', file]);
      expect(joined).toMatchObject({ code: 0, stderr: '' });
      expect(joined.stdout.replaceAll(folder, '.')).toMatch(
        /^namespace\/fleet-system exists\nserviceaccount\/fourth-hub-cluster-access created\nrole.rbac.authorization.k8s.io\/fourth-hub-cluster-access created\nrolebinding.rbac.authorization.k8s.io\/fourth-hub-cluster-access created\nmembercluster\.cluster\.kubernetes-fleet\.io\/fourth created\nits token is valid until \S+; the agent renews it\nwrote \.\/fourth\.kubeconfig; .*\n +flotilla member --name fourth --hub-kubeconfig \.\/fourth\.kubeconfig --kubeconfig <.*>\n$/,
      );
      expect(statSync(file).mode & 0o777).toBe(0o600);
      // Once more with another label: it is applied, and said.
      const changed = await flotilla(folder, [...args.slice(0, -1), 'tier=core,order=4', '-o', file]);
      expect(changed.stdout).toContain(
        'membercluster.cluster.kubernetes-fleet.io/fourth configured: label tier=core\n',
      );
      const back = await flotilla(folder, [...args, '-o', file]);
      expect(back.stdout).toContain('fourth configured: label tier=edge\n');
      expect((await flotilla(folder, [...args, '-o', file])).stdout).toContain('fourth exists\n');
      const { users } = parseYaml(readFileSync(file, 'utf8')) as { users: [{ user: Record<string, string> }] };
      expect(Object.keys(users[0].user)).toEqual(['token']);

      const identity = await hub([
        'get',
        'memberclusters',
        'fourth',
        '-o',
        'jsonpath={.spec.identity} {.metadata.labels.tier}',
      ]);
      expect(identity).toBe(
        '{"kind":"ServiceAccount","name":"fourth-hub-cluster-access","namespace":"fleet-system"} edge',
      );
      const secrets = await hub([
        'get',
        'secrets',
        '-n',
        'fleet-system',
        '-o',
        'jsonpath={range .items[*]}{.type} {.metadata.annotations.kubernetes\\.io/service-account\\.name}{"\\n"}{end}',
      ]);
      expect(secrets).not.toContain('fourth-hub-cluster-access');

      // Again, it changes nothing but the file.
      const again = await flotilla(folder, [...args, '-o', file]);
      expect(again.stdout).not.toContain('created');
      expect(again.code).toBe(0);
    });

    test('its agent, over https with that kubeconfig alone, makes it Joined', async () => {
      const args = ['member', '--name', 'fourth', '--hub-kubeconfig', file, '--kubeconfig', other.kubeconfig];
      agent = keep(start(folder, args));
      await agent.says(/is running/);
      await hub(['wait', '--for=condition=Joined', 'membercluster/fourth', '--timeout=30s']);
      await hub(['wait', '--for=condition=Healthy', 'membercluster/fourth', '--timeout=30s']);
      expect(await hub(['get', 'memberclusters', 'fourth', '--no-headers'])).toMatch(
        /^fourth +True +True +\d+s +\d+s +0 +/,
      );
      // What happens on the member is seen on the hub.
      await other.ok(
        ['create', '-f', '-'],
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'made-by-hand' },
          status: { capacity: { cpu: '3', memory: '5Gi' }, allocatable: { cpu: '3', memory: '5Gi' } },
        }),
      );
      const count = '.status.properties.kubernetes-fleet\\.io/node-count.value';
      await hub(['wait', `--for=jsonpath={${count}}=1`, 'membercluster/fourth', '--timeout=30s']);
      expect(await hub(['get', 'memberclusters', 'fourth', '-o', 'jsonpath={.status.resourceUsage.allocatable}'])).toBe(
        '{"cpu":"3","memory":"5Gi"}',
      );
    });

    test('it leaves when it is deleted, and nothing of it stays on the hub', async () => {
      await hub(['delete', 'memberclusters', 'fourth', '--timeout=30s']);
      const gone = await kubectl().try(['--context', 'hub', 'get', 'namespace', 'fleet-member-fourth']);
      expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
      expect(await hub(['get', 'memberclusters', '-o', 'name'])).not.toContain('fourth');
      for (const identity of ['secret/fourth-hub-cluster-access-token', 'serviceaccount/fourth-hub-cluster-access'])
        await hub(['wait', '--for=delete', identity, '-n', 'fleet-system', '--timeout=30s']);
      const began = performance.now();
      expect(await agent.stop()).toBe(0);
      expect(performance.now() - began).toBeLessThan(STOPPED_WITHIN_MS);
      expect(
        await hub([
          'get',
          'memberclusters',
          '-o',
          'jsonpath={.items[*].status.conditions[?(@.type=="Joined")].status}',
        ]),
      ).toBe('True True True');
    });
  });

  test('join --revoke ends an identity at once, and a member that never reported is removed at once', async () => {
    const file = join(folder, 'fifth.kubeconfig');
    const about = ['--kubeconfig', fleet.kubeconfig, '--context', 'hub'];
    expect(await flotilla(folder, ['join', 'fifth', ...about, '-o', file])).toMatchObject({ code: 0, stderr: '' });
    const asFifth = () => kubectlFor({ kubeconfig: file }, folder).try(['auth', 'whoami', '-o', 'name']);
    expect(await asFifth()).toMatchObject({ code: 0 });
    expect(await flotilla(folder, ['join', 'fifth', '--revoke', ...about])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(
        'serviceaccount/fifth-hub-cluster-access deleted\nthe identity of member "fifth" is',
      ),
    });
    expect(await asFifth()).toMatchObject({ code: 1, stderr: expect.stringContaining('Unauthorized') });
    // It has no identity now, and the command says so.
    expect(await flotilla(folder, ['join', 'fifth', '--revoke', ...about])).toMatchObject({
      code: 1,
      stderr: 'error: member "fifth" has no identity on this hub\n',
    });
    await hub(['delete', 'memberclusters', 'fifth', '--timeout=30s']);
  });

  test('the same controllers serve any API server that has the CRDs', async () => {
    // As on a cluster that has never heard of them.
    const crds = ['memberclusters', 'internalmemberclusters'].map(
      (plural) => `crd/${plural}.cluster.kubernetes-fleet.io`,
    );
    await other.ok(['delete', ...crds, '--timeout=30s']);
    expect((await other.kubectl(['get', 'memberclusters'])).code).toBe(1);
    const { stdout } = await flotilla(folder, ['crds']);
    const applied = await other.ok(['apply', '-f', '-'], stdout);
    expect(applied.match(/ created$/gm)).toHaveLength(crds.length);
    await other.ok(['wait', '--for=condition=Established', ...crds, '--timeout=30s']);

    const controllers = keep(start(folder, ['hub', '--kubeconfig', other.kubeconfig, '--log-level', 'warn']));
    await controllers.says(/hub controllers are running/);
    const file = join(folder, 'solo.kubeconfig');
    const joined = await flotilla(folder, ['join', 'solo', '--kubeconfig', other.kubeconfig, '-o', file]);
    expect(joined).toMatchObject({ code: 0, stderr: '' });
    const args = ['member', '--name', 'solo', '--hub-kubeconfig', file, '--kubeconfig', other.kubeconfig];
    const agent = keep(start(folder, [...args, '--log-level', 'warn']));
    await other.ok(['wait', '--for=condition=Joined', 'membercluster/solo', '--timeout=30s']);
    expect(await other.ok(['get', 'lease', '-n', 'fleet-system', '-o', 'name'])).toContain('.hub.fleet.azure.com');
    await other.ok(['delete', 'memberclusters', 'solo', '--timeout=30s']);
    expect((await other.kubectl(['get', 'ns', 'fleet-member-solo'])).code).toBe(1);
    const began = performance.now();
    expect(await Promise.all([agent.stop(), controllers.stop()])).toEqual([0, 0]);
    expect(performance.now() - began).toBeLessThan(STOPPED_WITHIN_MS);
  });

  test('pretend nodes run the Pods of any API server, until they are stopped', async () => {
    const nodes = keep(start(folder, ['pretend', '--kubeconfig', other.kubeconfig, '--name', 'extra', '--nodes', '1']));
    await nodes.says(/1 pretend nodes are running/);
    await other.ok(['run', 'one', '--image=web:1', '--restart=Never']);
    await other.ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/one', '--timeout=30s']);
    expect(await other.ok(['get', 'pod', 'one', '-o', 'jsonpath={.spec.nodeName}'])).toBe('extra-node-1');
    expect(await nodes.stop()).toBe(0);
  });

  test('stops when it is asked to', async () => {
    const began = performance.now();
    expect(await fleet.stop('SIGTERM')).toBe(0);
    expect(performance.now() - began).toBeLessThan(STOPPED_WITHIN_MS);
    expect(fleet.output()).toMatch(/flotilla: stopping\n$/);
  });
});
