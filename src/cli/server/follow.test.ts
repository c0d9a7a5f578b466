import { describe, expect, test } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Transport, WatchEvent, WatchRequest } from '../../api/transport.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import { follow, followLabelled } from './follow.ts';

const at = {
  resource: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  namespace: 'default',
  name: 'a',
};
const object = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', resourceVersion },
});
const gone = new ApiError(410, 'Expired', 'too old');

type Step = string | Error | readonly WatchEvent[];

/** A clock on which every timer fires at once. */
function hurried() {
  const clock = testClock();
  const waits: number[] = [];
  return {
    waits,
    clock: {
      now: clock.now,
      at(epochMs: number, _name: string, run: () => void) {
        waits.push(epochMs - clock.now());
        clock.advance(Math.max(0, epochMs - clock.now()));
        queueMicrotask(run);
        return () => {};
      },
    },
  };
}

/** A server that answers gets and watches with these steps in turn; waiting advances the clock. */
function scripted(steps: readonly { readonly get: string | Error; readonly watch?: readonly Step[] }[]) {
  const { clock, waits } = hurried();
  const asked: WatchRequest[] = [];
  const lost: string[] = [];
  const left = [...steps];
  const stop = new AbortController();
  let current: (typeof steps)[number] | undefined;
  const transport: Transport = {
    async call() {
      current = left.shift();
      if (current === undefined) {
        stop.abort();
        return { object: object('last'), warnings: [] };
      }
      if (typeof current.get !== 'string') throw current.get;
      return { object: object(current.get), warnings: [] };
    },
    async *watch(request) {
      asked.push(request);
      for (const step of current?.watch ?? []) {
        if (step instanceof Error) throw step;
        yield typeof step === 'string' ? [{ type: 'MODIFIED', object: object(step) }] : step;
      }
    },
  };
  return {
    asked,
    waits,
    lost,
    async all() {
      const seen: (string | undefined)[] = [];
      const changes = follow(transport, at, { clock, signal: stop.signal, onLost: (text) => lost.push(text) });
      for await (const each of changes) seen.push(each?.metadata.resourceVersion);
      return seen.filter((each) => each !== 'last');
    },
  };
}

describe('following an object', () => {
  test('shows it, then every change, from where the last look ended', async () => {
    const server = scripted([{ get: '1', watch: ['2', '3'] }]);
    expect(await server.all()).toEqual(['1', '2', '3']);
    expect(server.asked[0]).toMatchObject({ fields: 'metadata.name=a', revision: '1', at: { namespace: 'default' } });
    expect(server.asked[0]?.at).not.toHaveProperty('name');
  });

  test('looks again after a watch ended, and shows nothing twice', async () => {
    const server = scripted([
      { get: '1', watch: ['2'] },
      { get: '2', watch: ['2', '3'] },
    ]);
    expect(await server.all()).toEqual(['1', '2', '3']);
  });

  test.each([
    { it: 'a deletion', watch: [[{ type: 'DELETED' as const, object: object('2') }]] },
    { it: 'an absence', watch: [new ApiError(404, 'NotFound', 'gone')] },
  ])('ends with $it', async ({ watch }) => {
    expect(await scripted([{ get: '1', watch }]).all()).toEqual(['1', undefined]);
  });

  test('waits longer and longer for a server that is away, and says so once', async () => {
    const away = { get: new LostError('refused') };
    const server = scripted([{ get: '1', watch: [new LostError('cut')] }, away, away, { get: '1', watch: ['2'] }]);
    expect(await server.all()).toEqual(['1', '2']);
    expect(server.waits.slice(0, 3)).toEqual([500, 1000, 2000]);
    expect(server.lost).toEqual(['cut']);
  });

  test('begins anew when the server has forgotten', async () => {
    const server = scripted([
      { get: '1', watch: [gone] },
      { get: '7', watch: [] },
    ]);
    expect(await server.all()).toEqual(['1', '7']);
    expect(server.asked.slice(0, 2).map(({ revision }) => revision)).toEqual(['1', '7']);
  });

  test('does not try again what is forbidden', async () => {
    const server = scripted([{ get: '1', watch: [new ApiError(403, 'Forbidden', 'no')] }]);
    await expect(server.all()).rejects.toThrow('no');
  });
});

describe('following objects with labels', () => {
  const { name: _name, ...collection } = at;

  /** Each list is one watch; after the last one the test stops listening. */
  async function heardOf(watches: readonly (readonly Step[])[]) {
    const { clock, waits } = hurried();
    const stop = new AbortController();
    const asked: WatchRequest[] = [];
    const left = [...watches];
    const transport: Transport = {
      call: () => Promise.reject(new Error('only a watch is needed')),
      async *watch(request) {
        asked.push(request);
        const steps = left.shift();
        if (steps === undefined) stop.abort();
        for (const step of steps ?? []) {
          if (step instanceof Error) throw step;
          yield typeof step === 'string' ? [{ type: 'MODIFIED', object: object(step) }] : step;
        }
      },
    };
    const seen: string[] = [];
    const all = followLabelled(transport, { at: collection, labels: 'of=a' }, { clock, signal: stop.signal });
    for await (const batch of all) seen.push(...batch.map(({ object }) => object.metadata.resourceVersion ?? ''));
    return { seen, asked, waits };
  }

  test('tells those that are there and what happens to them, also after a watch has ended or was cut', async () => {
    const { seen, asked, waits } = await heardOf([['1', '2'], ['2', new LostError('cut')], [gone], ['3']]);
    expect(seen).toEqual(['1', '2', '2', '3']);
    expect(asked[0]).toMatchObject({ at: collection, labels: 'of=a' });
    expect(asked[0]).not.toHaveProperty('revision');
    expect(waits.slice(0, 3)).toEqual([500, 500, 1000]);
  });

  test('ends quietly where they may not be watched', async () => {
    expect((await heardOf([[new ApiError(403, 'Forbidden', 'no')], ['1']])).seen).toEqual([]);
  });
});
