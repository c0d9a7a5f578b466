// Real files in one directory. The appends between two syncs become one durable write; it runs in the thread pool, so
// the event loop never waits for the disk.
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { Disk } from './disk.ts';
import { makeDirectory } from './make-directory.ts';
import { lockDirectory } from './node-lock.ts';

/**
 * Each write is also a sync, which saves a trip to the thread pool; 0 where such writes end in the drive's own cache,
 * or are not supported.
 */
const DURABLY = process.platform === 'linux' ? constants.O_DSYNC : 0;

const NEW = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

interface OpenFile {
  handle: FileHandle;
  length: number;
  /** Whether the file's name is known to be durable in the directory. */
  named: boolean;
}

/** Creates the directory if needed, readable only by its owner, because it will contain Secrets. */
export async function openNodeDisk(directory: string): Promise<Disk> {
  try {
    const first = await makeDirectory(directory, 0o700);
    if (first !== undefined) await nameForGood(first, directory);
    await readdir(directory);
  } catch (error) {
    throw new Error(`cannot use the data directory ${directory}: ${messageOf(error)}`, { cause: error });
  }
  return new NodeDisk(directory);
}

class NodeDisk implements Disk {
  readonly place: string;
  readonly #gathered = new Map<string, Uint8Array[]>();
  readonly #open = new Map<string, Promise<OpenFile>>();

  constructor(directory: string) {
    this.place = directory;
  }

  lock(): Promise<() => Promise<void>> {
    return lockDirectory(this.place).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error) {
        throw new Error(`cannot use the data directory ${this.place}: ${error.message}`, { cause: error });
      }
      throw error;
    });
  }

  list(): Promise<readonly string[]> {
    return readdir(this.place);
  }

  async size(file: string): Promise<number> {
    return (await this.#opened(file)).length;
  }

  async read(file: string, from: number, length: number): Promise<Uint8Array> {
    const { handle } = await this.#opened(file);
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await handle.read(bytes, filled, length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  append(file: string, bytes: Uint8Array): void {
    const gathered = this.#gathered.get(file);
    if (gathered === undefined) this.#gathered.set(file, [bytes]);
    else gathered.push(bytes);
  }

  async sync(file: string): Promise<void> {
    const gathered = this.#gathered.get(file) ?? [];
    this.#gathered.delete(file);
    const opened = await this.#opened(file, 'create');
    const bytes = gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered);
    let written = 0;
    while (written < bytes.length) {
      // At a position instead of the end: after a failed sync the file may be longer.
      const { bytesWritten } = await opened.handle.write(
        bytes,
        written,
        bytes.length - written,
        opened.length + written,
      );
      written += bytesWritten;
    }
    // Without new bytes the sync is for those of a process that died before it synced them.
    if (DURABLY === 0 || bytes.length === 0) await opened.handle.datasync();
    if (!opened.named) {
      await syncDirectory(this.place);
      opened.named = true;
    }
    opened.length += bytes.length;
  }

  async truncate(file: string, length: number): Promise<void> {
    this.#gathered.delete(file);
    const opened = await this.#opened(file);
    await opened.handle.truncate(length);
    await opened.handle.sync();
    opened.length = length;
  }

  async replace(from: string, to: string): Promise<void> {
    await this.#closed(from);
    await this.#closed(to);
    await rename(join(this.place, from), join(this.place, to));
    await syncDirectory(this.place);
  }

  async remove(file: string): Promise<void> {
    this.#gathered.delete(file);
    await this.#closed(file);
    await rm(join(this.place, file), { force: true });
  }

  async close(): Promise<void> {
    for (const file of [...this.#open.keys()]) await this.#closed(file);
  }

  #opened(file: string, missing: 'create' | 'refuse' = 'refuse'): Promise<OpenFile> {
    let opening = this.#open.get(file);
    if (opening === undefined) {
      opening = openFile(join(this.place, file), missing);
      this.#open.set(file, opening);
      opening.catch(() => this.#open.delete(file));
    }
    return opening;
  }

  async #closed(file: string): Promise<void> {
    const opening = this.#open.get(file);
    if (opening === undefined) return;
    this.#open.delete(file);
    await (await opening).handle.close();
  }
}

// A process may have died after creating this file and before syncing the directory, so no name counts as durable yet.
async function openFile(path: string, missing: 'create' | 'refuse'): Promise<OpenFile> {
  try {
    const handle = await open(path, constants.O_RDWR | DURABLY);
    return { handle, length: (await handle.stat()).size, named: false };
  } catch (error) {
    if (missing === 'refuse' || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { handle: await open(path, NEW | DURABLY, 0o600), length: 0, named: false };
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// A new directory is a name in its parent, which must be synced like any other; the same for each created parent.
async function nameForGood(first: string, last: string): Promise<void> {
  for (let directory = resolve(last); ; directory = dirname(directory)) {
    await syncDirectory(dirname(directory));
    if (directory === resolve(first) || directory === dirname(directory)) return;
  }
}
