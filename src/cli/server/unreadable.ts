// Why a file could not be read, in words: the caller prints its path before them. The codes of the system are for programs.
import { messageOf } from '../../base/errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
};

export function whyUnreadable(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return Object.hasOwn(WORDS, code) ? (WORDS[code] as string) : messageOf(cause);
}
