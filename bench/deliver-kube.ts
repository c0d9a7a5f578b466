// The fleet of a delivery on real control planes: `flotilla hub` and `flotilla member`, each a process, with the rights that we ship. Their etcd writes to
// disk, as a production one does.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Plane, removePlane, startPlane, urlOf } from '../scripts/kube/plane.ts';
import { findPrograms } from '../scripts/kube/programs.ts';
import { installHub, installMember, joinMember, kubectlOf, writeContexts } from '../test/kube/install.ts';
import { type Fleet, fleetIn, type Place, started } from './deliver-fleet.ts';
import type { Wire } from './deliver-wire.ts';
import { ended } from './fleet-process.ts';
import { stoppedBySignals } from './processes.ts';

export async function startRealFleet(folder: string, members: number, debounce: string): Promise<Fleet> {
  const place = await startReal(folder, members, debounce);
  try {
    return await fleetIn(folder, members, place);
  } catch (error) {
    await place.stop();
    throw error;
  }
}

async function startReal(folder: string, members: number, debounce: string): Promise<Place> {
  const programs = findPrograms();
  if (programs === undefined) throw new Error('no kube-apiserver here: "npm run kube -- up hub" builds one');
  const home = mkdtempSync(join(folder, 'real-'));
  const names = Array.from({ length: members }, (_, index) => `member-${index + 1}`);
  const planes = ['hub', ...names].map((name): Plane => ({ name, folder: join(home, name) }));
  const children: ChildProcess[] = [];
  const stop = stoppedBySignals(async () => {
    for (const child of children.toReversed()) await ended(child);
    for (const plane of planes) await removePlane(plane);
    rmSync(home, { recursive: true, force: true });
  });
  try {
    await Promise.all(planes.map((plane) => startPlane(plane, programs, { isDurable: true })));
    const begin = (args: readonly string[]) => void children.push(started(folder, args));
    const kubeconfig = await startParts({ home, planes, debounce, begin });
    const [hub, member] = planes as [Plane, Plane];
    const pki = (name: string) => join(hub.folder, 'pki', name);
    return {
      hub: wireTo(hub),
      member: { wire: wireTo(member), path: '' },
      files: [pki('apiserver.crt'), pki('apiserver.key'), pki('ca.crt')],
      kubeconfig,
      pids: children.map(({ pid }) => pid as number),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Parts {
  readonly home: string;
  readonly planes: readonly Plane[];
  readonly debounce: string;
  /** Starts the program with these arguments. */
  begin(args: readonly string[]): void;
}

/** As a person does it: what the clusters need, the hub's controllers, and an agent for each member that joins. */
async function startParts({ home, planes, debounce, begin }: Parts): Promise<string> {
  const contexts = Object.fromEntries(planes.map((plane) => [plane.name, plane]));
  const administrator = kubectlOf(writeContexts(home, contexts), home);
  const [hub, ...members] = planes as [Plane, ...Plane[]];
  const accounts = {
    'flotilla-hub': { cluster: hub.name, token: await installHub(administrator, home, hub.name) },
    ...Object.fromEntries(
      await Promise.all(
        members.map(async ({ name }) => {
          const token = await installMember(administrator, home, name);
          return [`agent-${name}`, { cluster: name, token }] as const;
        }),
      ),
    ),
  };
  const kubeconfig = writeContexts(home, contexts, accounts);
  const at = (context: string) => ['--kubeconfig', kubeconfig, '--context', context];
  begin(['hub', ...at('flotilla-hub'), '--placement-debounce', debounce]);
  // One after the other: when one fails, none of the others is on its way.
  for (const { name } of members) {
    const hubFile = await joinMember(home, kubeconfig, name);
    begin(['member', '--name', name, '--hub-kubeconfig', hubFile, ...at(`agent-${name}`)]);
  }
  const all = members.map(({ name }) => `membercluster/${name}`);
  await administrator.ok(['--context', hub.name, 'wait', '--for=condition=Joined', ...all, '--timeout=120s']);
  return kubeconfig;
}

function wireTo(plane: Plane): Wire {
  const pki = (name: string) => readFileSync(join(plane.folder, 'pki', name));
  return { port: Number(new URL(urlOf(plane)).port), ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
}
