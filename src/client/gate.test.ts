import { describe, expect, test } from 'vitest';
import { createGate } from './gate.ts';

const { signal } = new AbortController();
const instead = () => new Error('given up');
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a gate', () => {
  test('lets as many in as there is room for, the others in their order', async () => {
    const gate = createGate(2);
    const order: string[] = [];
    const [first, second] = [await gate.enter(signal, instead), await gate.enter(signal, instead)];
    const outs = ['c', 'd', 'e'].map(async (name) => {
      const out = await gate.enter(signal, instead);
      order.push(name);
      return out;
    });
    await turn();
    expect(order).toEqual([]);
    first();
    await turn();
    expect(order).toEqual(['c']);
    second();
    (await outs[0])?.();
    await turn();
    expect(order).toEqual(['c', 'd', 'e']);
  });

  test('does not count one who leaves twice', async () => {
    const gate = createGate(1);
    const out = await gate.enter(signal, instead);
    out();
    out();
    await gate.enter(signal, instead);
    let isIn = false;
    void gate.enter(signal, instead).then(() => {
      isIn = true;
    });
    await turn();
    expect(isIn).toBe(false);
  });

  test('forgets who gives up, before or while waiting', async () => {
    const gate = createGate(1);
    await expect(gate.enter(AbortSignal.abort(), instead)).rejects.toThrow('given up');
    const out = await gate.enter(signal, instead);
    const impatient = new AbortController();
    const given = gate.enter(impatient.signal, instead);
    const patient = gate.enter(signal, instead);
    impatient.abort();
    await expect(given).rejects.toThrow('given up');
    out();
    expect(await patient).toBeTypeOf('function');
  });
});
