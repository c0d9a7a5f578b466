// Reads many files from the object store with one run of git.
import { GitError } from '../../hub/git/repository.ts';
import { textOf } from './repositories.ts';
import { type RunOptions, run } from './run-git.ts';

/** By id; blobs that are not valid UTF-8 are missing. */
export async function readBlobs(
  repository: string,
  ids: readonly string[],
  options: Pick<RunOptions, 'timeoutMs' | 'signal'>,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { stdout } = await run(['-C', repository, 'cat-file', '--batch'], { ...options, input: `${ids.join('\n')}\n` });
  return textsIn(stdout);
}

const NEWLINE = 0x0a;

/** `<id> SP <type> SP <size> LF <content> LF` */
export function textsIn(output: Buffer): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(NEWLINE, at);
    const [id = '', type, size = ''] = output.subarray(at, end).toString('latin1').split(' ');
    if (type !== 'blob') throw new GitError('FetchFailed', `git has no content for ${id}`);
    const begin = end + 1;
    const content = output.subarray(begin, begin + Number(size));
    at = begin + Number(size) + 1;
    const text = textOf(content);
    if (text !== undefined) texts.set(id, text);
  }
  return texts;
}
