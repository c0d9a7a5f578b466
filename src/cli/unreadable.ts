// Why a file could not be read, in words: its path stands before them, and the codes of the system are for programs.
import { messageOf } from '../base/errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  EISDIR: 'it is a folder',
};

export function whyUnreadable(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return Object.hasOwn(WORDS, code) ? (WORDS[code] as string) : messageOf(cause);
}
