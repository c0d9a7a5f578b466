// Creates a directory and its parents. Node's own `recursive` never returns where a file system rejects new names with
// ENOENT, as /proc does.
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Returns the topmost created directory, or undefined if all existed. */
export async function makeDirectory(directory: string, mode?: number): Promise<string | undefined> {
  const path = resolve(directory);
  const outcome = await attempt(path, mode);
  if (outcome === 'made') return path;
  if (outcome === 'there') return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : await makeDirectory(parent, mode);
  // The parents exist now: if the error is still ENOENT, the file system rejects new names.
  if ((await attempt(path, mode)) === 'orphan') throw new Error(`no directory can be made in ${parent}`);
  return first ?? path;
}

async function attempt(path: string, mode: number | undefined): Promise<'made' | 'there' | 'orphan'> {
  try {
    await mkdir(path, mode === undefined ? {} : { mode });
    return 'made';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'orphan';
    if (code === 'EEXIST') return 'there';
    throw error;
  }
}
