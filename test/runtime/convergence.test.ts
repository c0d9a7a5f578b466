// The promise of the runtime: whatever happens on the way, in the end there is nothing left to do, and nothing is left over.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { seededRandom } from '../../src/base/random.ts';
import { createCache } from '../../src/runtime/cache.ts';
import { isNeed, type Projected, type Source, type View } from '../../src/runtime/controller.ts';
import type { Log } from '../../src/runtime/deps.ts';
import { type Manager, startManager } from '../../src/runtime/manager.ts';
import { aCluster, admin, type TestCluster } from '../cluster.ts';
import { runs } from '../properties.ts';
import { copying, copySources, type Observed } from './copying.ts';
import { faulty, mortal } from './faulty.ts';
import { turns } from './turns.ts';

type Op =
  | { readonly do: 'put'; readonly name: string; readonly text: string; readonly copies: number; readonly app: string }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'steal' | 'spoil'; readonly name: string }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'kill' | 'restart' };

const anyName = fc.constantFrom('a', 'b', 'c');
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      name: anyName,
      text: fc.constantFrom('x', 'y', 'z'),
      copies: fc.nat(3),
      app: fc.constantFrom('copy', 'copy', 'copy', 'other'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name: anyName }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('steal' as const, 'spoil' as const), name: anyName }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 100, 2000, 60_000, 400_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('kill' as const, 'restart' as const) }) },
);

async function apply(cluster: TestCluster, op: Op): Promise<void> {
  const ignore = () => {};
  if (op.do === 'put') {
    const at = cluster.at('configmaps', 'default', op.name);
    const body = { metadata: { labels: { app: op.app } }, data: { text: op.text, copies: String(op.copies) } };
    const patched = await cluster
      .call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'user' })
      .catch(ignore);
    if (!patched)
      await cluster
        .create('configmaps', 'default', { metadata: { name: op.name, labels: { app: op.app } }, data: body.data })
        .catch(ignore);
  } else if (op.do === 'delete') {
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', op.name) }).catch(ignore);
  } else if (op.do === 'steal') {
    await cluster.call({ verb: 'delete', at: cluster.at('secrets', 'default', `${op.name}-0`) }).catch(ignore);
  } else if (op.do === 'spoil') {
    const at = cluster.at('secrets', 'default', `${op.name}-0`);
    await cluster
      .call({ verb: 'patch', at, patch: { type: 'merge', body: { data: { text: 'AAAA' } } }, manager: 'user' })
      .catch(ignore);
  }
}

/** What a newcomer would see who lists everything now. */
async function freshSee(cluster: TestCluster, sources: readonly Source[]): Promise<View> {
  const caches = new Map<Source, ReturnType<typeof createCache>>();
  for (const source of sources) {
    const cache = createCache(source);
    const { list } = await cluster.call({
      verb: 'list',
      at: { resource: source.resource, namespace: 'default' },
      ...(source.labels === undefined ? {} : { labels: source.labels }),
    });
    const listing = cache.list();
    listing.page(list?.items ?? [], list?.metadata.resourceVersion ?? '');
    listing.end();
    caches.set(source, cache);
  }
  const wholes = new Map<string, KubeObject>();
  for (const each of (await cluster.call({ verb: 'list', at: cluster.at('configmaps', 'default') })).list?.items ?? [])
    wholes.set(each.metadata.name ?? '', each);
  const of = <T extends Projected>(source: Source<T>) => caches.get(source as Source) as ReturnType<typeof createCache>;
  return {
    now: cluster.clock.now(),
    get: <T extends Projected>(source: Source<T>, name: string) => of(source).get(`default/${name}`) as T | undefined,
    all: <T extends Projected>(source: Source<T>) => of(source).all() as readonly T[],
    by: <T extends Projected>(source: Source<T>, index: string, value: string) =>
      of(source).by(index, value) as readonly T[],
    getFull: ({ name }) => wholes.get(name) ?? null,
    listOnDemand: () => undefined,
    listError: () => undefined,
  };
}

describe('a manager on a bad day', () => {
  test('comes to rest with nothing left to do, with what is there and no more in memory, and never works twice on one key', async () => {
    const happened = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyOp, { minLength: 5, maxLength: 30 }), fc.integer(), async (ops, seed) => {
        await using cluster = await aCluster();
        const sources = copySources();
        const busy = new Set<string>();
        const overlaps: string[] = [];
        let lastSee: View | undefined;
        const controller = copying(sources);
        let life = 0;
        const start = () => {
          life++;
          lastSee = undefined;
          const dice = seededRandom(seed).fork(`life ${life}`);
          const network = faulty(cluster.as(admin), dice);
          network.rate = 0.25;
          const { transport, kill } = mortal(network);
          busy.clear();
          const own = life;
          const lines: Log = {
            debug: (_message, fields) => ended(own, String(fields['key'])),
            info: (_message, fields) => ended(own, String(fields['key'])),
            warn: (message, fields) => message === 'reconciled' && ended(own, String(fields['key'])),
            error: (message, fields) => message === 'reconciled' && ended(own, String(fields['key'])),
          };
          const wrapped = {
            ...controller,
            // A pass begins with its first look and ends with its line in the log.
            observe(view: View, key: string): Observed | ReturnType<typeof controller.observe> {
              const observed = controller.observe(view, key);
              if (own !== life) return observed; // a killed process whose timers still run
              lastSee = view;
              if (!isNeed(observed)) {
                if (busy.has(key)) overlaps.push(key);
                busy.add(key);
              }
              return observed;
            },
          };
          const manager = startManager(
            { clock: cluster.clock, random: dice.fork('manager'), servers: { hub: transport }, log: lines },
            { controllers: [wrapped], workers: 3, contentBytes: 4000 },
          );
          return { manager, network, kill };
        };
        const ended = (own: number, key: string) => {
          if (own === life) busy.delete(key);
        };
        let current = start();
        for (const op of ops) {
          if (op.do === 'kill') {
            current.kill();
            current = start();
          } else if (op.do === 'restart') {
            await settleStop(cluster, current.manager);
            current = start();
          } else if (op.do === 'pass') cluster.clock.advance(op.ms);
          else await apply(cluster, op);
          await turns(1 + (seed & 3));
        }
        current.network.rate = 0;
        for (const [fault, count] of current.network.happened) happened.set(fault, (happened.get(fault) ?? 0) + count);
        for (let i = 0; i < 200; i++) {
          cluster.clock.advance(10_000);
          await turns(4);
          if (i > 40 && current.manager.idle()) break;
        }
        expect(overlaps).toEqual([]);
        expect(current.manager.idle()).toBe(true);
        const view = await freshSee(cluster, [sources.originals as Source, sources.copies as Source]);
        const keys = new Set(['a', 'b', 'c', ...view.all(sources.copies).map(({ owner }) => owner)]);
        for (const key of keys) {
          if (key === '') continue;
          const observed = controller.observe(view, key);
          if (observed === undefined) continue;
          expect(isNeed(observed)).toBe(false);
          expect({ key, ...controller.decide(observed as Observed) }).toMatchObject({ key, steps: [] });
        }
        // What the manager believes is what is there: no ghosts, nothing missed.
        if (lastSee !== undefined) {
          for (const source of [sources.originals, sources.copies] as Source[])
            expect(lastSee.all(source)).toEqual(view.all(source));
        }
        const state = current.manager.state();
        expect(state.sources.map(({ tombstones }) => tombstones)).toEqual([0, 0]);
        expect(state.controllers[0]).toMatchObject({
          waiting: 0,
          running: 0,
          failing: 0,
          remembered: 0,
          blocked: 0,
          holds: 0,
        });
        expect(state.controllers[0]?.dependencies).toBe(view.all(sources.originals).length);
        expect(state.contents.bytes).toBeLessThanOrEqual(4000);
        expect(state.contents.inFlight).toBe(0);
        await settleStop(cluster, current.manager);
        expect(cluster.errors).toEqual([]);
      }),
      { numRuns: runs(60), endOnFailure: true },
    );
    // The test must have seen what it is about.
    for (const fault of [
      'lose-request',
      'lose-reply',
      'refuse',
      'throttle',
      'conflict',
      'cut',
      'lost',
      'gone',
      'again',
      'silence',
    ]) {
      expect(happened.get(fault) ?? 0, fault).toBeGreaterThan(0);
    }
  });
});

async function settleStop(cluster: TestCluster, manager: Manager): Promise<void> {
  let isDone = false;
  const stopped = manager.stop().then(() => {
    isDone = true;
  });
  for (let i = 0; i < 50 && !isDone; i++) {
    await turns(2);
    if (i > 10) cluster.clock.advance(1000);
  }
  await stopped;
}
