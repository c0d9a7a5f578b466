// Finds a kubectl that is new enough, or just the one that recorded answers came from, or builds that one once into a cache folder
// outside of the checkout. Prints its path.
//   node --import tsx scripts/kubectl.ts
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildNow } from './kube/build.ts';
import { cachedPath, findProgram, KUBERNETES_VERSION } from './kube/programs.ts';

const OLDEST_MINOR = 31;
const RECORDED_MINOR = Number(KUBERNETES_VERSION.split('.')[1]);

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
  const provided = findProgram('kubectl');
  if (provided !== undefined && (provided === cachedPath('kubectl') || isUsable(minorOf(provided)))) return provided;
  return options.mayBuild && buildNow('kubectl') ? cachedPath('kubectl') : undefined;
}

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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const path = findKubectl({ mayBuild: true });
  if (path === undefined) {
    console.error(`no kubectl 1.${OLDEST_MINOR} or newer on PATH, and no Go to build one with`);
    process.exitCode = 1;
  } else console.log(path);
}
