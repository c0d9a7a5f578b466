// The reason why a file cannot be read, instead of a system error code; the caller prints the path before it.
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
