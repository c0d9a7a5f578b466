// The members of a simulated fleet in this process: each has an API server, rules that simulate its workloads, and an
// agent.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { memberKinds } from '../api/kinds.ts';
import type { User } from '../api/object.ts';
import type { Transport } from '../api/transport.ts';
import { ALL_AUTHENTICATED, MASTERS } from '../apiserver/auth/service-account.ts';
import { directTransport } from '../apiserver/direct.ts';
import { versionDocument } from '../apiserver/http/version.ts';
import type { RunningCluster } from '../apiserver/start-cluster.ts';
import { wallClock } from '../base/clock.ts';
import { mapLimit } from '../base/map-limit.ts';
import { systemRandom } from '../base/random.ts';
import { createGate } from '../client/gate.ts';
import type { OwnServer } from '../member/heartbeat/own-server.ts';
import { transportProbe } from '../member/heartbeat/probe.ts';
import { diskAwareScheduling, type Log } from '../runtime/deps.ts';
import type { Pretend } from '../sim/pretend/start.ts';
import { type Pace, runAgent } from './agent.ts';
import { counted } from './counted.ts';
import type { Embedded } from './embedded.ts';
import type { FleetMember } from './fleet.ts';
import { pretendMember } from './pretend-member.ts';

/** With more members than this, workloads report status as if they had Pods, but none are created. */
const MAX_WITH_PODS = 20;
/** Each agent opens several connections; hundreds at once would block everything else for seconds. */
const AGENTS_STARTING = 8;
const STOPS_AT_A_TIME = 64;

const AGENT_USER: User = { name: 'flotilla-member-agent', groups: [MASTERS, ALL_AUTHENTICATED] };

export type MemberServers = ReadonlyMap<string, RunningCluster>;

export async function startServers(embedded: Embedded, fleet: readonly FleetMember[]): Promise<MemberServers> {
  const servers = new Map<string, RunningCluster>();
  for (const { name } of fleet) {
    servers.set(name, await embedded.start(name, memberKinds));
    await nextTick();
  }
  return servers;
}

export interface MembersOptions {
  readonly fleet: readonly FleetMember[];
  readonly servers: MemberServers;
  /** The endpoint of a member's API server for other clients; absent = not reported. */
  endpointOf?(member: string): Endpoint;
  /** The hub as this member's agent sees it, with the permissions of its own identity. */
  hubFor(member: string): Transport;
  readonly log: Log;
  readonly metrics: Registry;
}

export type Endpoint = Required<Pick<OwnServer, 'entrypoint' | 'certificates'>>;

export interface Members {
  stop(): Promise<void>;
}

/** The first report of the agent should include the nodes, because the next one is a heartbeat period later. */
const afterNodes =
  ({ registered }: Pretend, pace: Pace): Pace =>
  async (run) => {
    await registered;
    await pace(run);
  };

/** Starts the members one by one, and lets other work of the process run in between. */
export async function startMembers(options: MembersOptions, signal: AbortSignal): Promise<Members> {
  const { fleet, servers, hubFor, endpointOf, log, metrics } = options;
  const parts: { stop(): Promise<void> }[] = [];
  const shared = { clock: wallClock, random: systemRandom, log };
  const pacing = diskAwareScheduling();
  const gate = createGate(AGENTS_STARTING);
  const pace: Pace = async (run) => {
    const leave = await gate.enter(new AbortController().signal, () => new Error('never'));
    try {
      await run();
    } finally {
      leave();
    }
  };
  for (const member of fleet) {
    if (signal.aborted) break;
    const { cluster, catalogue } = servers.get(member.name) as RunningCluster;
    const own = directTransport(cluster, AGENT_USER);
    const statusOnly = fleet.length > MAX_WITH_PODS;
    const pretend = pretendMember({ ...shared, transport: own }, member, { statusOnly });
    parts.push(pretend);
    const hub = counted(hubFor(member.name), 'hub', metrics);
    const about = { version: versionDocument.gitVersion, ...endpointOf?.(member.name) };
    const deps = {
      ...shared,
      servers: { hub, member: counted(own, 'member', metrics) },
      catalogues: { member: catalogue },
      ...pacing,
    };
    parts.push(
      runAgent(
        deps,
        { cluster: member.name, probe: transportProbe(own), server: () => about, metrics },
        afterNodes(pretend, pace),
      ),
    );
    await nextTick();
  }
  return {
    stop: async () => void (await mapLimit(parts.toReversed(), STOPS_AT_A_TIME, (part) => part.stop())),
  };
}
