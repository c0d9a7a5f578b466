// How members leave real control planes: what runs there stays or is removed first, nothing of them is left on the hub, and whoever has kept a
// token of theirs is let in no more. An API server remembers for ten seconds that a token was good.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { codeFor, tokenIn, tracesOf } from '../wire/credentials.ts';
import { namespace } from '../wire/delivery-kinds.ts';
import { flotilla, type Running, start } from '../wire/fleet.ts';
import { agentArgs, type RealFleet, startOnPlanes } from './fleet.ts';
import { joinMember, kubectlOf } from './install.ts';
import { skipsPlanes } from './planes.ts';

const STAYS = 'stays-in-the-fleet';
const KEEPS = 'keeps-all';
const PURGES = 'purges-all';
const AT = ['-n', 'fleet-system'];

describe.skipIf(skipsPlanes)('on real control planes', () => {
  let fleet: RealFleet;
  const agents: Running[] = [];
  const former = new Map<string, readonly string[]>();

  const commanded = (...args: readonly string[]) =>
    flotilla(fleet.folder, [...args, '--context', 'hub'], { KUBECONFIG: fleet.kubeconfig });
  const fileOf = (name: string) => join(fleet.folder, `${name}.kubeconfig`);
  const codes = (name: string) => {
    const tokens = former.get(name) ?? [];
    return Promise.all(tokens.map((token) => codeFor(fleet.kubeconfig, token, name)));
  };
  /** All end, and stay ended. */
  const end = async (name: string): Promise<void> => {
    await expect.poll(() => codes(name), { timeout: patience(30_000), interval: 500 }).toEqual([401, 401]);
  };
  const shop = (name: string) => fleet.kubectl.try(['--context', name, 'get', 'namespace', 'shop', '-o', 'name']);

  beforeAll(async () => {
    fleet = await startOnPlanes([STAYS, KEEPS, PURGES].map((name) => ({ name, labels: {} })));
    await fleet.apply(namespace('shop'), {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'shop' },
      spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }] },
    });
    await fleet.waitForAvailable('crp/shop');
  });
  afterAll(async () => {
    // The members leave while their agents are there to say so.
    try {
      await fleet?.[Symbol.asyncDispose]();
    } finally {
      for (const agent of agents) await agent[Symbol.asyncDispose]();
    }
  });

  test('other tools find a member by its ClusterProfile: version, address and certificates', async () => {
    for (const name of [STAYS, KEEPS, PURGES]) {
      const profile = `clusterprofile/${name}`;
      await fleet.hub([...AT, 'wait', '--for=condition=ControlPlaneHealthy', profile, '--timeout=60s']);
      const { status } = await fleet.get<{
        readonly status: {
          readonly version: object;
          readonly accessProviders: readonly { readonly cluster: Readonly<Record<string, string>> }[];
        };
      }>('hub', [...AT, profile]);
      expect(status.version).toEqual({ kubernetes: 'v1.34.4' });
      const { server, 'certificate-authority-data': ca } = status.accessProviders[0]?.cluster ?? {};
      const view = `{.contexts[?(@.name=="${name}")].context.cluster}`;
      const cluster = await fleet.kubectl.ok(['config', 'view', '--raw', '-o', `jsonpath=${view}`]);
      const own = (field: string) =>
        fleet.kubectl.ok([
          ...['config', 'view', '--raw', '-o', `jsonpath={.clusters[?(@.name=="${cluster}")].cluster.${field}}`],
        ]);
      expect({ server, ca }).toEqual({ server: await own('server'), ca: await own('certificate-authority-data') });
    }
  });

  test('a token is good for the rights of its own member alone, also one that its agent renewed', async () => {
    for (const name of [KEEPS, PURGES]) {
      const file = fileOf(name);
      const create = ['create', 'token', `${name}-hub-cluster-access`, '--duration=1h'];
      const renewed = await kubectlOf(file, join(fleet.folder, name)).ok([...AT, ...create]);
      former.set(name, [tokenIn(file), renewed.trim()]);
      expect(await codes(name)).toEqual([200, 200]);
      for (const token of former.get(name) ?? []) expect(await codeFor(fleet.kubeconfig, token, STAYS)).toBe(403);
      expect(await tracesOf(fleet.kubectl, name)).not.toEqual([]);
    }
  });

  test('a member that leaves keeps what runs there', async () => {
    const left = await commanded('leave', KEEPS, '--keep', '--timeout', '2m');
    expect(left).toMatchObject({ code: 0, stdout: expect.stringContaining(`${KEEPS} has left`) });
    expect(await shop(KEEPS)).toMatchObject({ code: 0 });
    await end(KEEPS);
    await fleet.agents.get(KEEPS)?.stop();
  });

  test('or, when it is purged, loses it first', async () => {
    const left = await commanded('leave', PURGES, '--purge', '--timeout', '2m');
    expect(left).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PURGES} has left`) });
    expect(left.stdout).toContain('is removed first');
    expect(await shop(PURGES)).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') });
    const applied = await fleet.kubectl.ok(['--context', PURGES, 'get', 'appliedworks', '-o', 'name']);
    expect(applied).toBe('');
    await end(PURGES);
    await fleet.agents.get(PURGES)?.stop();
    expect(await shop(STAYS)).toMatchObject({ code: 0 });
  });

  test('nothing on the hub names either of them any more', async () => {
    for (const name of [KEEPS, PURGES])
      await expect.poll(() => tracesOf(fleet.kubectl, name), { timeout: patience(60_000), interval: 1000 }).toEqual([]);
  });

  test('a member that is rebuilt under its name is let in with its new token alone, and has everything again', async () => {
    const file = await joinMember(fleet.folder, fleet.kubeconfig, PURGES);
    agents.push(start(fleet.folder, agentArgs(PURGES, file, fleet.kubeconfig)));
    await fleet.hub(['wait', '--for=condition=Joined', `membercluster/${PURGES}`, '--timeout=60s']);
    await fleet.kubectl.ok(['--context', PURGES, 'wait', '--for=create', 'namespace/shop', '--timeout=60s']);
    expect(await codeFor(fleet.kubeconfig, tokenIn(file), PURGES)).toBe(200);
    expect(await codes(PURGES)).toEqual([401, 401]);
  });

  test('a revoked one is let in no more, and its agent goes on when its file has a new one', async () => {
    const before = tokenIn(fileOf(PURGES));
    expect(await commanded('join', PURGES, '--revoke')).toMatchObject({ code: 0 });
    const code = () => codeFor(fleet.kubeconfig, before, PURGES);
    await expect.poll(code, { timeout: patience(30_000), interval: 500 }).toBe(401);
    const file = await joinMember(fleet.folder, fleet.kubeconfig, PURGES);
    expect(await codeFor(fleet.kubeconfig, tokenIn(file), PURGES)).toBe(200);
    expect(await code()).toBe(401);
    await fleet.hub(['label', 'namespace', 'shop', 'season=winter']);
    const labelled = '--for=jsonpath={.metadata.labels.season}=winter';
    await fleet.kubectl.ok(['--context', PURGES, 'wait', labelled, 'namespace/shop', '--timeout=60s']);
  });
});
