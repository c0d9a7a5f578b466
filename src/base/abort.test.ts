import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { onAbort, unlessAborted } from './abort.ts';

describe('onAbort', () => {
  test('runs when the signal fires, once', () => {
    const controller = new AbortController();
    let runs = 0;
    onAbort(controller.signal, () => runs++);
    expect(runs).toBe(0);
    controller.abort();
    controller.abort();
    expect(runs).toBe(1);
  });

  test('runs at once when the signal has fired before', () => {
    let runs = 0;
    onAbort(AbortSignal.abort(), () => runs++);
    expect(runs).toBe(1);
  });

  test('runs all that wait for one signal, in their order, and what they cancel no more', () => {
    const controller = new AbortController();
    const runs: string[] = [];
    onAbort(controller.signal, () => {
      runs.push('a');
      cancel();
    });
    const cancel = onAbort(controller.signal, () => runs.push('b'));
    onAbort(controller.signal, () => runs.push('c'));
    controller.abort();
    expect(runs).toEqual(['a', 'c']);
  });

  test('does nothing after it was cancelled', () => {
    const controller = new AbortController();
    let runs = 0;
    onAbort(controller.signal, () => runs++)();
    controller.abort();
    expect(runs).toBe(0);
  });
});

describe('unlessAborted', () => {
  const never = new Promise<string>(() => {});
  const instead = () => new Error('given up');

  test.each([
    { it: 'gives what the promise gives', promise: () => Promise.resolve('x'), outcome: 'x' },
    { it: 'fails as the promise fails', promise: () => Promise.reject(new Error('no')), outcome: 'no' },
  ])('$it, and leaves nothing behind, however often', async ({ promise, outcome }) => {
    const controller = new AbortController();
    const { signal } = controller;
    let given = 0;
    const counted = () => {
      given++;
      return instead();
    };
    for (let time = 0; time < 20; time++) {
      expect(await unlessAborted(promise(), signal, counted).catch((error: Error) => error.message)).toBe(outcome);
    }
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
    controller.abort();
    expect(given).toBe(0);
  });

  test('does not wait any longer once the signal fires', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(never, controller.signal, instead);
    controller.abort();
    await expect(waiting).rejects.toThrow('given up');
    await expect(unlessAborted(never, controller.signal, instead)).rejects.toThrow('given up');
  });
});
