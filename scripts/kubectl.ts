// Finds a kubectl that is new enough, or just the one that recorded answers came from, or builds that one once into a cache folder
// outside of the checkout. Prints its path.
//   node --import tsx scripts/kubectl.ts
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const OLDEST_MINOR = 31;
const VERSION = '1.34.4';
const RECORDED_MINOR = 34;

export interface Wanted {
  readonly mayBuild: boolean;
  /** Its words are compared with recorded ones, and other minor versions choose other words. */
  readonly asRecorded?: true;
}

/** The path of a usable kubectl; undefined when there is none and none can be built here. */
export function findKubectl(options: Wanted): string | undefined {
  const isUsable = (minor: number) => (options.asRecorded ? minor === RECORDED_MINOR : minor >= OLDEST_MINOR);
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((path) => existsSync(path) && isUsable(minorOf(path)));
  if (onPath !== undefined) return onPath;
  const cached = join(cacheFolder(), `kubectl-${VERSION}`);
  if (existsSync(cached)) return cached;
  return options.mayBuild && build(cached) ? cached : undefined;
}

const cacheFolder = (): string => join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'flotilla');

function minorOf(kubectl: string): number {
  try {
    const text = execFileSync(kubectl, ['version', '--client', '-o', 'json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { clientVersion } = JSON.parse(text) as { clientVersion: { minor: string } };
    return Number.parseInt(clientVersion.minor, 10);
  } catch {
    return 0;
  }
}

/** Go writes into the module's folder, so it builds in a copy; the rename makes two builds at once harmless. */
function build(target: string): boolean {
  if (spawnSync('go', ['version']).status !== 0) return false;
  console.error(`building kubectl ${VERSION} from the Go module registry, once: this takes a minute or two …`);
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-kubectl-'));
  try {
    cpSync(join(import.meta.dirname, 'kubectl'), folder, { recursive: true });
    const version = 'k8s.io/component-base/version';
    const flags = `-s -w -X ${version}.gitVersion=v${VERSION} -X ${version}.gitMajor=1 -X ${version}.gitMinor=${RECORDED_MINOR}`;
    const built = join(folder, 'kubectl-built');
    const outcome = spawnSync('go', ['build', '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', built, '.'], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    if (outcome.status !== 0) return false;
    cpSync(built, `${target}.${process.pid}`);
    renameSync(`${target}.${process.pid}`, target);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const path = findKubectl({ mayBuild: true });
  if (path === undefined) {
    console.error(`no kubectl 1.${OLDEST_MINOR} or newer on PATH, and no Go to build one with`);
    process.exitCode = 1;
  } else console.log(path);
}
