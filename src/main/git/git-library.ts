// Repositories with isomorphic-git, for machines without the git program: the same directory, lower limits, http and
// file URLs. It keeps a whole pack in memory, so its limits for a repository are lower; `ssh` needs the program. Loaded
// when the first repository is read (git-client.ts).
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as git from 'isomorphic-git';
import { wallClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { type GitClient, GitError, type GitFile, type GitSource } from '../../hub/git/repository.ts';
import { libraryFiles } from './library-files.ts';
import { libraryHttp } from './library-http.ts';
import {
  checkUrl,
  DEFAULT_LIMITS,
  exists,
  type GitClientOptions,
  type GitLimits,
  isCommitId,
  isRead,
  isSsh,
  isThere,
  MAX_TEXT,
  packBytesOf,
  packNamesOf,
  type Repositories,
  refNotFound,
  refOf,
  removeRemains,
  repositoriesIn,
  secretsOf,
  textOf,
  tooManyFiles,
  tooMuchText,
  touch,
  withoutSecrets,
} from './repositories.ts';

/** The maximum size of one download: all of it is in memory while it is indexed. */
const MAX_PACK = 128 * 1024 * 1024;
/** The library does not collect garbage, so a repository with more packs is fetched from scratch. */
const MAX_PACKS = 32;
const REMOTE = 'flotilla';
const MAX_MESSAGE = 1000;

/** The state of one call: nothing is kept in memory between calls. */
interface Call {
  readonly source: GitSource;
  readonly repository: string;
  readonly signal: AbortSignal;
  readonly common: { readonly fs: git.PromiseFsClient; readonly gitdir: string; readonly cache: object };
}

export function gitLibrary(
  { directory, allowFiles = false, limits: given }: GitClientOptions,
  repositories: Repositories = repositoriesIn(directory),
): GitClient {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const packBytes = Math.min(MAX_PACK, limits.repositoryBytes);

  function inCall<T>(source: GitSource, signal: AbortSignal | undefined, work: (call: Call) => Promise<T>): Promise<T> {
    const repository = repositories.of(source);
    return repositories.alone(repository, () =>
      withinTime(limits.timeoutMs, signal, async (ends) => {
        const common = { fs: libraryFiles({ packBytes, signal: ends }), gitdir: repository, cache: {} };
        try {
          return await work({ source, repository, signal: ends, common });
        } catch (error) {
          ends.throwIfAborted();
          throw gitErrorOf(error, secretsOf(source));
        }
      }),
    );
  }

  async function fetched(call: Call, known: string | undefined): Promise<string> {
    const { source, repository, common, signal } = call;
    checkUrl(source, allowFiles);
    checkTransport(source);
    const isFile = source.url.startsWith('file://');
    const http = libraryHttp({ source, maxBytes: packBytes, signal });
    const head = isFile ? await headOfFile(call) : await headOf(source, http);
    const ref = refOf(source);
    await touch(repository);
    if (head.commit === known && (await keptAt(call)) === known) return head.commit;
    await prepared(call, limits);
    if (!(await has(call, head.commit))) {
      if (isFile) await copied(call, head, limits);
      else await download(call, head.name, http);
    }
    const commit = await commitOf(call, head.commit);
    await git.writeRef({ ...common, ref, value: commit, force: true });
    return commit;
  }

  return {
    fetch: (source, known, signal) => inCall(source, signal, (call) => fetched(call, known)),
    kept: (source) =>
      inCall(source, undefined, async (call) => ((await isThere(call.repository)) ? keptAt(call) : undefined)),
    files: (source, commit, reads, signal) => inCall(source, signal, (call) => filesOf(call, commit, reads, limits)),
  };
}

// ---- time and errors

async function withinTime<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const cancel = wallClock.at(wallClock.now() + timeoutMs, 'git timeout', () =>
    timeout.abort(new GitError('TimedOut', `the repository could not be read within ${timeoutMs / 1000} s`)),
  );
  try {
    return await work(signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]));
  } finally {
    cancel();
  }
}

/** Errors of the library have a code; their messages may quote the server. */
function gitErrorOf(error: unknown, secrets: readonly string[]): GitError {
  if (error instanceof GitError) return error;
  const { code = '', data } = error as { code?: string; data?: { statusCode?: number } };
  const isDenied = code === 'UserCanceledError' || (code === 'HttpError' && data?.statusCode === 401);
  const text = isDenied ? 'authentication failed: the server refuses the credentials' : messageOf(error);
  const message = withoutSecrets(text, secrets).slice(0, MAX_MESSAGE);
  return new GitError('FetchFailed', message, { cause: error });
}

function checkTransport({ url }: GitSource): void {
  if (isSsh(url)) throw new GitError('ProgramMissing', 'ssh needs the program git, which is not on PATH of the hub');
}

/** Yields to the event loop: indexing a pack takes seconds without any I/O in between. */
const breathing = (signal: AbortSignal) => async (): Promise<void> => {
  await new Promise((done) => setImmediate(done));
  signal.throwIfAborted();
};

// ---- fetching

interface Head {
  /** The commit of an annotated tag. */
  readonly commit: string;
  /** The name of the ref on the remote. */
  readonly name: string;
}

type Http = ReturnType<typeof libraryHttp>;

/** Reads where the ref points, by requests that transfer no content. */
async function headOf(source: GitSource, http: Http): Promise<Head> {
  const { url, branch = '', revision = '' } = source;
  if (isCommitId(revision)) return { commit: revision, name: revision };
  const name = nameOf(branch, revision);
  const refs = await git.listServerRefs({ http, url, prefix: name, peelTags: true, ...loginOf(source) });
  const found = refs.find(({ ref }) => ref === name);
  if (found === undefined) throw refNotFound(source);
  return { commit: found.peeled ?? found.oid, name };
}

const nameOf = (branch: string, revision: string): string =>
  revision !== '' ? `refs/tags/${revision}` : branch !== '' ? `refs/heads/${branch}` : 'HEAD';

/** Returned once: if the server refuses the credentials, they are not sent again. */
function loginOf({ credentials }: GitSource) {
  const login = credentials?.type === 'basic' ? credentials : undefined;
  return {
    onAuth: () => (login === undefined ? { cancel: true } : { username: login.username, password: login.password }),
    onAuthFailure: () => ({ cancel: true }),
  };
}

async function prepared({ repository, common }: Call, { repositoryBytes }: GitLimits): Promise<void> {
  await removeRemains(repository);
  const packs = await packNamesOf(repository);
  if (packs.length >= MAX_PACKS || (await packBytesOf(repository)) > repositoryBytes / 2)
    await rm(repository, { recursive: true, force: true });
  if (!(await isThere(repository))) await git.init({ ...common, bare: true, defaultBranch: 'main' });
  const path = `remote.${REMOTE}.fetch`;
  // The library requires a refspec for remote refs. This one matches none, because a server must not choose file names
  // here.
  const rule = '+refs/flotilla-none/*:refs/flotilla-none/*';
  if ((await git.getConfig({ ...common, path })) !== rule) await git.setConfig({ ...common, path, value: rule });
}

async function download({ source, common, signal }: Call, name: string, http: Http): Promise<void> {
  await git.fetch({
    ...common,
    http,
    url: source.url,
    remote: REMOTE,
    ref: refOf(source),
    remoteRef: name,
    depth: 1,
    singleBranch: true,
    tags: false,
    onProgress: breathing(signal),
    ...loginOf(source),
  });
}

async function commitOf({ common }: Call, oid: string): Promise<string> {
  return (await git.readCommit({ ...common, oid })).oid;
}

const has = (call: Call, commit: string): Promise<boolean> =>
  commitOf(call, commit).then(
    () => true,
    () => false,
  );

const keptAt = ({ common, source }: Call): Promise<string | undefined> =>
  git.resolveRef({ ...common, ref: refOf(source) }).catch(() => undefined);

// ---- local repositories

async function foundAt({ source }: Call): Promise<string> {
  let path: string;
  try {
    path = fileURLToPath(source.url);
  } catch (error) {
    throw new GitError('FetchFailed', `the URL names no directory: ${messageOf(error)}`);
  }
  for (const gitdir of [join(path, '.git'), path]) if (await exists(join(gitdir, 'HEAD'))) return gitdir;
  throw new GitError('FetchFailed', `there is no repository at ${path}`);
}

async function headOfFile(call: Call): Promise<Head> {
  const { source, common } = call;
  const { branch = '', revision = '' } = source;
  const remote = { ...common, gitdir: await foundAt(call), cache: {} };
  const name = nameOf(branch, revision);
  const oid = isCommitId(revision)
    ? revision
    : await git.resolveRef({ ...remote, ref: name }).catch(() => {
        throw refNotFound(source);
      });
  return { commit: (await git.readCommit({ ...remote, oid })).oid, name };
}

/** Copies one commit with all its files, like a fetch of depth 1. */
async function copied(call: Call, { commit }: Head, limits: GitLimits): Promise<void> {
  const { repository, common, signal } = call;
  const remote = { ...call, common: { ...common, gitdir: await foundAt(call), cache: {} } };
  const { commit: read } = await git.readCommit({ ...remote.common, oid: commit });
  const oids = new Set([commit, read.tree]);
  for await (const { oid, type } of entriesOf(remote, commit, limits.files)) if (type !== 'commit') oids.add(oid);
  const { filename, packfile } = await git.packObjects({ ...remote.common, oids: [...oids], write: false });
  if (packfile === undefined) throw new GitError('FetchFailed', 'the repository could not be copied');
  const filepath = join('objects', 'pack', filename);
  await common.fs.promises.writeFile(join(repository, filepath), packfile);
  await git.indexPack({ ...common, dir: repository, filepath, onProgress: breathing(signal) });
  // Marks the commit as shallow, because its parents were not copied.
  await appendFile(join(repository, 'shallow'), `${commit}\n`);
}

// ---- reading

interface Entry {
  readonly path: string;
  readonly oid: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly mode: string;
}

/**
 * Everything below a commit in the order of git. Directories count toward the maximum: a few small trees that contain
 * each other many times would never end.
 */
async function* entriesOf({ common, signal }: Call, commit: string, max: number): AsyncGenerator<Entry> {
  let seen = 0;
  const rest: Entry[] = [{ path: '', oid: commit, type: 'tree', mode: '' }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.path !== '') yield next;
    if (next.type !== 'tree') continue;
    signal.throwIfAborted();
    const { tree } = await git.readTree({ ...common, oid: next.oid });
    seen += tree.length;
    if (seen > 2 * max) throw tooManyFiles(`more than ${max}`, max);
    const { path } = next;
    for (const { path: name, oid, type, mode } of tree.toReversed())
      rest.push({ path: path === '' ? name : `${path}/${name}`, oid, type, mode });
  }
}

async function filesOf(
  call: Call,
  commit: string,
  reads: (path: string) => boolean,
  limits: GitLimits,
): Promise<readonly GitFile[]> {
  const { common, signal } = call;
  const breathe = breathing(signal);
  const files: GitFile[] = [];
  let bytes = 0;
  for await (const { path, oid: id, type, mode } of entriesOf(call, commit, limits.files)) {
    if (type === 'tree') continue;
    if (files.length >= limits.files) throw tooManyFiles(`more than ${limits.files}`, limits.files);
    const kind = type === 'commit' ? 'module' : mode === '120000' ? 'link' : 'file';
    if (kind !== 'file' || !reads(path)) {
      files.push({ path, id, kind, size: 0 });
      continue;
    }
    const { blob } = await git.readBlob({ ...common, oid: id });
    const file: GitFile = { path, id, kind, size: blob.length };
    const text = isRead(file) ? textOf(blob) : undefined;
    bytes += Math.min(blob.length, MAX_TEXT);
    if (bytes > limits.textBytes) throw tooMuchText(`more than ${limits.textBytes}`, limits.textBytes);
    files.push(text === undefined ? file : { ...file, text });
    if (files.length % 100 === 0) await breathe();
  }
  return files;
}
