// Housekeeping on a store whose writes become visible only once they are durable, and after a restart.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { placeOf, someone, testCluster } from '../builtin/cluster.testing.ts';
import { FakeDisk } from '../store/fake-disk.ts';
import { type Log, openLog } from '../store/log.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { startHousekeeping } from './start.ts';

async function started(log: Log) {
  const cluster = { ...testCluster(), store: log.store('a') };
  const housekeeping = startHousekeeping(cluster, {
    remove,
    onError: (error) => {
      throw error;
    },
  });
  const put = (object: KubeObject) => create(cluster, placeOf(cluster, object, 'team'), object, someone);
  return { cluster, put, ...housekeeping };
}

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const configMap = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('on a durable store', () => {
  test('settled means that also the writes that are on their way have been seen', async () => {
    const log = await openLog({ disk: new FakeDisk() });
    const { put, settled, cluster } = await started(log);
    await settled();
    const written = put(namespace('team'));
    await settled();
    expect(cluster.store.get('/serviceaccounts/team/default')).toBeDefined();
    expect(cluster.store.head).toBe(cluster.store.visible);
    await written;
    await log.close();
  });

  test('a namespace of many objects goes', async () => {
    const log = await openLog({ disk: new FakeDisk() });
    const { put, settled, cluster } = await started(log);
    await put(namespace('team'));
    await settled();
    await Promise.all(Array.from({ length: 300 }, (_, index) => put(configMap(`c${index}`))));
    await remove(cluster, placeOf(cluster, namespace('team')), {}, someone);
    await settled();
    expect(cluster.store.range('').items).toEqual([]);
    await log.close();
  });

  test('a restart reads only the few objects that housekeeping is about', async () => {
    const disk = new FakeDisk();
    const first = await openLog({ disk });
    const before = await started(first);
    await before.put(namespace('team'));
    await before.settled();
    await Promise.all(Array.from({ length: 200 }, (_, index) => before.put(configMap(`c${index}`))));
    before.stop();
    const { head } = before.cluster.store;
    await first.close();

    const second = await openLog({ disk });
    const after = await started(second);
    await after.settled();
    expect(after.cluster.store.head).toBe(head);
    // The namespace, its copy of the CA, and a few lookups; never all 200.
    expect(second.counts().parses).toBeLessThan(10);
    await second.close();
  });
});
