// Finds a helm 3 on PATH, or the one that is built once into the cache folder outside of the checkout.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildNow } from './kube/build.ts';
import { cachedPath, findProgram } from './kube/programs.ts';

/** undefined = there is none and none can be built here. */
export function findHelm({ mayBuild }: { readonly mayBuild: boolean }): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'helm'))
    .find((path) => existsSync(path) && isThree(path));
  const found = onPath ?? findProgram('helm');
  if (found !== undefined) return found;
  return mayBuild && buildNow('helm') ? cachedPath('helm') : undefined;
}

const isThree = (helm: string): boolean =>
  /^v3\./.test(spawnSync(helm, ['version', '--template', '{{.Version}}'], { encoding: 'utf8' }).stdout ?? '');
