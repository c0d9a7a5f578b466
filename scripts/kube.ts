// Real control planes on this machine, for people: they run until they are told to stop.
//   npm run kube -- up hub m1 m2 [--kubeconfig F]
//   npm run kube -- status
//   npm run kube -- down [NAME...]          removes what they knew
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { writeKubeconfig } from '../src/apiserver/auth/kubeconfig.ts';
import { buildPrograms, canBuild } from './kube/build.ts';
import { isReady, kubeconfigOf, type Plane, removePlane, runningServers, startPlane, urlOf } from './kube/plane.ts';
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
  const file = resolve(options.kubeconfig ?? join(planesFolder(), 'kubeconfig'));
  const others = knownPlanes().filter(({ name }) => !names.includes(name));
  await writeKubeconfig(file, kubeconfigOf([...planes, ...others.filter((plane) => runningServers(plane).length > 0)]));
  console.log(`\n  export KUBECONFIG=${file}`);
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
    await removePlane(plane);
    console.log(`${plane.name} is gone`);
  }
}

const program = new Command('kube').description('real Kubernetes control planes on 127.0.0.1');
program
  .command('up')
  .description('start control planes, or find them running')
  .argument('<names...>')
  .option('--kubeconfig <file>', 'where to write the kubeconfig, a context for each (default: in the cache folder)')
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
