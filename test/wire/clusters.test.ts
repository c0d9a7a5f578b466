// Several clusters behind one listener and on one log: each has its own objects, revisions, CRDs and users; kubectl reaches each by a path.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hubKinds, memberKinds } from '../../src/api/kinds.ts';
import { serverUrl, writeKubeconfig } from '../../src/apiserver/auth/kubeconfig.ts';
import { filesInMemory, loadOrCreatePki, type Pki } from '../../src/apiserver/auth/pki.ts';
import { type Listening, serve } from '../../src/apiserver/http/server.ts';
import { type RunningCluster, startCluster } from '../../src/apiserver/start-cluster.ts';
import { type Log, openLog } from '../../src/apiserver/store/log.ts';
import { openNodeDisk } from '../../src/apiserver/store/node-disk.ts';
import { wallClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { kubectlPath, run, skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('two clusters behind one listener', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-wire-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const running = new Map<string, RunningCluster>();
  let pki: Pki;
  let log: Log;
  let listening: Listening;

  const startAll = async () => {
    log = await openLog({ disk: await openNodeDisk(join(folder, 'store')) });
    for (const name of ['a', 'b']) {
      const cluster = await startCluster({
        name,
        store: log.store(name),
        clock: wallClock,
        random: systemRandom,
        signingKey: pki.signingKey,
        caCertificate: pki.authority.certificate,
        kinds: name === 'a' ? hubKinds : memberKinds,
        onError: (error) => console.error(error),
      });
      running.set(name, cluster);
    }
    const { privateKey: key, certificate } = pki.server;
    listening = await serve({
      clusters: (name) => running.get(name)?.http,
      host: '127.0.0.1',
      port: 0,
      clock: wallClock,
      tls: { key, certificate, clientCa: pki.authority.certificate },
    });
    const url = (path: string) => ({
      server: `${serverUrl({ scheme: 'https', host: '127.0.0.1', port: listening.port })}${path}`,
      caCertificate: pki.authority.certificate,
    });
    await writeKubeconfig(kubeconfig, {
      clusters: { a: url('/clusters/a'), b: url('/clusters/b'), absent: url('/clusters/absent'), root: url('') },
      users: { admin: pki.admin },
      contexts: Object.fromEntries(
        ['a', 'b', 'absent', 'root'].map((cluster) => [cluster, { cluster, user: 'admin' }]),
      ),
      current: 'a',
    });
  };
  const stopAll = async () => {
    await listening.close();
    for (const cluster of running.values()) await cluster[Symbol.asyncDispose]();
    await log.close();
  };

  beforeAll(async () => {
    pki = await loadOrCreatePki({ files: filesInMemory(), now: wallClock.now(), random: systemRandom });
    await startAll();
  });
  afterAll(async () => {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  });

  const kubectl = (context: string, args: readonly string[], input?: string) =>
    run(
      kubectlPath as string,
      ['--kubeconfig', kubeconfig, '--context', context, '--cache-dir', join(folder, 'cache'), ...args],
      {
        ...(input === undefined ? {} : { input }),
      },
    );
  const ok = async (context: string, args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(context, args, input);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };

  test('have kinds of their own', async () => {
    expect(await ok('a', ['api-resources', '--api-group=placement.kubernetes-fleet.io', '-o', 'name'])).toContain(
      'clusterresourceplacements.placement.kubernetes-fleet.io',
    );
    expect(await ok('b', ['api-resources', '--api-group=placement.kubernetes-fleet.io', '-o', 'name'])).toBe(
      'appliedworks.placement.kubernetes-fleet.io\n',
    );
    expect((await kubectl('b', ['explain', 'crp'])).code).toBe(1);
    expect(await ok('a', ['explain', 'crp'])).toContain('ClusterResourcePlacement');
  });

  test('have objects of their own under the same names', async () => {
    await ok('a', ['create', 'configmap', 'same', '--from-literal=in=a']);
    await ok('b', ['create', 'configmap', 'same', '--from-literal=in=b']);
    const where = ['get', 'configmap', 'same', '-o', 'jsonpath={.data.in} {.metadata.uid}'];
    const [inA, inB] = [await ok('a', where), await ok('b', where)];
    expect(inA).toMatch(/^a /);
    expect(inB).toMatch(/^b /);
    expect(inA.slice(2)).not.toBe(inB.slice(2));
    await ok('a', ['delete', 'configmap', 'same']);
    expect((await kubectl('a', where)).stderr).toContain('(NotFound)');
    expect(await ok('b', where)).toBe(inB);
  });

  test('count revisions each for itself', async () => {
    const revision = async (context: string) =>
      Number(
        (
          JSON.parse(await ok(context, ['get', '--raw', `/clusters/${context}/api/v1/namespaces?limit=1`])) as {
            metadata: { resourceVersion: string };
          }
        ).metadata.resourceVersion,
      );
    const before = await revision('b');
    for (const name of ['r1', 'r2', 'r3']) await ok('a', ['create', 'configmap', name]);
    expect(await revision('b')).toBe(before);
  });

  test('do not let in each other’s ServiceAccounts', async () => {
    for (const context of ['a', 'b']) {
      await ok(context, ['create', 'serviceaccount', 'robot']);
      await ok(context, [
        'create',
        'clusterrolebinding',
        'robots',
        '--clusterrole=cluster-admin',
        '--serviceaccount=default:robot',
      ]);
    }
    const token = (await ok('a', ['create', 'token', 'robot'])).trim();
    const config = join(folder, 'robot');
    await writeKubeconfig(config, {
      clusters: Object.fromEntries(
        ['a', 'b'].map((name) => [
          name,
          {
            server: `${serverUrl({ scheme: 'https', host: '127.0.0.1', port: listening.port })}/clusters/${name}`,
            caCertificate: pki.authority.certificate,
          },
        ]),
      ),
      users: { robot: { token } },
      contexts: { a: { cluster: 'a', user: 'robot' }, b: { cluster: 'b', user: 'robot' } },
      current: 'a',
    });
    const as = (context: string) =>
      run(kubectlPath as string, [
        '--kubeconfig',
        config,
        '--context',
        context,
        '--cache-dir',
        join(folder, `c-${context}`),
        'get',
        'pods',
      ]);
    expect(await as('a')).toMatchObject({ code: 0 });
    expect(await as('b')).toMatchObject({ code: 1, stderr: expect.stringContaining('logged in') });
  });

  test('answer at no other place', async () => {
    for (const context of ['absent', 'root']) {
      const outcome = await kubectl(context, ['get', 'configmaps']);
      expect(outcome).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('could not find the requested resource'),
      });
    }
  });

  test('are both as they were after a restart', async () => {
    const all = async () => {
      const dumps = [];
      for (const context of ['a', 'b'])
        dumps.push(await ok(context, ['get', 'configmaps,serviceaccounts,crds,clusterroles', '-A', '-o', 'yaml']));
      return dumps;
    };
    const before = await all();
    await stopAll();
    await startAll();
    expect(await all()).toEqual(before);
  });
});
