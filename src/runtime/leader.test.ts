import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../test/cluster.ts';
import { runs } from '../../test/properties.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Answer, Request, Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { AbortError, LostError } from '../base/errors.ts';
import { type Random, seededRandom } from '../base/random.ts';
import { type Log, silentLog } from './deps.ts';
import { type Leader, type LeaderOptions, startLeader } from './leader.ts';

const lease = { namespace: 'default', name: 'the-lease' };

const candidate = (
  cluster: TestCluster,
  identity: string,
  more: Partial<LeaderOptions> & { readonly transport?: Transport; readonly clock?: Clock; readonly log?: Log } = {},
): Leader => {
  const { transport = cluster.as(admin), clock = cluster.clock, log = silentLog, ...options } = more;
  const random = seededRandom(identity.charCodeAt(0));
  return startLeader({ clock, random, transport, log }, { ...lease, identity, ...options });
};

async function pass(cluster: TestCluster, ms: number, stepMs = 500): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    cluster.clock.advance(Math.min(stepMs, left));
    await turns(2);
  }
}

describe('an election', () => {
  test('has one winner, who keeps the lease', async () => {
    await using cluster = await aCluster();
    const a = candidate(cluster, 'a');
    await turns();
    const b = candidate(cluster, 'b');
    await pass(cluster, 60_000);
    expect([a.mayWrite(), b.mayWrite(), b.holder()]).toEqual([true, false, 'a']);
    const { spec } = await cluster.get('leases', 'default', 'the-lease');
    expect(spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    await a.stop();
    await b.stop();
  });

  test('passes the lease on at once when the holder stops', async () => {
    await using cluster = await aCluster();
    const changes: string[] = [];
    const a = candidate(cluster, 'a', { onChange: (leads) => changes.push(`a ${leads}`) });
    await turns();
    const b = candidate(cluster, 'b', { onChange: (leads) => changes.push(`b ${leads}`) });
    await pass(cluster, 5000);
    await a.stop();
    expect(a.mayWrite()).toBe(false);
    await pass(cluster, 3000);
    expect(b.mayWrite()).toBe(true);
    expect(changes).toEqual(['a true', 'a false', 'b true']);
    expect((await cluster.get('leases', 'default', 'the-lease')).spec).toMatchObject({ leaseTransitions: 1 });
    await b.stop();
  });

  test('tells the log who leads, once for each, while it stands by', async () => {
    await using cluster = await aCluster();
    const lines: string[] = [];
    const info = (message: string, { leader = '' }: Readonly<Record<string, unknown>>) =>
      void lines.push(`${message} ${leader}`.trim());
    const a = candidate(cluster, 'a');
    await turns();
    const b = candidate(cluster, 'b', { log: { ...silentLog, info } });
    await pass(cluster, 60_000);
    expect(lines).toEqual(['standing by a']);
    await a.stop();
    await pass(cluster, 3000);
    expect(lines).toEqual(['standing by a', 'leading']);
    await b.stop();
  });

  test('is over for one that stops, although its renewal is answered after that', async () => {
    await using cluster = await aCluster();
    const inner = cluster.as(admin);
    let isSlow = false;
    let answer = () => {};
    const transport: Transport = {
      ...inner,
      async call(request) {
        const reply = await inner.call(request);
        if (isSlow) {
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        }
        return reply;
      },
    };
    const changes: boolean[] = [];
    const a = candidate(cluster, 'a', { transport, onChange: (leads) => changes.push(leads) });
    await turns();
    isSlow = true;
    await pass(cluster, 2500);
    const stopped = a.stop();
    isSlow = false;
    answer();
    await stopped;
    expect([a.mayWrite(), changes]).toEqual([false, [true, false]]);
    expect((await cluster.get('leases', 'default', 'the-lease')).spec).toMatchObject({ holderIdentity: '' });
  });

  test('is won by the next one a lease after the holder fell silent, and not before', async () => {
    await using cluster = await aCluster();
    let isCut = false;
    const inner = cluster.as(admin);
    const transport: Transport = {
      ...inner,
      call: (request, signal) => (isCut ? Promise.reject(new LostError('cut')) : inner.call(request, signal)),
    };
    const a = candidate(cluster, 'a', { transport });
    await turns();
    const b = candidate(cluster, 'b');
    await pass(cluster, 20_000);
    isCut = true;
    const silentSince = cluster.clock.now();
    let aEnds: number | undefined;
    let bBegins: number | undefined;
    for (let i = 0; i < 60; i++) {
      await pass(cluster, 500);
      if (!a.mayWrite()) aEnds ??= cluster.clock.now() - silentSince;
      if (b.mayWrite()) bBegins ??= cluster.clock.now() - silentSince;
      expect(a.mayWrite() && b.mayWrite()).toBe(false);
    }
    expect(aEnds).toBeGreaterThan(5000);
    expect(aEnds).toBeLessThanOrEqual(8500);
    expect(bBegins).toBeGreaterThanOrEqual(13_000);
    expect(bBegins).toBeLessThanOrEqual(20_000);
    isCut = false;
    await pass(cluster, 10_000);
    expect([a.mayWrite(), b.mayWrite()]).toEqual([false, true]);
    await a.stop();
    await b.stop();
  });

  test('is won at most a lease and one retry after the holder was last heard, whatever the moment and the dice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(4000), fc.nat(1000), async (aheadMs, seed) => {
        await using cluster = await aCluster();
        let isCut = false;
        const inner = cluster.as(admin);
        const transport: Transport = {
          ...inner,
          call: (request, signal) => (isCut ? Promise.reject(new LostError('cut')) : inner.call(request, signal)),
        };
        const a = candidate(cluster, 'a', { transport });
        await turns();
        await pass(cluster, aheadMs, 100);
        const random = seededRandom(seed);
        const b = startLeader(
          { clock: cluster.clock, random, transport: inner, log: silentLog },
          { ...lease, identity: 'b' },
        );
        await pass(cluster, 10_000, 100);
        isCut = true;
        const cutAt = cluster.clock.now();
        while (!b.mayWrite() && cluster.clock.now() - cutAt < 30_000) await pass(cluster, 100, 100);
        // Plus one step of the clock, because it moves in steps.
        expect(cluster.clock.now() - cutAt).toBeLessThanOrEqual(17_100);
        await a.stop();
        await b.stop();
      }),
      { numRuns: runs(25) },
    );
  });

  test('does not trust the clocks of others: a record from tomorrow or yesterday counts from when it was seen', async () => {
    await using cluster = await aCluster();
    for (const renewTime of ['2030-01-01T00:00:00.000000Z', '2001-01-01T00:00:00.000000Z']) {
      const name = `lease-${renewTime.slice(0, 4)}`;
      const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime };
      await cluster.create('leases', 'default', { metadata: { name }, spec });
      const a = candidate(cluster, 'a', { name });
      await pass(cluster, 14_000);
      expect(a.mayWrite()).toBe(false);
      await pass(cluster, 5000);
      expect(a.mayWrite()).toBe(true);
      await a.stop();
    }
  });

  test('ends by the clock, even in a process that is too busy for its timers', async () => {
    await using cluster = await aCluster();
    let isBusy = false;
    const { clock } = cluster;
    const late: Clock = {
      now: clock.now,
      at: (epochMs, name, run) => clock.at(epochMs, name, () => isBusy || run()),
    };
    const a = candidate(cluster, 'a', { clock: late });
    await pass(cluster, 4000);
    expect(a.mayWrite()).toBe(true);
    isBusy = true;
    clock.advance(5000);
    expect(a.mayWrite()).toBe(true);
    clock.advance(3000); // whenever it renewed, that was at least 8 s ago
    expect(a.mayWrite()).toBe(false);
  });

  test('does not hang on a call that never answers', async () => {
    await using cluster = await aCluster();
    let isHanging = false;
    const inner = cluster.as(admin);
    const transport: Transport = {
      ...inner,
      call: (request, signal) =>
        isHanging
          ? new Promise((_resolve, reject) => {
              signal?.addEventListener('abort', () => reject(new AbortError('given up')));
            })
          : inner.call(request, signal),
    };
    const a = candidate(cluster, 'a', { transport });
    await pass(cluster, 4000);
    expect(a.mayWrite()).toBe(true);
    isHanging = true;
    await pass(cluster, 9000);
    expect(a.mayWrite()).toBe(false);
    isHanging = false;
    await pass(cluster, 10_000);
    expect(a.mayWrite()).toBe(true);
    await a.stop();
  });
});

// ---- any interleaving

/** A clock with a changing offset. The error of a time span is at most twice the largest offset. */
class SkewedClock implements Clock {
  offset = 0;
  readonly #true: Clock;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  constructor(clock: Clock) {
    this.#true = clock;
  }
  now(): number {
    return this.#true.now() + this.offset;
  }
  at(epochMs: number, _name: string, run: () => void): () => void {
    const timer = { at: epochMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }
  tick(): void {
    for (const timer of this.#timers.filter(({ at }) => at <= this.now()).sort((a, b) => a.at - b.at)) {
      this.#timers = this.#timers.filter((each) => each !== timer);
      timer.run();
    }
  }
}

/** Every call waits until the dice let it through; requests and responses get lost in transit. */
class Parked implements Transport {
  readonly #inner: Transport;
  #waiting: (() => void)[] = [];
  isCut = false;
  isLossy = true;
  readonly #dice: Random;
  constructor(inner: Transport, dice: Random) {
    this.#inner = inner;
    this.#dice = dice;
  }
  async call(request: Request, signal?: AbortSignal): Promise<Answer> {
    await this.#park(signal);
    if (this.#loses()) throw new LostError('the request was lost');
    const answer = await this.#inner.call(request);
    await this.#park(signal);
    if (this.#loses()) throw new LostError('the answer was lost');
    return answer;
  }
  #loses(): boolean {
    return this.isCut || (this.isLossy && this.#dice.next() < 0.1);
  }
  watch(): AsyncIterable<never> {
    throw new Error('not expected');
  }
  #park(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => {
        this.#waiting = this.#waiting.filter((each) => each !== resolve);
        reject(new AbortError('given up'));
      });
      this.#waiting.push(resolve);
    });
  }
  release(): void {
    const at = Math.floor(this.#dice.next() * this.#waiting.length);
    this.#waiting.splice(at, 1)[0]?.();
  }
}

describe('at any instant of true time', () => {
  // Each clock may be wrong by (15 s − 10 s + 2 s) / 2 = 3.5 s in a time span, so its offset by half of that.
  const MAX_SKEW_MS = 1750;

  test('at most one candidate may write, with skewed clocks, lost and late calls, partitions and crashes at any point', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        await using cluster = await aCluster();
        const dice = seededRandom(seed);
        const start = (index: number, life: number) => {
          const clock = new SkewedClock(cluster.clock);
          const transport = new Parked(cluster.as(admin), dice.fork(`${index}/${life}`));
          const leader = candidate(cluster, `${index}-${life}`, { transport, clock });
          return { index, life, clock, transport, leader, isAlive: true };
        };
        let all = [start(0, 0), start(1, 0), start(2, 0)];
        let led = 0;
        const step = async (withFaults: boolean) => {
          cluster.clock.advance(250);
          for (const each of all) {
            if (withFaults && dice.next() < 0.05) each.clock.offset = (dice.next() * 2 - 1) * MAX_SKEW_MS;
            if (withFaults && dice.next() < 0.02) each.transport.isCut = !each.transport.isCut;
            if (!withFaults) Object.assign(each.transport, { isCut: false, isLossy: false });
            each.clock.tick();
            if (dice.next() < 0.7 || !withFaults) each.transport.release();
          }
          await turns(2);
          const writers = all.filter(({ leader }) => leader.mayWrite());
          if (writers.length > 0) led++;
          expect(writers.map(({ leader }) => leader.holder()).length).toBeLessThanOrEqual(1);
          if (withFaults && dice.next() < 0.01) {
            // A crash without a release, perhaps with a write in flight.
            const victim = all[Math.floor(dice.next() * all.length)] as (typeof all)[number];
            all = all.map((each) => (each === victim ? start(each.index, each.life + 1) : each));
          }
        };
        for (let i = 0; i < 400; i++) await step(true);
        for (let i = 0; i < 200; i++) await step(false);
        expect(all.filter(({ leader }) => leader.mayWrite()).length).toBe(1);
        expect(led).toBeGreaterThan(100);
      }),
      { numRuns: runs(12) },
    );
  });
});
