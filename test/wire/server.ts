// The built program as a process of its own, and kubectl pointed at it: what the wire tests stand on.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
  await new Promise<void>((ready, failed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed.push(chunk.toString());
      if (printed.join('').includes('KUBECONFIG=')) ready();
    });
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}: ${printed.join('')}`)));
  });
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
      await once(child, 'exit');
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
  return new Promise((done) => {
    const child = execFile(
      file,
      [...args],
      {
        encoding: 'utf8',
        timeout: options.timeoutMs ?? 60_000,
        maxBuffer: 64 * 1024 * 1024,
        ...(options.env ? { env: options.env } : {}),
        ...(options.cwd ? { cwd: options.cwd } : {}),
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        done({ code, stdout, stderr });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}
