// The directory with one bare repository per URL, which survives restarts and is shared by both clients
// (git-program.ts, git-library.ts), and the limits for both.
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { GitError, type GitFile, type GitSource } from '../../hub/git/repository.ts';

export interface GitClientOptions {
  /** The directory of the repositories. */
  readonly directory: string;
  /** `file://` URLs may read any repository of this machine. */
  readonly allowFiles?: boolean;
  readonly limits?: Partial<GitLimits>;
}

export interface GitLimits {
  /** The size of one repository on disk. */
  readonly repositoryBytes: number;
  /** The size of all files that are read from one commit. */
  readonly textBytes: number;
  readonly files: number;
  readonly timeoutMs: number;
}

export const DEFAULT_LIMITS: GitLimits = {
  repositoryBytes: 512 * 1024 * 1024,
  textBytes: 64 * 1024 * 1024,
  files: 200_000,
  timeoutMs: 120_000,
};
export const MAX_TEXT = 1024 * 1024;
const MAX_AT_ONCE = 4;

export interface Repositories {
  /** The path of the repository for a URL. */
  of(source: GitSource): string;
  /** Serializes work per repository: two fetches into one would lock each other out. */
  alone<T>(repository: string, work: () => Promise<T>): Promise<T>;
}

export function repositoriesIn(directory: string): Repositories {
  const inTurn = turns(MAX_AT_ONCE);
  const perRepository = new Map<string, Promise<unknown>>();
  return {
    of: ({ url }) => join(directory, sha256(url).slice(0, 32)),
    alone(repository, work) {
      const before = perRepository.get(repository) ?? Promise.resolve();
      const after = before.then(
        () => inTurn(work),
        () => inTurn(work),
      );
      const settled = after.catch(() => {});
      perRepository.set(repository, settled);
      void settled.then(() => {
        if (perRepository.get(repository) === settled) perRepository.delete(repository);
      });
      return after;
    },
  };
}

/** A ref that keeps the commit from garbage collection, and identifies it after a restart. */
export const refOf = ({ branch = '', revision = '' }: GitSource): string =>
  `refs/flotilla/${sha256(`${branch}\n${revision}`).slice(0, 32)}`;

export const isCommitId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

export const isThere = (repository: string): Promise<boolean> => exists(join(repository, 'HEAD'));

export const isSsh = (url: string): boolean => !/^(https?|file):\/\//.test(url);

export function checkUrl({ url }: GitSource, allowFiles: boolean): void {
  if (url.startsWith('file://') && !allowFiles) {
    const message = 'file:// repositories are refused: start the hub with --allow-file-repositories';
    throw new GitError('ProtocolRefused', message);
  }
}

export function refNotFound({ branch = '', revision = '' }: GitSource): GitError {
  const what = revision !== '' ? `tag "${revision}"` : branch !== '' ? `branch "${branch}"` : 'default branch';
  return new GitError('RefNotFound', `the repository has no ${what}`);
}

/** The next step if the certificate of a server cannot be verified. */
export const UNKNOWN_AUTHORITY = 'spec.caBundle must contain the certificate of the authority that signed it';

export const tooLarge = (max: number): GitError =>
  new GitError('RepositoryTooLarge', `the repository takes more than ${max} bytes on disk`);

export const tooManyFiles = (count: number | string, max: number): GitError =>
  new GitError('RepositoryTooLarge', `the repository has ${count} files, at most ${max} are read`);

export const tooMuchText = (bytes: number | string, max: number): GitError =>
  new GitError(
    'RepositoryTooLarge',
    `the manifests of the repository have ${bytes} bytes, at most ${max} are read; set spec.paths`,
  );

/** undefined = not valid UTF-8 text. */
export function textOf(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return decoder.decode(content);
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export const isRead = ({ kind, size }: Pick<GitFile, 'kind' | 'size'>): boolean => kind === 'file' && size <= MAX_TEXT;

/** Masks secrets, because messages of a server or program may repeat them. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, '***');
  return masked;
}

/** In all the forms in which credentials are sent. */
export function secretsOf({ credentials }: GitSource): readonly string[] {
  if (credentials?.type !== 'basic') return [];
  const { username, password } = credentials;
  const forms = [password, encodeURIComponent(password), Buffer.from(`${username}:${password}`).toString('base64')];
  return forms.filter((each) => each !== '');
}

export const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

const packsOf = (repository: string): string => join(repository, 'objects', 'pack');

export async function packBytesOf(repository: string): Promise<number> {
  const sizes = (await namesIn(packsOf(repository))).map((name) =>
    stat(join(packsOf(repository), name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

export const packNamesOf = async (repository: string): Promise<readonly string[]> =>
  (await namesIn(packsOf(repository))).filter((name) => name.endsWith('.pack'));

const namesIn = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => []);

/**
 * Removes files of a killed git: its locks would block every later fetch, and partial downloads would count toward the
 * limit.
 */
export async function removeRemains(repository: string): Promise<void> {
  for (const [directory, isRemains] of [
    [repository, /\.lock$/],
    [join(repository, 'refs', 'flotilla'), /\.lock$/],
    [packsOf(repository), /^tmp_|^\.tmp|\.part$/],
  ] as const)
    for (const name of await namesIn(directory))
      if (isRemains.test(name)) await rm(join(directory, name), { force: true });
}

/** Marks the repository as still in use for the next start. */
export const touch = async (repository: string): Promise<void> => {
  const now = new Date();
  await utimes(repository, now, now).catch(() => {});
};

const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Removes files with credentials and copies of bundles that a killed process left behind, and repositories that are no
 * longer followed.
 */
export async function removeLeftovers(directory: string, now: number): Promise<void> {
  const isUnused = async (name: string): Promise<boolean> =>
    /^[0-9a-f]{32}$/.test(name) && (await stat(join(directory, name))).mtimeMs < now - UNUSED_MS;
  for (const name of await namesIn(directory))
    if (/^(access|render)-/.test(name) || (await isUnused(name)))
      await rm(join(directory, name), { recursive: true, force: true }).catch((error: unknown) => {
        throw new Error(`cannot remove ${name}: ${messageOf(error)}`);
      });
}

function turns(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
