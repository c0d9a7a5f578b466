import { describe, expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { inSlices } from './slices.ts';

/** Each item takes a millisecond; the test ends pauses. */
function busy() {
  const pauses: (() => void)[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => now,
    at(_epochMs, _name, run) {
      pauses.push(run);
      return () => {};
    },
  };
  const done: number[] = [];
  return {
    clock,
    done,
    work: (item: number) => {
      now++;
      done.push(item);
    },
    async letGoOn() {
      pauses.shift()?.();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('work in slices', () => {
  test('pauses every five milliseconds and leaves out nothing', async () => {
    const { clock, done, work, letGoOn } = busy();
    const going = inSlices(clock, 'test', upTo(12), work);
    const seen = [done.length];
    for (let pause = 0; pause < 2; pause++) {
      await letGoOn();
      seen.push(done.length);
    }
    await going;
    expect(seen).toEqual([5, 10, 12]);
    expect(done).toEqual(upTo(12));
  });

  test('that fits into one is done at once', () => {
    const { clock, done, work } = busy();
    expect(inSlices(clock, 'test', upTo(5), work)).toBeUndefined();
    expect(done).toEqual(upTo(5));
  });

  test('ends when it is told to, in whichever slice', async () => {
    const { clock, done, work, letGoOn } = busy();
    const going = inSlices(clock, 'test', upTo(100), (item) => {
      work(item);
      return item === 7 ? 'stop' : undefined;
    });
    await letGoOn();
    await going;
    expect(done).toEqual(upTo(8));
  });

  test('that fails after a pause rejects', async () => {
    const { clock, work, letGoOn } = busy();
    const going = inSlices(clock, 'test', upTo(100), (item) => {
      work(item);
      if (item === 7) throw new Error('no');
    });
    const outcome = expect(going).rejects.toThrow('no');
    await letGoOn();
    await outcome;
  });
});
