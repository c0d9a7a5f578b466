// The file system of isomorphic-git. Files are written atomically, and a pack is checked before it is written, because
// the library inflates every object of it in memory, whatever its size.
import * as files from 'node:fs/promises';
import { inflate } from 'node:zlib';
import type { PromiseFsClient } from 'isomorphic-git';
import { GitError } from '../../hub/git/repository.ts';

export interface FilesOptions {
  /** The maximum size of a pack. */
  readonly packBytes: number;
  readonly signal: AbortSignal;
}

/** The maximum inflated size of one object, and of all objects of a pack. */
const MAX_OBJECT = 64 * 1024 * 1024;
const MAX_OBJECTS = 1024 * 1024 * 1024;

export function libraryFiles({ packBytes, signal }: FilesOptions): PromiseFsClient {
  async function writeFile(path: string, content: string | Uint8Array, options?: object): Promise<void> {
    signal.throwIfAborted();
    if (path.endsWith('.pack') && typeof content !== 'string') await checkPack(Buffer.from(content), packBytes, signal);
    const part = `${path}.part`;
    await files.writeFile(part, content, options);
    await files.rename(part, path);
  }
  const { readFile, unlink, readdir, mkdir, rmdir, stat, lstat, readlink, symlink } = files;
  return { promises: { readFile, writeFile, unlink, readdir, mkdir, rmdir, stat, lstat, readlink, symlink } };
}

const OFFSET_DELTA = 6;
const REF_DELTA = 7;
const HEADER = 12;
const TRAILER = 20;

/** Rejects a pack that is damaged or too large when inflated. */
export async function checkPack(
  pack: Buffer,
  maxBytes: number,
  signal: AbortSignal,
  { object: maxObject, objects: maxObjects } = { object: MAX_OBJECT, objects: MAX_OBJECTS },
): Promise<void> {
  if (pack.length > maxBytes) throw tooLarge(`takes more than ${maxBytes} bytes`);
  if (pack.toString('latin1', 0, 4) !== 'PACK' || pack.length < HEADER + TRAILER) throw damaged();
  let at = HEADER;
  let total = 0;
  for (let left = pack.readUInt32BE(8); left > 0; left--) {
    signal.throwIfAborted();
    const type = ((pack[at] ?? 0) >> 4) & 7;
    at = afterNumber(pack, at);
    if (type === OFFSET_DELTA) at = afterNumber(pack, at);
    else if (type === REF_DELTA) at += 20;
    if (at >= pack.length - TRAILER) throw damaged();
    const { buffer, engine } = await inflated(pack.subarray(at), maxObject);
    at += engine.bytesWritten;
    const bytes = type === OFFSET_DELTA || type === REF_DELTA ? resultOf(buffer) : buffer.length;
    total += bytes;
    if (bytes > maxObject) throw tooLarge(`has a file of more than ${maxObject} bytes`);
    if (total > maxObjects) throw tooLarge(`has more than ${maxObjects} bytes of files`);
  }
}

/** Includes the number of consumed bytes, which is the only way to find the next object. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

const inflated = (data: Buffer, maxOutputLength: number): Promise<Inflated> =>
  new Promise((done, failed) => {
    inflate(data, { maxOutputLength, info: true }, (error, result) => {
      if (error === null) done(result as unknown as Inflated);
      else if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') failed(damaged());
      else failed(tooLarge(`has a file of more than ${maxOutputLength} bytes`));
    });
  });

/** Skips a variable-length number: seven bits per byte, and all but the last byte have the eighth bit set. */
function afterNumber(data: Buffer, from: number): number {
  let at = from;
  while (((data[at] ?? 0) & 0x80) !== 0) at++;
  return at + 1;
}

/** A delta begins with the sizes of its base and of its result. */
function resultOf(delta: Buffer): number {
  const begin = afterNumber(delta, 0);
  let size = 0;
  for (let at = begin; at < afterNumber(delta, begin); at++)
    size += ((delta[at] ?? 0) & 0x7f) * 2 ** (7 * (at - begin));
  return size;
}

const tooLarge = (what: string): GitError =>
  new GitError('RepositoryTooLarge', `the repository ${what}, which is too much without the program git`);
const damaged = (): GitError => new GitError('FetchFailed', 'the server sent a pack that cannot be read');
