// What the wire tests stand on never waits without end, and says what it waited for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ended, run, within } from './server.ts';

const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up');";

test('a command that does not end is killed, and its result says so', async () => {
  const result = await run(process.execPath, ['-e', stubborn], { timeoutMs: 500 });
  expect(result.code).not.toBe(0);
  expect(result.stderr).toMatch(/-e process\.on.* did not end within 500 ms and was killed$/);
});

test('a process that does not heed a signal is killed, and that is an error', async () => {
  const child = spawn(process.execPath, ['-e', stubborn]);
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  await expect(ended(child, exited, () => 'it did not end', 200)).rejects.toThrow('within 200 ms it did not end');
  await exited;
  expect(child.signalCode).toBe('SIGKILL');
});

test('a wait that takes too long rejects with what it waited for at that moment', async () => {
  let state = 'early';
  const late = within(new Promise(() => {}), 50, () => `nothing came: ${state}`);
  state = 'late';
  await expect(late).rejects.toThrow('within 50 ms nothing came: late');
  expect(await within(Promise.resolve(1), 50, () => '')).toBe(1);
});
