// Real control planes on this machine, for people: they run until they are told to stop.
//   npm run kube -- up hub m1 m2 [--kubeconfig F]
//   npm run kube -- status
//   npm run kube -- down [NAME...]          removes what they knew, and takes them out of the kubeconfigs
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { shellWord } from '../src/base/shell.ts';
import { buildPrograms, canBuild } from './kube/build.ts';
import { putInto, takeFrom } from './kube/kubeconfig-file.ts';
import { withLock } from './kube/lock.ts';
import {
  isReady,
  isThere,
  kubeconfigOf,
  type Plane,
  removePlane,
  runningServers,
  startPlane,
  urlOf,
} from './kube/plane.ts';
import { cacheFolder, findPrograms, missingPrograms, type Programs } from './kube/programs.ts';

const planesFolder = (): string => join(cacheFolder(), 'planes');
const planeNamed = (name: string): Plane => ({ name, folder: join(planesFolder(), name) });

/** All that were started and not taken down. */
function knownPlanes(): readonly Plane[] {
  mkdirSync(planesFolder(), { recursive: true, mode: 0o700 });
  return readdirSync(planesFolder(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => planeNamed(name));
}

async function programs(): Promise<Programs> {
  const missing = missingPrograms();
  if (missing.length > 0 && !canBuild())
    throw new Error(
      `${missing.join(', ')}: not in KUBEBUILDER_ASSETS, not in ${cacheFolder()}, and there is no Go to build them with`,
    );
  await buildPrograms(missing);
  return findPrograms() as Programs;
}

async function up(names: readonly string[], options: { readonly kubeconfig?: string }): Promise<void> {
  const wrong = names.filter((name) => !/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/.test(name));
  if (wrong.length > 0) throw new Error(`${wrong.join(', ')}: a name has lower-case letters, digits and dashes`);
  const needed = await programs();
  const planes = [...new Set(names)].map(planeNamed);
  await Promise.all(planes.map((plane) => startPlane(plane, needed)));
  for (const plane of planes) console.log(`${plane.name} is ready at ${urlOf(plane)}`);
  const file = resolve(options.kubeconfig ?? ownFile());
  // Into somebody's file only those that were asked for.
  const others = options.kubeconfig === undefined ? knownPlanes().filter(({ name }) => !names.includes(name)) : [];
  const wanted = [...planes, ...others.filter((plane) => runningServers(plane).length > 0)];
  await inTurn(file, async () => {
    await putInto(file, kubeconfigOf(wanted));
    for (const plane of planes) remember(plane, file);
  });
  console.log(`\n  export KUBECONFIG=${shellWord(file)}`);
}

const ownFile = (): string => join(planesFolder(), 'kubeconfig');

/** One process at a time changes kubeconfigs. What goes wrong is told with the file's name. */
async function inTurn(file: string, run: () => Promise<void>): Promise<void> {
  try {
    await withLock(join(planesFolder(), 'kubeconfigs.lock'), run);
  } catch (error) {
    throw new Error(`${file} is left as it was: ${(error as Error).message}`);
  }
}

const filesOf = ({ folder }: Plane): string => join(folder, 'kubeconfigs.json');

/** The kubeconfigs that it was put into. */
const rememberedFiles = (plane: Plane): readonly string[] =>
  existsSync(filesOf(plane)) ? (JSON.parse(readFileSync(filesOf(plane), 'utf8')) as readonly string[]) : [];

const remember = (plane: Plane, file: string): void =>
  writeFileSync(filesOf(plane), JSON.stringify([...new Set([...rememberedFiles(plane), file])]));

/** A file that cannot be mended keeps nobody from taking the plane down. */
async function forget(plane: Plane): Promise<void> {
  if (!isThere(plane)) return;
  const [own, files] = [kubeconfigOf([plane]), new Set([ownFile(), ...rememberedFiles(plane)])];
  for (const file of files)
    await inTurn(file, () => takeFrom(file, own)).catch((error: Error) => console.error(`warning: ${error.message}`));
}

async function status(): Promise<void> {
  const known = knownPlanes();
  if (known.length === 0) console.log('no control planes; "npm run kube -- up hub m1" starts two');
  for (const plane of known) {
    const running = runningServers(plane);
    const state = (await isReady(plane)) ? `ready at ${urlOf(plane)}` : 'not ready';
    console.log(`${plane.name}: ${state}; ${running.length === 0 ? 'nothing' : running.join(', ')} running`);
  }
}

async function down(names: readonly string[]): Promise<void> {
  const known = knownPlanes();
  const unknown = names.filter((name) => !known.some((plane) => plane.name === name));
  if (unknown.length > 0) throw new Error(`there is no control plane ${unknown.join(', ')}`);
  const chosen = known.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const plane of chosen) {
    await forget(plane);
    await removePlane(plane);
    console.log(`${plane.name} is gone`);
  }
}

const program = new Command('kube').description('real Kubernetes control planes on 127.0.0.1');
program
  .command('up')
  .description('start control planes, or find them running')
  .argument('<names...>')
  .option(
    '--kubeconfig <file>',
    'the kubeconfig that gets a context for each and keeps what it has (default: one in the cache folder)',
  )
  .action(up);
program.command('status').description('show which run').action(status);
program
  .command('down')
  .description('stop control planes and remove their data; without names: all')
  .argument('[names...]')
  .action(down);
try {
  await program.parseAsync();
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 1;
}
