import { describe, expect, test } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import { seededRandom } from '../../base/random.ts';
import { createPulse, type Health, type Probe } from './pulse.ts';

const drained = async () => {
  for (let i = 0; i < 20; i++) await undefined;
};

/** The second beat comes after one period times `firstGap`. */
function aPulse(probe: Probe = async () => ({ ok: true }), firstGap = 1) {
  const clock = testClock();
  const start = clock.now();
  const random = seededRandom(7);
  const gaps = [firstGap];
  const abort = new AbortController();
  const beats: { at: number; health: Health | undefined }[] = [];
  const pulse = createPulse({
    clock,
    random: { ...random, next: () => gaps.shift() ?? random.next() },
    probe,
    signal: abort.signal,
    onBeat: () => beats.push({ at: clock.now() - start, health: pulse.beat?.health }),
  });
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds * 10; i++) {
      clock.advance(100);
      await drained();
    }
  };
  return { pulse, beats, pass, abort };
}

describe('a pulse', () => {
  test('beats at once and then on its period, spread by five percent', async () => {
    const { pulse, beats, pass } = aPulse(undefined, 0.3);
    pulse.every(60);
    await drained();
    await pass(1200);
    const [first = 0, ...gaps] = beats.slice(1).map(({ at }, i) => at - (beats[i]?.at ?? 0));
    expect(beats[0]?.at).toBe(0);
    expect(first).toBe(18_000);
    expect(gaps.length).toBeGreaterThanOrEqual(18);
    for (const gap of gaps) {
      expect(gap).toBeGreaterThanOrEqual(57_000);
      expect(gap).toBeLessThanOrEqual(63_100);
    }
    expect(new Set(gaps).size).toBeGreaterThan(5);
  });

  test('that starts with a thousand others is not heard with them for ever', async () => {
    const clock = testClock();
    const start = clock.now();
    const perSecond = Array.from({ length: 60 }, () => 0);
    const random = seededRandom(1);
    for (let i = 0; i < 1000; i++) {
      const { signal } = new AbortController();
      const onBeat = () => {
        const second = Math.floor((clock.now() - start) / 1000);
        if (second >= 120 && second < 180) perSecond[second - 120] = (perSecond[second - 120] ?? 0) + 1;
      };
      createPulse({ clock, random, probe: async () => ({ ok: true }), signal, onBeat }).every(60);
    }
    for (let second = 0; second < 180; second++) {
      clock.advance(1000);
      await drained();
    }
    // 17 per second on average; without the spread there would be hundreds.
    expect(Math.max(...perSecond)).toBeLessThan(40);
    expect(Math.min(...perSecond)).toBeGreaterThan(4);
  });

  test('keeps its period while the server is ill, and reports the cause', async () => {
    const { pulse, beats, pass } = aPulse(() => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:443')));
    pulse.every(10);
    await pass(100);
    expect(beats.length).toBeGreaterThanOrEqual(9);
    expect(beats.at(-1)?.health).toEqual({ ok: false, cause: 'connect ECONNREFUSED 10.0.0.1:443' });
  });

  test('does not wait for a server that does not answer', async () => {
    let given: AbortSignal | undefined;
    const { pulse, beats, pass } = aPulse((signal) => {
      given = signal;
      return new Promise(() => {});
    });
    pulse.every(60);
    await pass(9);
    expect(beats).toEqual([]);
    await pass(2);
    expect(beats[0]?.health).toEqual({ ok: false, cause: 'the API server of the member gave no answer within 10 s' });
    expect(given?.aborted).toBe(true);
    await pass(120);
    expect(beats.length).toBe(3);
  });

  test('waits at most half a period for an answer', async () => {
    const { pulse, beats, pass } = aPulse(() => new Promise(() => {}));
    pulse.every(2);
    await pass(1.2);
    expect(beats).toHaveLength(1);
  });

  test('takes up a new period without a beat in between', async () => {
    const { pulse, beats, pass } = aPulse();
    pulse.every(60);
    await pass(5);
    pulse.every(10);
    expect(beats).toHaveLength(1);
    await pass(6);
    expect(beats).toHaveLength(2);
    await pass(30);
    expect(beats.length).toBeGreaterThanOrEqual(4);
  });

  test('is not disturbed by being told the same period again', async () => {
    const { pulse, beats, pass } = aPulse();
    for (let i = 0; i < 100; i++) {
      pulse.every(60);
      await pass(1);
    }
    expect(beats).toHaveLength(2);
  });

  test('rests when told, also while it asks, and begins anew', async () => {
    let answer: (health: Health) => void = () => {};
    const { pulse, beats, pass } = aPulse(() => new Promise((resolve) => (answer = resolve)));
    pulse.every(60);
    pulse.rest();
    answer({ ok: true });
    await pass(200);
    expect(beats).toEqual([]);
    pulse.every(60);
    answer({ ok: true });
    await pass(1);
    expect(beats).toHaveLength(1);
  });

  test('ends with its signal', async () => {
    const { pulse, beats, pass, abort } = aPulse();
    pulse.every(10);
    await pass(5);
    abort.abort();
    pulse.every(20);
    await pass(100);
    expect(beats).toHaveLength(1);
  });

  test('knows its own stamps', async () => {
    const { pulse, pass } = aPulse();
    pulse.every(10);
    await pass(1);
    const first = pulse.beat?.stamp ?? '';
    await pass(20);
    expect(pulse.isOwn(first)).toBe(true);
    expect(pulse.isOwn('2025-01-01T00:00:00Z')).toBe(false);
  });
});
