// The official JavaScript client against the built program: informers, their reconnects, typed calls, the path prefix.

import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from './https.ts';
import { type Server, startServer } from './server.ts';

const GROUP = { group: 'placement.kubernetes-fleet.io', version: 'v1', plural: 'clusterresourceplacements' };

const configFor = (server: Server, prefix = ''): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig);
  for (const cluster of config.clusters) Object.assign(cluster, { server: cluster.server + prefix });
  return config;
};

const placement = (name: string, clusters: number) => ({
  apiVersion: `${GROUP.group}/${GROUP.version}`,
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
    policy: { placementType: 'PickN', numberOfClusters: clusters },
  },
});

interface Seen {
  readonly events: string[];
  /** Done when the informer has told of this. */
  saw(event: string): Promise<void>;
  readonly informer: Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
}

/** An informer that starts again whenever it has failed, as its documentation tells users to, as soon as there is a server again. */
function follow(
  config: KubeConfig,
  path: string,
  list: () => Promise<KubernetesListObject<KubernetesObject>>,
  isServed: Promise<void> = Promise.resolve(),
): Seen {
  const informer = makeInformer(config, path, list);
  const events: string[] = [];
  const heard = new EventEmitter();
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, (object) => {
      const event = `${verb} ${object.metadata?.name}`;
      events.push(event);
      heard.emit(event);
    });
  }
  informer.on('error', () => void isServed.then(() => informer.start()));
  const saw = async (event: string): Promise<void> => {
    if (!events.includes(event)) await once(heard, event);
  };
  return { events, saw, informer };
}

describe('@kubernetes/client-node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-wire-'));
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ folder });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each([{ prefix: '' }, { prefix: '/clusters/hub' }])('below "$prefix"', ({ prefix }) => {
    test('creates, reads, patches in all ways, replaces, lists and deletes a ConfigMap', async () => {
      const api = configFor(server, prefix).makeApiClient(CoreV1Api);
      const at = { namespace: 'default', name: 'typed' };
      const created = await api.createNamespacedConfigMap({
        namespace: 'default',
        body: { metadata: { name: 'typed', labels: { is: 'typed' } }, data: { a: '1' } },
      });
      expect(created).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
      expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
      await expect(api.createNamespacedConfigMap({ namespace: 'default', body: created })).rejects.toMatchObject({
        code: 500,
      });

      const patch = (body: unknown, strategy: (typeof PatchStrategy)[keyof typeof PatchStrategy]) =>
        api.patchNamespacedConfigMap({ ...at, body }, setHeaderOptions('Content-Type', strategy));
      await patch([{ op: 'add', path: '/data/b', value: '2' }], PatchStrategy.JsonPatch);
      await patch({ data: { c: '3', a: null } }, PatchStrategy.MergePatch);
      const patched = await patch({ data: { d: '4' } }, PatchStrategy.StrategicMergePatch);
      expect(patched.data).toEqual({ b: '2', c: '3', d: '4' });

      const replaced = await api.replaceNamespacedConfigMap({ ...at, body: { ...patched, data: { only: 'this' } } });
      expect(replaced.data).toEqual({ only: 'this' });
      await expect(api.replaceNamespacedConfigMap({ ...at, body: patched })).rejects.toMatchObject({ code: 409 });

      const listed = await api.listNamespacedConfigMap({ namespace: 'default', labelSelector: 'is=typed' });
      expect(listed.items.map((item) => item.metadata?.name)).toEqual(['typed']);
      expect(await api.deleteNamespacedConfigMap(at)).toMatchObject({ status: 'Success' });
      await expect(api.readNamespacedConfigMap(at)).rejects.toMatchObject({ code: 404 });
    });

    test('does the same with a ClusterResourcePlacement', async () => {
      const api = configFor(server, prefix).makeApiClient(CustomObjectsApi);
      await api.createClusterCustomObject({ ...GROUP, body: placement('typed', 2) });
      await expect(api.createClusterCustomObject({ ...GROUP, body: placement('typed', 2) })).rejects.toMatchObject({
        code: 409,
      });
      await expect(api.createClusterCustomObject({ ...GROUP, body: placement('bad', -1) })).rejects.toMatchObject({
        code: 422,
      });
      const at = { ...GROUP, name: 'typed' };
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
      const body = { spec: { policy: { numberOfClusters: 3 } } };
      expect(await api.patchClusterCustomObject({ ...at, body }, merge)).toMatchObject(body);
      const status = { status: { observedResourceIndex: '1' } };
      expect(await api.patchClusterCustomObjectStatus({ ...at, body: status }, merge)).toMatchObject({
        ...body,
        ...status,
      });
      const found = (await api.getClusterCustomObject(at)) as KubernetesObject;
      expect(await api.replaceClusterCustomObject({ ...at, body: found })).toEqual(found);
      expect(await api.deleteClusterCustomObject(at)).toMatchObject({ status: 'Success' });
    });

    test('informs of ConfigMaps and of placements', async () => {
      const config = configFor(server, prefix);
      const core = config.makeApiClient(CoreV1Api);
      const custom = config.makeApiClient(CustomObjectsApi);
      await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'before' } } });
      const maps = follow(config, '/api/v1/namespaces/default/configmaps', () =>
        core.listNamespacedConfigMap({ namespace: 'default' }),
      );
      const placements = follow(
        config,
        `/apis/${GROUP.group}/${GROUP.version}/${GROUP.plural}`,
        () => custom.listClusterCustomObject(GROUP) as Promise<KubernetesListObject<KubernetesObject>>,
      );
      await Promise.all([maps.informer.start(), placements.informer.start()]);
      expect(maps.events).toContain('add before');
      await custom.createClusterCustomObject({ ...GROUP, body: placement('seen', 1) });
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
      await core.patchNamespacedConfigMap({ name: 'before', namespace: 'default', body: { data: { a: '1' } } }, merge);
      await custom.deleteClusterCustomObject({ ...GROUP, name: 'seen' });
      await core.deleteNamespacedConfigMap({ name: 'before', namespace: 'default' });
      await maps.saw('delete before');
      await placements.saw('delete seen');
      expect(maps.events.filter((event) => event.endsWith(' before'))).toEqual([
        'add before',
        'update before',
        'delete before',
      ]);
      expect(placements.events).toEqual(['add seen', 'delete seen']);
      expect(maps.informer.get('before', 'default')).toBeUndefined();
      await Promise.all([maps.informer.stop(), placements.informer.stop()]);
    });
  });

  test('reconnects after the server has been restarted, and misses nothing', async () => {
    const port = new URL(configFor(server).getCurrentCluster()?.server ?? '').port;
    const core = configFor(server).makeApiClient(CoreV1Api);
    let isBack = () => {};
    const seen = follow(
      configFor(server),
      '/api/v1/namespaces/default/configmaps',
      () => configFor(server).makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'default' }),
      new Promise((resolve) => (isBack = resolve)),
    );
    await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'first' } } });
    await seen.informer.start();
    await server.stop();
    server = await startServer({ folder, args: ['--port', port] });
    isBack();
    await configFor(server)
      .makeApiClient(CoreV1Api)
      .createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'second' } } });
    await seen.saw('add second');
    expect(seen.events.filter((event) => event === 'add first')).toHaveLength(1);
    expect(seen.informer.list().map((object) => object.metadata?.name)).toEqual(
      expect.arrayContaining(['first', 'second']),
    );
    await seen.informer.stop();
  });

  test('is told 410 when it asks for changes that are no longer kept, and its informers begin anew', async () => {
    const config = configFor(server);
    const path = '/api/v1/namespaces/default/configmaps';
    const { metadata } = await config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'default' });
    const old = metadata?.resourceVersion ?? '';
    // The window holds 64 MB of changes: `watch-window` in docs/known-differences.md.
    const data = { filler: 'x'.repeat(1_000_000) };
    await call(server.kubeconfig, 'POST', path, { body: JSON.stringify({ metadata: { name: 'big' }, data }) });
    for (let count = 0; count < 70; count++) {
      const body = JSON.stringify({ metadata: { name: 'big' }, data: { ...data, count: String(count) } });
      expect((await call(server.kubeconfig, 'PUT', `${path}/big`, { body })).code).toBe(200);
    }
    const gone = await new Promise((resolve) => {
      const phases: unknown[] = [];
      void new Watch(config).watch(
        path,
        { resourceVersion: old },
        (type, object) => phases.push({ type, object }),
        (error) => resolve({ phases, error }),
      );
    });
    expect(gone).toMatchObject({
      phases: [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }],
    });

    const api = config.makeApiClient(CoreV1Api);
    let lists = 0;
    let hasListedAgain = () => {};
    const secondList = new Promise<void>((resolve) => (hasListedAgain = resolve));
    const seen = follow(config, path, async () => {
      const list = (await api.listNamespacedConfigMap({ namespace: 'default' })) as KubernetesListObject<V1ConfigMap>;
      lists++;
      if (lists > 1) hasListedAgain();
      // The first time, as one who was away too long.
      return lists === 1 ? { ...list, metadata: { ...list.metadata, resourceVersion: old } } : list;
    });
    await seen.informer.start();
    await secondList;
    await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'third' } } });
    await seen.saw('add third');
    await seen.informer.stop();
  });
});
