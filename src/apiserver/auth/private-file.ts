// Files with keys: readable only by their owner, and after a crash either old or new, never partial.
import { open, rename, rm } from 'node:fs/promises';

export async function writePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  // An existing file (a leftover, or planted) must not supply its permissions or redirect the write.
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}
