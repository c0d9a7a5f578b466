// The built program as a process of its own, and kubectl pointed at it: what the wire tests stand on.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { patience } from '../../scripts/gate/patience.ts';
import { findKubectl } from '../../scripts/kubectl.ts';

const root = resolve(import.meta.dirname, '../..');
export const program: string = join(root, 'dist/main/flotilla.js');

/** In CI a missing tool is a failure; elsewhere its tests are skipped, visibly. */
export const kubectlPath: string | undefined = findKubectl({ mayBuild: true });
export const skipsKubectl: boolean = kubectlPath === undefined && process.env['CI'] === undefined;

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Server extends AsyncDisposable {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly process: ChildProcess;
  /** All it has printed. */
  output(): string;
  /** Runs kubectl with a fresh cache; never throws for a non-zero exit. */
  kubectl(args: readonly string[], input?: string): Promise<Result>;
  /** The same, and the exit code must be 0. Returns standard output. */
  ok(args: readonly string[], input?: string): Promise<string>;
  /** Ends the process by the signal and waits for it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  /** Absent = `apiserver`. */
  readonly command?: 'apiserver' | 'up';
  /** Data of an earlier server, to start on it again; it is then the caller's to remove. */
  readonly folder?: string;
  readonly args?: readonly string[];
}

export async function startServer(options: StartOptions = {}): Promise<Server> {
  if (!existsSync(program)) throw new Error('build first: npm run build');
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'flotilla-wire-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const args = [
    options.command ?? 'apiserver',
    '--data-dir',
    join(folder, 'data'),
    '--port',
    '0',
    '--kubeconfig',
    kubeconfig,
    ...(options.args ?? []),
  ];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  const exited = once(child, 'exit');
  const ready = new Promise<void>((isReady, failed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed.push(chunk.toString());
      if (printed.join('').includes('KUBECONFIG=')) isReady();
    });
    void exited.then(() => failed(new Error(`the server ended with ${child.exitCode}: ${printed.join('')}`)));
  });
  try {
    await within(ready, READY_WITHIN_MS, () => `the server was not ready; it printed:\n${printed.join('')}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const caches = mkdtempSync(join(tmpdir(), 'flotilla-cache-'));
  let calls = 0;
  const kubectl = (command: readonly string[], input?: string): Promise<Result> => {
    const cache = join(caches, String(calls++));
    const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: cache, KUBECACHEDIR: join(cache, 'kube') };
    return run(kubectlPath ?? 'kubectl', ['--cache-dir', join(cache, 'kube'), ...command], {
      env,
      ...(input === undefined ? {} : { input }),
    });
  };
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended(child, exited, () => `the server did not end by ${signal}; it printed:\n${printed.join('')}`);
    }
    return child.exitCode;
  };
  return {
    folder,
    kubeconfig,
    process: child,
    output: () => printed.join(''),
    kubectl,
    async ok(command, input) {
      const result = await kubectl(command, input);
      if (result.code !== 0)
        throw new Error(`kubectl ${command.join(' ')} ended with ${result.code}: ${result.stderr}${result.stdout}`);
      return result.stdout;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(caches, { recursive: true, force: true });
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const READY_WITHIN_MS = patience(120_000);
const ENDS_WITHIN_MS = patience(60_000);

/** Rejects with what was waited for if it takes too long: a test that only times out tells nobody. */
export function within<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`within ${ms} ms ${what()}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Until a process that was told to end has ended; if it does not, it is made to, and that is an error. */
export async function ended(
  child: ChildProcess,
  exited: Promise<unknown>,
  what: () => string,
  withinMs = ENDS_WITHIN_MS,
): Promise<void> {
  try {
    await within(exited, withinMs, what);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** Commands say how long kubectl waits. Waits of 20 s and more are limits, not part of the test: they scale. */
const patientArgument = (argument: string): string =>
  argument.replaceAll(/--timeout([= ])([2-9]\d|\d{3,})s\b/g, (_, sign: string, seconds: string) => {
    return `--timeout${sign}${Math.ceil(patience(Number(seconds) * 1000) / 1000)}s`;
  });

/** A command that takes too long is killed, and the result says so. */
export function run(
  file: string,
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly input?: string;
    readonly cwd?: string;
    readonly timeoutMs?: number;
  } = {},
): Promise<Result> {
  const timeout = options.timeoutMs ?? patience(90_000);
  return new Promise((done) => {
    const child = execFile(
      file,
      args.map(patientArgument),
      {
        encoding: 'utf8',
        timeout,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
        ...(options.env ? { env: options.env } : {}),
        ...(options.cwd ? { cwd: options.cwd } : {}),
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        const late = error?.killed ? `\n${file} ${args.join(' ')} did not end within ${timeout} ms and was killed` : '';
        done({ code, stdout, stderr: `${stderr}${late}` });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}
