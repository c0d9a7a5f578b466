import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { createTurns } from './turns.ts';

function takingTurns() {
  const clock = testClock();
  const turns = createTurns(clock);
  const controller = new AbortController();
  const inside: (() => void)[] = [];
  const ask = (signal = controller.signal) =>
    turns.next(signal, () => new Error('given up')).then((leave) => void inside.push(leave));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, turns, ask, inside, settle, controller };
}

describe('turns', () => {
  test('are not waited for while nobody is refused', async () => {
    const { ask, inside, settle } = takingTurns();
    for (let i = 0; i < 5; i++) void ask();
    await settle();
    expect(inside).toHaveLength(5);
  });

  test('come one after the other after a refusal, and no more ten seconds after the last one', async () => {
    const { clock, turns, ask, inside, settle } = takingTurns();
    turns.refused();
    clock.advance(5_000);
    turns.refused();
    clock.advance(9_999);
    void ask();
    void ask();
    await settle();
    expect(inside).toHaveLength(1);
    inside[0]?.();
    await settle();
    expect(inside).toHaveLength(2);
    clock.advance(1);
    void ask();
    void ask();
    await settle();
    expect(inside).toHaveLength(4);
  });

  test('are not held up for longer than a second each', async () => {
    const { clock, turns, ask, inside, settle } = takingTurns();
    turns.refused();
    for (let i = 0; i < 3; i++) void ask();
    await settle();
    clock.advance(999);
    await settle();
    expect(inside).toHaveLength(1);
    clock.advance(1);
    await settle();
    expect(inside).toHaveLength(2);
    // A caller that leaves late does not admit two others.
    inside[0]?.();
    await settle();
    expect(inside).toHaveLength(2);
  });

  test('are given up by whoever has no more time', async () => {
    const { turns, ask, inside, settle, controller } = takingTurns();
    turns.refused();
    void ask();
    const outcome = ask(controller.signal).catch((error: Error) => error.message);
    const other = new AbortController();
    void ask(other.signal);
    await settle();
    controller.abort();
    expect(await outcome).toBe('given up');
    inside[0]?.();
    await settle();
    expect(inside).toHaveLength(2);
  });
});
