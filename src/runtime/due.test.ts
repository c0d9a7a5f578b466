import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../base/random.ts';
import {
  type Attempts,
  afterRun,
  done,
  dueAt,
  forDeadline,
  forNews,
  forWait,
  type Next,
  newThrottle,
  noAttempts,
  type Rule,
  sawChange,
  sawDone,
  sawNoChange,
} from './due.ts';

const NOW = 1_000_000;

describe('the next run of a key', () => {
  const random = seededRandom(1);
  const having = (more: Partial<Attempts>): Attempts => ({ ...noAttempts(), ...more });
  const waitOf = (attempts: Attempts, next: Next) => {
    const at = afterRun(attempts, next, { now: NOW, random });
    return typeof at === 'number' ? at - NOW : at;
  };

  test.each<[string, Partial<Attempts>, Next, 'next' | undefined | readonly [number, number]]>([
    ['nothing is left', {}, { next: 'done' }, undefined],
    ['it has written', {}, { next: 'continue' }, 'next'],
    ['it met a conflict', {}, { next: 'retry' }, 'next'],
    ['it has written 17 times in a row', { immediateRetries: 16 }, { next: 'continue' }, [100, 200]],
    [
      'it has written 17 times in a row, with news each time',
      { immediateRetries: 16, hasNews: true },
      { next: 'continue' },
      'next',
    ],
    ['the server asked for a pause', {}, { next: 'retry', notBefore: NOW + 5000 }, [5000, 5000]],
    ['it failed', {}, { next: 'back-off' }, [100, 200]],
    ['it failed for the third time', { failures: 2 }, { next: 'back-off' }, [400, 800]],
    ['it failed often', { failures: 50 }, { next: 'back-off' }, [30_000, 60_000]],
    ['an invariant is broken', {}, { next: 'slow-back-off' }, [15_000, 30_000]],
    ['an invariant stays broken', { failures: 50 }, { next: 'slow-back-off' }, [300_000, 600_000]],
  ])('when %s', (_name, before, next, expected) => {
    const waited = waitOf(having(before), next);
    if (typeof expected !== 'object') {
      expect(waited).toBe(expected);
      return;
    }
    expect(waited).toBeGreaterThanOrEqual(expected[0]);
    expect(waited).toBeLessThanOrEqual(expected[1]);
  });

  test('after a success forgets failures', () => {
    const attempts = having({ failures: 9, immediateRetries: 20, suppressedUntil: NOW + 500, hasNews: true });
    waitOf(attempts, { next: 'done' });
    expect(attempts).toEqual(noAttempts());
  });

  test('for news is at once, unless it has failed 4 times in a row', () => {
    const attempts = noAttempts();
    const news = (as: 'fresh' | 'resync', retryAt?: number) => forNews(attempts, as, { now: NOW, retryAt });
    for (let failures = 1; failures <= 3; failures++) waitOf(attempts, { next: 'back-off' });
    expect(news('fresh', NOW + 60_000)).toBe('next');
    expect(news('resync', NOW + 60_000)).toBeUndefined();
    expect(news('resync')).toBe('next');
    waitOf(attempts, { next: 'back-off' });
    expect(attempts.suppressedUntil).toBeLessThanOrEqual(NOW + 1000);
    expect(news('fresh', NOW + 60_000)).toBe(attempts.suppressedUntil);
    expect(news('fresh', NOW + 1)).toBeUndefined();
    expect(news('resync')).toBeUndefined();
  });

  test('for a deadline that had passed when it was asked for is a second later', () => {
    expect(forDeadline(NOW + 10, NOW, NOW)).toBe(NOW + 10);
    expect(forDeadline(NOW + 10, NOW, NOW + 50)).toBe(NOW + 50);
    expect(forDeadline(NOW, NOW, NOW)).toBe(NOW + 1000);
  });
});

describe('a throttle', () => {
  test.each<[string, Rule, number, readonly (readonly [at: number, due: number])[]]>([
    [
      'without a rule delays nothing',
      {},
      7,
      [
        [0, 0],
        [1, 1],
      ],
    ],
    [
      'keeps a gap',
      { gapMs: 100 },
      0,
      [
        [0, 100],
        [100, 200],
        [5000, 5100],
      ],
    ],
    [
      'of few items delays nothing',
      { itemsPerMs: 25 },
      24,
      [
        [0, 0],
        [1, 1],
      ],
    ],
    [
      'of many items keeps a gap that grows with them',
      { itemsPerMs: 25 },
      1000,
      [
        [0, 40],
        [40, 80],
      ],
    ],
    ['keeps the longer one of two gaps', { gapMs: 100, itemsPerMs: 1 }, 1000, [[0, 1000]]],
    ['of few items keeps the fixed gap', { gapMs: 100, itemsPerMs: 1 }, 100, [[0, 100]]],
    [
      'lets so many through within a second',
      { perSecond: 2 },
      0,
      [
        [0, 0],
        [300, 1000],
        [1000, 1300],
        [2000, 2000],
      ],
    ],
  ])('%s', (_name, rule, items, times) => {
    const of = newThrottle();
    expect(dueAt(of, rule, NOW)).toBe(NOW);
    for (const [at, due] of times) {
      done(of, rule, NOW + at, items);
      expect(dueAt(of, rule, NOW + at) - NOW, `done at ${at}`).toBe(due);
    }
  });

  test('takes another value for something that was done', () => {
    const rule = { gapMs: 100 };
    const of = newThrottle();
    const saw = (value: unknown, now: number) => {
      sawDone(of, rule, value, now);
      return dueAt(of, rule, now);
    };
    expect(saw(undefined, 1000)).toBe(1000);
    expect(saw({ a: 1 }, 1001)).toBe(1101);
    expect(saw({ a: 1 }, 1050)).toBe(1101);
    expect(saw({ a: 2 }, 1101)).toBe(1201);
  });

  test('coalesces changes until they pause, but not for long', () => {
    const rule = { quietMs: 100, maxWaitMs: 1000 };
    const of = newThrottle();
    expect(sawChange(of, 'a', 1000)).toEqual({ firstSeen: 1000, lastSeen: 1000 });
    expect(dueAt(of, rule, 1000)).toBe(1100);
    expect(sawChange(of, 'a', 1050)).toEqual({ firstSeen: 1000, lastSeen: 1000 });
    expect(sawChange(of, 'b', 1090)).toEqual({ firstSeen: 1000, lastSeen: 1090 });
    expect(dueAt(of, rule, 1090)).toBe(1190);
    sawChange(of, 'c', 1950);
    expect(dueAt(of, rule, 1950)).toBe(2000);
    sawNoChange(of);
    expect(dueAt(of, rule, 1960)).toBe(1960);
    expect(sawChange(of, 'c', 1970)).toEqual({ firstSeen: 1970, lastSeen: 1970 });
  });

  test('waits no longer than its rule says, also if the clock is set back', () => {
    const rule = fc.record(
      {
        gapMs: fc.nat(500),
        itemsPerMs: fc.integer({ min: 1, max: 50 }),
        perSecond: fc.integer({ min: 1, max: 10 }),
        quietMs: fc.nat(500),
        maxWaitMs: fc.nat(2000),
      },
      { requiredKeys: [] },
    );
    const step = fc.record({
      now: fc.nat(20_000),
      does: fc.constantFrom('done', 'change', 'none'),
      items: fc.nat(3000),
    });
    fc.assert(
      fc.property(rule, fc.array(step, { maxLength: 40 }), (given, steps) => {
        const of = newThrottle();
        for (const [index, { now, does, items }] of steps.entries()) {
          if (does === 'done') done(of, given, now, items);
          else if (does === 'change') sawChange(of, index, now);
          else sawNoChange(of);
          const gap = Math.max(given.gapMs ?? 0, of.items / (given.itemsPerMs ?? Number.POSITIVE_INFINITY));
          const longest = Math.max(gap, given.perSecond === undefined ? 0 : 1000, given.quietMs ?? 0);
          const due = dueAt(of, given, now);
          expect(due).toBeGreaterThanOrEqual(now);
          if (of.pending === undefined || of.pending.lastSeen <= now) expect(due - now).toBeLessThanOrEqual(longest);
          expect(of.times.length).toBeLessThanOrEqual(given.perSecond ?? 1);
        }
      }),
    );
  });

  test('delays news of a watch, unless nothing is remembered of the key', () => {
    const rule = { gapMs: 100 };
    const of = newThrottle();
    done(of, rule, NOW);
    const until = { rule, of: () => of };
    expect(forWait({ coalesceMs: 30 }, undefined, NOW)).toBe(NOW + 30);
    expect(forWait({ coalesceMs: 30, until }, undefined, NOW)).toBe(NOW + 30);
    expect(forWait({ coalesceMs: 30, until }, {}, NOW)).toBe(NOW + 100);
    expect(forWait({ coalesceMs: 30, until }, {}, NOW + 90)).toBe(NOW + 120);
    expect(forWait({}, undefined, NOW)).toBe(NOW);
  });
});
