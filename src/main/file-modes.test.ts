// Which other users may read or write the data of a hub.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkModes } from './file-modes.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function aDataDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-modes-'));
  folders.push(folder);
  mkdirSync(join(folder, 'pki'), { mode: 0o700 });
  writeFileSync(join(folder, 'pki', 'ca.key'), 'key', { mode: 0o600 });
  writeFileSync(join(folder, 'pki', 'ca.crt'), 'certificate', { mode: 0o644 });
  return folder;
}

test('a directory that only its owner may use is used, and so is one that is not there yet', async () => {
  const folder = aDataDirectory();
  await expect(checkModes(folder)).resolves.toBeUndefined();
  await expect(checkModes(join(folder, 'new'))).resolves.toBeUndefined();
});

test.each([
  { path: '', mode: 0o777, says: 'the data directory', fix: 'chmod 700' },
  { path: '', mode: 0o755, says: 'the data directory', fix: 'chmod 700' },
  { path: 'pki', mode: 0o777, says: 'the directory of keys', fix: 'chmod 700' },
  { path: 'pki', mode: 0o750, says: 'the directory of keys', fix: 'chmod 700' },
  { path: 'pki/ca.key', mode: 0o666, says: 'the key', fix: 'chmod 600' },
  { path: 'pki/ca.key', mode: 0o640, says: 'the key', fix: 'chmod 600' },
])('"$path" with mode $mode is refused, with the command to fix it', async ({ path, mode, says, fix }) => {
  const folder = aDataDirectory();
  const place = join(folder, path);
  chmodSync(place, mode);
  await expect(checkModes(folder)).rejects.toThrow(
    `${says} ${place} is open to other users (mode 0${mode.toString(8)}): run "${fix} ${place}"`,
  );
});
