// Repositories by the git program: one bare, shallow repository per URL in a directory that survives restarts. Nothing is checked out: files are
// read from the object store, so no link, hook, filter or sub-module of a repository is ever followed or run.
// Guarantee: credentials are in files of mode 0600 and in the environment of git alone, never in arguments, logs or messages.
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { type GitClient, GitError, type GitFile, type GitSource } from '../../hub/git/repository.ts';
import { readBlobs } from './blobs.ts';
import { run } from './run-git.ts';

export interface GitProgramOptions {
  /** Where repositories are kept. */
  readonly directory: string;
  /** `file://` URLs may read any repository of this machine. */
  readonly allowFiles?: boolean;
  readonly limits?: Partial<GitLimits>;
}

export interface GitLimits {
  /** Of one repository on disk. */
  readonly repositoryBytes: number;
  /** Of all texts that are read from one commit. */
  readonly textBytes: number;
  readonly files: number;
  readonly timeoutMs: number;
}

const DEFAULT_LIMITS: GitLimits = {
  repositoryBytes: 512 * 1024 * 1024,
  textBytes: 64 * 1024 * 1024,
  files: 200_000,
  timeoutMs: 120_000,
};
const MAX_TEXT = 1024 * 1024;
const MAX_AT_ONCE = 4;

export function gitProgram({ directory, allowFiles = false, limits: given }: GitProgramOptions): GitClient {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const inTurn = turns(MAX_AT_ONCE);
  const perRepository = new Map<string, Promise<unknown>>();

  /** One at a time per repository: two fetches into one would lock each other out. */
  function alone<T>(repository: string, work: () => Promise<T>): Promise<T> {
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
  }

  const repositoryOf = ({ url }: GitSource): string => join(directory, sha256(url).slice(0, 32));
  /** Keeps the commit from being collected, and tells after a restart which one it was. */
  const refOf = ({ branch = '', revision = '' }: GitSource): string =>
    `refs/flotilla/${sha256(`${branch}\n${revision}`).slice(0, 32)}`;

  async function prepared(source: GitSource): Promise<string> {
    const repository = repositoryOf(source);
    if (!(await exists(join(repository, 'HEAD')))) {
      await mkdir(repository, { recursive: true, mode: 0o700 });
      await run(['init', '--quiet', '--bare', '--', repository], { timeoutMs: limits.timeoutMs });
    }
    return repository;
  }

  async function fetchFrom(source: GitSource, known: string | undefined, signal: AbortSignal): Promise<string> {
    checkUrl(source, allowFiles);
    const repository = await prepared(source);
    await using access = await accessTo(source, directory, allowFiles);
    const git = (args: readonly string[], isGuarded = false) =>
      run(['-C', repository, ...access.config, ...args], {
        env: access.env,
        secrets: access.secrets,
        timeoutMs: limits.timeoutMs,
        signal,
        ...(isGuarded ? { guard: { directory: repository, maxBytes: limits.repositoryBytes } } : {}),
      });
    const { revision = '' } = source;
    const isCommit = /^[0-9a-f]{40}$/.test(revision);
    const head = isCommit ? { commit: revision, refspec: revision } : await headOf(source, git);
    if (head.commit !== known || !(await has(git, head.commit))) {
      const args = ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-write-fetch-head', '--force', '--', source.url];
      await git([...args, `${head.refspec}:${refOf(source)}`], true);
    }
    const { stdout } = await git(['rev-parse', '--verify', `${refOf(source)}^{commit}`]);
    return stdout.toString('utf8').trim();
  }

  return {
    fetch: (source, known, signal) => alone(repositoryOf(source), () => fetchFrom(source, known, signal)),
    async kept(source) {
      const repository = repositoryOf(source);
      if (!(await exists(join(repository, 'HEAD')))) return undefined;
      const args = ['-C', repository, 'rev-parse', '--quiet', '--verify', `${refOf(source)}^{commit}`];
      const { stdout } = await run(args, { timeoutMs: limits.timeoutMs });
      return stdout.toString('utf8').trim();
    },
    files: (source, commit, reads, signal) =>
      alone(repositoryOf(source), async () => {
        const repository = repositoryOf(source);
        const { stdout } = await run(['-C', repository, 'ls-tree', '-r', '-l', '-z', commit], {
          timeoutMs: limits.timeoutMs,
          signal,
        });
        const files = entriesOf(stdout, limits.files);
        const wanted = files.filter(({ kind, size, path }) => kind === 'file' && size <= MAX_TEXT && reads(path));
        const bytes = wanted.reduce((sum, { size }) => sum + size, 0);
        if (bytes > limits.textBytes) {
          const message = `the manifests of the repository have ${bytes} bytes, at most ${limits.textBytes} are read; set spec.paths`;
          throw new GitError('RepositoryTooLarge', message);
        }
        const texts = await readBlobs(repository, [...new Set(wanted.map(({ id }) => id))], {
          timeoutMs: limits.timeoutMs,
          signal,
        });
        const isWanted = new Set(wanted);
        return files.map((file) => {
          const text = isWanted.has(file) ? texts.get(file.id) : undefined;
          return text === undefined ? file : { ...file, text };
        });
      }),
  };
}

type Git = (args: readonly string[], isGuarded?: boolean) => Promise<{ readonly stdout: Buffer }>;

async function has(git: Git, commit: string): Promise<boolean> {
  return git(['cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
}

/** Where the ref points, by one request that transfers no content. */
async function headOf({ url, branch = '', revision = '' }: GitSource, git: Git) {
  const patterns = revision === '' ? [branch === '' ? 'HEAD' : `refs/heads/${branch}`] : [`refs/tags/${revision}`];
  const peeled = revision === '' ? [] : [`refs/tags/${revision}^{}`];
  const { stdout } = await git(['ls-remote', '--quiet', '--', url, ...patterns, ...peeled]);
  const lines = stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([id, name]) => /^[0-9a-f]{40}$/.test(id ?? '') && [...patterns, ...peeled].includes(name ?? ''));
  const [commit] = lines.find(([, name]) => peeled.includes(name ?? '')) ?? lines[0] ?? [];
  if (commit !== undefined) return { commit, refspec: `+${patterns[0]}` };
  const what = revision !== '' ? `tag "${revision}"` : branch !== '' ? `branch "${branch}"` : 'default branch';
  throw new GitError('RefNotFound', `the repository has no ${what}`);
}

/** `<mode> SP <type> SP <id> SP <size> TAB <path> NUL` */
function entriesOf(listing: Buffer, max: number): readonly GitFile[] {
  const lines = listing.toString('utf8').split('\0');
  if (lines.length - 1 > max) {
    const message = `the repository has ${lines.length - 1} files, at most ${max} are read`;
    throw new GitError('RepositoryTooLarge', message);
  }
  return lines.flatMap((line): GitFile[] => {
    const tab = line.indexOf('\t');
    if (tab < 0) return [];
    const [mode = '', type, id = '', size = '0'] = line.slice(0, tab).split(/ +/);
    const kind = type === 'commit' ? 'module' : mode === '120000' ? 'link' : 'file';
    return [{ path: line.slice(tab + 1), id, kind, size: Number(size) || 0 }];
  });
}

function checkUrl({ url }: GitSource, allowFiles: boolean): void {
  if (url.startsWith('file://') && !allowFiles) {
    const message = 'file:// repositories are refused: start the hub with --allow-file-repositories';
    throw new GitError('ProtocolRefused', message);
  }
}

// ---- access

interface Access extends AsyncDisposable {
  readonly config: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

async function accessTo(source: GitSource, directory: string, allowFiles: boolean): Promise<Access> {
  const { credentials, caBundle, insecureSkipTLSVerify } = source;
  const protocols = ['http', 'https', 'ssh', ...(allowFiles ? ['file'] : [])].join(':');
  const env: Record<string, string> = { GIT_ALLOW_PROTOCOL: protocols };
  const config = [
    '-c',
    'gc.autoDetach=false',
    '-c',
    'gc.pruneExpire=1.hour.ago',
    '-c',
    'fetch.recurseSubmodules=false',
    ...(insecureSkipTLSVerify ? ['-c', 'http.sslVerify=false'] : []),
    // Another host must not be sent the credentials.
    ...(credentials === undefined ? [] : ['-c', 'http.followRedirects=false']),
  ];
  const secrets: string[] = [];
  if (credentials === undefined && caBundle === undefined) {
    return { config, env, secrets, async [Symbol.asyncDispose]() {} };
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(directory, 'access-'));
  const put = async (name: string, text: string, mode: number): Promise<string> => {
    const file = join(place, name);
    await writeFile(file, text, { mode });
    return file;
  };
  if (caBundle !== undefined) config.push('-c', `http.sslCAInfo=${await put('ca.pem', caBundle, 0o600)}`);
  if (credentials?.type === 'basic') {
    const { username, password } = credentials;
    env['GIT_ASKPASS'] = await put('askpass', ASKPASS, 0o700);
    env['FLOTILLA_GIT_USERNAME'] = username;
    env['FLOTILLA_GIT_PASSWORD'] = password;
    secrets.push(password, encodeURIComponent(password), Buffer.from(`${username}:${password}`).toString('base64'));
  } else if (credentials?.type === 'ssh') {
    const key = await put('key', withNewline(credentials.privateKey), 0o600);
    const hosts = await put('known_hosts', withNewline(credentials.knownHosts), 0o600);
    env['GIT_SSH_COMMAND'] =
      `ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile='${hosts}' -i '${key}'`;
    env['GIT_SSH_VARIANT'] = 'ssh';
  }
  return {
    config,
    env,
    secrets: secrets.filter((each) => each !== ''),
    async [Symbol.asyncDispose]() {
      await rm(place, { recursive: true, force: true });
    },
  };
}

const ASKPASS =
  '#!/bin/sh\ncase "$1" in Username*) printf \'%s\\n\' "$FLOTILLA_GIT_USERNAME" ;; *) printf \'%s\\n\' "$FLOTILLA_GIT_PASSWORD" ;; esac\n';

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Files with credentials and copies of bundles that a process which was killed left behind. */
export async function removeLeftovers(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => /^(access|render)-/.test(each)))
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
