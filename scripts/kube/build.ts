// Builds the programs of a control plane from the Go module registry, once, into the cache: versions pinned, checksums committed.
//   node --import tsx scripts/kube/build.ts [NAME...]        without names: all that are missing
// Safe to run twice at once (the second waits for the first) and to be killed: a program appears by a rename, whole or not at all.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isAlive, withLock } from './lock.ts';
import {
  cachedPath,
  cacheFolder,
  isProgramName,
  missingPrograms,
  PROGRAMS,
  type Program,
  type ProgramName,
} from './programs.ts';

const scripts = resolve(import.meta.dirname, '..');

export const canBuild = (): boolean => spawnSync('go', ['version']).status === 0;

/** Builds those that are still missing when its turn comes. */
export async function buildPrograms(names: readonly ProgramName[]): Promise<void> {
  if (names.length === 0) return;
  const folder = cacheFolder();
  mkdirSync(folder, { recursive: true });
  const tellWait = (holder: number) => console.error(`process ${holder} is building control plane programs: waiting …`);
  await withLock(
    join(folder, 'building.lock'),
    async () => {
      removeRemains(folder);
      for (const name of names) if (!existsSync(cachedPath(name))) await build(name);
    },
    tellWait,
  );
}

const IN_PROGRESS = 'building-';

/** Of builds that were killed. */
function removeRemains(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^building-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

async function build(name: ProgramName): Promise<void> {
  const program: Program = PROGRAMS[name];
  const target = cachedPath(name);
  // Go writes into the module's folder, so it builds in a copy; in the cache's own folder, so that a rename is enough.
  const folder = mkdtempSync(join(cacheFolder(), `${IN_PROGRESS}${process.pid}-`));
  try {
    cpSync(join(scripts, program.module), folder, { recursive: true });
    const began = Date.now();
    const bar = progress(`${name} ${program.version}`, countPackages(folder, program.package));
    const built = join(folder, 'built');
    const args = ['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(program), '-o', built];
    await go([...args, program.package], folder, bar.package);
    renameSync(built, target);
    bar.end(`built in ${Math.round((Date.now() - began) / 1000)} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function linkerFlags({ version, versioned, variables = {} }: Program): string {
  const [major, minor] = version.split('.');
  const facts = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const settings = versioned.flatMap((name) =>
    Object.entries(facts).map(([key, value]) => `-X ${name}.${key}=${value}`),
  );
  const others = Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`);
  return ['-s', '-w', ...settings, ...others].join(' ');
}

const goEnv: NodeJS.ProcessEnv = { ...process.env, CGO_ENABLED: '0' };

function countPackages(folder: string, name: string): number {
  const { stdout } = spawnSync('go', ['list', '-deps', name], { cwd: folder, env: goEnv, encoding: 'utf8' });
  return Math.max(1, (stdout ?? '').trim().split('\n').length);
}

/** For those who need an answer at once: the build is a process that is waited for. */
export function buildNow(name: ProgramName): boolean {
  if (!canBuild()) return false;
  const args = ['--import', 'tsx', join(scripts, 'kube/build.ts'), name];
  return spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: scripts }).status === 0;
}

/** `go build -v` names each package when it compiles it; whatever else it says is kept for the error. */
async function go(args: readonly string[], cwd: string, onPackage: (name: string) => void): Promise<void> {
  const child = spawn('go', [...args], { cwd, env: goEnv, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  const ended = new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (/^\S+$/.test(line)) onPackage(line);
    else said.push(line);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`go ${args[0]} ended with ${code}:\n${said.slice(-20).join('\n')}`);
}

/** A line that moves on a terminal, a line per tenth elsewhere. What Go still has in its own cache is not compiled and not counted. */
function progress(title: string, total: number) {
  const isTty = process.stderr.isTTY;
  let done = 0;
  let told = 0;
  console.error(`building ${title} (up to ${total} packages), once …`);
  return {
    package(name: string) {
      done++;
      const share = Math.min(99, Math.floor((100 * done) / total));
      if (isTty) process.stderr.write(`\r\u001b[K${title} ${share} % ${name.slice(0, 70)}`);
      else if (Math.floor(share / 10) > told) {
        told = Math.floor(share / 10);
        console.error(`${title} ${share} %`);
      }
    },
    end: (text: string) => console.error(`${isTty ? '\r\u001b[K' : ''}${title} ${text}`),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !isProgramName(name));
  if (unknown.length > 0) {
    console.error(`cannot build ${unknown.join(', ')}: there are ${Object.keys(PROGRAMS).join(', ')}`);
    process.exitCode = 2;
  } else if (!canBuild()) {
    console.error('there is no Go to build with');
    process.exitCode = 1;
  } else {
    try {
      await buildPrograms(asked.length === 0 ? missingPrograms() : asked.filter(isProgramName));
    } catch (error) {
      console.error(`error: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}
