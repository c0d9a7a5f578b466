import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withLock } from '../../scripts/kube/lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('one at a time holds it: the second is told who has it, and comes when it is free', async () => {
  const file = join(folder, 'one');
  const done: string[] = [];
  let finish = () => {};
  const first = withLock(file, async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    done.push('first');
  });
  const told: number[] = [];
  const second = withLock(
    file,
    async () => void done.push('second'),
    (holder) => {
      told.push(holder);
      finish();
    },
  );
  await Promise.all([first, second]);
  expect({ done, told }).toEqual({ done: ['first', 'second'], told: [process.pid] });
  expect(existsSync(file)).toBe(false);
});

test('whoever was killed with it does not keep it', async () => {
  const file = join(folder, 'killed');
  const { pid } = spawnSync('true');
  writeFileSync(file, String(pid));
  expect(
    await withLock(
      file,
      async () => 'mine',
      () => expect.unreachable('nobody has it'),
    ),
  ).toBe('mine');
  writeFileSync(file, 'not a number');
  expect(await withLock(file, async () => 'mine')).toBe('mine');
});

test('it is free again after a failure', async () => {
  const file = join(folder, 'failed');
  await expect(withLock(file, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  expect(existsSync(file)).toBe(false);
});
