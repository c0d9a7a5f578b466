// The lifetime and the maximum number of Events.
import { describe, expect, test } from 'vitest';
import { aCluster } from '../../../test/cluster.ts';
import { keyOf, type Store } from '../store/store.ts';

const HOUR = 60 * 60 * 1000;
const SLACK = 20_000;

const event = (name: string, namespace = 'default', message = '') => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace },
  involvedObject: { namespace },
  message,
});

async function withEvents(limits: { ttlMs?: number; maxPerNamespace?: number; maxBytesPerNamespace?: number } = {}) {
  const cluster = await aCluster({ eventLimits: limits });
  const { store } = cluster;
  const put = async (name: string, namespace = 'default', message = '') => {
    const key = keyOf('', 'events', namespace, name);
    const expect = store.get(key, 'head')?.revision ?? 'absent';
    await store.commit({ key, expect, value: event(name, namespace, message) }).durable;
    await cluster.settled();
  };
  const names = (namespace = '') => namesIn(store, namespace);
  return { cluster, store, put, names, clock: cluster.clock };
}

const namesIn = (store: Store, namespace = ''): readonly string[] =>
  store.range(namespace === '' ? '/events/' : `/events/${namespace}/`).items.map(({ key }) => key.split('/').at(-1)!);

describe('an Event', () => {
  test('goes an hour after it was written last', async () => {
    const { clock, put, names } = await withEvents();
    await put('once');
    await put('twice');
    clock.advance(HOUR / 2);
    await put('twice');
    clock.advance(HOUR / 2 - SLACK);
    expect(names()).toEqual(['once', 'twice']);
    clock.advance(2 * SLACK);
    expect(names()).toEqual(['twice']);
    clock.advance(HOUR / 2);
    expect(names()).toEqual([]);
    expect(clock.next((name) => name === 'events expire')).toBeUndefined();
  });

  test('stays where there is no time to live', async () => {
    const { clock, put, names } = await withEvents({ ttlMs: 0 });
    await put('a');
    clock.advance(1000 * HOUR);
    expect(names()).toEqual(['a']);
  });

  test('is deleted for watches, too', async () => {
    const { clock, put, store } = await withEvents();
    await put('a');
    const { visible } = store;
    clock.advance(HOUR + SLACK);
    const changes = store.since(visible, '/events/');
    expect(changes).toMatchObject([{ key: '/events/default/a', deleted: true }]);
  });

  test('that was there before a restart has its time anew', async () => {
    const { cluster, store, put } = await withEvents();
    await put('a');
    cluster.clock.advance(HOUR - SLACK);
    await cluster[Symbol.asyncDispose]();
    await using again = await aCluster({ store, clock: cluster.clock });
    again.clock.advance(HOUR - SLACK);
    expect(namesIn(store)).toEqual(['a']);
    again.clock.advance(2 * SLACK);
    expect(namesIn(store)).toEqual([]);
  });
});

describe('in a namespace', () => {
  test('the oldest go when there are too many, and only there', async () => {
    const { put, names } = await withEvents({ maxPerNamespace: 3 });
    await put('other', 'kube-system');
    for (const name of ['d', 'c', 'b', 'a']) await put(name);
    expect(names('default')).toEqual(['a', 'b', 'c']);
    // A write renews the Event.
    await put('c');
    await put('e');
    expect(names('default')).toEqual(['a', 'c', 'e']);
    expect(names('kube-system')).toEqual(['other']);
  });

  test('the oldest go when they are too large together', async () => {
    const { put, names } = await withEvents({ maxBytesPerNamespace: 10_000 });
    for (const name of ['a', 'b', 'c', 'd']) await put(name, 'default', 'x'.repeat(4000));
    expect(names()).toEqual(['c', 'd']);
    await put('huge', 'default', 'x'.repeat(20_000));
    expect(names()).toEqual([]);
  });

  test('a flood leaves no more than the maximum, whatever its size', async () => {
    const { cluster, store, names, clock } = await withEvents({ maxPerNamespace: 100 });
    for (let at = 0; at < 3000; at++) {
      store.commit({ key: keyOf('', 'events', 'default', `e${at}`), expect: 'absent', value: event(`e${at}`) });
    }
    // Each turn of the loop deletes a part.
    for (let turn = 0; turn < 20; turn++) {
      await cluster.settled();
      clock.advance(0);
    }
    expect(names()).toHaveLength(100);
    expect(names()).toContain('e2999');
    expect(cluster.errors).toEqual([]);
  });
});

test('a server that stops leaves no timer behind', async () => {
  const { cluster, put } = await withEvents();
  await put('a');
  await cluster[Symbol.asyncDispose]();
  expect(cluster.clock.next((name) => name === 'events expire')).toBeUndefined();
});
