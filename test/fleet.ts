// A fleet in memory for scenarios: a hub with its controllers, members with their agents, one clock that stands still until it is passed.
// Agents act with the rights of their own identity; every write is counted by who made it. A fleet that delivers also has what places content,
// and members whose workloads pretend to run.
import type { JoinOptions } from '../src/api/join.ts';
import { joinObjects } from '../src/api/join.ts';
import type { Kind } from '../src/api/kind.ts';
import { hubKinds, memberKinds } from '../src/api/kinds.ts';
import type { MemberCluster } from '../src/api/member-cluster.ts';
import { memberNamespace, memberServiceAccount, SYSTEM_NAMESPACE } from '../src/api/names.ts';
import type { KubeObject, User } from '../src/api/object.ts';
import type { Request, Transport } from '../src/api/transport.ts';
import { ApiError } from '../src/base/errors.ts';
import { seededRandom } from '../src/base/random.ts';
import { startAgent } from '../src/main/agent-parts.ts';
import { type HubOptions, startHub } from '../src/main/parts.ts';
import type { OwnServer } from '../src/member/heartbeat/own-server.ts';
import { transportProbe } from '../src/member/heartbeat/probe.ts';
import type { Probe } from '../src/member/heartbeat/pulse.ts';
import type { PropertyProvider } from '../src/member/properties/provider.ts';
import { type Log, silentLog } from '../src/runtime/deps.ts';
import type { Manager } from '../src/runtime/manager.ts';
import { type Profile, profileOf } from '../src/sim/pretend/profile.ts';
import { someNodes } from '../src/sim/pretend/rules/node.ts';
import { type Pretend, startPretend } from '../src/sim/pretend/start.ts';
import { aCluster, admin, type TestClock, type TestCluster, testClock, theHub } from './cluster.ts';

/** As the API server knows the ServiceAccount that `flotilla join` makes. */
export const identityOf = (cluster: string): User => ({
  name: `system:serviceaccount:${SYSTEM_NAMESPACE}:${memberServiceAccount(cluster)}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
});

export interface AgentOptions {
  readonly as?: User;
  readonly probe?: Probe;
  /** What the agent knows of the API server of its member. */
  readonly server?: () => OwnServer;
  readonly provider?: PropertyProvider;
  readonly seed?: number;
  /** What lies between the agent and the hub. */
  between?(hub: Transport): Transport;
}

export interface FleetOptions extends Omit<HubOptions, 'mayWrite' | 'metrics' | 'isRemote'> {
  /** Placements are followed, and the workloads of members fare like this. */
  readonly delivers?: Partial<Profile>;
  /** The kinds whose CRDs the hub's API server has; absent = all of this version. */
  readonly served?: readonly Kind[];
}

/** What happens to a call: nothing special, or this error instead of it. */
export type Meddle = (who: string, request: Request) => Error | undefined;

export interface Agent {
  readonly manager: Manager;
  stop(): Promise<void>;
}

export interface Fleet extends AsyncDisposable {
  readonly hub: TestCluster;
  readonly clock: TestClock;
  /** `who verb plural[/subresource]` → how many since the last `writes.clear()`; `who` is `hub` or the member. */
  readonly writes: Map<string, number>;
  /** `who controller key` → passes since the last `passes.clear()`. */
  readonly passes: Map<string, number>;
  readonly manager: Manager;
  meddle: Meddle | undefined;
  /** How long each reconcile of the hub takes; 0 unless set. */
  reconcileMs: number;
  member(name: string): TestCluster;
  /** What `flotilla join` does, and a cluster to be the member; its agent is started unless told otherwise. */
  join(
    name: string,
    options?: Omit<JoinOptions, 'name'> & { readonly agent?: false; prepare?(member: TestCluster): Promise<void> },
  ): Promise<void>;
  startAgent(name: string, options?: AgentOptions): Agent;
  stopAgent(name: string): Promise<void>;
  restartHub(settings?: FleetOptions): Promise<void>;
  stopHub(): Promise<void>;
  /** From now on the hub hears nothing of this resource, until the result is called. */
  stall(plural: string): () => void;
  /** From now on calls of this member to the hub fail. */
  cut(name: string, isCut: boolean): void;
  /** From now on calls to this member's own API server fail. */
  down(name: string, isDown: boolean): void;
  /** Everything that can happen now has happened. */
  settles(): Promise<void>;
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Time passes from one moment at which something is due to the next. */
  runs(ms: number): Promise<void>;
  memberCluster(name: string): Promise<MemberCluster>;
  /** `True/Reason`, or undefined. */
  condition(name: string, type: string): Promise<string | undefined>;
  deleteMember(name: string): Promise<void>;
  exists(plural: string, namespace: string | undefined, name: string): Promise<boolean>;
  patch(plural: string, namespace: string | undefined, name: string, body: object): Promise<void>;
  /** Reasons of Events about a member, in the order they came. */
  events(name: string): Promise<readonly string[]>;
}

/** The cluster fills in the version that it prefers. */
const body = ({ apiVersion: _apiVersion, kind: _kind, ...rest }: KubeObject): object => rest;

/** Idle watches give signs of life and are opened anew: most of what is due, and nothing comes of it. That happens within a hop. */
const matters = (timer: string): boolean => !timer.startsWith('watch ') && !timer.endsWith(' silence');
const LONGEST_HOP_MS = 60_000;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A patch without content: it makes sure that an object is as it was seen, and nothing is stored. */
export function isAscertaining(request: Request): boolean {
  if (request.verb !== 'patch') return false;
  const { metadata = {}, ...rest } = request.patch.body as { readonly metadata?: object };
  const isPlain = Object.keys(metadata).every((field) => field === 'uid' || field === 'resourceVersion');
  return isPlain && Object.keys(rest).length === 0;
}

interface Counting {
  readonly who: string;
  readonly writes: Map<string, number>;
  /** Calls, answers and news so far. */
  readonly traffic: { count: number };
  isCut(): boolean;
  meddle(request: Request): Error | undefined;
  /** What the watches of a resource wait for. */
  stalled?(plural: string): Promise<void> | undefined;
}

function counting(inner: Transport, { who, writes, traffic, isCut, meddle, stalled }: Counting): Transport {
  const refuse = () => {
    if (isCut()) throw new ApiError(503, 'ServiceUnavailable', `${who} cannot get through`);
  };
  const label = (request: Request) => {
    const { verb, at } = request;
    const what = `${at.resource.plural}${at.subresource === undefined ? '' : `/${at.subresource}`}`;
    return `${who} ${isAscertaining(request) ? 'ascertains' : verb} ${what}`;
  };
  return {
    async call(request, signal) {
      traffic.count++;
      refuse();
      const error = meddle(request);
      if (error !== undefined) throw error;
      const answer = await inner.call(request, signal);
      traffic.count++;
      if (request.verb !== 'get' && request.verb !== 'list') {
        writes.set(label(request), (writes.get(label(request)) ?? 0) + 1);
      }
      return answer;
    },
    async *watch(request, signal) {
      refuse();
      for await (const batch of inner.watch(request, signal)) {
        traffic.count++;
        refuse();
        await stalled?.(request.at.resource.plural);
        yield batch;
      }
    },
  };
}

/** The runtime tells every pass. */
function passLog(who: string, passes: Map<string, number>, onPass = () => {}): Log {
  const count: Log['info'] = (message, { controller, key }) => {
    const pass = `${who} ${controller} ${key}`;
    if (message !== 'reconciled') return;
    passes.set(pass, (passes.get(pass) ?? 0) + 1);
    onPass();
  };
  return { debug: count, info: count, warn: count, error: count };
}

export async function aFleet(settings: FleetOptions = {}, hubUser: User = theHub): Promise<Fleet> {
  const clock = testClock();
  const hub = await aCluster({ kinds: settings.served ?? hubKinds, clock });
  const writes = new Map<string, number>();
  const passes = new Map<string, number>();
  const members = new Map<string, TestCluster>();
  const agents = new Map<string, Agent[]>();
  const pretends: Pretend[] = [];
  const traffic = { count: 0 };
  const stalls = new Map<string, Promise<void>>();
  const cuts = new Set<string>();
  const downs = new Set<string>();
  const counted = (inner: Transport, who: string, isCut: () => boolean) =>
    counting(inner, {
      who,
      writes,
      traffic,
      isCut,
      meddle: (request) => fleet.meddle?.(who, request),
      ...(who === 'hub' ? { stalled: (plural) => stalls.get(plural) } : {}),
    });
  const startManager = ({ delivers, ...options }: FleetOptions) =>
    startHub(
      {
        clock,
        random: seededRandom(11),
        servers: { hub: counted(hub.as(hubUser), 'hub', () => false) },
        ...(delivers === undefined ? {} : { catalogues: { hub: hub.running.catalogue } }),
        log: passLog('hub', passes, () => clock.sleep(fleet.reconcileMs)),
      },
      options,
    );
  const startWorkloads = (name: string, member: TestCluster, profile: Partial<Profile>) => {
    const pretend = startPretend(
      { transport: member.as(admin), clock, random: seededRandom(7).fork(name), log: silentLog },
      {
        sets: ['controllers', 'node'],
        statusOnly: true,
        nodes: someNodes(name, 1),
        // Nodes that are renewed would be most of what happens.
        profile: profileOf({ leaseMs: 0, nodeStatusMs: 10 * 365 * 24 * 3_600_000, ...profile }),
      },
    );
    pretends.push(pretend);
  };

  const managers = () => [manager, ...[...agents.values()].flat().map((agent) => agent.manager)];
  const fingerprint = () => {
    const counts = managers().flatMap((each) => {
      const { controllers, sources, events } = each.state();
      return [
        ...controllers.map(({ passes, waiting, running }) => `${passes}/${waiting}/${running}`),
        ...sources.map(({ lists, watches, items, revision }) => `${lists}/${watches}/${items}/${revision}`),
        String(events.pending),
      ];
    });
    return [hub.store.head, ...[...members.values()].map(({ store }) => store.head), ...counts].join();
  };
  const heads = () =>
    [...members.values()].reduce((sum, { store }) => sum + store.head, hub.store.head + traffic.count);
  /** What is looked at only grows, so what happens between two looks shows. */
  const isStill = async (turns: number, look: () => unknown) => {
    const before = look();
    for (let i = 0; i < turns; i++) {
      await turn();
      await hub.settled();
      for (const member of members.values()) await member.settled();
    }
    return look() === before && pretends.every((each) => each.idle());
  };
  const settles = async () => {
    for (let rounds = 0; rounds < 20_000; rounds++) {
      // To look closely is dear: only when it seems to be quiet.
      if ((await isStill(4, heads)) && (await isStill(4, fingerprint))) return;
      // Work that yielded continues with the next tick of the clock, which is due now.
      if ((clock.next((name) => name === 'next slice') ?? Number.POSITIVE_INFINITY) <= clock.now()) clock.advance(0);
    }
    throw new Error('the fleet does not settle');
  };

  const fleet: Fleet = {
    hub,
    clock,
    writes,
    passes,
    meddle: undefined,
    reconcileMs: 0,
    get manager() {
      return manager;
    },
    member(name) {
      const found = members.get(name);
      if (found === undefined) throw new Error(`there is no member ${name}`);
      return found;
    },
    async join(name, { agent, prepare, ...options } = {}) {
      const objects = joinObjects({ name, ...options });
      if (!(await fleet.exists('namespaces', undefined, SYSTEM_NAMESPACE))) {
        await hub.create('namespaces', undefined, body(objects.namespace));
      }
      await hub.create('serviceaccounts', SYSTEM_NAMESPACE, body(objects.serviceAccount));
      await hub.create('roles', SYSTEM_NAMESPACE, body(objects.renewalRole));
      await hub.create('rolebindings', SYSTEM_NAMESPACE, body(objects.renewalRoleBinding));
      await hub.create('secrets', SYSTEM_NAMESPACE, body(objects.tokenSecret));
      await hub.create('memberclusters', undefined, body(objects.memberCluster));
      const member = await aCluster({ kinds: memberKinds, clock, seed: 100 + members.size });
      members.set(name, member);
      await prepare?.(member);
      if (settings.delivers !== undefined) startWorkloads(name, member, settings.delivers);
      if (agent !== false) fleet.startAgent(name);
    },
    startAgent(
      name,
      { as = identityOf(name), probe, server, provider, seed = 5, between = (hub: Transport) => hub } = {},
    ) {
      const member = fleet.member(name);
      const own = counted(member.as(admin), `${name} at home`, () => downs.has(name));
      const started = startAgent(
        {
          clock,
          random: seededRandom(seed).fork(name),
          servers: { hub: counted(between(hub.as(as)), name, () => cuts.has(name)), member: own },
          ...(settings.delivers === undefined ? {} : { catalogues: { member: member.running.catalogue } }),
          log: passLog(name, passes),
        },
        {
          cluster: name,
          probe: probe ?? transportProbe(own),
          ...(server === undefined ? {} : { server }),
          ...(provider === undefined ? {} : { provider }),
        },
      );
      const agent: Agent = {
        manager: started,
        async stop() {
          agents.set(
            name,
            (agents.get(name) ?? []).filter((each) => each !== agent),
          );
          await started.stop();
        },
      };
      agents.set(name, [...(agents.get(name) ?? []), agent]);
      return agent;
    },
    async stopAgent(name) {
      for (const agent of agents.get(name) ?? []) await agent.stop();
    },
    async restartHub(more = settings) {
      await manager.stop();
      manager = startManager(more);
      await settles();
    },
    stopHub: () => manager.stop(),
    stall(plural) {
      let resume = () => {};
      stalls.set(plural, new Promise((resolve) => (resume = resolve)));
      return () => {
        stalls.delete(plural);
        resume();
      };
    },
    cut(name, isCut) {
      if (isCut) cuts.add(name);
      else cuts.delete(name);
    },
    down(name, isDown) {
      if (isDown) downs.add(name);
      else downs.delete(name);
    },
    settles,
    async pass(ms, stepMs = 1000) {
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(stepMs, left));
        await settles();
      }
    },
    async runs(ms) {
      await settles();
      const end = clock.now() + ms;
      while (clock.now() < end) {
        const due = Math.max(clock.now(), clock.next(matters) ?? end);
        clock.advance(Math.min(due, end, clock.now() + LONGEST_HOP_MS) - clock.now());
        await settles();
      }
    },
    memberCluster: async (name) => (await hub.get('memberclusters', undefined, name)) as MemberCluster,
    async condition(name, type) {
      const found = (await fleet.memberCluster(name)).status?.conditions?.find((each) => each.type === type);
      return found === undefined ? undefined : `${found.status}/${found.reason}`;
    },
    async deleteMember(name) {
      await hub.call({ verb: 'delete', at: hub.at('memberclusters', undefined, name) });
    },
    async exists(plural, namespace, name) {
      try {
        await hub.get(plural, namespace, name);
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'NotFound') return false;
        throw error;
      }
    },
    async patch(plural, namespace, name, body) {
      const at = hub.at(plural, namespace, name);
      await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'test' });
    },
    async events(name) {
      const lists = await Promise.all(
        ['default', memberNamespace(name)].map((namespace) =>
          hub.call({ verb: 'list', at: hub.at('events', namespace) }),
        ),
      );
      const about = (event: KubeObject) => (event['involvedObject'] as { name: string }).name === name;
      return lists
        .flatMap(({ list }) => list?.items ?? [])
        .filter(about)
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${event['type'] === 'Warning' ? 'warning ' : ''}${event['reason']}`);
    },
    async [Symbol.asyncDispose]() {
      for (const agent of [...agents.values()].flat()) await agent.stop();
      for (const pretend of pretends) await pretend.stop();
      await manager.stop();
      for (const member of members.values()) await member[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
  let manager = startManager(settings);
  await settles();
  return fleet;
}
