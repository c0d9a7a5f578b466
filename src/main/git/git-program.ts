// Repositories with the git program: one bare, shallow repository per URL in a directory that survives restarts.
// Nothing is checked out: files are read from the object store, so that no link, hook, filter or submodule of a
// repository is ever followed or run. Guarantee: credentials are only in files of mode 0600 and in the environment of
// git, never in arguments, logs or messages.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type GitClient, GitError, type GitFile, type GitSource } from '../../hub/git/repository.ts';
import { readBlobs } from './blobs.ts';
import {
  checkUrl,
  DEFAULT_LIMITS,
  type GitClientOptions,
  isCommitId,
  isRead,
  isSsh,
  isThere,
  packBytesOf,
  type Repositories,
  refNotFound,
  refOf,
  removeRemains,
  repositoriesIn,
  secretsOf,
  tooLarge,
  tooManyFiles,
  tooMuchText,
  touch,
  UNKNOWN_AUTHORITY,
} from './repositories.ts';
import { run } from './run-git.ts';

export function gitProgram(
  { directory, allowFiles = false, limits: given }: GitClientOptions,
  repositories: Repositories = repositoriesIn(directory),
): GitClient {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const { alone, of: repositoryOf } = repositories;

  async function prepared(source: GitSource): Promise<string> {
    const repository = repositoryOf(source);
    if (!(await isThere(repository))) {
      await mkdir(repository, { recursive: true, mode: 0o700 });
      await run(['init', '--quiet', '--bare', '--', repository], { timeoutMs: limits.timeoutMs });
    }
    return repository;
  }

  async function fetchFrom(source: GitSource, known: string | undefined, signal: AbortSignal): Promise<string> {
    checkUrl(source, allowFiles);
    checkSsh(source);
    const repository = await prepared(source);
    await using access = await accessTo(source, directory, allowFiles);
    const git = (args: readonly string[], isGuarded = false) =>
      run(['-C', repository, ...access.config, ...args], {
        env: access.env,
        secrets: access.secrets,
        timeoutMs: limits.timeoutMs,
        signal,
        ...(isGuarded ? { guard: { directory: repository, maxBytes: limits.repositoryBytes } } : {}),
      }).catch((error: unknown) => {
        throw error instanceof GitError ? access.explained(error) : error;
      });
    const { revision = '' } = source;
    const head = isCommitId(revision) ? { commit: revision, refspec: revision } : await headOf(source, git);
    if (head.commit !== known || !(await has(git, head.commit))) {
      await removeRemains(repository);
      // Git collects garbage by the number of packs, but the limit is in bytes.
      if ((await packBytesOf(repository)) > limits.repositoryBytes / 2) await git(['gc', '--quiet', '--prune=now']);
      const args = ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-write-fetch-head', '--force', '--', source.url];
      await git([...args, `${head.refspec}:${refOf(source)}`], true);
      // A fast fetch may end between two checks of the guard.
      if ((await packBytesOf(repository)) > limits.repositoryBytes) {
        await rm(repository, { recursive: true, force: true });
        throw tooLarge(limits.repositoryBytes);
      }
    }
    await touch(repository);
    const { stdout } = await git(['rev-parse', '--verify', `${refOf(source)}^{commit}`]);
    return stdout.toString('utf8').trim();
  }

  return {
    fetch: (source, known, signal) => alone(repositoryOf(source), () => fetchFrom(source, known, signal)),
    async kept(source) {
      const repository = repositoryOf(source);
      if (!(await isThere(repository))) return undefined;
      const format = '--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)';
      const args = ['-C', repository, 'for-each-ref', format, refOf(source)];
      const { stdout } = await run(args, { timeoutMs: limits.timeoutMs });
      return stdout.toString('utf8').trim() || undefined;
    },
    files: (source, commit, reads, signal) =>
      alone(repositoryOf(source), async () => {
        const repository = repositoryOf(source);
        const { stdout } = await run(['-C', repository, 'ls-tree', '-r', '-l', '-z', commit], {
          timeoutMs: limits.timeoutMs,
          signal,
        });
        const files = entriesOf(stdout, limits.files);
        const wanted = files.filter((file) => isRead(file) && reads(file.path));
        const bytes = wanted.reduce((sum, { size }) => sum + size, 0);
        if (bytes > limits.textBytes) throw tooMuchText(bytes, limits.textBytes);
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

/** Without a key, ssh would use those of the user that runs the hub. */
function checkSsh({ url, credentials }: GitSource): void {
  if (!isSsh(url) || credentials?.type === 'ssh') return;
  const message =
    'ssh needs a Secret of type kubernetes.io/ssh-auth, with ssh-privatekey and known_hosts, in clientSecretName';
  throw new GitError('SecretInvalid', message);
}

type Git = (args: readonly string[], isGuarded?: boolean) => Promise<{ readonly stdout: Buffer }>;

async function has(git: Git, commit: string): Promise<boolean> {
  return git(['cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
}

/** Reads where the ref points, by one request that transfers no content. */
async function headOf(source: GitSource, git: Git) {
  const { url, branch = '', revision = '' } = source;
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
  throw refNotFound(source);
}

/** `<mode> SP <type> SP <id> SP <size> TAB <path> NUL` */
function entriesOf(listing: Buffer, max: number): readonly GitFile[] {
  const lines = listing.toString('utf8').split('\0');
  if (lines.length - 1 > max) throw tooManyFiles(lines.length - 1, max);
  return lines.flatMap((line): GitFile[] => {
    const tab = line.indexOf('\t');
    if (tab < 0) return [];
    const [mode = '', type, id = '', size = '0'] = line.slice(0, tab).split(/ +/);
    const kind = type === 'commit' ? 'module' : mode === '120000' ? 'link' : 'file';
    return [{ path: line.slice(tab + 1), id, kind, size: Number(size) || 0 }];
  });
}

// ---- access

const SILENT_SECONDS = 60;

interface Access extends AsyncDisposable {
  readonly config: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** The message is the same for every attempt, and contains the next step. */
  explained(error: GitError): GitError;
}

/** The errors of GnuTLS and OpenSSL in git. */
const UNVERIFIED = /certificate verification failed|SSL certificate problem/;

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
    // If the server stops sending, git exits even if the hub that started it was killed.
    '-c',
    'http.lowSpeedLimit=1',
    '-c',
    `http.lowSpeedTime=${SILENT_SECONDS}`,
    // Keeps everything in packs, whose size the limit counts.
    '-c',
    'fetch.unpackLimit=1',
    ...(insecureSkipTLSVerify ? ['-c', 'http.sslVerify=false'] : []),
    // Credentials must not be sent to another host.
    ...(credentials === undefined ? [] : ['-c', 'http.followRedirects=false']),
  ];
  const secrets = secretsOf(source);
  if (credentials === undefined && caBundle === undefined) {
    return { config, env, secrets, explained: explainedWithout(''), async [Symbol.asyncDispose]() {} };
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(directory, 'access-'));
  // Relative to the repository, where git runs: ssh splits a path at spaces and expands percent signs.
  const near = `../${basename(place)}/`;
  const put = async (name: string, text: string, mode: number): Promise<string> => {
    const file = join(place, name);
    await writeFile(file, text, { mode });
    return file;
  };
  if (caBundle !== undefined) {
    await put('ca.pem', caBundle, 0o600);
    config.push('-c', `http.sslCAInfo=${near}ca.pem`);
  }
  if (credentials?.type === 'basic') {
    const { username, password } = credentials;
    env['GIT_ASKPASS'] = await put('askpass', ASKPASS, 0o700);
    env['FLOTILLA_GIT_USERNAME'] = username;
    env['FLOTILLA_GIT_PASSWORD'] = password;
  } else if (credentials?.type === 'ssh') {
    await put('key', withNewline(credentials.privateKey), 0o600);
    await put('known_hosts', withNewline(credentials.knownHosts), 0o600);
    env['GIT_SSH_COMMAND'] =
      `ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=${SILENT_SECONDS} -o ServerAliveInterval=15 -o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile=${near}known_hosts -i ${near}key`;
    env['GIT_SSH_VARIANT'] = 'ssh';
  }
  return {
    config,
    env,
    secrets,
    explained: explainedWithout(near),
    async [Symbol.asyncDispose]() {
      await rm(place, { recursive: true, force: true });
    },
  };
}

const explainedWithout =
  (place: string) =>
  (error: GitError): GitError => {
    const text = place === '' ? error.message : error.message.replaceAll(place, '');
    const message = UNVERIFIED.test(text) ? `${text}; ${UNKNOWN_AUTHORITY}` : text;
    return message === error.message ? error : new GitError(error.reason, message, { cause: error });
  };

const ASKPASS =
  '#!/bin/sh\ncase "$1" in Username*) printf \'%s\\n\' "$FLOTILLA_GIT_USERNAME" ;; *) printf \'%s\\n\' "$FLOTILLA_GIT_PASSWORD" ;; esac\n';

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
