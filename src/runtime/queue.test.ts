import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type TestClock, testClock } from '../../test/cluster.ts';
import { runs } from '../../test/properties.ts';
import type { Clock } from '../base/clock.ts';
import { seededRandom } from '../base/random.ts';
import type { Next } from './due.ts';
import { createQueue, type Queue, type QueueOptions } from './queue.ts';
import { createTimeSlice } from './time-slice.ts';

const ticks = async (count = 5) => {
  for (let i = 0; i < count; i++) await undefined;
};

interface Bench {
  readonly clock: TestClock;
  readonly queue: Queue;
  /** The keys in the order in which they started. */
  readonly began: string[];
  /** Ends the oldest run of a key. */
  end(key: string, next?: Next): Promise<void>;
  readonly inside: Map<string, number>;
  /** The keys that were added and have not started since. */
  readonly owed: Set<string>;
}

function bench(
  options: Pick<Partial<QueueOptions>, 'workers' | 'yieldToOthers'> & { run?(key: string): Promise<Next> } = {},
): Bench {
  const clock = testClock();
  const began: string[] = [];
  const inside = new Map<string, number>();
  const owed = new Set<string>();
  const ends = new Map<string, ((next: Next) => void)[]>();
  const queue = createQueue({
    name: 'test',
    clock,
    random: seededRandom(1),
    slice: createTimeSlice(clock),
    workers: options.workers ?? 1,
    ...(options.yieldToOthers === undefined ? {} : { yieldToOthers: options.yieldToOthers }),
    async run(key) {
      began.push(key);
      owed.delete(key);
      inside.set(key, (inside.get(key) ?? 0) + 1);
      const next = options.run
        ? await options.run(key)
        : await new Promise<Next>((resolve) => ends.set(key, [...(ends.get(key) ?? []), resolve]));
      inside.set(key, (inside.get(key) ?? 0) - 1);
      return next;
    },
  });
  return {
    clock,
    queue,
    began,
    inside,
    owed,
    async end(key, next = { next: 'done' }) {
      ends.get(key)?.shift()?.(next);
      await ticks();
    },
  };
}

const DONE: Next = { next: 'done' };

describe('a queue', () => {
  test('runs a key once, however often it was added before', async () => {
    const { queue, began } = bench({ run: async () => DONE });
    for (let i = 0; i < 5; i++) queue.add('a', 'fresh');
    await ticks();
    expect(began).toEqual(['a']);
    expect(queue.remembered).toBe(0);
  });

  test('runs a key again that was added while it ran', async () => {
    const { queue, began, end } = bench({ workers: 2 });
    queue.add('a', 'fresh');
    await ticks();
    queue.add('a', 'fresh');
    queue.add('a', 'resync');
    await ticks();
    expect(began).toEqual(['a']);
    await end('a');
    expect(began).toEqual(['a', 'a']);
    await end('a');
    expect(began).toEqual(['a', 'a']);
    expect(queue.remembered).toBe(0);
  });

  test('lets new work overtake the resync', async () => {
    const { queue, began, end } = bench();
    for (const key of ['r1', 'r2', 'r3']) queue.add(key, 'resync');
    await ticks();
    queue.add('new', 'fresh');
    queue.add('r3', 'fresh'); // is queued as a resync and becomes urgent
    await end('r1');
    await end('new');
    await end('r3');
    await end('r2');
    expect(began).toEqual(['r1', 'new', 'r3', 'r2']);
    expect(queue.waiting).toBe(0);
  });

  test('runs a key that waits behind changes when its report is overdue, and once', async () => {
    const { queue, clock, began, end } = bench();
    queue.add('busy', 'fresh');
    await ticks();
    for (const key of ['c1', 'c2', 'a', 'c3']) queue.add(key, 'fresh');
    queue.add('a', 'report');
    clock.advance(1000);
    await end('busy');
    for (const key of ['a', 'c1', 'c2', 'c3']) await end(key);
    expect(began).toEqual(['busy', 'a', 'c1', 'c2', 'c3']);
    expect(queue.waiting).toBe(0);
    expect(queue.remembered).toBe(0);
  });

  test('runs a key again for the report that came while it ran', async () => {
    const { queue, clock, began, end } = bench();
    queue.add('a', 'fresh');
    await ticks();
    for (const key of ['c1', 'c2']) queue.add(key, 'fresh');
    queue.add('a', 'report');
    await end('a');
    clock.advance(1000);
    await end('c1');
    expect(began).toEqual(['a', 'c1', 'a']);
    await end('a');
    expect(began).toEqual(['a', 'c1', 'a', 'c2']);
  });

  test('does not starve the resync for ever', async () => {
    let count = 0;
    const { queue, began } = bench({
      async run() {
        if (count++ < 200) queue.add(`n${count}`, 'fresh');
        return DONE;
      },
    });
    queue.add('n0', 'fresh');
    queue.add('old', 'resync');
    await ticks(2000);
    expect(began.indexOf('old')).toBeGreaterThan(20);
    expect(began.indexOf('old')).toBeLessThan(100);
  });

  test('runs a key that may wait when its time has come, once, or before if something else asks for it', async () => {
    const { queue, clock, began, end } = bench();
    const start = clock.now();
    queue.addAt('a', start + 100, 'fresh');
    queue.addAt('a', start + 300, 'fresh');
    queue.addAt('b', start + 100, 'fresh');
    queue.add('b', 'fresh');
    await ticks();
    expect(began).toEqual(['b']);
    await end('b');
    queue.wakeAt('b', undefined); // as after a reconcile that saw everything
    clock.advance(99);
    await ticks();
    expect(began).toEqual(['b']);
    clock.advance(1);
    await ticks();
    expect(began).toEqual(['b', 'a']);
    await end('a');
    clock.advance(1000);
    await ticks();
    expect(began).toEqual(['b', 'a']);
  });

  test('waits for what gathers on a timer of that name, and for what a pass asked for on one of its own', async () => {
    const { queue, clock, end } = bench();
    const fired: string[] = [];
    clock.hear((name) => fired.push(name));
    queue.wakeAt('a', clock.now() + 200);
    queue.addAt('a', clock.now() + 100, 'fresh');
    expect(queue.nextWakeAt).toBe(clock.now() + 100);
    clock.advance(100);
    expect(fired).toEqual(['coalesce']);
    await ticks();
    await end('a');
    expect(queue.nextWakeAt).toBe(clock.now() + 100);
    clock.advance(100);
    expect(fired).toEqual(['coalesce', 'test wake']);
    await ticks();
    await end('a');
    expect(queue.remembered).toBe(0);
  });

  test('does not forget what may wait when it came while the key ran, whatever that run asks for', async () => {
    const { queue, clock, began, end } = bench();
    queue.add('a', 'fresh');
    await ticks();
    queue.addAt('a', clock.now() + 100, 'fresh');
    queue.wakeAt('a', undefined);
    await end('a');
    await ticks();
    expect(began).toEqual(['a']);
    clock.advance(100);
    await ticks();
    expect(began).toEqual(['a', 'a']);
  });

  test('does not run a key that keeps failing any sooner for what may wait', async () => {
    const times: number[] = [];
    const { queue, clock } = bench({
      async run() {
        times.push(clock.now());
        return { next: 'back-off' };
      },
    });
    queue.add('a', 'fresh');
    await ticks();
    for (let i = 0; i < 600; i++) {
      queue.addAt('a', clock.now() + 100, 'fresh');
      clock.advance(100);
      await ticks();
    }
    // A few at first, then one per second.
    const perSecond = times.filter((time) => time > (times[0] as number) + 30_000).length / 30;
    expect(perSecond).toBeLessThanOrEqual(1.1);
    expect(perSecond).toBeGreaterThan(0.5);
  });

  test('lets the others go first when a key has more to do, unless it is told to go on at once', async () => {
    const later: (() => void)[] = [];
    const { queue, began, end } = bench({ yieldToOthers: (run) => later.push(run) });
    for (const key of ['a', 'b']) queue.add(key, 'fresh');
    await ticks();
    await end('a', { next: 'continue' });
    await end('b', { next: 'continue', atOnce: true });
    expect(began).toEqual(['a', 'b', 'b']);
    expect(queue.waiting).toBe(1);
    await end('b');
    expect(began).toEqual(['a', 'b', 'b']);
    queue.add('a', 'fresh'); // it is queued already
    for (const run of later.splice(0)) run();
    await ticks();
    expect(began).toEqual(['a', 'b', 'b', 'a']);
    await end('a');
    expect([queue.waiting, queue.running, queue.remembered]).toEqual([0, 0, 0]);
  });

  test('keeps to the number of workers', async () => {
    const { queue, began, end } = bench({ workers: 2 });
    for (const key of ['a', 'b', 'c']) queue.add(key, 'fresh');
    await ticks();
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
  });

  test('waits longer after each failure, at most a minute, and forgets failures after a success', async () => {
    let next: Next = { next: 'back-off' };
    const times: number[] = [];
    const { queue, clock } = bench({
      async run() {
        times.push(clock.now());
        return next;
      },
    });
    queue.add('a', 'fresh');
    await ticks();
    for (let i = 0; i < 3000; i++) {
      clock.advance(100);
      await ticks();
    }
    const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
    const full = (index: number) => Math.min(60_000, 200 * 2 ** index);
    gaps.forEach((gap, index) => {
      expect(gap).toBeGreaterThanOrEqual(full(index) / 2);
      expect(gap).toBeLessThanOrEqual(full(index) + 100);
    });
    expect(gaps.length).toBeGreaterThan(10);
    expect(queue.failing).toBe(1);
    next = DONE;
    queue.add('a', 'fresh');
    clock.advance(60_000);
    await ticks();
    expect(queue.remembered).toBe(0);
  });

  test('does not let news hammer a key that keeps failing', async () => {
    const { queue, clock, began } = bench({ run: async () => ({ next: 'back-off' }) });
    queue.add('a', 'fresh');
    for (let i = 0; i < 100; i++) {
      clock.advance(100);
      queue.add('a', 'fresh');
      await ticks();
    }
    expect(began.length).toBeGreaterThan(8);
    expect(began.length).toBeLessThan(25); // a hundred without the quiet time
  });

  test('brings a retry forward when there is news', async () => {
    const { queue, clock, began } = bench({ run: async () => ({ next: 'slow-back-off' }) });
    queue.add('a', 'fresh');
    await ticks();
    clock.advance(100);
    queue.add('a', 'fresh');
    await ticks();
    expect(began.length).toBe(2);
    queue.add('a', 'resync'); // a resync does not count as news
    await ticks();
    expect(began.length).toBe(2);
  });

  test('follows success with a look at once, but not for ever', async () => {
    const { queue, clock, began } = bench({ run: async () => ({ next: 'continue' }) });
    queue.add('a', 'fresh');
    await ticks(500);
    expect(began.length).toBe(17);
    clock.advance(10_000);
    await ticks(500);
    expect(began.length).toBeGreaterThan(17);
    expect(began.length).toBeLessThan(30);
  });

  test('is at its usual speed again after it has hurried too often, if then every run follows news', async () => {
    let acts = 17;
    const { queue, clock, began } = bench({ run: async () => ({ next: acts-- > 0 ? 'continue' : 'done' }) });
    queue.add('a', 'fresh');
    await ticks(500);
    expect(began.length).toBe(17);
    acts = 1;
    queue.add('a', 'fresh');
    clock.advance(1000);
    await ticks(100);
    // The key acted, reconciled again, found nothing to do, and its retry state was dropped.
    expect(acts).toBe(-1);
    expect(queue.remembered).toBe(0);
    acts = 1;
    queue.add('a', 'fresh');
    await ticks(100);
    expect(acts).toBe(-1);
  });

  test('is bounded where every run acts and every run is followed by news', async () => {
    const { queue, clock, began } = bench({
      run: async (key) => {
        queue.add(key, 'fresh');
        return { next: 'continue' };
      },
    });
    queue.add('a', 'fresh');
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.advance(10);
      await ticks(100);
    }
    expect(began.length).toBeGreaterThan(20);
    expect(began.length).toBeLessThan(17 + 2 * 11 + 4);
  });

  test('stays away for as long as the server asked', async () => {
    const { queue, clock, began } = bench({
      run: async () => ({ next: 'back-off', notBefore: clock.now() + 5000 }),
    });
    queue.add('a', 'fresh');
    await ticks();
    clock.advance(4999);
    await ticks();
    expect(began.length).toBe(1);
    clock.advance(1);
    await ticks();
    expect(began.length).toBe(2);
  });

  test('wakes a key at the time that the last decision named', async () => {
    const { queue, clock, began } = bench({ run: async () => DONE });
    const start = clock.now();
    queue.wakeAt('a', start + 1000);
    queue.wakeAt('b', start + 2000);
    queue.wakeAt('b', start + 500);
    queue.wakeAt('c', start + 100);
    queue.wakeAt('c', undefined);
    expect(queue.nextWakeAt).toBe(start + 500);
    clock.advance(999);
    await ticks();
    expect(began).toEqual(['b']);
    clock.advance(1);
    await ticks();
    expect(began).toEqual(['b', 'a']);
    clock.advance(10_000);
    await ticks();
    expect(began).toEqual(['b', 'a']);
    expect(queue.remembered).toBe(0);
  });

  test('turns a wake-up in the past into one a second from now, not into a loop', async () => {
    const { queue, clock, began } = bench({
      async run(key) {
        queue.wakeAt(key, clock.now() - 5);
        return DONE;
      },
    });
    queue.add('a', 'fresh');
    clock.advance(0);
    await ticks(100);
    expect(began.length).toBe(1);
    clock.advance(1000);
    await ticks(100);
    expect(began.length).toBe(2);
  });

  test('a wake-up that came due while the pass went on follows at once', async () => {
    const { queue, clock, began } = bench({
      async run(key) {
        const lookedAt = clock.now();
        clock.advance(7);
        if (began.length === 1) queue.wakeAt(key, lookedAt + 5, lookedAt);
        return DONE;
      },
    });
    queue.add('a', 'fresh');
    clock.advance(0);
    await ticks(100);
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(1);
      await ticks(100);
    }
    expect(began).toEqual(['a', 'a']);
  });

  test('gives the loop its turn after 5 ms', async () => {
    let now = 1000;
    const turns: (() => void)[] = [];
    const clock: Clock = {
      now: () => now,
      at(_epochMs, _name, run) {
        turns.push(run);
        return () => {};
      },
    };
    const began: string[] = [];
    const queue = createQueue({
      name: 'test',
      clock,
      random: seededRandom(1),
      slice: createTimeSlice(clock),
      workers: 2,
      async run(key) {
        began.push(key);
        now += 2;
        return DONE;
      },
    });
    for (let i = 0; i < 10; i++) queue.add(`k${i}`, 'fresh');
    const slices: number[] = [];
    for (let i = 0; i < 4; i++) {
      await ticks(200);
      slices.push(began.length);
      turns.shift()?.();
    }
    expect(slices).toEqual([3, 6, 9, 10]); // each starts keys at 0, 2 and 4 ms
  });

  test('uses one timer for any number of deadlines', async () => {
    let timers = 0;
    const clock = testClock();
    const counting = {
      now: clock.now,
      at(epochMs: number, name: string, run: () => void) {
        timers++;
        const cancel = clock.at(epochMs, name, () => {
          timers--;
          run();
        });
        return () => {
          timers--;
          cancel();
        };
      },
    };
    const queue = createQueue({
      name: 'test',
      clock: counting,
      random: seededRandom(1),
      slice: createTimeSlice(counting),
      workers: 4,
      run: async () => DONE,
    });
    for (let i = 0; i < 10_000; i++) queue.wakeAt(`k${i}`, clock.now() + 1000 + ((i * 7919) % 10_000));
    expect(timers).toBe(1);
    await queue.stop();
    expect(timers).toBe(0);
  });

  test('starts nothing after it was stopped, and waits for what runs', async () => {
    const { queue, began, end } = bench();
    queue.add('a', 'fresh');
    queue.add('b', 'fresh');
    await ticks();
    let isStopped = false;
    const stopped = queue.stop().then(() => {
      isStopped = true;
    });
    queue.add('c', 'fresh');
    await ticks();
    expect(isStopped).toBe(false);
    await end('a', { next: 'retry' });
    await stopped;
    expect(began).toEqual(['a']);
  });

  test('loses no key and never runs one twice at a time, whatever happens in whatever order', async () => {
    const keys = ['a', 'b', 'c'];
    const anyKey = fc.constantFrom(...keys);
    const anyNext = fc.constantFrom<Next['next']>('done', 'continue', 'retry', 'back-off', 'slow-back-off');
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: anyKey,
        as: fc.constantFrom('fresh' as const, 'resync' as const),
      }),
      fc.record({ do: fc.constant('end' as const), key: anyKey, next: anyNext }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.nat(70_000) }),
      fc.record({ do: fc.constant('wake' as const), key: anyKey, ms: fc.nat(5000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (steps, workers) => {
        const { queue, clock, end, inside, owed } = bench({ workers });
        for (const each of steps) {
          if (each.do === 'add') {
            owed.add(each.key);
            queue.add(each.key, each.as);
          } else if (each.do === 'end') await end(each.key, { next: each.next });
          else if (each.do === 'advance') clock.advance(each.ms);
          else queue.wakeAt(each.key, clock.now() + each.ms);
          await ticks(20);
          for (const count of inside.values()) expect(count).toBeLessThanOrEqual(1);
          expect(queue.running).toBeLessThanOrEqual(workers);
        }
        for (let i = 0; i < 30; i++) {
          for (const key of keys) await end(key);
          clock.advance(600_000);
          await ticks(20);
        }
        expect([...owed]).toEqual([]);
        expect({ waiting: queue.waiting, running: queue.running, remembered: queue.remembered }).toEqual({
          waiting: 0,
          running: 0,
          remembered: 0,
        });
      }),
      { numRuns: runs(200) },
    );
  });
});
