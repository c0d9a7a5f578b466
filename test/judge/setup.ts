// One real Kubernetes for the whole suite. Taken from KUBE_JUDGE_KUBECONFIG (and KUBE_JUDGE_CONTEXT), if that is set: a 1.34 server whose only
// controllers are those that keep house, so that nothing moves but what the judge moves. Otherwise a control plane is started for the occasion, in a
// folder that goes with it. In CI it is a failure when none can be had; elsewhere what needs one is skipped, visibly.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPrograms, canBuild } from '../../scripts/kube/build.ts';
import { isAlive } from '../../scripts/kube/lock.ts';
import { kubeconfigOf, type Plane, removePlane, startPlane } from '../../scripts/kube/plane.ts';
import { findPrograms, missingPrograms, type Programs } from '../../scripts/kube/programs.ts';
import { writeKubeconfig } from '../../src/apiserver/auth/kubeconfig.ts';
import type { Judge } from './real.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Absent = there is none. */
    judge: Judge | undefined;
  }
}

const PREFIX = 'flotilla-judge-';
const OWNER = 'owner';
const NAME = 'judge';

export async function setup(project: TestProject): Promise<void> {
  project.provide('judge', await judge());
}

async function judge(): Promise<Judge | undefined> {
  const kubeconfig = process.env['KUBE_JUDGE_KUBECONFIG'];
  const context = process.env['KUBE_JUDGE_CONTEXT'];
  if (kubeconfig !== undefined) return { kubeconfig, ...(context === undefined ? {} : { context }) };
  const programs = await provision();
  if (programs === undefined) return undefined;
  await removeFolders((owner) => !isAlive(owner));
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, OWNER), String(process.pid));
  const plane: Plane = { name: NAME, folder: join(folder, NAME), onlyKeepsHouse: true };
  try {
    await startPlane(plane, programs);
    const file = join(folder, 'kubeconfig');
    await writeKubeconfig(file, kubeconfigOf([plane]));
    return { kubeconfig: file };
  } catch (error) {
    // Nobody tears down what was not set up.
    await teardown();
    throw error;
  }
}

/** Building takes minutes, so only CI does it unasked. */
async function provision(): Promise<Programs | undefined> {
  const missing = missingPrograms();
  if (missing.length === 0) return findPrograms();
  const isCi = process.env['CI'] !== undefined;
  if (isCi && canBuild()) {
    await buildPrograms(missing);
    return findPrograms();
  }
  const message = `no real Kubernetes to judge by: ${missing.join(', ')} not built; set KUBE_JUDGE_KUBECONFIG, or see "npm run kube"`;
  if (isCi) throw new Error(message);
  console.warn(`${message}: what needs one is skipped`);
  return undefined;
}

export const teardown = (): Promise<void> => removeFolders((owner) => owner === process.pid);

/** What an earlier run left when it was killed goes as well. */
async function removeFolders(isWanted: (owner: number) => boolean): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    const owner = ownerOf(folder);
    if (owner === undefined || !isWanted(owner)) continue;
    await removePlane({ name: NAME, folder: join(folder, NAME) });
    rmSync(folder, { recursive: true, force: true });
  }
}

function ownerOf(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, OWNER), 'utf8'));
  } catch {
    return undefined;
  }
}
