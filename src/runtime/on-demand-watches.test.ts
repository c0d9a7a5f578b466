import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../test/cluster.ts';
import { type Counted, counted } from '../../test/runtime/counted.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { LostError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import { type Controller, idle, type Source, type View, type Worker, type WorkerClient } from './controller.ts';
import { silentLog } from './deps.ts';
import { type Manager, startManager } from './manager.ts';

const resource = (kind: string, plural: string, more: Partial<Resource> = {}): Resource => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
  ...more,
});
const configMaps = resource('ConfigMap', 'configmaps');
const secrets = resource('Secret', 'secrets');
const gadgets = resource('Gadget', 'gadgets', { group: 'test.example' });

/** The keys are ConfigMaps of the namespace `default`; each names a namespace whose Secrets it reads. */
const orders: Source<KubeObject> = { on: 'hub', resource: configMaps, namespace: 'default', labels: 'app=test' };
const onDemand = (what: Resource): Source => ({ on: 'hub', resource: what, view: 'metadata' });

const wanted = (order: KubeObject) => (order['data'] ?? {}) as { readonly namespace?: string; readonly name?: string };

interface Seen {
  readonly key: string;
  readonly names: readonly string[];
}

function reader(what: Resource = secrets, isSure = false) {
  const looks: Seen[] = [];
  const controller: Controller<Seen> = {
    name: 'reader',
    eventSource: 'reader',
    watches: [{ source: orders, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
    observe(view, key) {
      const order = view.get(orders, key);
      if (order === undefined) return undefined;
      const source = onDemand(what);
      const found = view.listOnDemand(source, wanted(order));
      const trouble = view.listError(source);
      if (trouble !== undefined) return { key, names: [`trouble: ${trouble.reason}`] };
      if (found === undefined) return { need: [], watch: [source] };
      const ask = [{ source, part: wanted(order) }];
      if (isSure && !view.isRefreshed?.(source, wanted(order))) return { need: [], ask };
      return { key, names: found.map(({ metadata }) => metadata.name ?? '') };
    },
    decide(seen) {
      looks.push(seen);
      return idle('looked');
    },
  };
  return { controller, looks };
}

interface Bench extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly asked: Counted;
  readonly manager: Manager;
  order(name: string, data: object): Promise<KubeObject>;
  secret(namespace: string, name: string): Promise<KubeObject>;
}

async function bench(
  controllers: readonly (Controller<Seen> | Worker)[],
  between: (inner: Transport) => Transport = (inner) => inner,
): Promise<Bench> {
  const cluster = await aCluster();
  for (const name of ['a', 'b']) await cluster.create('namespaces', undefined, { metadata: { name } });
  await cluster.settled();
  const asked = counted(between(cluster.as(admin)));
  const deps = { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log: silentLog };
  const manager = startManager(deps, { controllers });
  await turns();
  return {
    cluster,
    asked,
    manager,
    async order(name, data) {
      const made = await cluster.create('configmaps', 'default', { metadata: { name, labels: { app: 'test' } }, data });
      await turns(6);
      return made;
    },
    async secret(namespace, name) {
      const made = await cluster.create('secrets', namespace, { metadata: { name } });
      await turns(6);
      return made;
    },
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

const sourcesOf = (manager: Manager) => manager.state().sources.map(({ name }) => name);

describe('a collection on demand', () => {
  test('is watched from the first look on, once for all who read it', async () => {
    const { controller, looks } = reader();
    await using it = await bench([controller]);
    expect(sourcesOf(it.manager)).toHaveLength(1);
    await it.secret('a', 'one');
    await it.order('x', { namespace: 'a' });
    await it.order('y', { namespace: 'b' });
    expect(looks.map(({ key, names }) => `${key}: ${names}`)).toEqual(['x: one', 'y: ']);
    expect(sourcesOf(it.manager)).toHaveLength(2);
    expect(it.manager.idle()).toBe(true);
  });

  test('wakes those who read the part that changed, and nobody else', async () => {
    const { controller, looks } = reader();
    await using it = await bench([controller]);
    await it.order('all', {});
    await it.order('in-a', { namespace: 'a' });
    await it.order('in-b', { namespace: 'b' });
    await it.order('one-of-a', { namespace: 'a', name: 'one' });
    looks.length = 0;
    await it.secret('a', 'one');
    expect(looks.map(({ key }) => key).sort()).toEqual(['all', 'in-a', 'one-of-a']);
    looks.length = 0;
    await it.secret('a', 'two');
    expect(looks.map(({ key }) => key).sort()).toEqual(['all', 'in-a']);
  });

  test.each([
    ['all of it', {}, ['a', 'one', 'two']],
    ['a namespace', { namespace: 'a' }, ['one', 'two']],
    ['one object', { namespace: 'a', name: 'two' }, ['two']],
  ])('is asked of the server by who must be sure, if its watch is behind: %s', async (_part, data, names) => {
    const { controller, looks } = reader(secrets, true);
    const deaf = (inner: Transport): Transport => ({
      call: (request, signal) => inner.call(request, signal),
      async *watch(request, signal) {
        for await (const batch of inner.watch(request, signal)) if (request.at.resource.kind !== 'Secret') yield batch;
      },
    });
    await using it = await bench([controller], deaf);
    await it.secret('a', 'one');
    await it.order('before', {});
    expect(looks.at(-1)?.names).toEqual(['one']);
    await it.secret('a', 'two');
    await it.secret('b', 'a');
    expect(looks.at(-1)?.names).toEqual(['one']);
    await it.order('after', data);
    expect([...(looks.findLast(({ key }) => key === 'after')?.names ?? [])].sort()).toEqual(names);
    const lists = it.asked.calls.filter(({ verb, at }) => verb === 'list' && at.resource.plural === 'secrets').length;
    expect(lists).toBeLessThan(10);
  });

  test('tells of a change that its metadata does not show', async () => {
    const { controller, looks } = reader();
    await using it = await bench([controller]);
    await it.secret('a', 'one');
    await it.order('x', { namespace: 'a' });
    looks.length = 0;
    const body = { stringData: { password: 'new' } };
    await it.cluster.call({
      verb: 'patch',
      at: it.cluster.at('secrets', 'a', 'one'),
      patch: { type: 'merge', body },
      manager: 'user',
    });
    await turns(6);
    expect(looks).toHaveLength(1);
  });

  test('is let go a minute after the last reader, and not before', async () => {
    const { controller } = reader();
    await using it = await bench([controller]);
    await it.order('x', { namespace: 'a' });
    await it.cluster.call({ verb: 'delete', at: it.cluster.at('configmaps', 'default', 'x') });
    await turns(6);
    it.cluster.clock.advance(59_000);
    await turns();
    expect(sourcesOf(it.manager)).toHaveLength(2);
    // A reader returns in time.
    await it.order('x', { namespace: 'a' });
    it.cluster.clock.advance(59_000);
    await turns();
    expect(sourcesOf(it.manager)).toHaveLength(2);
    await it.cluster.call({ verb: 'delete', at: it.cluster.at('configmaps', 'default', 'x') });
    await turns(6);
    it.cluster.clock.advance(61_000);
    await turns(6);
    expect(sourcesOf(it.manager)).toHaveLength(1);
    expect(it.manager.idle()).toBe(true);
  });

  test('that the server does not know is told as trouble, and is there when the server has learnt it', async () => {
    let isKnown = false;
    const { controller, looks } = reader(gadgets);
    await using it = await bench([controller], (inner) => ({
      ...inner,
      call: (request, signal) =>
        inner.call(
          isKnown ? { ...request, at: { ...request.at, resource: secretsFor(request.at.resource) } } : request,
          signal,
        ),
      watch: (request, signal) =>
        inner.watch({ ...request, at: { ...request.at, resource: secretsFor(request.at.resource) } }, signal),
    }));
    await it.order('x', {});
    expect(looks.at(-1)).toEqual({ key: 'x', names: ['trouble: NotFound'] });
    expect(it.manager.idle()).toBe(true);
    isKnown = true;
    it.cluster.clock.advance(40_000);
    await turns(8);
    expect(looks.at(-1)?.names).not.toContain('trouble: NotFound');
  });
});

const secretsFor = (what: Resource): Resource => (what.plural === 'gadgets' ? secrets : what);

describe('a worker', () => {
  const worker = (work: (view: View, key: string, client: WorkerClient) => ReturnType<Worker['work']>): Worker => ({
    name: 'worker',
    eventSource: 'worker',
    watches: [{ source: orders, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
    work,
  });
  const rest = { holds: [], because: 'done' };
  const copy = (key: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: key, namespace: 'a' },
  });
  const create = (client: WorkerClient, key: string) =>
    client.call('hub', {
      verb: 'create',
      at: { resource: secrets, namespace: 'a' },
      object: copy(key),
      manager: 'test',
    });

  test('makes its own calls, and one that fails does not stop it', async () => {
    const done: string[] = [];
    await using it = await bench([
      worker(async (_see, key, client) => {
        await create(client, 'Not A Name').catch(() => done.push('refused'));
        await create(client, key);
        done.push('created');
        return rest;
      }),
    ]);
    await it.order('x', {});
    expect(done).toEqual(['refused', 'created']);
    expect(it.manager.idle()).toBe(true);
  });

  test('comes to rest after its own writes, and is woken by what others write', async () => {
    let passes = 0;
    await using it = await bench([
      worker(async (view, key, client) => {
        passes++;
        const order = view.get(orders, key);
        if (order === undefined) return undefined;
        const body = { metadata: { annotations: { seen: 'yes' } } };
        const at = { resource: configMaps, namespace: 'default', name: key };
        await client.call('hub', { verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
        return rest;
      }),
    ]);
    await it.order('x', {});
    expect(passes).toBe(1);
    expect(it.manager.idle()).toBe(true);
    passes = 0;
    const body = { data: { more: 'x' } };
    const at = it.cluster.at('configmaps', 'default', 'x');
    await it.cluster.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'user' });
    await turns(6);
    expect(passes).toBe(1);
  });

  test.for([
    { it: 'is not woken by its own write, however late the answer', others: false, passes: 1 },
    { it: 'is woken by what others wrote while it waited for its answer', others: true, passes: 2 },
  ])('$it', async ({ others, passes: expected }) => {
    let passes = 0;
    const slowly = (inner: Transport): Transport => ({
      ...inner,
      async call(request, signal) {
        const answer = await inner.call(request, signal);
        if (request.verb !== 'patch') return answer;
        const patch = { type: 'merge', body: { data: { more: 'x' } } } as const;
        if (others && passes === 1) await inner.call({ ...request, patch, manager: 'user' });
        await turns(6); // by now the watch has sent the event
        return answer;
      },
    });
    await using it = await bench(
      [
        worker(async (view, key, client) => {
          if (view.get(orders, key) === undefined) return undefined;
          passes++;
          const body = { metadata: { annotations: { seen: 'yes' } } };
          const at = { resource: configMaps, namespace: 'default', name: key };
          await client.call('hub', { verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
          return rest;
        }),
      ],
      slowly,
    );
    await it.order('x', {});
    await turns(20);
    expect(passes).toBe(expected);
    expect(it.manager.idle()).toBe(true);
  });

  test('comes again when it throws, and after a lost write only when the object was looked at', async () => {
    let isLosing = true;
    const gets: string[] = [];
    let passes = 0;
    await using it = await bench(
      [
        worker(async (_see, key, client) => {
          passes++;
          await create(client, key).catch((error) => {
            if (error instanceof LostError) throw error;
          });
          return rest;
        }),
      ],
      (inner) => ({
        ...inner,
        async call(request, signal) {
          if (request.verb === 'get') gets.push(request.at.name ?? '');
          if (request.verb !== 'create' || !isLosing) return inner.call(request, signal);
          isLosing = false;
          throw new LostError('gone astray');
        },
      }),
    );
    await it.order('x', {});
    expect(passes).toBe(2);
    expect(gets).toEqual(['x']);
  });

  test('may not write when nobody may', async () => {
    const errors: string[] = [];
    const cluster = await aCluster();
    const asked = counted(cluster.as(admin));
    const manager = startManager(
      { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log: silentLog },
      {
        controllers: [
          worker(async (_see, key, client) => {
            await create(client, key).catch((error: Error) => errors.push(error.name));
            return rest;
          }),
        ],
        mayWrite: () => false,
      },
    );
    await cluster.create('configmaps', 'default', { metadata: { name: 'x', labels: { app: 'test' } } });
    await turns(6);
    expect(errors).toEqual(['FencedError']);
    await manager.stop();
    await cluster[Symbol.asyncDispose]();
  });

  test('reads collections on demand and is woken by them', async () => {
    const seen: (readonly string[])[] = [];
    await using it = await bench([
      worker(async (view) => {
        const found = view.listOnDemand(onDemand(secrets), { namespace: 'a' });
        if (found === undefined) return { need: [], watch: [onDemand(secrets)] };
        seen.push(found.map(({ metadata }) => metadata.name ?? ''));
        return rest;
      }),
    ]);
    await it.order('x', {});
    await it.secret('a', 'one');
    await it.secret('b', 'two');
    expect(seen).toEqual([[], ['one']]);
  });
});

describe('what is read while a pass takes its time', () => {
  test('wakes the key again when it changes before the pass has ended', async () => {
    const seen: (readonly string[])[] = [];
    let meanwhile: (() => Promise<unknown>) | undefined;
    const slow: Worker = {
      name: 'slow',
      eventSource: 'slow',
      watches: [{ source: orders, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
      async work(view) {
        const found = view.listOnDemand(onDemand(secrets), { namespace: 'a' });
        if (found === undefined) return { need: [], watch: [onDemand(secrets)] };
        seen.push(found.map(({ metadata }) => metadata.name ?? ''));
        await meanwhile?.();
        return { holds: [], because: 'done' };
      },
    };
    await using it = await bench([slow]);
    meanwhile = async () => {
      meanwhile = undefined;
      await it.secret('a', 'one');
    };
    await it.order('x', {});
    await turns(6);
    expect(seen).toEqual([[], ['one']]);
  });
});

describe('a live look', () => {
  test('asks the server even though the watch, which is behind, knows of nothing', async () => {
    const watched: Source = { on: 'hub', resource: secrets, namespace: 'a' };
    const found: (string | null | undefined)[] = [];
    const careful: Controller<true> = {
      name: 'careful',
      eventSource: 'careful',
      watches: [
        { source: orders, toKeys: ({ metadata }) => [metadata.name ?? ''] },
        { source: watched, toKeys: () => [] },
      ],
      observe(view, key) {
        if (view.get(orders, key) === undefined) return undefined;
        const ref = { on: 'hub', resource: secrets, group: '', kind: 'Secret', namespace: 'a', name: 'one' } as const;
        const known = view.getFull(ref);
        const live = view.getFull({ ...ref, live: true });
        if (live === undefined) return { need: [{ ...ref, live: true }] };
        found.push(known === null ? null : known?.metadata.name, live === null ? null : live.metadata.name);
        return true;
      },
      decide: () => idle('looked'),
    };
    let isDeaf = false;
    await using it = await bench([careful as unknown as Controller<Seen>], (inner) => ({
      ...inner,
      async *watch(request, signal) {
        for await (const batch of inner.watch(request, signal)) {
          if (!isDeaf || request.at.resource.plural !== 'secrets') yield batch;
        }
      },
    }));
    isDeaf = true;
    await it.secret('a', 'one');
    await it.order('x', {});
    // The object of the live read stays in the cache.
    expect([...new Set(found)]).toEqual(['one']);
    expect(it.manager.idle()).toBe(true);
  });
});
