import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../test/cluster.ts';
import { copying, copySources } from '../../test/runtime/copying.ts';
import { type Counted, counted } from '../../test/runtime/counted.ts';
import { faulty } from '../../test/runtime/faulty.ts';
import { switched } from '../../test/runtime/switched.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Hold } from '../api/hold.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Answer, Request, Transport } from '../api/transport.ts';
import { ApiError, InvariantError, LostError, UserError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import { patch, remove, seen } from './actions.ts';
import {
  type Action,
  type Controller,
  type Decision,
  type FullRef,
  idle,
  type Source,
  type View,
} from './controller.ts';
import type { Log } from './deps.ts';
import { type Manager, type ManagerOptions, startManager } from './manager.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const maps: Source<KubeObject> = { on: 'hub', resource: configMaps, namespace: 'default', labels: 'app=test' };
const others: Source<KubeObject> = { on: 'hub', resource: secrets, namespace: 'default' };

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

interface Bench {
  readonly manager: Manager;
  readonly asked: Counted;
  readonly lines: Line[];
}

async function managing(
  cluster: TestCluster,
  controllers: ManagerOptions['controllers'],
  more: Partial<ManagerOptions> & { readonly transport?: Transport } = {},
): Promise<Bench> {
  const asked = counted(more.transport ?? cluster.as(admin));
  const lines: Line[] = [];
  const level = (name: string) => (message: string, fields: Readonly<Record<string, unknown>>) =>
    void lines.push({ level: name, message, ...fields });
  const log: Log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  const deps = { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log };
  const manager = startManager(deps, { controllers, ...more });
  await turns();
  return { manager, asked, lines };
}

const aMap = (cluster: TestCluster, name: string, data: Readonly<Record<string, string>> = {}) =>
  cluster.create('configmaps', 'default', { metadata: { name, labels: { app: 'test' } }, data });

const touch = (cluster: TestCluster, name: string, body: object) =>
  cluster.call({
    verb: 'patch',
    at: cluster.at('configmaps', 'default', name),
    patch: { type: 'merge', body: body as never },
    manager: 'user',
  });

const dataOf = (object: KubeObject | undefined) => (object?.['data'] ?? {}) as Readonly<Record<string, string>>;

/** A controller of ConfigMaps that runs the given `decide` and records its passes. */
function told(
  decide: (map: KubeObject, view: View) => Decision | Promise<never>,
  more: Partial<Controller<{ map: KubeObject; view: View }>> = {},
) {
  const passes: string[] = [];
  const controller: Controller<{ map: KubeObject; view: View }> = {
    name: 'told',
    eventSource: 'told',
    watches: [{ source: maps, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
    observe(view, key) {
      passes.push(key);
      const map = view.get(maps, key);
      return map && { map, view };
    },
    decide: ({ map, view }) => decide(map, view) as Decision,
    ...more,
  };
  return { controller, passes };
}

const act = (...steps: (readonly Action[])[]): Decision => ({ ...idle('acts'), steps });
const mark = (map: KubeObject, value: string): Action => patch(seen(maps, map), { data: { mark: value } }, 'marks');

/** A transport that answers some requests differently. */
const instead = (
  inner: Transport,
  other: (request: Request, go: () => Promise<Answer>) => Promise<Answer> | undefined,
): Transport => ({
  watch: inner.watch,
  call(request, signal) {
    const go = () => inner.call(request, signal);
    return other(request, go) ?? go();
  },
});

describe('a manager', () => {
  test('asks for nothing when nothing happens, but keeps its watches', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', {
      metadata: { name: 'a', labels: { app: 'copy' } },
      data: { copies: '2', text: 'x' },
    });
    const sources = copySources();
    const { manager, asked } = await managing(cluster, [copying(sources)]);
    await turns(10);
    expect(manager.idle()).toBe(true);
    expect(asked.writes()).toEqual([
      'patch configmaps a',
      'create secrets a-0',
      'create secrets a-1',
      'patch configmaps a',
      expect.stringMatching(/^create events a\./),
    ]);
    const before = asked.calls.length;
    const { passes } = manager.state().controllers[0]!;
    for (let minute = 0; minute < 60; minute++) {
      cluster.clock.advance(60_000);
      await turns(1);
    }
    expect(asked.calls.length).toBe(before);
    expect(manager.state().controllers[0]?.passes).toBe(passes);
    expect(asked.open()).toBe(2);
    expect(asked.watches.length).toBeLessThanOrEqual(26); // both once per five minutes
    expect(asked.calls.filter(({ verb }) => verb === 'list').length).toBe(2);
    await manager.stop();
    expect(asked.open()).toBe(0);
  });

  test('writes nothing when the same decision would be made again', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', {
      metadata: { name: 'a', labels: { app: 'copy' } },
      data: { copies: '1', text: 'x' },
    });
    const { manager, asked } = await managing(cluster, [copying(copySources())]);
    await turns(10);
    const before = asked.writes().length;
    await touch(cluster, 'a', { data: { unrelated: 'thing' } }); // the full object is read again, and nothing follows
    await turns(10);
    expect(asked.writes().length).toBe(before);
    expect(manager.state().controllers[0]?.passes).toBeGreaterThan(2);
  });

  test('does not even look when nothing changed that it keeps', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller, passes } = told(() => idle('fine'), {});
    const lean: Source<KubeObject> = {
      ...maps,
      project: ({ metadata }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: metadata.name!, uid: metadata.uid!, resourceVersion: metadata.resourceVersion! },
      }),
    };
    await managing(cluster, [
      {
        ...controller,
        watches: [{ source: lean, toKeys: () => ['a'] }],
        observe: (_see, key) => void passes.push(key),
      },
    ]);
    expect(passes).toEqual(['a']);
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns();
    expect(passes).toEqual(['a']);
  });

  test('keeps what a controller remembers of a key for as long as the key is its own', async () => {
    await using cluster = await aCluster();
    const dropped: string[] = [];
    const noted: string[] = [];
    const woken: string[] = [];
    interface Memory {
      reconciles: number;
      decisions: number;
      likesNews: boolean;
    }
    let all: ReadonlyMap<string, Memory> = new Map();
    const controller: Controller<KubeObject, Memory> = {
      name: 'remembers',
      eventSource: 'remembers',
      watches: [
        {
          source: maps,
          toKeys: ({ metadata }) => [metadata.name ?? ''],
          note: (memory, map) => void noted.push(`${map.metadata.name} ${memory.reconciles}`),
        },
        {
          source: maps,
          toKeys: () => ['a', 'b', 'never'],
          onlyIf: ({ likesNews }) => likesNews,
          note: (_memory, map) => void woken.push(map.metadata.name ?? ''),
        },
      ],
      memory: () => ({ reconciles: 0, decisions: 0, likesNews: false }),
      forget: (key, { reconciles }) => void dropped.push(`${key} ${reconciles}`),
      begin(_wake, _signal, memories) {
        all = memories;
      },
      observe(view, key, memory) {
        memory.reconciles++;
        return view.get(maps, key);
      },
      decide(_map, memory) {
        memory.decisions++;
        return idle('fine');
      },
    };
    await aMap(cluster, 'a');
    const { manager } = await managing(cluster, [controller]);
    await aMap(cluster, 'b');
    await turns(5);
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns(5);
    expect([...all]).toEqual([
      ['a', { reconciles: 2, decisions: 2, likesNews: false }],
      ['b', { reconciles: 1, decisions: 1, likesNews: false }],
    ]);
    expect({ noted, woken, dropped }).toEqual({ noted: ['a 1'], woken: [], dropped: [] });
    expect(manager.state().controllers[0]?.memories).toBe(2);

    (all.get('b') as Memory).likesNews = true;
    await touch(cluster, 'a', { data: { x: '2' } });
    await turns(5);
    expect(woken).toEqual(['a']);
    expect(all.get('b')?.reconciles).toBe(2);

    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'b') });
    await turns(5);
    expect(dropped).toEqual(['b 3']);
    expect([...all.keys()]).toEqual(['a']);
    await aMap(cluster, 'b');
    await turns(5);
    expect(all.get('b')).toEqual({ reconciles: 1, decisions: 1, likesNews: false });
    expect(manager.state().controllers[0]?.memories).toBe(2);
  });

  test('has one watch per source, however many read it', async () => {
    await using cluster = await aCluster();
    const { controller } = told(() => idle('fine'));
    const { asked } = await managing(cluster, [
      controller,
      { ...controller, name: 'two' },
      { ...controller, name: 'three' },
    ]);
    expect(asked.watches.length).toBe(1);
  });

  test('lets nobody decide before all that they watch is known', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const transport = instead(cluster.as(admin), (request, go) =>
      request.verb === 'list' && request.at.resource.plural === 'secrets' ? held.then(go) : undefined,
    );
    const { controller, passes } = told(() => idle('fine'));
    const both = { ...controller, watches: [...controller.watches, { source: others, toKeys: () => [] }] };
    const { manager } = await managing(cluster, [both], { transport });
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns();
    expect(passes).toEqual([]);
    expect(manager.idle()).toBe(false);
    release();
    await manager.synced;
    await turns();
    expect(passes).toEqual(['a']);
  });

  test('waits for no optional source, and has everybody look again when it comes in', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    let isDown = true;
    const transport = instead(cluster.as(admin), (request) =>
      isDown && request.at.resource.plural === 'secrets' ? Promise.reject(new LostError('down')) : undefined,
    );
    const listed: (boolean | undefined)[] = [];
    const { controller } = told((_map, view) => {
      listed.push(view.isListed?.(others));
      return idle('fine');
    });
    const both = {
      ...controller,
      watches: [...controller.watches, { source: others, toKeys: () => [], optional: true as const }],
    };
    const { manager } = await managing(cluster, [both], { transport });
    await manager.synced;
    await turns();
    expect(listed).toEqual([false]);
    isDown = false;
    cluster.clock.advance(60_000);
    await turns();
    expect(listed).toEqual([false, true]);
  });

  test('hears of facts from outside, also before it is ready', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    let wakeUp = (_key: string) => {};
    let signal: AbortSignal | undefined;
    const { controller, passes } = told(() => idle('fine'), {
      watches: [{ source: maps, toKeys: () => [] }],
      begin(wake, until) {
        wakeUp = wake;
        signal = until;
        wake('a');
      },
    });
    const { manager } = await managing(cluster, [controller]);
    expect(passes).toEqual(['a']);
    wakeUp('a');
    await turns();
    expect(passes).toEqual(['a', 'a']);
    await manager.stop();
    expect(signal?.aborted).toBe(true);
  });

  test('wakes the old and the new owner of what changed hands', async () => {
    await using cluster = await aCluster();
    const { controller, passes } = told(() => idle('fine'), {
      watches: [{ source: maps, toKeys: (item: KubeObject) => [dataOf(item)['owner'] ?? ''] }],
    });
    await managing(cluster, [controller]);
    await aMap(cluster, 'a', { owner: 'one' });
    await turns();
    await touch(cluster, 'a', { data: { owner: 'two' } });
    await turns();
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'a') });
    await turns();
    expect(passes).toEqual(['one', 'two', 'one', 'two']);
  });

  test('sees its own write at once, and needs no second look because of the watch', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const marks: (string | undefined)[] = [];
    const { controller } = told((map) => {
      marks.push(dataOf(map)['mark']);
      return dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')]);
    });
    const { asked } = await managing(cluster, [controller]);
    await turns(5);
    expect(marks).toEqual([undefined, 'yes']);
    expect(asked.writes()).toEqual(['patch configmaps a']);
  });

  test.each(['wakeAt', 'coalesceUntil'])(
    'looks again after its writes, or when it said that it would (%s)',
    async (moment) => {
      await using cluster = await aCluster();
      await aMap(cluster, 'a');
      const start = cluster.clock.now();
      const times: number[] = [];
      const { controller } = told((map, { now }) => {
        times.push(now - start);
        if (dataOf(map)['mark'] === 'yes') return idle('marked');
        return { ...act([mark(map, 'yes')]), again: 'later', [moment]: start + 70 };
      });
      const { manager } = await managing(cluster, [controller]);
      await turns(5);
      expect(times).toEqual([0]);
      expect(manager.idle()).toBe(true);
      cluster.clock.advance(70);
      await turns(5);
      expect(times).toEqual([0, 70]);
    },
  );

  test('does not run a key again because of an object that it has deleted itself', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    await aMap(cluster, 'b');
    const direct = cluster.as(admin);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    /** The watch is slower than the answer to the deletion. */
    const transport: Transport = {
      call: direct.call,
      async *watch(request, signal) {
        for await (const events of direct.watch(request, signal)) {
          if (events.some(({ type }) => type === 'DELETED')) await released;
          yield events;
        }
      },
    };
    const { controller, passes } = told(
      (_map, view) => {
        const other = view.get(maps, 'b');
        return other === undefined
          ? idle('deleted')
          : { ...act([remove(seen(maps, other), 'deletes')]), again: 'later' };
      },
      { watches: [{ source: maps, toKeys: () => ['a'] }] },
    );
    const { manager, asked } = await managing(cluster, [controller], { transport });
    await turns(5);
    release();
    await turns(5);
    expect(asked.writes()).toEqual(['delete configmaps b']);
    expect(passes).toEqual(['a']);
    expect(manager.idle()).toBe(true);
    await manager.stop();
  });

  test('does not come back sooner for what was to follow a step that failed', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const refused = new ApiError(500, 'InternalError', 'not today');
    const direct = cluster.as(admin);
    const transport: Transport = {
      call: (request, signal) => (request.verb === 'patch' ? Promise.reject(refused) : direct.call(request, signal)),
      watch: direct.watch,
    };
    const { controller, passes } = told((map, { now }) => ({
      steps: [[patch(seen(maps, map), { data: { done: 'yes' } }, 'does it')]],
      holds: [],
      coalesceUntil: now + 100,
      again: 'later',
      because: 'does it',
    }));
    const { manager } = await managing(cluster, [controller], { transport });
    for (let ms = 0; ms < 60_000; ms += 100) {
      cluster.clock.advance(100);
      await turns();
    }
    expect(passes.length).toBeGreaterThan(3);
    expect(passes.length).toBeLessThan(30);
    await manager.stop();
  });

  test('looks once at what changes often, when a rule says that it is early enough', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const start = cluster.clock.now();
    const times: number[] = [];
    const { controller } = told(
      (_map, { now }) => {
        times.push(now - start);
        return idle('fine');
      },
      { watches: [{ source: maps, toKeys: ({ metadata }) => [metadata.name ?? ''], wait: { coalesceMs: 100 } }] },
    );
    const { manager } = await managing(cluster, [controller]);
    await turns(5);
    expect(times).toEqual([0]); // the first list always runs the key
    for (const owner of ['1', '2', '3']) await touch(cluster, 'a', { data: { owner } });
    await turns(5);
    expect(times).toEqual([0]);
    expect(manager.idle()).toBe(true);
    cluster.clock.advance(100);
    await turns(5);
    expect(times).toEqual([0, 100]);
    await touch(cluster, 'a', { data: { owner: '4' } });
    await turns(5);
    expect(times).toEqual([0, 100]);
    cluster.clock.advance(100);
    await turns(5);
    expect(times).toEqual([0, 100, 200]);
  });

  test('after a conflict looks at the object and decides anew at once', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    let interfere = true;
    const transport = instead(cluster.as(admin), (request, go) => {
      if (request.verb !== 'patch' || !interfere) return undefined;
      interfere = false;
      return touch(cluster, 'a', { data: { other: '1' } }).then(go);
    });
    const { controller, passes } = told((map) =>
      dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')]),
    );
    const { asked, lines } = await managing(cluster, [controller], { transport });
    await turns(5);
    expect(asked.calls.map(({ verb }) => verb)).toEqual(['list', 'patch', 'get', 'patch']);
    expect(dataOf(await cluster.get('configmaps', 'default', 'a'))).toEqual({ other: '1', mark: 'yes' });
    expect(passes.length).toBe(3);
    expect(lines.filter((line) => line['class'] === 'conflict').map(({ level }) => level)).toEqual(['info']);
  });

  test('after a lost answer decides nothing about the key before it has seen the object', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    // The watch is held back, so only a get can show whether the write happened.
    const inner = cluster.as(admin);
    let isLost = false;
    let isDown = false;
    const transport: Transport = {
      async call(request, signal) {
        if (isDown) throw new LostError('down');
        const answer = await inner.call(request, signal);
        if (request.verb !== 'create' || isLost) return answer;
        isLost = true;
        isDown = true;
        throw new LostError('the answer was lost');
      },
      async *watch(_request, signal) {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        yield [];
      },
    };
    const { controller, passes } = told(
      (map, view) =>
        view.get(others, 'made')
          ? idle('made')
          : act([
              {
                do: 'create',
                on: 'hub',
                resource: secrets,
                object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'made', namespace: 'default' } },
                because: map.metadata.name!,
              },
            ]),
      {
        watches: [
          { source: maps, toKeys: ({ metadata }) => [metadata.name ?? ''] },
          { source: others, toKeys: () => [] },
        ],
      },
    );
    const { manager, asked } = await managing(cluster, [controller], { transport });
    await turns(5);
    expect(passes.length).toBe(1);
    expect(manager.state().controllers[0]).toMatchObject({ blocked: 1, failing: 1 });
    for (let i = 0; i < 20; i++) {
      cluster.clock.advance(1000);
      await turns(2);
    }
    expect(passes.length).toBe(1);
    isDown = false;
    cluster.clock.advance(60_000);
    await turns(5);
    expect(passes.length).toBe(2);
    expect(asked.writes()).toEqual(['create secrets made']);
    expect(manager.state().controllers[0]).toMatchObject({ blocked: 0, failing: 0 });
  });

  test('tries again what got no answer as soon as the server answers anybody', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    await aMap(cluster, 'b');
    const hub = switched(cluster.as(admin));
    const { controller, passes } = told((map) =>
      dataOf(map)['mark'] === dataOf(map)['wish'] ? idle('fine') : act([mark(map, dataOf(map)['wish'] ?? '')]),
    );
    const { manager } = await managing(cluster, [controller], { transport: hub });
    await touch(cluster, 'a', { data: { wish: 'x' } });
    hub.isAway = true;
    await turns();
    for (let second = 0; second < 3600; second++) {
      cluster.clock.advance(1000);
      await turns(1);
    }
    expect(hub.missed).toBeLessThan(300);
    hub.isAway = false;
    const before = passes.length;
    // Whichever calls first, the reflector or the key, must wake the other, or the other would wait for up to a minute.
    let waitedMs = 0;
    for (; dataOf(await cluster.get('configmaps', 'default', 'a'))['mark'] !== 'x'; waitedMs += 100) {
      cluster.clock.advance(100);
      await turns();
    }
    expect(waitedMs).toBeLessThanOrEqual(30_000);
    expect(manager.state().sources[0]?.phase).toBe('watching');
    expect(new Set(passes.slice(before))).toEqual(new Set(['a']));
    await touch(cluster, 'b', { data: { wish: 'y' } });
    await turns();
    expect(dataOf(await cluster.get('configmaps', 'default', 'b'))['mark']).toBe('y');
  });

  test('leaves what a user must mend until the object changes', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller, passes } = told((map) => {
      if (dataOf(map)['ok'] === undefined) throw new UserError('NotOk', 'data.ok is missing');
      return idle('fine');
    });
    const { manager, lines } = await managing(cluster, [controller]);
    cluster.clock.advance(3_600_000);
    await turns();
    expect(passes).toEqual(['a']);
    expect(manager.idle()).toBe(true);
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      class: 'user',
      error: 'data.ok is missing',
      because: 'failed',
    });
    await touch(cluster, 'a', { data: { ok: '1' } });
    await turns();
    expect(passes).toEqual(['a', 'a']);
  });

  test('shouts about broken assumptions and comes back slowly', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller, passes } = told(() => {
      throw new InvariantError('two of them');
    });
    const { lines } = await managing(cluster, [controller]);
    cluster.clock.advance(14_000);
    await turns();
    expect(passes.length).toBe(1);
    cluster.clock.advance(16_000);
    await turns();
    expect(passes.length).toBe(2);
    expect(lines.filter(({ level }) => level === 'error').map((line) => line['error'])).toEqual([
      'two of them',
      'two of them',
    ]);
  });

  test('does not let a controller read what it does not watch', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller } = told((_map, view) => idle(`${view.all(others).length}`));
    const { lines } = await managing(cluster, [controller]);
    expect(lines.at(-1)).toMatchObject({ level: 'error', error: 'told reads secrets without watching them' });
  });

  test('tells the next pass what stopped the last one, but not of passing collisions', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const errors = [new ApiError(409, 'Conflict', 'collision'), new ApiError(403, 'Forbidden', 'no')];
    const transport = instead(cluster.as(admin), (request) => {
      const error = request.verb === 'patch' ? errors.shift() : undefined;
      return error && Promise.reject(error);
    });
    const heard: (string | undefined)[] = [];
    const { controller } = told((map, view) => {
      heard.push(view.failure?.reason);
      return dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')]);
    });
    await managing(cluster, [controller], { transport });
    cluster.clock.advance(10_000);
    await turns(5);
    expect(heard).toEqual([undefined, undefined, 'Forbidden', undefined]);
  });

  test('wakes a key when its decision asked for it, and once only', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const start = cluster.clock.now();
    const times: number[] = [];
    const { controller } = told((_map, view) => {
      times.push(view.now - start);
      return idle('waits', times.length < 3 ? { wakeAt: view.now + 10_000 } : {});
    });
    const { manager } = await managing(cluster, [controller]);
    expect(manager.state().controllers[0]?.nextWakeAt).toBe(start + 10_000);
    expect(manager.idle()).toBe(true);
    for (let i = 0; i < 60; i++) {
      cluster.clock.advance(1000);
      await turns(1);
    }
    expect(times).toEqual([0, 10_000, 20_000]);
    expect(manager.state().controllers[0]?.remembered).toBe(0);
  });

  test('keeps the holds of the last decision for readers', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a', { held: 'yes' });
    const hold: Hold = { code: 'Leaving', subject: { group: '', kind: 'ConfigMap', name: 'a' }, facts: {} };
    const { controller } = told((map) => idle('x', dataOf(map)['held'] === 'yes' ? { holds: [hold] } : {}));
    const { manager } = await managing(cluster, [controller]);
    expect(manager.holdsOf('a')).toEqual([hold]);
    expect(manager.holdsOf('a', 'somebody else')).toEqual([]);
    await touch(cluster, 'a', { data: { held: 'no' } });
    await turns();
    expect(manager.holdsOf('a')).toEqual([]);
    await touch(cluster, 'a', { data: { held: 'yes' } });
    await turns();
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'a') });
    await turns();
    expect(manager.state().controllers[0]?.holds).toBe(0);
  });

  test('writes one line per reconcile', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller } = told((map) => (dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')])));
    const { lines } = await managing(cluster, [controller]);
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'a') });
    await turns();
    const line = { level: 'info', message: 'reconciled', controller: 'told', key: 'a', durationMs: 0 };
    expect(lines).toEqual([
      { ...line, because: 'acts', actions: 1 },
      { ...line, level: 'debug', because: 'marked', actions: 0 },
      { ...line, level: 'debug', because: 'not ours', actions: 0 },
    ]);
  });

  test('counts what it does; two managers share a registry', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const metrics = new Registry();
    const { controller } = told((map) => (dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')])));
    const { manager } = await managing(cluster, [controller], { metrics });
    const second = await managing(cluster, [controller], { metrics });
    await turns();
    const value = async (name: string, labels: object = {}) =>
      (await metrics.getSingleMetric(name)?.get())?.values.find((each) =>
        Object.entries(labels).every(([key, is]) => each.labels[key] === is),
      )?.value;
    expect(await value('flotilla_reconciles_total', { controller: 'told', result: 'acted' })).toBe(1);
    expect(await value('flotilla_reconciles_total', { controller: 'told', result: 'idle' })).toBe(2);
    expect(await value('flotilla_writes_total', { controller: 'told' })).toBe(1);
    expect(await value('flotilla_watches')).toBe(2);
    expect(await value('flotilla_queue_depth', { controller: 'told' })).toBe(0);
    await manager.stop();
    await second.manager.stop();
    expect(await value('flotilla_watches')).toBe(0);
  });

  test('issues no write behind the fence, and goes on when it opens', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    let mayWrite = false;
    const { controller } = told((map) => (dataOf(map)['mark'] === 'yes' ? idle('marked') : act([mark(map, 'yes')])));
    const { asked } = await managing(cluster, [controller], { mayWrite: () => mayWrite });
    cluster.clock.advance(5000);
    await turns();
    expect(asked.writes()).toEqual([]);
    mayWrite = true;
    cluster.clock.advance(60_000);
    await turns();
    expect(asked.writes()).toEqual(['patch configmaps a']);
  });

  test('stops after what is under way, and begins nothing more', async () => {
    await using cluster = await aCluster();
    for (const name of ['a', 'b', 'c', 'd']) await aMap(cluster, name);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const transport = instead(cluster.as(admin), (request, go) =>
      request.verb === 'patch' ? held.then(go) : undefined,
    );
    const all: Source<KubeObject> = { ...maps };
    const { controller } = told(() => idle(''), {
      watches: [{ source: all, toKeys: () => ['all'] }],
      observe: (view) => ({ map: view.all(all)[0]!, view }),
      decide: ({ view }) =>
        act(
          view
            .all(all)
            .filter((map) => dataOf(map)['mark'] !== 'yes')
            .map((map) => mark(map, 'yes')),
          [mark(view.all(all)[0]!, 'never')],
        ),
    });
    const { manager, asked } = await managing(cluster, [controller], { transport, sideBySide: 2 });
    let isStopped = false;
    const stopped = manager.stop().then(() => {
      isStopped = true;
    });
    await turns();
    expect(isStopped).toBe(false);
    release();
    await stopped;
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns();
    expect(asked.writes()).toEqual(['patch configmaps a', 'patch configmaps b']);
    expect(dataOf(await cluster.get('configmaps', 'default', 'b'))['mark']).toBe('yes');
    await expect(manager.synced).resolves.toBeUndefined();
  });

  test('gives up calls that hang when it is stopped, after a while', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const inner = cluster.as(admin);
    const transport: Transport = {
      watch: inner.watch,
      call: (request, signal) =>
        request.verb === 'patch'
          ? new Promise((_resolve, reject) =>
              signal?.addEventListener('abort', () => reject(new LostError('given up'))),
            )
          : inner.call(request, signal),
    };
    const { controller } = told((map) => act([mark(map, 'yes')]));
    const { manager } = await managing(cluster, [controller], { transport });
    let isStopped = false;
    void manager.stop().then(() => {
      isStopped = true;
    });
    await turns();
    expect(isStopped).toBe(false);
    cluster.clock.advance(10_000);
    await turns();
    expect(isStopped).toBe(true);
  });

  test('can be stopped before anything is known', async () => {
    await using cluster = await aCluster();
    const transport = instead(cluster.as(admin), () => Promise.reject(new LostError('down')));
    const { controller } = told(() => idle('fine'));
    const { manager } = await managing(cluster, [controller], { transport });
    await manager.stop();
    await expect(manager.synced).rejects.toThrow('stopped before');
  });

  test('looks at every key from time to time, behind all that is new', async () => {
    await using cluster = await aCluster();
    for (const name of ['a', 'b']) await aMap(cluster, name);
    const { controller, passes } = told(() => idle('fine'));
    await managing(cluster, [controller], { resyncMs: 1_000_000 });
    expect(passes.splice(0)).toEqual(['a', 'b']);
    cluster.clock.advance(899_000);
    await turns();
    expect(passes).toEqual([]);
    cluster.clock.advance(202_000);
    await turns();
    expect(passes).toEqual(['a', 'b']);
  });

  test('does the same in the same order when everything happens the same way', async () => {
    const history = async () => {
      await using cluster = await aCluster();
      const network = faulty(cluster.as(admin), seededRandom(42));
      network.rate = 0.3;
      const { manager, asked } = await managing(cluster, [copying(copySources())], { transport: network });
      for (let i = 0; i < 40; i++) {
        const name = `n${i % 5}`;
        const made = { metadata: { name, labels: { app: 'copy' } }, data: { copies: String(i % 3), text: `t${i}` } };
        await cluster.create('configmaps', 'default', made).catch(() => touch(cluster, name, { data: made.data }));
        cluster.clock.advance(3000);
        await turns(8);
      }
      const text = JSON.stringify([asked.calls, asked.watches]);
      network.rate = 0;
      void manager.stop();
      return text;
    };
    const first = await history();
    expect(first.length).toBeGreaterThan(10_000);
    expect(await history()).toBe(first);
  });
});

describe('whole objects', () => {
  const metas: Source<KubeObject> = { ...others, view: 'metadata' };
  const ref: FullRef = {
    on: 'hub',
    resource: secrets,
    group: '',
    kind: 'Secret',
    namespace: 'default',
    name: 'whole',
  };
  const texts: (string | null)[] = [];
  const needing = (watched: Source<KubeObject> | undefined, needs: readonly FullRef[] = [ref]) =>
    told(() => idle('fine'), {
      watches: [
        { source: maps, toKeys: ({ metadata }) => [metadata.name ?? ''] },
        ...(watched === undefined ? [] : [{ source: watched, toKeys: () => [] }]),
      ],
      observe(view, key) {
        const map = view.get(maps, key);
        if (map === undefined) return undefined;
        const fulls = needs.map((each) => view.getFull(each));
        if (fulls.includes(undefined)) return { need: needs.filter((_, index) => fulls[index] === undefined) };
        texts.push(...fulls.map((each) => (each ? (dataOf(each)['text'] ?? '') : null)));
        return { map, view };
      },
    }).controller;
  const secret = (cluster: TestCluster, text: string) =>
    cluster.create('secrets', 'default', { metadata: { name: 'whole' }, data: { text } });
  const change = (cluster: TestCluster, text: string) =>
    cluster.call({
      verb: 'patch',
      at: cluster.at('secrets', 'default', 'whole'),
      patch: { type: 'merge', body: { data: { text } } },
      manager: 'user',
    });
  const gets = ({ asked }: Bench) => asked.calls.filter(({ verb }) => verb === 'get').length;

  test('are fetched once per state, for all keys, and wake those who looked at them', async () => {
    await using cluster = await aCluster();
    await secret(cluster, 'b25l');
    for (const name of ['a', 'b', 'c']) await aMap(cluster, name);
    texts.length = 0;
    const bench = await managing(cluster, [needing(metas)]);
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['b25l', 'b25l', 'b25l'], gets: 1 });
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['b25l'], gets: 1 });
    await change(cluster, 'dHdv');
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['dHdv', 'dHdv', 'dHdv'], gets: 2 });
    for (const name of ['a', 'b', 'c'])
      await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', name) });
    await turns(5);
    expect(bench.manager.state().controllers[0]?.dependencies).toBe(0);
  });

  test('of which only the spec is read wake nobody by anything else, and are not fetched again for it', async () => {
    await using cluster = await aCluster();
    const resource = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
    const deployments: Source<KubeObject> = { on: 'hub', resource, view: 'metadata' };
    const spec = (image: string) => ({
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    });
    const edit = (body: object, subresource?: 'status') =>
      cluster.call({
        verb: 'patch',
        at: { ...cluster.at('deployments', 'default', 'web'), ...(subresource === undefined ? {} : { subresource }) },
        patch: { type: 'merge', body: body as never },
        manager: 'user',
      });
    await cluster.create('deployments', 'default', { metadata: { name: 'web' }, spec: spec('web:1') });
    for (const name of ['a', 'b']) await aMap(cluster, name);
    const images: (string | null)[] = [];
    const reading: FullRef = { ...ref, resource, group: 'apps', kind: 'Deployment', name: 'web', specOnly: true };
    const { controller } = told(() => idle('fine'), {
      watches: [
        { source: maps, toKeys: ({ metadata }) => [metadata.name ?? ''] },
        { source: deployments, toKeys: () => [] },
      ],
      observe(view, key) {
        const map = view.get(maps, key);
        if (map === undefined) return undefined;
        const whole = view.getFull(reading);
        if (whole === undefined) return { need: [reading] };
        const image = /"image":"([^"]+)"/.exec(JSON.stringify(whole ?? {}))?.[1];
        images.push(image ?? null);
        return { map, view };
      },
    });
    const bench = await managing(cluster, [controller]);
    await turns(5);
    expect({ images: images.splice(0), gets: gets(bench) }).toEqual({ images: ['web:1', 'web:1'], gets: 1 });
    await edit({ metadata: { labels: { is: 'old' } } });
    await edit({ status: { replicas: 2 } }, 'status');
    await turns(5);
    expect({ images: images.splice(0), gets: gets(bench) }).toEqual({ images: [], gets: 1 });
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns(5);
    expect({ images: images.splice(0), gets: gets(bench) }).toEqual({ images: ['web:1'], gets: 1 });
    await edit({ spec: spec('web:2') });
    await turns(5);
    expect({ images: images.splice(0), gets: gets(bench) }).toEqual({ images: ['web:2', 'web:2'], gets: 2 });
    await cluster.call({ verb: 'delete', at: cluster.at('deployments', 'default', 'web') });
    await turns(5);
    expect(images.splice(0)).toEqual([null, null]);
  });

  test('of a kind that counts no generations count as new with every change, also where only the spec is read', async () => {
    await using cluster = await aCluster();
    await secret(cluster, 'b25l');
    await aMap(cluster, 'a');
    texts.length = 0;
    await managing(cluster, [needing(metas, [{ ...ref, specOnly: true }])]);
    await turns(5);
    await change(cluster, 'dHdv');
    await turns(5);
    expect(texts.splice(0)).toEqual(['b25l', 'dHdv']);
  });

  test('of a source that is read whole are not asked for: they come with the watch', async () => {
    await using cluster = await aCluster();
    await secret(cluster, 'b25l');
    for (const name of ['a', 'b']) await aMap(cluster, name);
    texts.length = 0;
    const bench = await managing(cluster, [needing({ ...others, isReadWhole: true })]);
    await turns(5);
    // A list does not trigger reads of full objects: it may be long, and they may never be needed.
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['b25l', 'b25l'], gets: 1 });
    await change(cluster, 'dHdv');
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['dHdv', 'dHdv'], gets: 1 });
    expect(bench.manager.state().contents.entries).toBe(1);
  });

  test('of a source that is read whole are kept if somebody reads them, or might: not what only changes beside them', async () => {
    await using cluster = await aCluster();
    await secret(cluster, 'b25l');
    const beside = { metadata: { name: 'beside' }, data: { x: 'b25l' } };
    await cluster.create('secrets', 'default', beside);
    await aMap(cluster, 'a');
    const bench = await managing(cluster, [needing({ ...others, isReadWhole: true })]);
    await turns(5);
    expect(bench.manager.state().contents.entries).toBe(1);
    const at = cluster.at('secrets', 'default', 'beside');
    const patch = { type: 'merge', body: { data: { x: 'dHdv' } } } as const;
    await cluster.call({ verb: 'patch', at, patch, manager: 'test' });
    await turns(5);
    expect(bench.manager.state().contents.entries).toBe(1);
    await cluster.create('secrets', 'default', { metadata: { name: 'new' } });
    await turns(5);
    expect(bench.manager.state().contents.entries).toBe(2);
  });

  test('that are watched and absent are known to be absent without a get', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    texts.length = 0;
    const bench = await managing(cluster, [needing(metas)]);
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: [null], gets: 0 });
    await secret(cluster, 'b25l');
    await turns(5);
    expect(texts.splice(0)).toEqual(['b25l']);
    await cluster.call({ verb: 'delete', at: cluster.at('secrets', 'default', 'whole') });
    await turns(5);
    expect(texts.splice(0)).toEqual([null]);
  });

  test('that nobody watches are fetched for each pass anew', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    await secret(cluster, 'b25l');
    texts.length = 0;
    const bench = await managing(cluster, [needing(undefined)]);
    await turns(5);
    await change(cluster, 'dHdv');
    await touch(cluster, 'a', { data: { x: '1' } });
    await turns(5);
    await cluster.call({ verb: 'delete', at: cluster.at('secrets', 'default', 'whole') });
    await touch(cluster, 'a', { data: { x: '2' } });
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['b25l', 'dHdv', null], gets: 3 });
  });

  test('reach the decision even if they do not fit into the memory for them', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    await secret(cluster, 'b25l');
    texts.length = 0;
    const bench = await managing(cluster, [needing(metas)], { contentBytes: 10 });
    await turns(5);
    expect({ texts: texts.splice(0), gets: gets(bench) }).toEqual({ texts: ['b25l'], gets: 1 });
    expect(bench.manager.state().contents.bytes).toBe(0);
  });

  test('that are asked for again and again end in a back-off, not in a loop', async () => {
    await using cluster = await aCluster();
    await aMap(cluster, 'a');
    const { controller } = told(() => idle('fine'), { observe: () => ({ need: [ref] }) });
    const bench = await managing(cluster, [controller]);
    await turns(20);
    expect(gets(bench)).toBe(8);
    expect(bench.lines.at(-1)).toMatchObject({ level: 'warn', error: expect.stringContaining('after 8 gets') });
    expect(bench.manager.state().controllers[0]?.failing).toBe(1);
  });
});
