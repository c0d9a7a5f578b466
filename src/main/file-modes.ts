// A data directory contains Secrets and the keys of the fleet. Like ssh, we refuse to use one that other users of this
// machine may read or write.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';

const OTHERS = 0o077;

/** Throws a UserError with the command that fixes it. Missing files will be created with the right mode. */
export async function checkModes(dataDir: string): Promise<void> {
  // Windows has no such modes.
  if (process.platform === 'win32') return;
  const pki = join(dataDir, 'pki');
  await check(dataDir, 'data directory', '700');
  await check(pki, 'directory of keys', '700');
  const files = await readdir(pki).catch(() => []);
  for (const file of files) if (file.endsWith('.key')) await check(join(pki, file), 'key', '600');
}

async function check(path: string, what: string, mode: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  const has = (found.mode & 0o777).toString(8).padStart(4, '0');
  throw new UserError(
    'FileModeTooOpen',
    `the ${what} ${path} is open to other users (mode ${has}): run "chmod ${mode} ${path}"`,
  );
}
