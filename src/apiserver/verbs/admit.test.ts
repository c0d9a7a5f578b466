import { expect, test } from 'vitest';
import type { AdmitQuestion, ReadOnly, Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cluster } from '../cluster.ts';
import type { ServedResource } from '../registry.ts';
import { FakeDisk } from '../store/fake-disk.ts';
import { openLog } from '../store/log.ts';
import { admitHere } from './admit.ts';

const CONFIG_MAPS: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const configMap = (name: string, namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
});

test('admission sees all that was committed before it, also what is still on its way to the disk', async () => {
  let isHeld = false;
  let release = () => {};
  const disk = new FakeDisk({
    onStep: (operation) =>
      isHeld && operation === 'sync' ? new Promise<void>((resolve) => (release = resolve)) : undefined,
  });
  const log = await openLog({ disk, defer: queueMicrotask });
  const store = log.store('a');
  const keyOf = (name: string, namespace: string) => `/configmaps/${namespace}/${name}`;
  const put = (name: string, namespace = 'shop') =>
    store.commit({ key: keyOf(name, namespace), expect: 'absent', value: configMap(name, namespace) }).durable;
  await Promise.all([put('b'), put('d'), put('e'), put('b', 'other')]);
  isHeld = true;
  const pending = [put('a'), put('c'), put('z', 'zoo')];
  const key = keyOf('d', 'shop');
  pending.push(store.commit({ key, expect: store.get(key)!.revision, value: undefined }).durable);

  const looking = <T>(look: (lookup: ReadOnly) => T): T => {
    let found: T | undefined;
    const admission: ServedResource['admission'] = {
      reads: () => [
        { resource: CONFIG_MAPS, namespace: 'shop' },
        { resource: CONFIG_MAPS },
        { resource: CONFIG_MAPS, namespace: 'shop', name: 'c' },
      ],
      admit({ lookup }) {
        found = look(lookup);
        return { ok: true, object: configMap('x', 'shop'), warnings: [] };
      },
    };
    const question = { verb: 'create' } as AdmitQuestion<unknown, unknown>;
    admitHere({ store } as Cluster, { admission } as ServedResource, question);
    return found as T;
  };
  const names = (namespace?: string) =>
    looking((lookup) => lookup.list(CONFIG_MAPS, namespace).map(({ metadata }) => metadata.name));
  expect(names('shop')).toEqual(['a', 'b', 'c', 'e']);
  expect(names()).toEqual(['b', 'a', 'b', 'c', 'e', 'z']);
  expect(looking((lookup) => lookup.get(CONFIG_MAPS, 'c', 'shop'))?.metadata.name).toBe('c');
  expect(store.range('/configmaps/shop/').items).toHaveLength(3);

  isHeld = false;
  while (store.visible < store.head) {
    release();
    await Promise.resolve();
  }
  await Promise.all(pending);
  expect(names('shop')).toEqual(['a', 'b', 'c', 'e']);
  await log.close();
});
