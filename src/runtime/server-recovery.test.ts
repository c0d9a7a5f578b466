import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { type Switched, switched } from '../../test/runtime/switched.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Resource } from '../api/kind.ts';
import type { Transport } from '../api/transport.ts';
import { ApiError, LostError } from '../base/errors.ts';
import type { ServerName } from './controller.ts';
import { createServerRecovery } from './server-recovery.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

async function present() {
  const cluster = await aCluster();
  const hub: Switched = switched(cluster.as(admin));
  const back: ServerName[] = [];
  const { servers, returns } = createServerRecovery(
    { servers: { hub }, clock: cluster.clock },
    (on) => void back.push(on),
  );
  const transport = servers.hub as Transport;
  const list = () => transport.call({ verb: 'list', at: { resource: configMaps } }).catch(() => {});
  const get = () => transport.call({ verb: 'get', at: { resource: configMaps, namespace: 'default', name: 'no' } });
  return { cluster, hub, back, returns, transport, list, get };
}

describe('a server that gave no answer is back', () => {
  test.each(['list', 'get'] as const)('when a %s is answered, even with a refusal', async (what) => {
    const { cluster, hub, back, returns, ...calls } = await present();
    await using _ = cluster;
    hub.isAway = true;
    await calls.list();
    cluster.clock.advance(5000);
    await calls.list();
    expect(back).toEqual([]);
    hub.isAway = false;
    await calls[what]().catch(() => {});
    expect([back, returns('hub'), returns('member')]).toEqual([['hub'], 1, 0]);
    await calls[what]().catch(() => {});
    expect(back).toEqual(['hub']);
  });

  test('when it accepts a watch, before that has told anything', async () => {
    const { cluster, hub, back, transport, list } = await present();
    await using _ = cluster;
    const { object } = await transport.call({
      verb: 'create',
      at: { resource: configMaps, namespace: 'default' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      manager: 'test',
    });
    hub.isAway = true;
    await list();
    cluster.clock.advance(60_000);
    hub.isAway = false;
    const stop = new AbortController();
    const revision = object?.metadata.resourceVersion ?? '';
    const told = transport.watch({ at: { resource: configMaps }, revision }, stop.signal)[Symbol.asyncIterator]();
    const next = told.next();
    await turns();
    expect(back).toEqual(['hub']);
    stop.abort();
    expect(await next).toMatchObject({ done: true });
  });

  test('but one that loses some calls and answers others was never away', async () => {
    const { cluster, hub, back, list } = await present();
    await using _ = cluster;
    for (let i = 0; i < 20; i++) {
      hub.isAway = true;
      cluster.clock.advance(60_000);
      await list();
      hub.isAway = false;
      cluster.clock.advance(2000);
      await list();
    }
    expect(back).toEqual([]);
  });

  test('and neither was one that nobody has asked', async () => {
    const { cluster, back, list } = await present();
    await using _ = cluster;
    cluster.clock.advance(3_600_000);
    await list();
    expect(back).toEqual([]);
  });

  test('and what stands before it does not speak for it', async () => {
    const cluster = await aCluster();
    await using _ = cluster;
    let error: Error | undefined = new LostError('connection reset');
    const inner = cluster.as(admin);
    const hub: Transport = { ...inner, call: (...args) => (error ? Promise.reject(error) : inner.call(...args)) };
    const back: ServerName[] = [];
    const recovery = createServerRecovery({ servers: { hub }, clock: cluster.clock }, (on) => void back.push(on));
    const list = () => recovery.servers.hub?.call({ verb: 'list', at: { resource: configMaps } }).catch((e) => e);
    expect(recovery.silentIn(await list())).toBe('hub');
    cluster.clock.advance(10_000);
    error = new ApiError(503, 'ServiceUnavailable', 'no backend');
    expect(recovery.silentIn(await list())).toBe('hub');
    expect(back).toEqual([]);
    error = new ApiError(403, 'Forbidden', 'no');
    expect(recovery.silentIn(await list())).toBe(undefined);
    expect(back).toEqual(['hub']);
    error = new ApiError(503, 'ServiceUnavailable', 'no backend');
    await list();
    cluster.clock.advance(10_000);
    error = undefined;
    await list();
    expect(back).toEqual(['hub']);
  });
});
