// A fleet on real control planes, by the program's own entry points and with the rights that it ships, no more: `hub`, `join`, `member`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetMember, shippedFleet, usualFleet } from '../../src/main/fleet.ts';
import { type Fleet, fleetOf, type StartFleet } from '../wire/delivery.ts';
import { type Kubectl, type Running, start } from '../wire/fleet.ts';
import { joinMember, kubectlOf, writeContexts } from './install.ts';
import { hubPlane, memberPlanes } from './planes.ts';
import type { Provided } from './setup.ts';

export interface RealFleet extends Fleet {
  readonly folder: string;
  readonly kubectl: Kubectl;
  readonly hubProcess: Running;
  /** By member. */
  readonly agents: ReadonlyMap<string, Running>;
}

/** As `flotilla up --fleet NAME` has it, or with three members. */
export const startRealFleet: StartFleet = (name) =>
  startOnPlanes(name === undefined ? usualFleet(3) : (shippedFleet(name) ?? []));

export async function startOnPlanes(members: readonly Pick<FleetMember, 'name' | 'labels'>[]): Promise<RealFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-real-'));
  const planes = members.map(({ name }, index) => [name, memberPlanes[index] as Provided] as const);
  const kubeconfig = writeContexts(
    folder,
    { hub: hubPlane, ...Object.fromEntries(planes) },
    {
      'flotilla-hub': { cluster: 'hub', token: hubPlane.token },
      ...Object.fromEntries(planes.map(([name, { token }]) => [`agent-${name}`, { cluster: name, token }])),
    },
  );
  const kubectl = kubectlOf(kubeconfig, folder);
  const before = await namespacesOf(kubectl, ['hub', ...members.map(({ name }) => name)]);
  const hubProcess = start(folder, ['hub', '--kubeconfig', kubeconfig, '--context', 'flotilla-hub', ...QUIET]);
  const agents = new Map<string, Running>();
  const stop = async () => {
    for (const part of [...agents.values(), hubProcess]) await part[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // All have joined or failed before anything is stopped: none is started afterwards.
    const files = await allDone(
      members.map(async ({ name, labels }) => [name, await joinMember(folder, kubeconfig, name, labels)] as const),
    );
    for (const [name, file] of files) agents.set(name, start(folder, agentArgs(name, file, kubeconfig)));
    const all = members.map(({ name }) => `membercluster/${name}`);
    await kubectl.ok(['--context', 'hub', 'wait', '--for=condition=Joined', ...all, '--timeout=60s']);
  } catch (error) {
    await stop();
    throw error;
  }
  const fleet = fleetOf(kubeconfig, async () => {
    try {
      await empty(kubectl, before);
    } finally {
      await stop();
    }
  });
  return Object.assign(fleet, { folder, kubectl, hubProcess, agents });
}

/** Like Promise.all, but rejects only when none is under way any more. */
async function allDone<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

const QUIET = ['--log-level', 'warn'];

export const agentArgs = (name: string, hubFile: string, kubeconfig: string): readonly string[] => [
  ...['member', '--name', name, '--hub-kubeconfig', hubFile],
  ...['--kubeconfig', kubeconfig, '--context', `agent-${name}`, ...QUIET],
];

type Namespaces = ReadonlyMap<string, readonly string[]>;

async function namespacesOf(kubectl: Kubectl, contexts: readonly string[]): Promise<Namespaces> {
  const names = ['get', 'namespaces', '-o', 'jsonpath={.items[*].metadata.name}'];
  const of = async (context: string) =>
    [context, (await kubectl.ok(['--context', context, ...names])).split(' ')] as const;
  return new Map(await Promise.all(contexts.map(of)));
}

/** Leaves the planes to the next fleet: no placements, no members, none of the namespaces that came since. */
async function empty(kubectl: Kubectl, before: Namespaces): Promise<void> {
  const hub = (...args: readonly string[]) => kubectl.ok(['--context', 'hub', ...args, '--timeout=60s']);
  await Promise.all([hub('delete', 'crp', '--all'), hub('delete', 'rp', '--all', '-A')]);
  // A member that leaves keeps what is still there.
  await hub('wait', '--for=delete', 'works', '--all', '-A');
  await hub('delete', 'memberclusters', '--all');
  const now = await namespacesOf(kubectl, [...before.keys()]);
  await Promise.all(
    [...now].map(async ([context, names]) => {
      const added = names.filter((name) => !before.get(context)?.includes(name));
      if (added.length > 0) await kubectl.ok(['--context', context, 'delete', 'namespaces', ...added, '--timeout=60s']);
    }),
  );
}
