import { expect, test } from 'vitest';
import { afterDisk } from './deps.ts';

test('those who let others go first in one turn go on in one turn, after what was ready then', async () => {
  const after = afterDisk();
  const happened: string[] = [];
  const tick = () => process.nextTick(() => happened.push('a turn in between'));
  const done = new Promise<void>((resolve) => {
    after(() => {
      happened.push('first');
      tick();
    });
    after(() => {
      happened.push('second');
      setImmediate(resolve);
    });
    setImmediate(() => {
      happened.push('what was ready');
      after(() => happened.push('asked later'));
    });
  });
  await done;
  await new Promise((resolve) => setImmediate(resolve));
  expect(happened).toEqual(['what was ready', 'first', 'second', 'a turn in between', 'asked later']);
});
