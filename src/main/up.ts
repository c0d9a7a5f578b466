// `flotilla up`: a hub and its members in one process, for a laptop, a demo or a test of one's own.
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { joinObjects } from '../api/join.ts';
import { hubKinds, memberKinds } from '../api/kinds.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { memberServiceAccount, SYSTEM_NAMESPACE } from '../api/names.ts';
import { groupVersionOf, type KubeObject, type User } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { ALL_AUTHENTICATED, accountGroups, accountUserName, MASTERS } from '../apiserver/auth/service-account.ts';
import { directTransport } from '../apiserver/direct.ts';
import type { RunningCluster } from '../apiserver/start-cluster.ts';
import { wallClock } from '../base/clock.ts';
import { ApiError, messageOf, UserError } from '../base/errors.ts';
import { mapLimit } from '../base/map-limit.ts';
import { systemRandom } from '../base/random.ts';
import { transportProbe } from '../member/heartbeat/probe.ts';
import type { Log } from '../runtime/deps.ts';
import { type Embedded, type EmbeddedOptions, HUB, openEmbedded } from './embedded.ts';
import { type FleetMember, parseFleet, shippedFleet, shippedFleets, usualFleet } from './fleet.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { startAgent, startHub } from './parts.ts';
import { pretendMember } from './pretend-member.ts';
import { firstSignal } from './signals.ts';

export interface UpOptions extends EmbeddedOptions {
  readonly members?: number;
  readonly fleet?: string;
  readonly kubeconfig?: string;
  readonly logLevel: LogLevel;
}

const USUAL_MEMBERS = 3;
const JOIN_PATIENCE_MS = 60_000;

/** The controllers of the hub, in process. On a cluster of one's own they get a role instead. */
const HUB_USER: User = {
  name: accountUserName(SYSTEM_NAMESPACE, 'flotilla-hub'),
  groups: [MASTERS, ALL_AUTHENTICATED],
};
const AGENT_USER: User = { name: 'flotilla-member-agent', groups: [MASTERS, ALL_AUTHENTICATED] };

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
  const hub = await embedded.start(HUB, hubKinds);
  const servers = new Map<string, RunningCluster>();
  for (const { name } of fleet) servers.set(name, await embedded.start(name, memberKinds));
  await using listening = await embedded.listen();
  const kubeconfig = resolve(options.kubeconfig ?? join(options.dataDir, 'kubeconfig'));
  await embedded.writeKubeconfig(kubeconfig, listening.port);
  console.log(`flotilla: hub at ${embedded.url(listening.port)}, ${fleet.length} members are joining`);

  const admin = directTransport(hub.cluster, HUB_USER);
  await mapLimit(fleet, 16, (member) => joinMember(admin, member));
  await using _parts = start({ hub, fleet, servers, log });
  await allJoined(admin, fleet, stopped);
  tellReady({ kubeconfig, fleet, embedded, port: listening.port, options });
  await stopped;
  console.log('flotilla: stopping');
}

interface Fleet {
  readonly hub: RunningCluster;
  readonly fleet: readonly FleetMember[];
  readonly servers: ReadonlyMap<string, RunningCluster>;
  readonly log: Log;
}

/** All controllers and agents; the last one started is the first one stopped. */
function start({ hub, fleet, servers, log }: Fleet): AsyncDisposable {
  const parts: { stop(): Promise<void> }[] = [];
  const shared = { clock: wallClock, log };
  const controllers = startHub({
    ...shared,
    random: systemRandom,
    servers: { hub: directTransport(hub.cluster, HUB_USER) },
  });
  parts.push(controllers);
  for (const member of fleet) {
    const server = (servers.get(member.name) as RunningCluster).cluster;
    const onMember = directTransport(server, AGENT_USER);
    const deps = {
      ...shared,
      random: systemRandom,
      servers: { hub: directTransport(hub.cluster, identityOf(member.name)), member: onMember },
    };
    const pretend = pretendMember({ ...shared, random: systemRandom, transport: onMember }, member, {
      statusOnly: fleet.length > 20,
    });
    parts.push(pretend);
    const agent = startAgent(deps, { cluster: member.name, probe: transportProbe(onMember) });
    parts.push(agent);
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const part of parts.toReversed()) await part.stop();
    },
  };
}

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

// ---- joining

async function joinMember(hub: Transport, member: FleetMember): Promise<void> {
  const objects = joinObjects({
    name: member.name,
    labels: member.labels,
    ...(member.heartbeatPeriodSeconds === undefined ? {} : { heartbeatPeriodSeconds: member.heartbeatPeriodSeconds }),
  });
  for (const object of [objects.namespace, objects.serviceAccount, objects.tokenSecret, objects.memberCluster]) {
    await createIfAbsent(hub, object);
  }
}

const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  Secret: 'secrets',
  MemberCluster: memberCluster.plural,
};

async function createIfAbsent(hub: Transport, object: KubeObject): Promise<void> {
  const { namespace } = object.metadata;
  const plural = PLURALS[object.kind] as string;
  const resource = {
    ...groupVersionOf(object.apiVersion),
    kind: object.kind,
    plural,
    namespaced: namespace !== undefined,
  };
  try {
    await hub.call({
      verb: 'create',
      at: { resource, ...(namespace === undefined ? {} : { namespace }) },
      object,
      manager: 'flotilla-join',
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}

/** Waits until every member is Joined, telling how many are; gives up waiting after a while, not on the members. */
async function allJoined(hub: Transport, fleet: readonly FleetMember[], stopped: Promise<void>): Promise<void> {
  const waiting = new Set(fleet.map(({ name }) => name));
  const ending = new AbortController();
  void stopped.then(() => ending.abort());
  const cancel = wallClock.at(wallClock.now() + JOIN_PATIENCE_MS, 'join patience', () => ending.abort());
  try {
    for await (const batch of hub.watch({ at: { resource: memberCluster } }, ending.signal)) {
      const before = waiting.size;
      for (const { object } of batch) if (isJoined(object)) waiting.delete(object.metadata.name ?? '');
      if (waiting.size !== before && process.stdout.isTTY)
        process.stdout.write(`\r${fleet.length - waiting.size} of ${fleet.length} joined `);
      if (waiting.size === 0) break;
    }
  } finally {
    cancel();
    if (process.stdout.isTTY) process.stdout.write('\r');
  }
  if (waiting.size > 0)
    console.log(`flotilla: still waiting for ${[...waiting].slice(0, 5).join(', ')}${waiting.size > 5 ? ' …' : ''}`);
}

const isJoined = ({ status }: KubeObject): boolean =>
  ((status as { conditions?: readonly { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    (condition) => condition.type === 'Joined' && condition.status === 'True',
  );

function tellReady(ready: {
  kubeconfig: string;
  fleet: readonly FleetMember[];
  embedded: Embedded;
  port: number;
  options: UpOptions;
}): void {
  const { kubeconfig, fleet, embedded, port, options } = ready;
  const data = options.inMemory ? 'in memory: nothing is kept' : `data in ${options.dataDir}`;
  const [first] = fleet;
  console.log(`flotilla: ready: hub ${embedded.url(port)} with ${fleet.length} members (${data})`);
  console.log(`export KUBECONFIG=${kubeconfig}`);
  console.log('try:');
  console.log('  kubectl --context hub get memberclusters');
  console.log(`  kubectl --context ${first?.name ?? HUB} create deployment web --image=web:1`);
  console.log(`  kubectl --context ${first?.name ?? HUB} rollout status deployment web`);
}
