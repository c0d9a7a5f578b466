// The heartbeat: while a member belongs to the fleet, its agent reports periodically; when asked to leave, it releases
// its Works, reports that, and stops.
//
// Guarantee: one write per beat. Between beats only changed namespaces are reported, at most every second, because a
// placement may wait for one; nothing else causes a write. Only the agent's own entry is touched.
import { type InternalMemberCluster, isPurging } from '../../api/internal-member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { finalizers } from '../../api/names.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import { by } from '../../base/compare.ts';
import type { JsonObject } from '../../base/json.ts';
import { threeWayPatch } from '../../base/three-way-merge.ts';
import { type EventText, patch, patchStatus, recordEvent, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import type { AgentWork, HubSources } from '../sources.ts';
import { COALESCE_MS } from './changes.ts';
import {
  areKnown,
  type Facts,
  NAMESPACE_COLLECTION,
  namespacesOf,
  type Usage,
  usageOf,
  withCollection,
} from './facts.ts';
import { type OwnServer, propertiesOf } from './own-server.ts';
import type { Beat } from './pulse.ts';

export interface Observed {
  readonly internal: InternalMemberCluster;
  readonly works: readonly AgentWork[];
  /** Absent before the first probe of the member's API server has ended. */
  readonly beat?: Beat;
  /** The hub has received this beat; another client may have replaced it since. */
  readonly isTold?: boolean;
  /** The stamp of a heartbeat that another agent reported under our name. */
  readonly rival?: string;
  readonly facts: Facts;
  /** What is known of the member's API server. */
  readonly server?: OwnServer;
  /** Since when the member's namespaces differ from those reported. */
  readonly changedSince?: number;
  readonly failure?: Failure;
  readonly now: number;
  readonly sources: HubSources;
}

type Steps = readonly (readonly Action[])[];
type AgentStatus = NonNullable<MemberStatus['agentStatus']>[number];

const OWN_TYPE = 'MemberAgent';
const PATIENCE_MS = 10_000;

export function decide(observed: Observed): Decision {
  const { state } = observed.internal.spec;
  switch (state) {
    case 'Join':
      return report(observed);
    case 'Leave':
      return leave(observed);
    default:
      return idle(`does not know the state ${String(state satisfies never)}`);
  }
}

// ---- Join

function report(observed: Observed): Decision {
  const { internal, beat } = observed;
  if (beat === undefined) return idle('waits for the first answer of its own API server');
  const agent = agentOf(internal);
  const joined = conditionOf(agent?.conditions, 'Joined');
  const isAnswered = joined?.status === 'True' && joined.observedGeneration === internal.metadata.generation;
  if (isAnswered && (observed.isTold || agent?.lastReceivedHeartbeat === beat.stamp)) return betweenBeats(observed);
  // Otherwise a new member would have no nodes for a whole period. An unhealthy member is reported at once, and one
  // whose nodes cannot be listed after a short wait.
  const patienceEnds = beat.at + PATIENCE_MS;
  if (agent === undefined && beat.health.ok && !areKnown(observed.facts) && observed.now < patienceEnds) {
    return idle('waits to know the member before the first report', { wakeAt: patienceEnds });
  }
  return {
    steps: writeStatus(observed, heartbeat(observed, beat)),
    holds: [],
    because: `reports the heartbeat of ${beat.stamp}`,
  };
}

/** This write is not a heartbeat, because the API server was not probed. */
function betweenBeats(observed: Observed): Decision {
  const { changedSince, now } = observed;
  if (changedSince === undefined) return idle('the next heartbeat is not due');
  const due = changedSince + COALESCE_MS;
  if (now < due) return idle('collects further changes of the namespaces', { wakeAt: due });
  return { steps: writeStatus(observed, withNamespaces(observed)), holds: [], because: 'the namespaces have changed' };
}

function withNamespaces({ internal, facts, now }: Observed): MemberStatus {
  const before = internal.status;
  const { namespaces, condition } = namespacesOf(facts, before);
  const others = (before?.conditions ?? []).filter(({ type }) => type !== NAMESPACE_COLLECTION);
  const told =
    condition === undefined
      ? []
      : [nextCondition(conditionOf(before?.conditions, condition.type), at(internal, condition), now)];
  return { ...before, conditions: [...told, ...others], ...(namespaces === undefined ? {} : { namespaces }) };
}

function heartbeat(observed: Observed, { stamp, health, collection }: Beat): MemberStatus {
  const { internal, facts, server, rival, now } = observed;
  const before = internal.status;
  const { namespaces, condition } = namespacesOf(facts, before);
  const conditions = [
    ...(condition === undefined ? [] : [condition]),
    ...(rival === undefined ? [] : [notAlone(rival)]),
    ...(collection?.findings ?? []),
  ].map((finding) => nextCondition(conditionOf(before?.conditions, finding.type), at(internal, finding), now));
  const agent: AgentStatus = {
    type: OWN_TYPE,
    conditions: agentConditions(observed, [
      { type: 'Joined', status: 'True', reason: 'InternalMemberClusterJoined', message: '' },
      health.ok
        ? { type: 'Healthy', status: 'True', reason: 'InternalMemberClusterHealthy', message: '' }
        : { type: 'Healthy', status: 'False', reason: 'InternalMemberClusterUnhealthy', message: health.cause },
    ]),
    lastReceivedHeartbeat: stamp,
  };
  return {
    ...(conditions.length === 0 ? {} : { conditions }),
    ...withCollection(withServer(usageOf(facts, before, now), server, now), before, collection, now),
    ...(namespaces === undefined ? {} : { namespaces }),
    agentStatus: withOwn(before?.agentStatus, agent),
  };
}

function withServer(usage: Usage, server: OwnServer | undefined, now: number): Usage {
  const known = server === undefined ? {} : propertiesOf(server, now);
  return Object.keys(known).length === 0 ? usage : { ...usage, properties: { ...usage.properties, ...known } };
}

/** Two agents would overwrite each other's reports indefinitely, and each report by itself looks correct. */
const notAlone = (rival: string): Finding => ({
  type: 'SoleAgent',
  status: 'False',
  reason: 'AnotherAgentReports',
  message: `the heartbeat of ${rival} came from another agent: two agents run under this name; stop one of them`,
});

// ---- Leave

function leave(observed: Observed): Decision {
  const { internal, works, failure, sources } = observed;
  const joined = conditionOf(agentOf(internal)?.conditions, 'Joined');
  if (joined?.status === 'False' && joined.observedGeneration === internal.metadata.generation) {
    return idle('has left; no more heartbeats');
  }
  const held = works
    .filter(({ metadata }) => metadata.finalizers?.includes(finalizers.workCleanup))
    .toSorted(by((work) => work.metadata.name ?? ''));
  // The applier releases each Work after its placed objects are deleted.
  if (isPurging(internal) && held.length > 0)
    return idle(`waits until the objects of ${held.length} Works are removed`);
  const complaint =
    failure === undefined || held.length === 0
      ? []
      : writeStatus(observed, withJoined(observed, 'Unknown', 'InternalMemberClusterFailedToLeave', failure.message));
  const release = held.map((work) =>
    patch(
      seen(sources.works, work),
      { metadata: { finalizers: work.metadata.finalizers?.filter((each) => each !== finalizers.workCleanup) ?? [] } },
      `removes the finalizer from Work ${work.metadata.name}`,
    ),
  );
  // Reported only after all Works are released: steps stop at the first failure. A failure report changes the object,
  // so this report waits for the next reconcile.
  const goodbye =
    complaint.length > 0 ? [] : writeStatus(observed, withJoined(observed, 'False', 'InternalMemberClusterLeft', ''));
  return {
    steps: [...complaint, ...(release.length === 0 ? [] : [release]), ...goodbye],
    holds: [],
    because: `leaves: removes the finalizer from ${held.length} Works`,
  };
}

function withJoined(observed: Observed, status: 'False' | 'Unknown', reason: string, message: string): MemberStatus {
  const { internal } = observed;
  const former = agentOf(internal);
  const healthy = conditionOf(former?.conditions, 'Healthy');
  const [joined] = agentConditions(observed, [{ type: 'Joined', status, reason, message }]);
  const agent: AgentStatus = {
    ...former,
    type: OWN_TYPE,
    conditions: [...(joined === undefined ? [] : [joined]), ...(healthy === undefined ? [] : [healthy])],
  };
  return { ...internal.status, agentStatus: withOwn(internal.status?.agentStatus, agent) };
}

// ---- both

const agentOf = (internal: InternalMemberCluster): AgentStatus | undefined =>
  internal.status?.agentStatus?.find((each) => each.type === OWN_TYPE);

const withOwn = (agents: readonly AgentStatus[] | undefined, own: AgentStatus): readonly AgentStatus[] => {
  const others = (agents ?? []).filter((each) => each.type !== OWN_TYPE);
  return [own, ...others];
};

const at = <T extends Finding>(internal: InternalMemberCluster, finding: T): T =>
  internal.metadata.generation === undefined
    ? finding
    : { ...finding, observedGeneration: internal.metadata.generation };

const agentConditions = ({ internal, now }: Observed, findings: readonly Finding[]) =>
  findings.map((finding) =>
    nextCondition(conditionOf(agentOf(internal)?.conditions, finding.type), at(internal, finding), now),
  );

function writeStatus({ internal, sources }: Observed, wanted: MemberStatus): Steps {
  const live = (internal.status ?? {}) as JsonObject;
  const difference = threeWayPatch({ last: live, wanted: wanted as JsonObject, live });
  if (Object.keys(difference).length === 0) return [];
  const events = eventsIn(internal.status, wanted).map((event) => recordEvent(sources.internal, internal, event));
  return [
    [patchStatus(seen(sources.internal, internal), difference, 'reports to the hub')],
    ...(events.length === 0 ? [] : [events]),
  ];
}

/** Differs from KubeFleet: a failure to join or leave is a Warning. */
function eventsIn(before: MemberStatus | undefined, after: MemberStatus): readonly EventText[] {
  const own = (status: MemberStatus | undefined) => status?.agentStatus?.find((each) => each.type === OWN_TYPE);
  const changed = (own(after)?.conditions ?? []).filter(
    (now) => conditionOf(own(before)?.conditions, now.type)?.status !== now.status,
  );
  const alarms = (after.conditions ?? []).filter(
    (now) => now.type === 'SoleAgent' && conditionOf(before?.conditions, now.type) === undefined,
  );
  return [
    ...changed.map((now): EventText => {
      const isGood = now.type === 'Joined' ? now.status !== 'Unknown' : now.status === 'True';
      return {
        type: isGood ? 'Normal' : 'Warning',
        reason: now.reason,
        message: now.message || SAID[now.reason] || '',
      };
    }),
    ...alarms.map((now): EventText => ({ type: 'Warning', reason: now.reason, message: now.message })),
  ];
}

/** Conditions of a healthy member have no message; an Event without one would be useless. */
const SAID: Readonly<Record<string, string>> = {
  InternalMemberClusterJoined: 'the member agent has joined',
  InternalMemberClusterLeft: 'the member agent has left',
  InternalMemberClusterHealthy: 'the API server of the member is ready',
};
