// `flotilla up`: a hub and its members, for a laptop, a demo or a test of one's own. One process; above 50 members they have one of their own.
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Registry } from 'prom-client';
import { hubKinds } from '../api/kinds.ts';
import { memberServiceAccount, SYSTEM_NAMESPACE } from '../api/names.ts';
import type { User } from '../api/object.ts';
import { ALL_AUTHENTICATED, accountGroups, accountUserName, MASTERS } from '../apiserver/auth/service-account.ts';
import { directTransport } from '../apiserver/direct.ts';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { liveness, readiness } from '../runtime/health.ts';
import type { Manager } from '../runtime/manager.ts';
import { counted } from './counted.ts';
import { type Embedded, type EmbeddedOptions, HUB, openEmbedded } from './embedded.ts';
import { type FleetMember, parseFleet, shippedFleet, shippedFleets, usualFleet } from './fleet.ts';
import { serveHealth } from './health-server.ts';
import { allJoined, joinFleet, tokensOf } from './joining.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { startMembers, startServers } from './members.ts';
import { startMembersProcess } from './members-process.ts';
import { startHub } from './parts.ts';
import { firstSignal } from './signals.ts';

export interface UpOptions extends EmbeddedOptions {
  readonly members?: number;
  readonly fleet?: string;
  readonly kubeconfig?: string;
  /** Metrics and health of the hub, and of the members that live in its process. */
  readonly healthPort?: number;
  readonly logLevel: LogLevel;
}

const USUAL_MEMBERS = 3;
/** More get a process of their own. */
const MOST_IN_ONE_PROCESS = 50;

/** The controllers of the hub, in process. On a cluster of one's own they get a role instead. */
const HUB_USER: User = {
  name: accountUserName(SYSTEM_NAMESPACE, 'flotilla-hub'),
  groups: [MASTERS, ALL_AUTHENTICATED],
};

const identityOf = (name: string): User => ({
  name: accountUserName(SYSTEM_NAMESPACE, memberServiceAccount(name)),
  groups: [...accountGroups(SYSTEM_NAMESPACE), ALL_AUTHENTICATED],
});

export async function up(options: UpOptions): Promise<void> {
  const stopped = firstSignal();
  const asked = await askedFleet(options);
  await using embedded = await openEmbedded(options);
  const fleet = await fleetFor(options, asked);
  const log = jsonLog(options.logLevel, {});
  const metrics = new Registry();
  const hub = await embedded.start(HUB, hubKinds);
  const isLarge = fleet.length > MOST_IN_ONE_PROCESS;
  const servers = isLarge ? undefined : await startServers(embedded, fleet);
  await using listening = await embedded.listen();
  const url = embedded.url(listening.port);
  await using child = isLarge ? startMembersProcess({ ...membersOf(options, embedded), fleet }) : undefined;
  console.log(
    `flotilla: hub at ${url}, ${fleet.length} members are joining${isLarge ? ' from a process of their own' : ''}`,
  );

  const admin = directTransport(hub.cluster, HUB_USER);
  await joinFleet(admin, fleet);
  const controllers = startHub(
    { clock: wallClock, log, random: systemRandom, servers: { hub: counted(admin, 'hub', metrics) } },
    { metrics },
  );
  await using _hub = disposing(controllers);
  await using _health = await healthOf(options, controllers, metrics);
  const elsewhere = child && { names: fleet.map(({ name }) => name), port: await child.port };
  const kubeconfig = resolve(options.kubeconfig ?? join(options.dataDir, 'kubeconfig'));
  await embedded.writeKubeconfig(kubeconfig, listening.port, elsewhere);
  child?.startAgents({
    hub: { server: url, ca: embedded.pki.authority.certificate },
    tokens: await tokensOf(admin, fleet),
  });
  await using _members =
    servers &&
    disposing(
      await startMembers(
        { fleet, servers, log, metrics, hubFor: (name) => directTransport(hub.cluster, identityOf(name)) },
        new AbortController().signal,
      ),
    );
  const failed = child?.failed ?? new Promise<never>(() => {});
  await Promise.race([allJoined(admin, fleet, stopped), failed]);
  tellReady({ kubeconfig, fleet, url, options });
  await Promise.race([stopped, failed]);
  console.log('flotilla: stopping');
}

const disposing = (part: { stop(): Promise<void> }): AsyncDisposable => ({ [Symbol.asyncDispose]: () => part.stop() });

/** The members' servers get the port after the hub's, so that addresses stay the same from start to start. */
const membersOf = ({ dataDir, inMemory = false, port, logLevel }: UpOptions, { keys }: Embedded) => ({
  dataDir: resolve(dataDir),
  inMemory,
  port: port === 0 ? 0 : port + 1,
  keys,
  logLevel,
});

const healthOf = async ({ healthPort }: UpOptions, controllers: Manager, metrics: Registry) =>
  healthPort === undefined
    ? undefined
    : serveHealth({
        port: healthPort,
        metrics,
        live: () => liveness(controllers.state(), wallClock.now()),
        ready: () => readiness(controllers.state()),
      });

// ---- which members

/** What was asked for, else what this data directory had before, else the usual. */
async function fleetFor(
  options: UpOptions,
  asked: readonly FleetMember[] | undefined,
): Promise<readonly FleetMember[]> {
  const kept = join(options.dataDir, 'fleet.json');
  if (options.inMemory) return asked ?? usualFleet(USUAL_MEMBERS);
  if (asked) {
    await writeFile(kept, `${JSON.stringify(asked, undefined, 2)}\n`);
    return asked;
  }
  try {
    return JSON.parse(await readFile(kept, 'utf8')) as readonly FleetMember[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new UserError(
        'FleetUnreadable',
        `cannot read ${kept}: ${messageOf(error)}; name the fleet again with --fleet or --members`,
      );
    }
    const usual = usualFleet(USUAL_MEMBERS);
    await writeFile(kept, `${JSON.stringify(usual, undefined, 2)}\n`);
    return usual;
  }
}

async function askedFleet({ fleet, members }: UpOptions): Promise<readonly FleetMember[] | undefined> {
  if (fleet !== undefined && members !== undefined)
    throw new UserError('BadFlag', 'give --fleet or --members, not both');
  if (members !== undefined) return usualFleet(members);
  if (fleet === undefined) return undefined;
  const shipped = shippedFleet(fleet);
  if (shipped) return shipped;
  try {
    return parseFleet(await readFile(fleet, 'utf8'), fleet);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const known = shippedFleets().join(', ');
    throw new UserError(
      'NoSuchFleet',
      `"${fleet}" is neither a file that can be read (${messageOf(error)}) nor one of the fleets that ship: ${known}`,
    );
  }
}

function tellReady(ready: {
  kubeconfig: string;
  fleet: readonly FleetMember[];
  url: string;
  options: UpOptions;
}): void {
  const { kubeconfig, fleet, url, options } = ready;
  const data = options.inMemory ? 'in memory: nothing is kept' : `data in ${options.dataDir}`;
  const [first] = fleet;
  console.log(`flotilla: ready: hub ${url} with ${fleet.length} members (${data})`);
  console.log(`export KUBECONFIG=${kubeconfig}`);
  console.log('try:');
  console.log('  kubectl --context hub get memberclusters');
  console.log(`  kubectl --context ${first?.name ?? HUB} create deployment web --image=web:1`);
  console.log(`  kubectl --context ${first?.name ?? HUB} rollout status deployment web`);
}
