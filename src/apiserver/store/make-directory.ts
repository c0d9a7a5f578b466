// Makes a directory and those above it. Not by node's own `recursive`: where a file system refuses new names with "no such entry" (/proc does),
// that never ends.
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Returns the topmost directory that was made, or undefined when all were there. */
export async function makeDirectory(directory: string, mode?: number): Promise<string | undefined> {
  const path = resolve(directory);
  const outcome = await attempt(path, mode);
  if (outcome === 'made') return path;
  if (outcome === 'there') return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : await makeDirectory(parent, mode);
  // The parents are there now: if one is still missed, the file system means something else by it.
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
