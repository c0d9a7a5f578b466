// Runs git: without the configuration of the machine, without a terminal, with limits for time, output and disk.
import { type ChildProcess, spawn } from 'node:child_process';
import { wallClock } from '../../base/clock.ts';
import { GitError } from '../../hub/git/repository.ts';
import { packBytesOf, tooLarge, withoutSecrets } from './repositories.ts';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Masked in messages. */
  readonly secrets?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly input?: string;
  /** Kills git if the directory grows beyond this. */
  readonly guard?: { readonly directory: string; readonly maxBytes: number };
}

const MAX_OUTPUT = 256 * 1024 * 1024;
const MAX_MESSAGE = 1000;
const GUARD_MS = 250;
const PASSED_ON = ['PATH', 'TMPDIR', 'SSL_CERT_FILE', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

export function environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_REPLACE_OBJECTS: '1',
    ...extra,
  };
}

export async function run(args: readonly string[], options: RunOptions): Promise<{ readonly stdout: Buffer }> {
  const { signal } = options;
  signal?.throwIfAborted();
  // A process group: the helpers of git must be killed with it.
  const child = spawn('git', args, { env: environment(options.env), detached: true, stdio: 'pipe' });
  let cause: GitError | undefined;
  const stop = (why?: GitError) => {
    cause ??= why;
    endGroup(child);
  };
  const cancelTimeout = wallClock.at(wallClock.now() + options.timeoutMs, 'git timeout', () =>
    stop(new GitError('TimedOut', `git did not finish within ${options.timeoutMs / 1000} s`)),
  );
  const onAbort = () => stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancelGuard = guarded(options, stop);
  try {
    const { code, stdout, stderr } = await ended(child, options.input, stop);
    if (signal?.aborted) signal.throwIfAborted();
    if (cause !== undefined) throw cause;
    if (code !== 0) throw new GitError('FetchFailed', messageIn(stderr, options.secrets ?? [], code));
    return { stdout };
  } finally {
    cancelTimeout();
    cancelGuard();
    signal?.removeEventListener('abort', onAbort);
  }
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited already.
  }
}

interface Ended {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

function ended(child: ChildProcess, input: string | undefined, stop: (why: GitError) => void): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) stop(new GitError('RepositoryTooLarge', 'git printed more than the limit'));
      else chunks.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = `${stderr}${chunk.toString('utf8')}`.slice(-16 * 1024);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new GitError('ProgramMissing', 'the program git is not on PATH of the hub', { cause: error })
          : error,
      ),
    );
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(chunks), stderr }));
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** Git prints these lines after the actual error, which is what should be shown. */
const ADVICE: ReadonlySet<string> = new Set([
  'Please make sure you have the correct access rights',
  'and the repository exists.',
]);

/** The error of git, with secrets masked. */
export function messageIn(stderr: string, secrets: readonly string[], code: number | null): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('hint:') && !ADVICE.has(line));
  const text = withoutSecrets(lines.slice(-3).join('; '), secrets).slice(0, MAX_MESSAGE);
  return text === '' ? `git failed with code ${code ?? '?'}` : text;
}

/** Git itself does not limit how much a server sends. */
function guarded({ guard }: RunOptions, stop: (why: GitError) => void): () => void {
  if (guard === undefined) return () => {};
  let isOver = false;
  let cancel = () => {};
  const look = async () => {
    const bytes = await packBytesOf(guard.directory);
    if (isOver) return;
    if (bytes > guard.maxBytes) stop(tooLarge(guard.maxBytes));
    else cancel = wallClock.at(wallClock.now() + GUARD_MS, 'git guard', () => void look());
  };
  cancel = wallClock.at(wallClock.now() + GUARD_MS, 'git guard', () => void look());
  return () => {
    isOver = true;
    cancel();
  };
}
