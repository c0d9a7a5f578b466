import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { tally } from './tally.ts';

test('several that count the same in one registry add up, and what is read is what was counted until then', async () => {
  const registry = new Registry();
  const counter = { registry, name: 'passes', help: 'p', labelNames: ['who', 'how'] };
  const [one, other] = [tally(counter), tally(counter)];
  const depth = tally({ registry, name: 'depth', help: 'd', labelNames: [], goesDown: true });
  one(['hub', 'idle']);
  other(['hub', 'idle'], 2);
  other(['hub', 'acted']);
  depth([], 3);
  depth([], -1);
  const read = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const first = ['passes{who="hub",how="idle"} 3', 'passes{who="hub",how="acted"} 1', 'depth 2'];
  expect(await read()).toEqual(first);
  expect(await read()).toEqual(first);
  one(['hub', 'idle']);
  expect((await read())[0]).toBe('passes{who="hub",how="idle"} 4');
});
