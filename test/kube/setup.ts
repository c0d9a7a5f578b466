// Real control planes for the whole suite: a hub and two members, in the full proof four, started once, with what Flotilla puts on a cluster and with pretend nodes, in a
// folder that goes with them. In CI it is a failure when they cannot be had; elsewhere the suite is skipped, visibly.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isFull } from '../../scripts/gate/depth.ts';
import { buildPrograms, canBuild } from '../../scripts/kube/build.ts';
import { isAlive } from '../../scripts/kube/lock.ts';
import { type Plane, removePlane, startPlane } from '../../scripts/kube/plane.ts';
import { findPrograms, missingPrograms, type Programs } from '../../scripts/kube/programs.ts';
import { end, launch } from '../../scripts/kube/servers.ts';
import { program } from '../wire/server.ts';
import { installHub, installMember, kubectlOf, writeContexts } from './install.ts';

export interface Provided extends Plane {
  /** Of the account with the rights that we ship for this cluster. */
  readonly token: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Absent = they cannot be had here. */
    planes: { readonly hub: Provided; readonly members: readonly Provided[] } | undefined;
  }
}

const PREFIX = 'flotilla-kube-';
const OWNER = 'owner';
const MEMBERS = isFull ? 4 : 2;
const NODES = 2;
const PRETEND = 'pretend';

export async function setup(project: TestProject): Promise<void> {
  const programs = await provision();
  project.provide('planes', undefined);
  if (programs === undefined) return;
  await removeFolders((owner) => !isAlive(owner));
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, OWNER), String(process.pid));
  try {
    const planes = await startPlanes(folder, programs);
    const [hub, ...members] = await timed('have what Flotilla puts on a cluster', () => install(folder, planes));
    project.provide('planes', { hub: hub as Provided, members });
  } catch (error) {
    await teardown();
    throw error;
  }
}

export const teardown = (): Promise<void> => removeFolders((owner) => owner === process.pid);

async function provision(): Promise<Programs | undefined> {
  const missing = missingPrograms();
  if (missing.length > 0 && !canBuild()) {
    const message = `real control planes cannot be had: no ${missing.join(', ')} and no Go to build them with`;
    if (process.env['CI'] !== undefined) throw new Error(message);
    console.warn(`${message}: skipped`);
    return undefined;
  }
  await buildPrograms(missing);
  return findPrograms();
}

async function startPlanes(folder: string, programs: Programs): Promise<readonly Plane[]> {
  const names = ['hub', ...Array.from({ length: MEMBERS }, (_, index) => `plane-${index + 1}`)];
  const planes = names.map((name): Plane => ({ name, folder: join(folder, name) }));
  await timed(`${planes.length} control planes are ready`, () =>
    Promise.all(planes.map((plane) => startPlane(plane, programs))),
  );
  return planes;
}

async function install(folder: string, planes: readonly Plane[]): Promise<readonly Provided[]> {
  const kubeconfig = writeContexts(folder, Object.fromEntries(planes.map((plane) => [plane.name, plane])));
  const kubectl = kubectlOf(kubeconfig, folder);
  return Promise.all(
    planes.map(async (plane) => {
      const { name, folder: place } = plane;
      if (name === 'hub') return { ...plane, token: await installHub(kubectl, folder, name) };
      const args = [PRETEND, '--kubeconfig', kubeconfig, '--context', name, '--name', name, '--nodes', String(NODES)];
      launch({ folder: place, name: PRETEND }, process.execPath, [program, ...args]);
      return { ...plane, token: await installMember(kubectl, folder, name) };
    }),
  );
}

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await run();
  console.log(`${what} after ${Math.round((performance.now() - began) / 100) / 10} s`);
  return result;
}

/** Ends and removes the planes of runs that fit, such as those that were killed. */
async function removeFolders(fits: (owner: number) => boolean): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    if (!existsSync(join(folder, OWNER)) || !fits(Number(readFileSync(join(folder, OWNER), 'utf8')))) continue;
    const planes = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    await Promise.all(
      planes.map(async (plane) => {
        const place = join(folder, plane.name);
        await end({ folder: place, name: PRETEND });
        await removePlane({ name: plane.name, folder: place });
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  }
}
