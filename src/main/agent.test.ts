import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { identityOf } from '../../test/fleet.ts';
import { turns } from '../../test/runtime/turns.ts';
import { joinObjects } from '../api/join.ts';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { seededRandom } from '../base/random.ts';
import { transportProbe } from '../member/heartbeat/probe.ts';
import { runAgent } from './agent.ts';
import { counted } from './counted.ts';
import { serveHealth } from './health-server.ts';
import { startHub } from './parts.ts';

async function aHubAndAnAgent() {
  const hub = await aCluster({ kinds: hubKinds });
  const { clock } = hub;
  const member = await aCluster({ kinds: memberKinds, clock });
  const lines: string[] = [];
  const refusals: unknown[] = [];
  const line = (level: string) => (message: string, fields: Readonly<Record<string, unknown>>) => {
    if (message === 'reconciled') return;
    lines.push(`${level}: ${message} ${fields['next'] ?? ''}`.trim());
    refusals.push(fields['error']);
  };
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const metrics = new Registry();
  const random = seededRandom(1);
  const own = member.as(admin);
  const servers = {
    hub: counted(hub.as(identityOf('east')), 'hub', metrics),
    member: counted(own, 'member', metrics),
  };
  const agent = runAgent({ clock, random, log, servers }, { cluster: 'east', probe: transportProbe(own), metrics });
  return {
    hub,
    agent,
    lines,
    /** The errors of the hub, one per log line. */
    refusals,
    metrics,
    startHub: () =>
      startHub({ clock, random, log, servers: { hub: counted(hub.as(admin), 'hub', metrics) } }, { metrics }),
    async join() {
      const objects = joinObjects({ name: 'east' });
      for (const [plural, object] of [
        ['namespaces', objects.namespace],
        ['serviceaccounts', objects.serviceAccount],
        ['memberclusters', objects.memberCluster],
      ] as const) {
        const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
        await hub.create(plural, object.metadata.namespace, rest);
      }
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 1000) {
        clock.advance(1000);
        await turns(6);
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.stop();
      await hub[Symbol.asyncDispose]();
      await member[Symbol.asyncDispose]();
    },
  };
}

describe('an agent whose hub does not know it yet', () => {
  test('says once, calmly, what it waits for, and joins when it is let in', async () => {
    await using world = await aHubAndAnAgent();
    await world.pass(20_000);
    expect(world.agent.manager()).toBeUndefined();
    expect(world.lines).toEqual([
      'info: waiting for the hub to admit this member on the hub, "flotilla join east" and running hub controllers (flotilla hub) let it in',
    ]);
    // With the kubeconfig of another member, this message shows the cause.
    expect(world.refusals).toEqual([expect.stringContaining('east-hub-cluster-access" cannot get resource')]);
    await world.join();
    const controllers = world.startHub();
    await world.pass(30_000);
    await controllers.stop();
    expect(world.lines.slice(1)).toEqual(['info: the hub has admitted this member']);
    expect((await world.hub.get('memberclusters', undefined, 'east')).status).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Joined', status: 'True' })]),
    });
  });

  test('warns when it lasts, once, with what the hub said', async () => {
    await using world = await aHubAndAnAgent();
    await world.pass(59_000);
    expect(world.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
    await world.pass(120_000);
    expect(world.lines.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringContaining('the hub does not admit this member'),
    ]);
  });

  test('can be stopped while it waits', async () => {
    await using world = await aHubAndAnAgent();
    await world.pass(2000);
    await world.agent.stop();
    expect(world.agent.manager()).toBeUndefined();
  });
});

test('metrics show what controllers do: passes, queues, watches, and every request by verb', async () => {
  await using world = await aHubAndAnAgent();
  await world.join();
  const controllers = world.startHub();
  await world.pass(30_000);
  const without = { name: 'hub', detail: 'is starting', isReady: false };
  const { metrics } = world;
  await using served = await serveHealth({ port: 0, manager: () => controllers, without, metrics });
  const text = await (await fetch(`http://127.0.0.1:${served.port}/metrics`)).text();
  await controllers.stop();
  const count = (start: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1),
    );
  expect(count('flotilla_reconciles_total{controller="membership",result="acted"}')).toBeGreaterThan(0);
  expect(count('flotilla_reconciles_total{controller="heartbeat",result="acted"}')).toBeGreaterThan(0);
  expect(count('flotilla_writes_total{controller="heartbeat"}')).toBeGreaterThan(0);
  expect(count('flotilla_queue_depth{controller="membership"}')).toBe(0);
  expect(count('flotilla_watches')).toBeGreaterThanOrEqual(8);
  expect(count('flotilla_requests_total{server="hub",verb="create",resource="roles",code="2xx"}')).toBe(1);
  expect(
    count('flotilla_requests_total{server="hub",verb="patch",resource="internalmemberclusters/status",code="2xx"}'),
  ).toBeGreaterThan(0);
  expect(
    count('flotilla_requests_total{server="hub",verb="get",resource="internalmemberclusters",code="403"}'),
  ).toBeGreaterThan(0);
  expect(count('flotilla_requests_total{server="member",verb="watch",resource="nodes",code=""}')).toBe(1);
});
