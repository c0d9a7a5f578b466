// Renders with kustomize and Helm: `kubectl kustomize` and `helm template` on a copy of the bundle in a temporary
// directory. Guarantees: no access to configuration, credentials or network of the machine; limits for time, memory and
// output; the copy is removed afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { builtinSchema, resolveBuiltin, typeNameOf } from '../../api/builtin/types.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import { applyStrategicPatch } from '../../apiserver/patch/strategic.ts';
import { wallClock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { mergePatch } from '../../base/merge-patch.ts';
import { RenderError, type Renderer, type RenderFile } from '../../hub/git/renderer.ts';

export interface RenderLimits {
  readonly timeoutMs: number;
  /** The limit of the address space: Go programs reserve far more than they use. */
  readonly memoryKiB: number;
  readonly outputBytes: number;
}

const DEFAULT_LIMITS: RenderLimits = {
  timeoutMs: 30_000,
  memoryKiB: 4 * 1024 * 1024,
  outputBytes: 8 * 1024 * 1024,
};
const MAX_AT_ONCE = 2;
const MAX_MESSAGE = 1000;

export interface RenderProgramsOptions {
  /** The directory for the copies of bundles. */
  readonly directory: string;
  readonly limits?: Partial<RenderLimits>;
  /** Where the programs are searched for; default: PATH. */
  readonly path?: string;
}

export function renderPrograms({ directory, limits: given, path }: RenderProgramsOptions): Renderer {
  const limits = { ...DEFAULT_LIMITS, ...given };
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inCopy(files: readonly RenderFile[], work: (place: string) => Promise<string>): Promise<string> {
    if (running >= MAX_AT_ONCE) await new Promise<void>((go) => waiting.push(go));
    else running++;
    let place: string | undefined;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      place = await mkdtemp(join(directory, 'render-'));
      await copied(files, join(place, 'bundle'));
      return await work(place);
    } finally {
      if (place !== undefined) await rm(place, { recursive: true, force: true });
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  }

  return {
    kustomize: (files, from) =>
      inCopy(files, (place) =>
        execute('kubectl', ['kustomize', join(place, 'bundle', from)], { place, limits, path: path ?? pathOf() }),
      ),
    helm: (files, { chart, releaseName, namespace, values, valuesFiles }) =>
      inCopy(files, async (place) => {
        const own = join(place, 'values.json');
        await writeFile(own, JSON.stringify(values), { mode: 0o600 });
        const given = [...valuesFiles.map((file) => join(place, 'bundle', file)), own];
        const args = [
          'template',
          releaseName,
          join(place, 'bundle', chart),
          '--namespace',
          namespace,
          '--include-crds',
        ];
        return execute('helm', [...args, ...given.flatMap((file) => ['--values', file])], {
          place,
          limits,
          path: path ?? pathOf(),
        });
      }),
    patched(object, patch) {
      const { group, version } = groupVersionOf(object.apiVersion);
      const type = typeNameOf(group, version, object.kind);
      try {
        return (type === undefined
          ? mergePatch(object as unknown as Json, patch)
          : applyStrategicPatch(
              object as unknown as Json,
              patch as Json,
              builtinSchema(type),
              resolveBuiltin,
            )) as unknown as KubeObject;
      } catch (error) {
        if (error instanceof ApiError) throw new RenderError('RenderFailed', error.message, { cause: error });
        throw error;
      }
    },
  };
}

const pathOf = (): string => process.env['PATH'] ?? '/usr/bin:/bin';

/** The paths come from a repository: none may escape the copy. */
async function copied(files: readonly RenderFile[], root: string): Promise<void> {
  for (const { path, text } of files) {
    const file = resolve(root, path);
    if (relative(root, file).startsWith('..'))
      throw new RenderError('RenderFailed', `${path} points out of the bundle`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
  }
}

interface Execution {
  readonly place: string;
  readonly limits: RenderLimits;
  readonly path: string;
}

/** No server listens there, so a program that uses the network fails at once. */
const NO_NETWORK = 'http://127.0.0.1:9';

async function execute(program: string, args: readonly string[], { place, limits, path }: Execution): Promise<string> {
  // The shell sets its limits and then executes the program.
  const script = `ulimit -v ${limits.memoryKiB} && exec "$0" "$@"`;
  const child = spawn('/bin/sh', ['-c', script, program, ...args], {
    cwd: place,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: path,
      HOME: join(place, 'home'),
      TMPDIR: place,
      LC_ALL: 'C',
      KUBECONFIG: '/dev/null',
      GIT_ALLOW_PROTOCOL: '',
      GIT_TERMINAL_PROMPT: '0',
      GOMEMLIMIT: '512MiB',
      HTTP_PROXY: NO_NETWORK,
      HTTPS_PROXY: NO_NETWORK,
      NO_PROXY: '',
    },
  });
  let cause: RenderError | undefined;
  const stop = (why: RenderError) => {
    cause ??= why;
    endGroup(child);
  };
  const cancel = wallClock.at(wallClock.now() + limits.timeoutMs, 'render timeout', () =>
    stop(new RenderError('TimedOut', `${program} did not finish within ${limits.timeoutMs / 1000} s`)),
  );
  try {
    const { code, stdout, stderr } = await outcomeOf(child, limits, program, stop);
    if (cause !== undefined) throw cause;
    if (code === NOT_FOUND) throw new RenderError('ProgramMissing', `the program ${program} is not on PATH of the hub`);
    if (code !== 0) throw new RenderError('RenderFailed', messageIn(program, stderr, place, code));
    return stdout;
  } finally {
    cancel();
  }
}

/** The exit code of the shell if the program does not exist. */
const NOT_FOUND = 127;

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function outcomeOf(
  child: ChildProcess,
  { outputBytes }: RenderLimits,
  program: string,
  stop: (why: RenderError) => void,
): Promise<Outcome> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > outputBytes)
        stop(new RenderError('RenderFailed', `${program} printed more than ${outputBytes} bytes`));
      else chunks.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = withinErrors(stderr, chunk);
    });
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout: Buffer.concat(chunks).toString('utf8'), stderr }));
  });
}

const MAX_STDERR = 16 * 1024;
/** Keeps the beginning, which explains a crash, and the end, which has the error. */
function withinErrors(before: string, chunk: Buffer): string {
  const all = `${before}${chunk.toString('utf8')}`;
  return all.length <= 2 * MAX_STDERR ? all : `${all.slice(0, MAX_STDERR)}\n${all.slice(-MAX_STDERR)}`;
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited already.
  }
}

/** Without the path of the copy, which is meaningless to the user and differs each time. */
function messageIn(program: string, stderr: string, place: string, code: number | null): string {
  const lines = stderr
    .replaceAll(`${join(place, 'bundle')}/`, '')
    .replaceAll(join(place, 'bundle'), '.')
    .replaceAll(place, '.')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('Use --debug '));
  // A Go program explains a crash in one line, above hundreds of others.
  const crash = lines.find((line) => /^(fatal error|panic): /.test(line));
  const text = (crash ?? lines.slice(-3).join('; ')).slice(0, MAX_MESSAGE);
  return text === '' ? `${program} failed with code ${code ?? '?'}` : `${program}: ${text}`;
}
