import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from './make-directory.ts';

test('a directory is made with those above it, and the topmost new one is told', async () => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-make-'));
  try {
    expect(await makeDirectory(join(root, 'a/b/c'), 0o700)).toBe(join(root, 'a'));
    expect(statSync(join(root, 'a/b/c')).mode & 0o777).toBe(0o700);
    expect(await makeDirectory(join(root, 'a/b/c'))).toBeUndefined();
    expect(await makeDirectory(join(root, 'a/d'))).toBe(join(root, 'a/d'));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test.skipIf(!existsSync('/proc/self'))(
  'a place where nothing can be made is an error, not a wait without end',
  async () => {
    await expect(makeDirectory('/proc/flotilla/store')).rejects.toThrow();
  },
);
