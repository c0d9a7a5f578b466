import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { expired } from '../../api/status.ts';
import { type Clock, wallClock } from '../../base/clock.ts';
import { verbs as realVerbs } from '../verbs/all.ts';
import type { FeedEvent, WatchFeed } from '../verbs/call.ts';
import { createEventEncoder, eventShape } from './event-encoder.ts';
import { aCluster, aConfigMap, aServer, type TestServer, widgets } from './server.testing.ts';

let server: TestServer;
const open: { destroy(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) each.destroy();
  await server?.close();
});

const CM = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Event {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of many shapes.
  readonly object: any;
}

/** A watch whose events can be awaited. */
async function aWatch(path: string, headers: Record<string, string> = {}) {
  const events: Event[] = [];
  let text = '';
  let isOver = false;
  let wake = () => {};
  const request: ClientRequest = httpRequest({ host: '127.0.0.1', port: server.port, path, headers, agent: false });
  open.push(request);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end();
  });
  response.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split('\n');
    text = lines.pop() as string;
    for (const line of lines) events.push(JSON.parse(line));
    wake();
  });
  const end = () => {
    isOver = true;
    wake();
  };
  response.on('end', end).on('error', end);
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    response,
    events,
    /** The next `count` events. */
    async take(count: number): Promise<Event[]> {
      await until(() => events.length >= count || isOver);
      return events.splice(0, count);
    },
    ended: () => until(() => isOver),
    destroy: () => request.destroy(),
  };
}

/** A clock that the test moves. */
function aClock() {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const due: { at: number; run: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    at(at, _name, run) {
      const entry = { at, run };
      due.push(entry);
      return () => {
        const index = due.indexOf(entry);
        if (index >= 0) due.splice(index, 1);
      };
    },
  };
  return {
    clock,
    due,
    advance(ms: number) {
      const target = now + ms;
      for (;;) {
        const next = due.filter((each) => each.at <= target).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due.splice(due.indexOf(next), 1);
        now = next.at;
        next.run();
      }
      now = target;
    },
  };
}

const shown = (events: readonly Event[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

describe('a watch', () => {
  test('sends its headers at once, then what is there, then what happens', async () => {
    const cluster = aCluster();
    cluster.seed([aConfigMap('a')]);
    server = await aServer(cluster);
    const empty = await aWatch('/api/v1/namespaces/other/configmaps?watch=1');
    expect(empty.response.statusCode).toBe(200);
    expect(empty.response.headers).toMatchObject({
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    });
    const watch = await aWatch(`${CM}?watch=true`);
    expect(shown(await watch.take(1))).toEqual(['ADDED a']);
    cluster.seed([aConfigMap('b')]);
    await server.call('PATCH', `${CM}/b`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"data":{"x":"y"}}',
    });
    await server.call('DELETE', `${CM}/b`);
    const events = await watch.take(3);
    expect(shown(events)).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b']);
    expect(events[0]?.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(empty.events).toEqual([]);
  });

  test('starts from a revision, in the version that was asked for', async () => {
    const cluster = aCluster();
    server = await aServer(cluster);
    const from = cluster.cluster.store.visible;
    const widget = { apiVersion: 'example.dev/v1beta1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } };
    cluster.seed([widget]);
    const watch = await aWatch(`/apis/example.dev/v1/widgets?watch=1&resourceVersion=${from}`);
    expect((await watch.take(1))[0]).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: 'example.dev/v1', kind: 'Widget' },
    });
    const old = await aWatch(`/apis/example.dev/v1/watch/namespaces/default/widgets/w`);
    expect(shown(await old.take(1))).toEqual(['ADDED w']);
  });

  test('shows tables, with columns in the first event alone', async () => {
    const cluster = aCluster();
    cluster.seed([aConfigMap('a'), aConfigMap('b')]);
    server = await aServer(cluster);
    const query = '?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await aWatch(`${CM}${query}`, { accept: `${TABLE},application/json` });
    const [first, second, bookmark] = await watch.take(3);
    expect(first?.object.columnDefinitions).toHaveLength(2);
    expect(first?.object.rows[0].cells[0]).toBe('a');
    expect(second?.object).toMatchObject({
      kind: 'Table',
      columnDefinitions: null,
      metadata: { resourceVersion: expect.any(String) },
    });
    expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Table' } });
    expect(bookmark?.object.rows[0].object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  test('shows metadata alone', async () => {
    const cluster = aCluster();
    cluster.seed([aConfigMap('a', { secret: 'x' })]);
    server = await aServer(cluster);
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const watch = await aWatch(`${CM}?watch=1`, { accept });
    const [event] = await watch.take(1);
    expect(Object.keys(event?.object)).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  test('gets a bookmark about once a minute if it asked for them, and one when its time is up', async () => {
    const time = aClock();
    const cluster = aCluster({ clock: time.clock });
    server = await aServer(cluster, { clock: time.clock });
    const watch = await aWatch(`${CM}?watch=1&allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion=1`);
    cluster.cluster.store.commit({
      key: '/nodes//n',
      expect: 'absent',
      value: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } },
    });
    const { visible } = cluster.cluster.store;
    time.advance(61_000);
    expect(await watch.take(1)).toEqual([
      {
        type: 'BOOKMARK',
        object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: String(visible) } },
      },
    ]);
    time.advance(60_000);
    expect((await watch.take(1))[0]?.type).toBe('BOOKMARK');
    time.advance(30_000);
    expect((await watch.take(1))[0]?.type).toBe('BOOKMARK');
    await watch.ended();
    expect(server.load.watches).toBe(0);
    expect(time.due).toEqual([]);
  });

  test('ends by itself after half an hour to an hour', async () => {
    const time = aClock();
    const cluster = aCluster({ clock: time.clock });
    server = await aServer(cluster, { clock: time.clock });
    const watch = await aWatch(`${CM}?watch=1`);
    time.advance(29 * 60_000);
    expect(server.load.watches).toBe(1);
    time.advance(31 * 60_000);
    await watch.ended();
    expect(await watch.take(1)).toEqual([]);
  });

  test('whose revision is gone hears so inside the stream', async () => {
    const gone = () => {
      throw expired('too old resource version: 1 (611)');
    };
    server = await aServer(aCluster({ verbs: { watch: gone } }));
    const watch = await aWatch(`${CM}?watch=1&resourceVersion=1`);
    expect(watch.response.statusCode).toBe(200);
    expect(await watch.take(1)).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'too old resource version: 1 (611)',
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
    await watch.ended();
  });

  test('that falls behind the window later hears the same', async () => {
    let wake = () => {};
    const feed: WatchFeed = {
      revision: 1,
      pull: () => {
        if (wakes++ === 0) return [];
        throw expired('too old resource version: 1 (9)');
      },
      onWake(run) {
        wake = run;
        return () => {};
      },
    };
    let wakes = 0;
    server = await aServer(aCluster({ verbs: { watch: () => feed } }));
    const watch = await aWatch(`${CM}?watch=1`);
    wake();
    expect(await watch.take(1)).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    await watch.ended();
    expect(server.load.watches).toBe(0);
  });

  test('whose client goes away is forgotten', async () => {
    let unsubscribed = () => {};
    const isUnsubscribed = new Promise<void>((resolve) => {
      unsubscribed = resolve;
    });
    const cluster = aCluster({
      verbs: {
        watch(on, at, options) {
          const feed = realVerbs.watch(on, at, options) as WatchFeed;
          return {
            get revision() {
              return feed.revision;
            },
            pull: () => feed.pull(),
            onWake(run) {
              const stop = feed.onWake(run);
              return () => {
                stop();
                unsubscribed();
              };
            },
          };
        },
      },
    });
    server = await aServer(cluster);
    const watch = await aWatch(`${CM}?watch=1`);
    expect(server.load.watches).toBe(1);
    watch.destroy();
    await isUnsubscribed;
    expect(server.load.watches).toBe(0);
    cluster.seed([aConfigMap('after')]);
    expect((await server.call('GET', `${CM}/after`)).code).toBe(200);
  });

  test('ends cleanly when the server closes', async () => {
    server = await aServer();
    const watch = await aWatch(`${CM}?watch=1`);
    await Promise.all([server.close(), watch.ended()]);
    expect(watch.response.complete).toBe(true);
  });

  test('is refused when there are too many', async () => {
    server = await aServer(aCluster(), { limits: { watches: 1 }, plainHttp: { user: { name: 'me', groups: [] } } });
    await aWatch(`${CM}?watch=1`);
    const refused = await server.call('GET', `${CM}?watch=1`);
    expect(refused.json).toMatchObject({ code: 429, reason: 'TooManyRequests' });
  });
});

describe('a watcher that does not read', () => {
  const aDeafClient = (path: string): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
        resolve(socket.pause());
      });
      socket.on('error', () => {});
      open.push(socket);
    });

  test('costs a bounded buffer, holds up nobody and is dropped', async () => {
    const time = aClock();
    const cluster = aCluster({ clock: time.clock });
    cluster.seed(Array.from({ length: 200 }, (_, i) => aConfigMap(`big-${i}`, { text: 'x'.repeat(100_000) })));
    server = await aServer(cluster, { clock: time.clock, limits: { watchBufferBytes: 100_000, watchStallMs: 10_000 } });
    const deaf = await aDeafClient(`${CM}?watch=1`);
    const watch = await aWatch(`${CM}?watch=1&resourceVersion=${cluster.cluster.store.visible}`);
    cluster.seed([aConfigMap('small')]);
    expect(shown(await watch.take(1))).toEqual(['ADDED small']);
    expect(server.load.watches).toBe(2);
    // The kernel buffers the first megabytes, so it takes a few turns until nothing is sent any more.
    while (server.load.watches === 2) {
      time.advance(10_001);
      await new Promise(setImmediate);
    }
    const closed = new Promise((resolve) => deaf.once('close', resolve));
    deaf.resume();
    await closed;
    expect((await server.call('GET', `${CM}/small`)).code).toBe(200);
  });

  test('and reads again in time gets everything, in order and once', async () => {
    const cluster = aCluster();
    const names = Array.from({ length: 100 }, (_, i) => `big-${String(i).padStart(3, '0')}`);
    cluster.seed(names.map((name) => aConfigMap(name, { text: 'x'.repeat(50_000) })));
    server = await aServer(cluster, { limits: { watchBufferBytes: 100_000 } });
    const watch = await aWatch(`${CM}?watch=1`);
    watch.response.pause();
    cluster.seed([aConfigMap('later')]);
    watch.response.resume();
    expect(shown(await watch.take(101))).toEqual([...names, 'later'].map((name) => `ADDED ${name}`));
  });
});

describe('a bookmark', () => {
  test('never overtakes an event that is still unsent', async () => {
    const time = aClock();
    const cluster = aCluster({ clock: time.clock });
    const names = Array.from({ length: 400 }, (_, i) => `big-${String(i).padStart(3, '0')}`);
    cluster.seed(names.map((name) => aConfigMap(name, { text: 'x'.repeat(50_000) })));
    server = await aServer(cluster, {
      clock: time.clock,
      limits: { watchBufferBytes: 100_000, watchStallMs: 3_600_000 },
    });
    const watch = await aWatch(`${CM}?watch=1&allowWatchBookmarks=true`);
    watch.response.pause();
    time.advance(61_000);
    watch.response.resume();
    const types = (await watch.take(400)).map((event) => event.type);
    expect(new Set(types)).toEqual(new Set(['ADDED']));
    time.advance(61_000);
    expect((await watch.take(1))[0]).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: String(cluster.cluster.store.visible) } },
    });
  });
});

describe('one event for many watchers', () => {
  test('is put into words once', async () => {
    const cluster = aCluster();
    let made = 0;
    cluster.seed([aConfigMap('first')]);
    // Every encoding reads the object's bytes, so reads are counted.
    const counted = (events: readonly FeedEvent[]): readonly FeedEvent[] =>
      events.map((event) => (event.stored ? { ...event, stored: countingOf(event.stored) } : event));
    const wrappers = new WeakMap<object, NonNullable<FeedEvent['stored']>>();
    const countingOf = (stored: NonNullable<FeedEvent['stored']>) => {
      const known = wrappers.get(stored);
      if (known) return known;
      const wrapper = {
        key: stored.key,
        revision: stored.revision,
        object: () => stored.object(),
        bytes() {
          made++;
          return stored.bytes();
        },
      };
      wrappers.set(stored, wrapper);
      return wrapper;
    };
    const watching: typeof realVerbs.watch = (on, at, options) => {
      const feed = realVerbs.watch(on, at, options) as WatchFeed;
      return {
        get revision() {
          return feed.revision;
        },
        pull: () => counted(feed.pull()),
        onWake: (run) => feed.onWake(run),
      };
    };
    server = await aServer({ ...cluster, verbs: { ...cluster.verbs, watch: watching } });
    const from = cluster.cluster.store.visible;
    const watches = await Promise.all(
      Array.from({ length: 50 }, () => aWatch(`${CM}?watch=1&resourceVersion=${from}`)),
    );
    cluster.seed([aConfigMap('one', { text: 'x' })]);
    const all = await Promise.all(watches.map((watch) => watch.take(1)));
    expect(new Set(all.map((events) => JSON.stringify(events))).size).toBe(1);
    expect(made).toBe(1);
  });

  test('is kept for a while, within bounds', () => {
    const stored = (name: string) => {
      const object = aConfigMap(name);
      return { key: name, revision: 1, object: () => object, bytes: () => Buffer.from(JSON.stringify(object)) };
    };
    const { cluster } = aCluster();
    const found = cluster.registry.find('', 'v1', 'configmaps')!;
    const shape = eventShape({ at: { ...found, namespace: '' }, form: 'json', version: '', include: 'Metadata' });
    const encoder = createEventEncoder({ now: wallClock.now, maxEvents: 2 });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ type: 'ADDED' as const, stored: stored(name), revision: 1 }));
    for (const event of [a, a, b, b]) encoder.encode(shape, event!, false);
    expect(encoder.made).toBe(2);
    encoder.encode(shape, c!, false);
    encoder.encode(shape, a!, false);
    expect(encoder.made).toBe(4);
    encoder.encode(shape, { ...a!, type: 'DELETED' }, false);
    expect(encoder.made).toBe(5);
    const metadata = eventShape({ ...shape, form: 'metadata', version: 'v1' });
    const other = eventShape({ ...shape, at: { resource: widgets, version: widgets.stored, namespace: '' } });
    expect(new Set([shape.key, metadata.key, other.key]).size).toBe(3);
    expect(String(encoder.encode(metadata, a!, false))).toContain('PartialObjectMetadata');
  });
});
