import { expect, test } from 'vitest';
import { createMemoryStore } from '../../src/apiserver/store/memory.ts';
import type { Store } from '../../src/apiserver/store/store.ts';
import { configMap, describeStore } from './conformance.ts';

describeStore({
  name: 'memory',
  open: async (options) => {
    const stores = new Map<string, Store>();
    return {
      store(cluster = 'a') {
        const store = stores.get(cluster) ?? createMemoryStore(options);
        stores.set(cluster, store);
        return store;
      },
      close: async () => {},
    };
  },
});

test('a memory store may begin with the image of another and leaves it untouched', () => {
  const origin = createMemoryStore();
  for (const name of ['b', 'a', 'c']) {
    origin.commit({ key: `/configmaps/shop/${name}`, expect: 'absent', value: configMap(name) });
  }
  const image = origin.range('');
  const copy = createMemoryStore({ image });
  expect(copy.visible).toBe(origin.visible);
  expect(copy.get('/configmaps/shop/a')).toBe(origin.get('/configmaps/shop/a'));
  expect(copy.since(copy.visible, '')).toEqual([]);
  expect(copy.since(copy.visible - 1, '')).toBe('compacted');
  copy.commit({
    key: '/configmaps/shop/a',
    expect: copy.get('/configmaps/shop/a')!.revision,
    value: configMap('a', { x: 'copy' }),
  });
  copy.commit({ key: '/configmaps/shop/d', expect: 'absent', value: configMap('d') });
  expect(origin.get('/configmaps/shop/a')?.object()['data']).toEqual({});
  expect(origin.range('').items).toHaveLength(3);
  expect(copy.range('').items).toHaveLength(4);
});

test('a memory store encodes an object at most once, and only when asked', () => {
  const store = createMemoryStore();
  const { stored } = store.commit({ key: '/configmaps/shop/a', expect: 'absent', value: configMap('a') });
  expect(stored.bytes()).toBe(stored.bytes());
  expect(stored.object()).toBe(store.get('/configmaps/shop/a')?.object());
});
