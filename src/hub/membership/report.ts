// The status of a MemberCluster: the reports of its agents and the hub's own findings.
//
// Guarantee: it has only what is reported now; entries that are no longer reported are removed. Differs from KubeFleet:
// there a condition or a namespace list that no agent reports any more stays forever and keeps the member from being
// picked.
import type { Condition } from '../../api/conditions.ts';
import type { MemberClusterReason } from '../../api/member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import type { Observed } from './observed.ts';
import { reportedPart } from './reported.ts';

type AgentStatus = NonNullable<MemberStatus['agentStatus']>[number];

/** A condition without the fields that all conditions share. */
export interface Verdict {
  readonly status: Condition['status'];
  readonly reason: MemberClusterReason;
  readonly message: string;
}

export const READY: Verdict = {
  status: 'True',
  reason: 'MemberClusterReadyToJoin',
  message: 'the namespace and the permissions of the member are in place',
};

const hasReported = (internal: Observed['internal']): boolean => (internal?.status?.agentStatus ?? []).length > 0;

/** The last reports of the agents: while a new InternalMemberCluster has none, the former report is kept. */
export const agentsOf = ({ internal, cluster }: Pick<Observed, 'internal' | 'cluster'>): readonly AgentStatus[] =>
  (hasReported(internal) ? internal?.status?.agentStatus : cluster.status?.agentStatus) ?? [];

export const memberAgentOf = (agents: readonly AgentStatus[] | undefined): AgentStatus | undefined =>
  agents?.find((each) => each.type === 'MemberAgent');

/** Joined once all expected agents have joined, left once all have left. */
export function joinedVerdict(agents: readonly AgentStatus[], expected: readonly string[]): Verdict {
  const unknown = (message: string): Verdict => ({
    status: 'Unknown',
    reason: 'MemberClusterJoinStateUnknown',
    message,
  });
  const found = expected.flatMap((type) => agents.find((each) => each.type === type) ?? []);
  if (found.length < expected.length) {
    const missing = expected.filter((type) => !found.some((each) => each.type === type));
    return unknown(
      `${found.length} of ${expected.length} expected agents have reported; missing: ${missing.join(', ')}`,
    );
  }
  const silent = found.find((agent) => conditionOf(agent.conditions, 'Joined') === undefined);
  if (silent !== undefined) return unknown(`${silent.type} has not reported whether it joined`);
  const said = new Set(found.map((agent) => conditionOf(agent.conditions, 'Joined')?.status));
  if (said.size === 1 && said.has('True')) {
    return { status: 'True', reason: 'MemberClusterJoined', message: 'all agents of the member have joined' };
  }
  if (said.size === 1 && said.has('False')) {
    return { status: 'False', reason: 'MemberClusterLeft', message: 'all agents of the member have left' };
  }
  const states = found.map((agent) => `${agent.type}=${conditionOf(agent.conditions, 'Joined')?.status}`);
  return unknown(`not all agents agree that they joined: ${states.join(', ')}`);
}

/** When a member without heartbeats becomes unreachable; undefined if it never sent one. */
export const silentFrom = ({ cluster, beatSeenAt, settings }: Observed): number | undefined =>
  beatSeenAt === undefined
    ? undefined
    : beatSeenAt + settings.unreachablePeriods * cluster.spec.heartbeatPeriodSeconds * 1000;

/**
 * By the hub's clock, from when it saw the newest heartbeat; the member's clock does not matter. After a restart of the
 * hub the count restarts, but an unreachable member stays unreachable until a new heartbeat arrives.
 */
export function isUnreachable(observed: Observed): boolean {
  const from = silentFrom(observed);
  if (from === undefined) return false;
  if (observed.now >= from) return true;
  const { cluster } = observed;
  const wasUnreachable = conditionOf(cluster.status?.conditions, 'Healthy')?.reason === 'MemberUnreachable';
  const known = memberAgentOf(cluster.status?.agentStatus)?.lastReceivedHeartbeat;
  return wasUnreachable && memberAgentOf(agentsOf(observed))?.lastReceivedHeartbeat === known;
}

/** What the agent reports about its own API server. */
function healthVerdict(observed: Observed, agents: readonly AgentStatus[]): Verdict | undefined {
  const agent = memberAgentOf(agents);
  if (isUnreachable(observed)) {
    const { settings, cluster } = observed;
    const seconds = settings.unreachablePeriods * cluster.spec.heartbeatPeriodSeconds;
    return {
      status: 'Unknown',
      reason: 'MemberUnreachable',
      message: `no heartbeat was seen for ${settings.unreachablePeriods} periods (${seconds} s) after the one of ${agent?.lastReceivedHeartbeat}`,
    };
  }
  const said = conditionOf(agent?.conditions, 'Healthy');
  return said === undefined
    ? undefined
    : { status: said.status, reason: said.reason as MemberClusterReason, message: said.message };
}

export interface Parts {
  readonly readyToJoin: Verdict;
  /**
   * A leaving member sends no more heartbeats: its health stays as it is until it counts as unreachable without having
   * left.
   */
  readonly isLeaving?: true;
}

export function statusFor(observed: Observed, { readyToJoin, isLeaving }: Parts): MemberStatus {
  const { cluster, settings, now } = observed;
  const { generation } = cluster.metadata;
  const before = cluster.status?.conditions;
  // Before the first report there is nothing to remove.
  const { from, dropped } = repeatedPart(observed);
  const agents = from.agentStatus ?? [];

  const atGeneration = <T extends Finding>(condition: T): T =>
    generation === undefined ? condition : { ...condition, observedGeneration: generation };
  const own = (type: string, verdict: Verdict): Condition =>
    nextCondition(conditionOf(before, type), atGeneration({ type, ...verdict }), now);

  const joined = joinedVerdict(agents, settings.agents);
  const keepsHealth = isLeaving && (joined.status === 'False' || !isUnreachable(observed));
  const health = keepsHealth ? undefined : healthVerdict(observed, agents);
  const formerHealth = keepsHealth ? conditionOf(before, 'Healthy') : undefined;
  const { properties, resourceUsage, namespaces } = from;

  return {
    conditions: [
      own('ReadyToJoin', readyToJoin),
      own('Joined', joined),
      ...(health === undefined ? [] : [own('Healthy', health)]),
      ...(formerHealth === undefined ? [] : [formerHealth]),
      ...(dropped.length === 0 ? [] : [own('StatusTrimmed', trimmed(dropped))]),
      ...(from.conditions ?? []).map(atGeneration),
    ],
    ...(properties === undefined ? {} : { properties }),
    ...(resourceUsage === undefined ? {} : { resourceUsage }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(agents.length === 0
      ? {}
      : {
          agentStatus: agents.map((agent) =>
            agent.conditions === undefined ? agent : { ...agent, conditions: agent.conditions.map(atGeneration) },
          ),
        }),
  };
}

/** Conditions that only the hub sets. */
const OWN_TYPES = ['ReadyToJoin', 'Joined', 'Healthy', 'StatusTrimmed'];

/**
 * The part of a report that may be copied; of the former copy, which is bounded already, everything but the hub's own
 * conditions.
 */
function repeatedPart({ internal, cluster, now, beatSeenAt }: Observed): {
  readonly from: MemberStatus;
  readonly dropped: readonly string[];
} {
  if (internal?.status === undefined || !hasReported(internal)) {
    const { conditions = [], ...rest } = cluster.status ?? {};
    return { from: { ...rest, conditions: conditions.filter(({ type }) => !OWN_TYPES.includes(type)) }, dropped: [] };
  }
  const facts = { now, ownTypes: OWN_TYPES, ...(beatSeenAt === undefined ? {} : { beatSeenAt }) };
  const { status, dropped } = reportedPart(internal.status, facts);
  return { from: status, dropped };
}

const MAX_NAMED = 3;

function trimmed(dropped: readonly string[]): Verdict {
  const more = dropped.length > MAX_NAMED ? ` and ${dropped.length - MAX_NAMED} more` : '';
  return {
    status: 'True',
    reason: 'ReportOutOfBounds',
    message: `The hub does not repeat all that the agent reports: ${dropped.slice(0, MAX_NAMED).join('; ')}${more}. Check the agent of the member.`,
  };
}
