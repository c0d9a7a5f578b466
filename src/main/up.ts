// `flotilla up`: a hub and its members, for a laptop, a demo or a test. One process; more than 50 members run in a
// second one.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Registry } from 'prom-client';
import { hubAdmissions } from '../api/admission-warnings.ts';
import { HUB_USER_NAME, memberServiceAccount, SYSTEM_NAMESPACE } from '../api/names.ts';
import type { User } from '../api/object.ts';
import { ALL_AUTHENTICATED, accountGroups, accountUserName, MASTERS } from '../apiserver/auth/service-account.ts';
import { directTransport } from '../apiserver/direct.ts';
import { wallClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { shellWord } from '../base/shell.ts';
import { diskAwareScheduling } from '../runtime/deps.ts';
import type { Manager } from '../runtime/manager.ts';
import { counted } from './counted.ts';
import { type Embedded, type EmbeddedOptions, HOST, HUB, kubeconfigFile, openEmbedded, openness } from './embedded.ts';
import { evictionsSince } from './evictions-since.ts';
import { firstSteps } from './first-steps.ts';
import {
  type FleetMember,
  membersInWords,
  parseFleet,
  shippedFleet,
  shippedFleets,
  strangersText,
  usualFleet,
} from './fleet.ts';
import { type GitFlags, gitOf } from './git-flags.ts';
import { serveHealth } from './health-server.ts';
import { installRoles } from './install-roles.ts';
import { allJoined, joinedIn, joinFleet, tokensOf } from './joining.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { startMembers, startServers } from './members.ts';
import { startMembersProcess } from './members-process.ts';
import { type MembershipFlags, membershipKinds, membershipOf } from './membership-flags.ts';
import { startHub } from './parts.ts';
import { type PlacementFlags, placementsOf } from './placement-flags.ts';
import { type RunFlags, runsOf } from './run-flags.ts';
import { firstSignal } from './signals.ts';

export interface UpOptions extends EmbeddedOptions, MembershipFlags, PlacementFlags, RunFlags, GitFlags {
  readonly members?: number;
  readonly fleet?: string;
  readonly kubeconfig?: string;
  /** Metrics and health of the hub, and of members in the same process. */
  readonly healthPort?: number;
  readonly logLevel: LogLevel;
}

const USUAL_MEMBERS = 3;
const MAX_PORT = 65_535;
/** More members run in a process of their own. */
const MAX_IN_ONE_PROCESS = 50;

/** The identity of the hub's controllers in process. On another cluster they get a role instead. */
const HUB_USER: User = {
  name: HUB_USER_NAME,
  groups: [MASTERS, ALL_AUTHENTICATED],
};

const identityOf = (name: string): User => ({
  name: accountUserName(SYSTEM_NAMESPACE, memberServiceAccount(name)),
  groups: [...accountGroups(SYSTEM_NAMESPACE), ALL_AUTHENTICATED],
});

export async function up(options: UpOptions): Promise<void> {
  const placements = placementsOf(options);
  const stopped = firstSignal();
  const asked = await askedFleet(options);
  await using embedded = await openEmbedded(options);
  // A damaged file must not block a user who names the fleet again.
  const kept = await (asked === undefined ? keptFleet(options) : keptFleet(options).catch(() => undefined));
  const fleet = asked ?? kept ?? usualFleet(USUAL_MEMBERS);
  const isLarge = fleet.length > MAX_IN_ONE_PROCESS;
  if (isLarge) checkRoomFor(fleet.length, options);
  const log = jsonLog(options.logLevel, {});
  const metrics = new Registry();
  const hub = await embedded.start(HUB, membershipKinds(options), hubAdmissions);
  const servers = isLarge ? undefined : await startServers(embedded, fleet);
  await using listening = await embedded.listen();
  const url = embedded.url(listening.port);
  let controllers: Manager | undefined;
  await using _health = await healthOf(options, () => controllers, metrics);
  await using child = isLarge ? startMembersProcess({ ...membersOf(options, embedded), fleet }) : undefined;
  const elsewhere = child && { names: fleet.map(({ name }) => name), port: await child.port };
  const kubeconfig = kubeconfigFile(options);
  await embedded.writeKubeconfig(kubeconfig, listening.port, elsewhere);
  const admin = directTransport(hub.cluster, HUB_USER);
  await using git = await gitOf(options, options.inMemory ? undefined : join(options.dataDir, 'git'));
  controllers = startHub(
    {
      clock: wallClock,
      log,
      random: systemRandom,
      servers: { hub: counted(admin, 'hub', metrics) },
      catalogues: { hub: hub.catalogue },
      ...diskAwareScheduling(),
    },
    {
      ...membershipOf(options),
      metrics,
      placements,
      runs: runsOf(options),
      evictionsSince: await evictionsSince(admin, wallClock),
      git,
    },
  );
  await using _hub = disposing(controllers);

  // From here on nothing can fail: the requested fleet becomes that of this directory.
  await keepFleet(options, fleet);
  console.log(
    `flotilla: hub at ${url}, ${fleet.length === 1 ? '1 member is' : `${fleet.length} members are`} joining${isLarge ? ' from a process of their own' : ''}`,
  );
  const strangers = strangersText(await joinedIn(admin), fleet);
  if (strangers !== undefined) console.log(`flotilla: ${strangers}`);
  await installRoles(admin);
  await joinFleet(admin, fleet);
  child?.startAgents({
    hub: { server: embedded.nearUrl(listening.port), ca: embedded.pki.authority.certificate },
    tokens: await tokensOf(admin, fleet),
  });
  await using _members =
    servers &&
    disposing(
      await startMembers(
        {
          ...{ fleet, servers, log, metrics },
          endpointOf: (name) => embedded.endpoint(listening.port, name),
          hubFor: (name) => directTransport(hub.cluster, identityOf(name)),
        },
        new AbortController().signal,
      ),
    );
  const failed = child?.failed ?? new Promise<never>(() => {});
  const isReady = await Promise.race([allJoined(admin, fleet, stopped), failed]);
  if (isReady) tellReady({ kubeconfig, fleet, url, options, isOpen: embedded.isOpen });
  await Promise.race([stopped, failed]);
  console.log('flotilla: stopping');
}

const disposing = (part: { stop(): Promise<void> }): AsyncDisposable => ({ [Symbol.asyncDispose]: () => part.stop() });

const FILES_PER_MEMBER = 5;
const FILES_OTHERWISE = 200;

/** An early error is better than connections that fail at random. */
function checkRoomFor(members: number, { port }: UpOptions): void {
  if (port === MAX_PORT) {
    const message = `the members of a large fleet are at the port after the hub's: give a --port below ${MAX_PORT}`;
    throw new UserError('BadFlag', message);
  }
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const allowed = userLimits?.open_files?.soft;
  const needed = members * FILES_PER_MEMBER + FILES_OTHERWISE;
  if (typeof allowed !== 'number' || allowed >= needed) return;
  throw new UserError(
    'TooFewFiles',
    `${members} members need about ${needed} open files and this shell allows ${allowed}: run "ulimit -n ${needed}" first`,
  );
}

/** The members' servers use the port after the hub's, so that addresses stay the same across restarts. */
const membersOf = ({ dataDir, inMemory = false, port, logLevel, bind, advertise }: UpOptions, { keys }: Embedded) => ({
  ...(bind === undefined ? {} : { bind }),
  ...(advertise === undefined ? {} : { advertise }),
  dataDir: resolve(dataDir),
  inMemory,
  port: port === 0 ? 0 : port + 1,
  keys,
  logLevel,
});

const healthOf = async ({ healthPort }: UpOptions, manager: () => Manager | undefined, metrics: Registry) =>
  healthPort === undefined
    ? undefined
    : serveHealth({
        port: healthPort,
        host: HOST,
        metrics,
        manager,
        without: { name: 'hub', detail: 'is starting', isReady: false },
      });

// ---- which members

const fleetFile = ({ dataDir }: UpOptions): string => join(dataDir, 'fleet.json');

/** The fleet that this data directory had before. */
async function keptFleet(options: UpOptions): Promise<readonly FleetMember[] | undefined> {
  if (options.inMemory) return undefined;
  const file = fleetFile(options);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as readonly FleetMember[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UserError(
      'FleetUnreadable',
      `cannot read ${file}: ${messageOf(error)}; name the fleet again with --fleet or --members`,
    );
  }
}

async function keepFleet(options: UpOptions, fleet: readonly FleetMember[]): Promise<void> {
  if (options.inMemory) return;
  // Written atomically: a truncated file would block the next start.
  const file = fleetFile(options);
  await writeFile(`${file}.new`, `${JSON.stringify(fleet, undefined, 2)}\n`);
  await rename(`${file}.new`, file);
}

async function askedFleet({ fleet, members }: UpOptions): Promise<readonly FleetMember[] | undefined> {
  if (fleet !== undefined && members !== undefined)
    throw new UserError('BadFlag', 'set either --fleet or --members, not both');
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
  isOpen: boolean;
}): void {
  const { kubeconfig, fleet, url, options, isOpen } = ready;
  const data = options.inMemory ? 'in memory: data is lost on exit' : `data in ${options.dataDir}`;
  console.log(`flotilla: ready: hub ${url} with ${membersInWords(fleet.length)} (${data})`);
  if (isOpen) console.log(openness(url));
  console.log(`export KUBECONFIG=${shellWord(kubeconfig)}`);
  console.log('try:');
  for (const step of firstSteps(fleet)) console.log(`  ${step}`);
}
