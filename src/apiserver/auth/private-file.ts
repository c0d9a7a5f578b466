// Files that hold keys: readable by their owner only, and either old or new after a crash, never half of each.
import { open, rename, rm } from 'node:fs/promises';

export async function writePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  // A file that exists already (left over, or planted) must not lend us its permissions or lead elsewhere.
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
