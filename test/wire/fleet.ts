// The program's other commands as processes: those that end by themselves, and those that run until they are told to stop.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { patience } from '../../scripts/gate/patience.ts';
import { program as built, ended, kubectlPath, type Result, run, type Server, within } from './server.ts';

/** Without the machine's own kubeconfig and home. */
const plain = (home: string): NodeJS.ProcessEnv => ({ PATH: '/nonexistent', HOME: home });

export const flotilla = (home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> =>
  run(process.execPath, [built, ...args], { env: { ...plain(home), ...env } });

export interface Kubectl {
  try(args: readonly string[], input?: string): Promise<Result>;
  /** The exit code must be 0. Returns standard output. */
  ok(args: readonly string[], input?: string): Promise<string>;
}

/** With one cache for all calls, as on a person's machine: for many calls to servers whose kinds stay. */
export function kubectlFor(
  { kubeconfig }: Pick<Server, 'kubeconfig'>,
  home: string,
  program = kubectlPath ?? 'kubectl',
): Kubectl {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: home };
  const attempt = (args: readonly string[], input?: string) =>
    run(program, ['--cache-dir', join(home, 'kube-cache'), ...args], {
      env,
      ...(input === undefined ? {} : { input }),
    });
  return {
    try: attempt,
    async ok(args, input) {
      const { code, stdout, stderr } = await attempt(args, input);
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
      return stdout;
    },
  };
}

export interface Running extends AsyncDisposable {
  readonly process: ChildProcess;
  /** All it has printed, on both. */
  output(): string;
  /** Resolves when what it has printed matches; rejects when it ends before, or takes too long. */
  says(pattern: RegExp, withinMs?: number): Promise<void>;
  /** Resolves with the exit code once it has ended by itself, or rejects when it has not in time. */
  ends(withinMs?: number): Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const PATIENCE_MS = patience(30_000);

export function start(home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [built, ...args], {
    env: { ...plain(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const listeners = new Set<() => void>();
  const hear = (chunk: Buffer) => {
    printed += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const exited = once(child, 'exit').then(() => child.exitCode);
  const told = (what: string) => () => `${args.join(' ')} ${what}; it printed:\n${printed}`;
  return {
    process: child,
    output: () => printed,
    says(pattern, withinMs = PATIENCE_MS) {
      let check = () => {};
      const said = new Promise<void>((resolve, reject) => {
        check = () => pattern.test(printed) && resolve();
        listeners.add(check);
        check();
        void exited.then((code) => reject(new Error(`${args[0]} ended with ${code}: ${printed}`)));
      });
      return within(said, withinMs, told(`did not say ${pattern}`)).finally(() => listeners.delete(check));
    },
    ends: (withinMs = PATIENCE_MS) => within(exited, withinMs, told('did not end')),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended(child, exited, told(`did not end by ${signal}`));
      return exited;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}
