// The guarantees of a world: it is reproducible, it is isolated from the machine, and a crash loses what it should.
import { execFileSync } from 'node:child_process';
import * as crypto from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import type { Resource } from '../../src/api/kind.ts';
import type { Transport } from '../../src/api/transport.ts';
import { until } from '../../src/base/clock.ts';
import { ApiError, LostError } from '../../src/base/errors.ts';
import type { Deps } from '../../src/runtime/deps.ts';
import { type Fate, type Faults, noFaults, type WatchFate } from '../../src/sim/faults.ts';
import { ForbiddenInWorld } from '../../src/sim/guard.ts';
import { play } from '../../src/sim/scenario.ts';
import { createWorld, type World } from '../../src/sim/world.ts';
import { administrator, apiServer } from './scenarios/api-server.ts';
import { scenarios } from './scenarios/scenarios.ts';

const configMaps: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const hub = { servers: { hub: { server: 'hub', as: administrator } } };
const enough = { steps: 5_000, simulatedMs: 600_000 };
const kinds = [] as const;

const inDefault = { resource: configMaps, namespace: 'default' };
const aMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
const create = (transport: Transport, name: string) =>
  transport.call({ verb: 'create', at: inDefault, object: aMap(name), manager: 'test' });

const transportOf = (deps: Deps): Transport => deps.servers.hub as Transport;

/** A world with a running hub. */
async function aWorld(options: { seed?: number; faults?: Partial<Faults> } = {}): Promise<World> {
  const world = createWorld({ seed: options.seed ?? 1, faults: { ...noFaults, ...options.faults } });
  world.server('hub', apiServer({ kinds }));
  await world.run(() => world.isUp('hub'), enough);
  return world;
}

const ledger = scenarios.find(({ name }) => name === 'ledger')!;

describe('the same seed', () => {
  const elsewhere = (...args: readonly string[]) =>
    execFileSync(
      process.execPath,
      ['--import', 'tsx', 'test/simulation/run.ts', '--seed', '7', '--runs', '1', '--hashes', ...args],
      { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8' },
    );

  test(
    'gives the same trace alone, after other seeds and in another process',
    async () => {
      const hashes = new Map<string, string>();
      for (const scenario of scenarios) {
        await play(scenario, { seed: 8 });
        const { hash, steps } = await play(scenario, { seed: 7 });
        expect(steps).toBeGreaterThan(50);
        hashes.set(scenario.name, `${scenario.name} 7 ${hash}`);
      }
      const output = elsewhere();
      for (const hash of hashes.values()) expect(output).toContain(hash);
      for (const name of ['membership', 'delivery']) expect(elsewhere('--scenario', name)).toContain(hashes.get(name));
    },
    patience(300_000),
  );

  test('differs from every other seed', async () => {
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) hashes.add((await play(ledger, { seed })).hash);
    expect(hashes.size).toBe(10);
  });

  test('differs when one byte of what was written differs', async () => {
    const hashes = new Set<string>();
    for (const text of ['a', 'b', 'a']) {
      const world = await aWorld();
      let isDone = false;
      world.actor(
        'writer',
        (deps) => {
          const object = { ...aMap('one'), data: { text } };
          void transportOf(deps)
            .call({ verb: 'create', at: inDefault, object, manager: 'test' })
            .then(() => (isDone = true));
          return undefined;
        },
        hub,
      );
      await world.run(() => isDone, enough);
      hashes.add(world.traceHash());
    }
    expect(hashes.size).toBe(2);
  });
});

describe('while a world runs', () => {
  const forbidden: Record<string, () => unknown> = {
    'Date.now': () => Date.now(),
    'new Date()': () => new Date(),
    'Date()': () => Date(),
    setTimeout: () => setTimeout(() => {}, 0),
    setInterval: () => setInterval(() => {}, 1),
    setImmediate: () => setImmediate(() => {}),
    'Math.random': () => Math.random(),
    'performance.now': () => performance.now(),
    'process.hrtime': () => process.hrtime(),
    'process.hrtime.bigint': () => process.hrtime.bigint(),
    'AbortSignal.timeout': () => AbortSignal.timeout(1),
    'an imported randomBytes': () => randomBytes(4),
    'crypto.randomUUID': () => crypto.randomUUID(),
    'crypto.randomInt': () => crypto.randomInt(5),
    'crypto.randomFillSync': () => crypto.randomFillSync(Buffer.alloc(4)),
    'crypto.getRandomValues': () => crypto.getRandomValues(new Uint8Array(4)),
    'crypto.generateKeyPairSync': () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    'the global randomUUID': () => globalThis.crypto.randomUUID(),
    'the global getRandomValues': () => globalThis.crypto.getRandomValues(new Uint8Array(4)),
  };

  test.each(Object.keys(forbidden))('%s throws, and works again afterwards', async (name) => {
    const use = forbidden[name] as () => unknown;
    let inside: unknown;
    const world = createWorld({ seed: 1 });
    world.actor('actor', () => {
      try {
        use();
      } catch (error) {
        inside = error;
      }
      return undefined;
    });
    expect((await world.run(() => false, enough)).result).toBe('quiet');
    expect(inside).toBeInstanceOf(ForbiddenInWorld);
    const after = use();
    if (name.startsWith('set')) clearInterval(after as NodeJS.Timeout);
  });

  test('dates of given moments work', async () => {
    let text = '';
    const world = createWorld({ seed: 1 });
    world.actor('actor', ({ clock }) => {
      const date = new Date(clock.now());
      text = `${date.toISOString().slice(0, 19)} ${date instanceof Date} ${Date.parse('2026-01-01')} ${Date.UTC(2026)}`;
      return undefined;
    });
    await world.run(() => false, enough);
    expect(text).toBe('2026-01-01T00:00:00 true 1767225600000 1767225600000');
  });

  test('a forbidden call that nobody catches fails the run', async () => {
    const world = createWorld({ seed: 1 });
    world.actor('careless', () => {
      Math.random();
      return undefined;
    });
    const { result, failure } = await world.run(() => false, enough);
    expect(result).toBe('failed');
    expect(failure?.message).toContain('Math.random was used inside a simulated world');
  });

  test('everything that needs only microtasks is done before the next step', async () => {
    const world = createWorld({ seed: 1 });
    let turns = 0;
    world.actor('busy', () => {
      const turn = async () => {
        for (; turns < 1_000; turns++) await Promise.resolve();
        await new Promise((resolve) => process.nextTick(resolve));
        queueMicrotask(() => (turns = 2_000));
      };
      void turn();
      return undefined;
    });
    await world.step();
    expect(turns).toBe(2_000);
  });
});

describe('time', () => {
  test('moves from timer to timer, and a skewed clock shows it shifted', async () => {
    const world = createWorld({ seed: 1, faults: { ...noFaults, clockSkewMs: (who) => (who === 'b' ? -5_000 : 0) } });
    const seen: string[] = [];
    for (const name of ['a', 'b']) {
      world.actor(name, ({ clock }) => {
        const begun = clock.now();
        clock.at(begun + 60_000, 'a minute', () =>
          seen.push(`${name} ${new Date(clock.now()).toISOString().slice(0, 19)}`),
        );
        clock.at(begun + 1_000, 'never', () => seen.push('cancelled'))();
        return undefined;
      });
    }
    const { simulatedMs } = await world.run(() => false, enough);
    expect(seen.sort()).toEqual(['a 2026-01-01T00:01:00', 'b 2026-01-01T00:00:55']);
    expect(Math.round(simulatedMs / 100)).toBe(600);
  });

  test('a run ends at its limits', async () => {
    const world = createWorld({ seed: 1 });
    world.actor('ticking', ({ clock }) => {
      const tick = () => void clock.at(clock.now() + 1_000, 'tick', tick);
      tick();
      return undefined;
    });
    expect((await world.run(() => false, { steps: 10, simulatedMs: 1_000_000 })).result).toBe('limit');
    expect((await world.run(() => false, { steps: 10_000, simulatedMs: 50_000 })).result).toBe('limit');
    expect((await world.run(() => world.steps > 100, { steps: 10_000, simulatedMs: 500_000 })).result).toBe('done');
  });
});

describe('a crash', () => {
  test('takes timers and answers with it, tells nobody, and the next life begins from what is stored', async () => {
    const world = await aWorld();
    const heard: string[] = [];
    let life = 0;
    world.actor(
      'worker',
      (deps) => {
        const me = ++life;
        const stop = new AbortController();
        stop.signal.addEventListener('abort', () => heard.push(`${me} was told`));
        deps.clock.at(deps.clock.now() + 10_000, 'alarm', () => heard.push(`${me} woke`));
        void create(transportOf(deps), `map-${me}`).then(
          () => heard.push(`${me} was answered`),
          () => heard.push(`${me} was refused`),
        );
        return () => stop.abort();
      },
      hub,
    );
    await world.step();
    world.crash('worker');
    expect(world.isUp('worker')).toBe(false);
    await world.run(() => false, enough);
    expect(heard).toEqual([]);
    world.restart('worker');
    await world.run(() => false, enough);
    expect(heard).toEqual(['2 was answered', '2 woke']);
  });

  test('comes too late for some requests that have left', async () => {
    const arrived: boolean[] = [];
    for (let seed = 1; seed <= 2; seed++) {
      const world = await aWorld({ seed, faults: { outlives: () => seed % 2 === 0 } });
      world.actor(
        'worker',
        (deps) => {
          void create(transportOf(deps), 'sent');
          return undefined;
        },
        hub,
      );
      await world.step();
      world.crash('worker');
      await world.run(() => false, enough);
      arrived.push(world.store('hub')?.get('/configmaps/default/sent') !== undefined);
    }
    expect(arrived).toEqual([false, true]);
  });

  test('of a server loses the calls under way and the watches; what was acknowledged is there again', async () => {
    const world = createWorld({ seed: 3, faults: { ...noFaults, disk: () => 'torn' } });
    world.server('hub', apiServer({ kinds, isDurable: true }));
    await world.run(() => world.isUp('hub'), enough);
    const heard: string[] = [];
    world.actor(
      'worker',
      (deps) => {
        const transport = transportOf(deps);
        const work = async () => {
          await create(transport, 'kept');
          heard.push('kept');
          await Promise.allSettled([
            create(transport, 'lost').catch((error: unknown) => heard.push((error as Error).name)),
            (async () => {
              for await (const _ of transport.watch({ at: inDefault }, new AbortController().signal))
                heard.push('event');
            })().catch((error: unknown) => heard.push((error as Error).name)),
          ]);
        };
        void work();
        return undefined;
      },
      hub,
    );
    await world.run(() => heard.length >= 2, enough);
    expect(heard).toEqual(['kept', 'event']);
    world.crash('hub');
    await world.run(() => false, enough);
    expect(heard.slice(2)).toEqual(['LostError', 'LostError']);
    world.restart('hub');
    await world.run(() => world.isUp('hub'), enough);
    expect(world.store('hub')?.get('/configmaps/default/kept')).toBeDefined();
  });
});

describe('a fault', () => {
  const outcomeOf = async (fate: Fate): Promise<{ readonly heard: string; readonly isThere: boolean }> => {
    let isFirst = true;
    const once = (): Fate => {
      const given = isFirst ? fate : 'deliver';
      isFirst = false;
      return given;
    };
    const world = await aWorld({ faults: { call: once } });
    let heard = 'nothing';
    let life = 0;
    world.actor(
      'worker',
      (deps) => {
        if (++life > 1) {
          heard = 'a new life';
          return undefined;
        }
        const begun = world.now;
        void create(transportOf(deps), 'one').then(
          () => (heard = world.now >= begun + 500 ? 'late' : 'ok'),
          (error: unknown) => (heard = error instanceof ApiError ? String(error.code) : (error as Error).name),
        );
        return undefined;
      },
      hub,
    );
    await world.run(() => false, enough);
    return { heard, isThere: world.store('hub')?.get('/configmaps/default/one') !== undefined };
  };

  test.each<{ it: string; fate: Fate; heard: string; isThere: boolean }>([
    { it: 'that delivers', fate: 'deliver', heard: 'ok', isThere: true },
    { it: 'that delays', fate: { delayMs: 500 }, heard: 'late', isThere: true },
    { it: 'that refuses', fate: { refuse: new ApiError(503, 'x', 'x') }, heard: '503', isThere: false },
    { it: 'that loses the request', fate: 'lose-request', heard: 'LostError', isThere: false },
    { it: 'that loses the reply', fate: 'lose-reply', heard: 'LostError', isThere: true },
    { it: 'that crashes before', fate: 'crash-before', heard: 'a new life', isThere: false },
    { it: 'that crashes after', fate: 'crash-after', heard: 'a new life', isThere: true },
  ])('$it does just that', async ({ fate, heard, isThere }) => {
    expect(await outcomeOf(fate)).toEqual({ heard, isThere });
  });

  test('that breaks a connection lets nothing be heard of all that is under way on it, whether it arrives or not', async () => {
    const outcomes = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const besides: number[] = [];
      // Of the two callers, the worker's connection breaks with its first request.
      const call: Faults['call'] = (who, _request, _now, others = 0) => {
        if (who !== 'worker') return 'deliver';
        besides.push(others);
        return besides.length === 1 ? 'lose-all' : 'deliver';
      };
      const world = await aWorld({ seed, faults: { call } });
      const heard: string[] = [];
      const names = ['one', 'two', 'three'];
      const start = (name: string) => (deps: Deps) => {
        for (const each of name === 'worker' ? names : ['other']) {
          void create(transportOf(deps), each).then(
            () => heard.push(`${each} ok`),
            (error: unknown) => heard.push(`${each} ${(error as Error).name}`),
          );
        }
        return undefined;
      };
      world.actor('worker', start('worker'), hub);
      world.actor('other', start('other'), hub);
      await world.run(() => false, enough);
      expect(heard.sort()).toEqual(['one LostError', 'other ok', 'three LostError', 'two LostError']);
      expect(besides[0]).toBe(2);
      const isThere = (name: string) => world.store('hub')?.get(`/configmaps/default/${name}`) !== undefined;
      outcomes.add(String(names.filter(isThere).length));
    }
    expect([...outcomes].sort()).toEqual(['0', '1', '2']);
  });

  const watched = async (fate: WatchFate): Promise<readonly string[]> => {
    let batches = 0;
    const world = await aWorld({ faults: { watch: () => (++batches === 3 ? fate : 'deliver') } });
    const heard: string[] = [];
    world.actor(
      'watcher',
      (deps) => {
        const watch = async () => {
          const transport = transportOf(deps);
          const { list } = await transport.call({ verb: 'list', at: inDefault });
          const revision = list?.metadata.resourceVersion ?? '';
          for await (const events of transport.watch({ at: inDefault, revision }, new AbortController().signal)) {
            heard.push(...events.map(({ object }) => object.metadata.name ?? ''));
          }
          heard.push('end');
        };
        watch().catch((error: unknown) =>
          heard.push(error instanceof ApiError ? String(error.code) : (error as Error).name),
        );
        return undefined;
      },
      hub,
    );
    await world.run(() => false, enough);
    for (const name of ['a', 'b', 'c', 'd']) {
      world.actor(`writer-${name}`, (deps) => void create(transportOf(deps), name), hub);
      await world.run(() => false, enough);
    }
    return heard;
  };

  test.each<{ fate: WatchFate; heard: readonly (readonly string[])[] }>([
    { fate: 'deliver', heard: [['a', 'b', 'c', 'd']] },
    { fate: { delayMs: 100 }, heard: [['a', 'b', 'c', 'd']] },
    {
      fate: 'cut',
      heard: [
        ['a', 'b', 'end'],
        ['a', 'b', 'LostError'],
      ],
    },
    { fate: 'gone-410', heard: [['a', 'b', '410']] },
    {
      fate: 'rewind',
      heard: [
        ['a', 'b', 'b', 'c', 'd'],
        ['a', 'b', 'a', 'b', 'c', 'd'],
      ],
    },
    { fate: 'silence', heard: [['a', 'b']] },
  ])('$fate of a watch does just that', async ({ fate, heard }) => {
    expect(heard).toContainEqual(await watched(fate));
  });

  test('that parts an actor from its server loses calls and holds the watch back until it heals', async () => {
    const world = await aWorld();
    const heard: string[] = [];
    world.actor(
      'parted',
      (deps) => {
        const transport = transportOf(deps);
        const work = async () => {
          await until(deps.clock, deps.clock.now() + 1_000, 'later');
          for (const name of ['one', 'two']) {
            await create(transport, name).then(
              () => heard.push(name),
              (error: unknown) => heard.push(error instanceof LostError ? 'lost' : 'other'),
            );
            await until(deps.clock, deps.clock.now() + 10_000, 'later');
          }
        };
        void work();
        return undefined;
      },
      hub,
    );
    world.partition('parted', 'hub', 5_000);
    await world.run(() => false, enough);
    expect(heard).toEqual(['lost', 'two']);
    expect(world.store('hub')?.get('/configmaps/default/one')).toBeUndefined();
  });
});
