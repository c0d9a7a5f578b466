import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { seededRandom } from '../base/random.ts';
import { type Controller, idle, type Source } from './controller.ts';
import { type Deps, silentLog } from './deps.ts';
import { startManager } from './manager.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

const maps: Source<KubeObject> = { on: 'hub', resource: configMaps, namespace: 'default' };
const copies: Source<KubeObject> = { on: 'hub', resource: secrets, namespace: 'default', labels: 'copy=yes' };

/** Every ConfigMap with `copy: yes` gets a Secret of the same name with the same text. */
const copying: Controller<{ map?: KubeObject; copy?: KubeObject }> = {
  name: 'copying',
  eventSource: 'copying',
  watches: [
    { source: maps, toKeys: (item) => [item.metadata.name ?? ''] },
    { source: copies, toKeys: (item) => [item.metadata.name ?? ''] },
  ],
  observe(see, key) {
    const map = see.get(maps, key);
    const copy = see.get(copies, key);
    if (!map && !copy) return undefined;
    return { ...(map ? { map } : {}), ...(copy ? { copy } : {}) };
  },
  decide({ map, copy }) {
    const seen = (object: KubeObject, resource: Resource) => ({
      on: 'hub' as const,
      resource,
      namespace: 'default',
      name: object.metadata.name ?? '',
      uid: object.metadata.uid ?? '',
      resourceVersion: object.metadata.resourceVersion ?? '',
    });
    const text = (map?.['data'] as Record<string, string> | undefined)?.['text'];
    if (map === undefined || text === undefined) {
      if (copy === undefined) return idle('nothing to copy');
      return {
        ...idle('the copy has no original'),
        steps: [[{ do: 'delete', because: 'orphan', of: seen(copy, secrets) }]],
      };
    }
    const data = { text: Buffer.from(text).toString('base64') };
    if (copy === undefined) {
      const object = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: map.metadata.name ?? '', namespace: 'default', labels: { copy: 'yes' } },
        data,
      };
      return {
        ...idle('no copy yet'),
        steps: [[{ do: 'create', because: 'new', on: 'hub', resource: secrets, object }]],
      };
    }
    if ((copy['data'] as Record<string, string>)['text'] === data.text) return idle('equal');
    return {
      ...idle('another text'),
      steps: [[{ do: 'patch', because: 'changed', of: seen(copy, secrets), merge: { data } }]],
    };
  },
};

describe('a manager', () => {
  test('brings the world to what a controller wants, and then is idle', async () => {
    await using cluster = await aCluster();
    const deps: Deps = {
      clock: cluster.clock,
      random: seededRandom(1),
      servers: { hub: cluster.as(admin) },
      log: silentLog,
    };
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' }, data: { text: 'one' } });
    const manager = startManager(deps, { controllers: [copying] });
    await manager.synced;
    await cluster.settled();
    await new Promise((resolve) => setImmediate(resolve));
    expect(manager.idle()).toBe(true);
    expect((await cluster.get('secrets', 'default', 'a'))['data']).toEqual({ text: 'b25l' });
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'a') });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(cluster.get('secrets', 'default', 'a')).rejects.toThrow('not found');
    expect(manager.state().sources.map(({ tombstones }) => tombstones)).toEqual([0, 0]);
    await manager.stop();
  });
});
