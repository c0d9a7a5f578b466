// A fleet with a real hub and more members than there are real planes: these live on servers of our own, in this process, and reach the hub over the wire
// with the rights of their own identities. The hub's controllers are the built program.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { wallClock } from '../../src/base/clock.ts';
import { findConnection } from '../../src/cli/server/connect.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { openEmbedded } from '../../src/main/embedded.ts';
import { shippedFleet } from '../../src/main/fleet.ts';
import { joinFleet, tokensOf } from '../../src/main/joining.ts';
import { startMembers, startServers } from '../../src/main/members.ts';
import { silentLog } from '../../src/runtime/deps.ts';
import { fleetOf, type StartFleet } from '../wire/delivery.ts';
import { flotilla, type Kubectl, start } from '../wire/fleet.ts';
import { kubectlOf, writeContexts } from './install.ts';
import { hubPlane } from './planes.ts';

type Ending = () => PromiseLike<void> | void;

/** As `flotilla up --fleet NAME` has it, but for the hub. */
export const startOnRealHub: StartFleet = async (name = '') => {
  const members = shippedFleet(name) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-staged-'));
  /** What ends it, the last first. */
  const endings: Ending[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    const failures: unknown[] = [];
    for (const end of endings.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the fleet did not end well');
  };
  try {
    const real = writeContexts(
      folder,
      { hub: hubPlane },
      { 'flotilla-hub': { cluster: 'hub', token: hubPlane.token } },
    );
    const kubectl = kubectlOf(real, folder);
    const people = await printed(folder, ['roles', 'people']);
    await kubectl.ok(['apply', '-f', '-'], people);
    endings.push(async () => void (await kubectl.ok(['delete', '-f', '-', '--timeout=60s'], people)));

    const hub = start(folder, ['hub', '--kubeconfig', real, '--context', 'flotilla-hub', '--log-level', 'warn']);
    endings.push(() => hub[Symbol.asyncDispose]());
    const transportTo = (token?: string): HttpTransport => {
      const { certificate, key, ...connection } = findConnection({ kubeconfig: real, context: 'hub' });
      const admin = { ...(certificate ? { certificate } : {}), ...(key ? { key } : {}) };
      const transport = httpTransport(
        { ...connection, ...(token === undefined ? admin : { token }) },
        { clock: wallClock },
      );
      endings.push(() => transport.close());
      return transport;
    };
    const admin = transportTo();
    await joinFleet(admin, members);
    const tokens = await tokensOf(admin, members);
    const embedded = await openEmbedded({ dataDir: folder, inMemory: true, port: 0 }, { membersOnly: true });
    endings.push(() => embedded[Symbol.asyncDispose]());
    const servers = await startServers(embedded, members);
    const listening = await embedded.listen();
    endings.push(() => listening[Symbol.asyncDispose]());
    const own = join(folder, 'members.kubeconfig');
    await embedded.writeKubeconfig(own, listening.port);
    const stopping = new AbortController();
    const running = await startMembers(
      { fleet: members, servers, hubFor: (one) => transportTo(tokens[one]), log: silentLog, metrics: new Registry() },
      stopping.signal,
    );
    endings.push(async () => {
      stopping.abort();
      await running.stop();
    });
    endings.push(() => empty(kubectl));
    const all = members.map((one) => `membercluster/${one.name}`);
    await kubectl.ok(['wait', '--for=condition=Joined', ...all, '--timeout=55s']);
    // The hub's comes first: a shell without a context means the hub.
    return fleetOf(`${real}:${own}`, stop);
  } catch (error) {
    await stop();
    throw error;
  }
};

async function printed(home: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await flotilla(home, args);
  if (code !== 0) throw new Error(`flotilla ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

/** Leaves the hub to the next fleet. Runs and members go only while the hub's controllers and the agents still do their part. */
async function empty(kubectl: Kubectl): Promise<void> {
  const gone = (kinds: string, ...args: readonly string[]) =>
    kubectl.ok(['delete', kinds, '--all', ...args, '--timeout=55s']);
  await gone('csur,csus');
  await gone('sur,sus', '-A');
  await gone('rp', '-A');
  await gone('crp');
  await gone('memberclusters');
  const namespaces = ['my-app-namespace', 'test-namespace'];
  await kubectl.ok(['delete', 'namespace', ...namespaces, '--ignore-not-found', '--timeout=55s']);
}
