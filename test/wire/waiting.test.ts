// kubectl commands that stay until something happens, deletions that carry on to dependents, and the paths that are no resources.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from './https.ts';
import { kubectlPath, type Server, skipsKubectl, startServer } from './server.ts';

describe.skipIf(skipsKubectl)('kubectl', () => {
  const cache = mkdtempSync(join(tmpdir(), 'flotilla-cache-'));
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(cache, { recursive: true, force: true });
  });

  /** A command that goes on: its lines as they come. */
  function following(args: readonly string[]) {
    const child = spawn(kubectlPath as string, ['--cache-dir', cache, ...args], {
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    let heard = () => {};
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      heard();
    });
    return {
      async lines(count: number): Promise<readonly string[]> {
        while (text.split('\n').length <= count) await new Promise<void>((next) => (heard = next));
        return text.trimEnd().split('\n');
      },
      [Symbol.dispose]: () => void child.kill(),
    };
  }
  const crp = (name: string) =>
    JSON.stringify({
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'x' }] },
    });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const CM = '/api/v1/namespaces/default/configmaps';
  const CRP = '/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacements';
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'R',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };

  describe('get -w', () => {
    test('shows what is there and each change of a ConfigMap', async () => {
      await server.ok(['create', 'configmap', 'watched']);
      using watch = following([
        'get',
        'cm',
        '--field-selector',
        'metadata.name=watched',
        '-w',
        '--output-watch-events',
      ]);
      await watch.lines(2);
      await server.ok(['patch', 'cm', 'watched', '-p', '{"data":{"a":"1","b":"2"}}']);
      await server.ok(['delete', 'cm', 'watched']);
      expect((await watch.lines(4)).map((line) => line.replace(/ +/g, ' '))).toEqual([
        'EVENT NAME DATA AGE',
        expect.stringMatching(/^ADDED watched 0 \d+s$/),
        expect.stringMatching(/^MODIFIED watched 2 \d+s$/),
        expect.stringMatching(/^DELETED watched 2 \d+s$/),
      ]);
    });

    test('follows placements in YAML, and objects that come to carry a label or lose it', async () => {
      using yaml = following(['get', 'crp', '-w', '-o', 'jsonpath={.metadata.name} {.metadata.labels.is}{"\\n"}']);
      using labelled = following(['get', 'crp', '-w', '-l', 'is=here', '--output-watch-events', '--no-headers']);
      await server.ok(['create', '-f', '-'], crp('moving'));
      await yaml.lines(1);
      await server.ok(['label', 'crp', 'moving', 'is=here']);
      await server.ok(['label', 'crp', 'moving', 'is=gone', '--overwrite']);
      expect(await yaml.lines(3)).toEqual(['moving ', 'moving here', 'moving gone']);
      expect((await labelled.lines(2)).map((line) => line.split(/ +/).slice(0, 2))).toEqual([
        ['ADDED', 'moving'],
        ['DELETED', 'moving'],
      ]);
    });
  });

  describe('wait', () => {
    test('ends when a condition is met', async () => {
      await server.ok(['create', '-f', '-'], crp('waited'));
      const waiting = server.ok(['wait', 'crp/waited', '--for=condition=Ready', '--timeout=20s']);
      const done = waiting.then(() => true);
      expect(await Promise.race([done, call(server.kubeconfig, 'GET', CRP).then(() => false)])).toBe(false);
      const body = JSON.stringify({ status: { conditions: [condition] } });
      await call(server.kubeconfig, 'PATCH', `${CRP}/waited/status`, { body, headers: merge });
      expect(await waiting).toBe('clusterresourceplacement.placement.kubernetes-fleet.io/waited condition met\n');
    });

    test('ends when a field has a value, when an object is created, and when it is deleted', async () => {
      const created = server.ok(['wait', 'cm/coming', '--for=create', '--timeout=20s']);
      await server.ok(['create', 'cm', 'coming']);
      expect(await created).toBe('configmap/coming condition met\n');
      const valued = server.ok(['wait', 'cm/coming', '--for=jsonpath={.data.a}=1', '--timeout=20s']);
      await server.ok(['patch', 'cm', 'coming', '-p', '{"data":{"a":"1"}}']);
      expect(await valued).toBe('configmap/coming condition met\n');
      const gone = server.ok(['wait', 'cm/coming', '--for=delete', '--timeout=20s']);
      await server.ok(['delete', 'cm', 'coming']);
      expect(await gone).toMatch(/^(configmap\/coming condition met\n)?$/);
    });
  });

  test('rollout status ends when the Deployment is done', async () => {
    await server.ok(['create', 'deployment', 'web', '--image=web:1', '--replicas=2']);
    const rollout = server.ok(['rollout', 'status', 'deployment/web', '--timeout=20s']);
    const path = '/apis/apps/v1/namespaces/default/deployments/web/status';
    for (const ready of [1, 2]) {
      const status = {
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: ready,
        availableReplicas: ready,
      };
      await call(server.kubeconfig, 'PATCH', path, { body: JSON.stringify({ status }), headers: merge });
    }
    expect(await rollout).toMatch(/deployment "web" successfully rolled out\n$/);
    expect(await server.ok(['get', 'deployment', 'web', '--no-headers'])).toMatch(/^web +2\/2 +2 +2 /);
  });

  test('delete stays until the last finalizer is gone', async () => {
    const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    await call(server.kubeconfig, 'POST', CM, { body: JSON.stringify(held) });
    const deleting = server.ok(['delete', 'cm', 'held', '--timeout=20s']);
    while (!(await call(server.kubeconfig, 'GET', `${CM}/held`)).text.includes('deletionTimestamp'));
    await call(server.kubeconfig, 'PATCH', `${CM}/held`, { body: '{"metadata":{"finalizers":null}}', headers: merge });
    expect(await deleting).toMatch(/^configmap "held" deleted/);
    expect((await call(server.kubeconfig, 'GET', `${CM}/held`)).code).toBe(404);
  });

  describe('delete --cascade', () => {
    const family = async (owner: string): Promise<void> => {
      const created = await call(server.kubeconfig, 'POST', CM, {
        body: JSON.stringify({ metadata: { name: owner } }),
      });
      const { uid } = created.json!['metadata'] as { uid: string };
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: owner,
        uid,
        blockOwnerDeletion: true,
        controller: true,
      };
      for (const child of ['a', 'b']) {
        const metadata = { name: `${owner}-${child}`, labels: { family: owner }, ownerReferences: [reference] };
        await call(server.kubeconfig, 'POST', CM, { body: JSON.stringify({ metadata }) });
      }
    };
    const children = async (owner: string) => server.ok(['get', 'cm', '-l', `family=${owner}`, '-o', 'name']);

    test.each(['background', 'foreground'])('%s takes the dependents along', async (cascade) => {
      await family(cascade);
      await server.ok(['delete', 'cm', cascade, `--cascade=${cascade}`, '--timeout=20s']);
      if (cascade === 'foreground') expect(await children(cascade)).toBe('');
      await server.ok(['wait', 'cm', '-l', `family=${cascade}`, '--for=delete', '--timeout=20s']);
      expect(await children(cascade)).toBe('');
    });

    test('orphan leaves them, without an owner', async () => {
      await family('orphan');
      await server.ok(['delete', 'cm', 'orphan', '--cascade=orphan', '--timeout=20s']);
      expect(await children('orphan')).toBe('configmap/orphan-a\nconfigmap/orphan-b\n');
      expect(await server.ok(['get', 'cm', 'orphan-a', '-o', 'jsonpath={.metadata.ownerReferences}'])).toBe('');
    });

    test('a namespace goes with all that is in it', async () => {
      await server.ok(['create', 'namespace', 'full']);
      for (const kind of [
        'configmap a',
        'secret generic b',
        'serviceaccount c',
        'deployment d --image=x',
        'role e --verb=get --resource=pods',
      ]) {
        await server.ok(['create', ...kind.split(' '), '-n', 'full']);
      }
      await server.ok(['delete', 'namespace', 'full', '--timeout=20s']);
      expect((await server.kubectl(['get', 'namespace', 'full'])).stderr).toContain('(NotFound)');
      await server.ok(['create', 'namespace', 'full']);
      expect(await server.ok(['get', 'cm,secret,deploy,role', '-n', 'full', '-o', 'name'])).toMatch(
        /^(configmap\/kube-root-ca.crt\n)?$/,
      );
    });
  });

  describe('get --raw', () => {
    test.each([
      { path: '/healthz', says: /^ok$/ },
      { path: '/readyz?verbose', says: /^\[\+\]ping ok\n(\[\+\].* ok\n)*readyz check passed\n$/ },
      { path: '/livez/ping', says: /^ok$/ },
      { path: '/version', says: /"gitVersion": ?"v1\.34\.4/ },
      { path: '/metrics', says: /^# HELP apiserver_request_total .*\n# TYPE apiserver_request_total counter\n/m },
      { path: '/', says: /"paths": ?\[\n? *"\/\.well-known\/openid-configuration"/ },
      { path: '/openid/v1/jwks', says: /"keys"/ },
      { path: '/api', says: /"APIVersions"/ },
      {
        path: '/apis/placement.kubernetes-fleet.io',
        says: /"preferredVersion": ?\{"groupVersion": ?"placement\.kubernetes-fleet\.io\/v1"/,
      },
      { path: '/openapi/v3', says: /"apis\/placement\.kubernetes-fleet\.io\/v1": ?\{"serverRelativeURL"/ },
    ])('$path', async ({ path, says }) => {
      expect(await server.ok(['get', '--raw', path])).toMatch(says);
    });
  });

  test('version and cluster-info name the server', async () => {
    expect(await server.ok(['version'])).toMatch(/^Server Version: v1\.34\.4/m);
    expect(await server.ok(['cluster-info'])).toMatch(/is running at .*https:\/\/127\.0\.0\.1:\d+/);
  });

  test('a ServiceAccount’s token opens what its roles allow, and nothing else', async () => {
    await server.ok(['create', 'sa', 'robot']);
    await server.ok(['create', 'rolebinding', 'robots', '--clusterrole=view', '--serviceaccount=default:robot']);
    const token = (await server.ok(['create', 'token', 'robot'])).trim();
    const as = (...args: readonly string[]) => server.kubectl(['--kubeconfig', join(cache, 'robot'), ...args]);
    const config = JSON.parse(await server.ok(['config', 'view', '--raw', '-o', 'json'])) as { users: unknown[] };
    config.users = [{ name: 'admin', user: { token } }];
    writeFileSync(join(cache, 'robot'), JSON.stringify(config));
    expect(await as('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toMatchObject({
      stdout: 'system:serviceaccount:default:robot',
    });
    expect(await as('get', 'cm')).toMatchObject({ code: 0 });
    expect(await as('get', 'secrets')).toMatchObject({ code: 1, stderr: expect.stringContaining('(Forbidden)') });
    expect(await as('create', 'cm', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('User "system:serviceaccount:default:robot" cannot create resource "configmaps"'),
    });
    await server.ok(['delete', 'sa', 'robot']);
    expect(await as('get', 'cm')).toMatchObject({ code: 1, stderr: expect.stringContaining('logged in') });
  });
});
