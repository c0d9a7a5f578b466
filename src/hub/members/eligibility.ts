// Whether a member may be picked for new placements. An ineligible member keeps what it has.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

export type Eligibility =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: IneligibleCode; readonly reason: string };

export type IneligibleCode =
  | 'Left'
  | 'AgentNotOnline'
  | 'NoRecentHeartbeat'
  | 'AgentNotJoined'
  | 'HealthUnknown'
  | 'Unhealthy';

const MINUTE = 60_000;
const LEAST_TIMEOUT = 5 * MINUTE;
const PERIODS = 3;

/**
 * How long a member may be unreachable or unhealthy. Differs from KubeFleet: there it is five minutes whatever the
 * period, so a member that reports every ten minutes is ineligible half of the time.
 */
export const eligibilityTimeoutMs = (heartbeatPeriodSeconds: number): number =>
  Math.max(LEAST_TIMEOUT, PERIODS * heartbeatPeriodSeconds * 1000);

const ELIGIBLE: Eligibility = Object.freeze({ ok: true });
const no = (code: IneligibleCode, reason: string): Eligibility => ({ ok: false, code, reason });

/** Called for every member in each cycle, so it allocates no closure. */
function agentOf({ status }: MemberCluster) {
  for (const each of status?.agentStatus ?? NONE) if (each.type === 'MemberAgent') return each;
  return undefined;
}

const NONE: NonNullable<NonNullable<MemberCluster['status']>['agentStatus']> = [];

/**
 * The first rule that fails gives the reason. Differs from KubeFleet: reasons have absolute times, because they are
 * part of the decisions in policy snapshots, and ages would change these with each evaluation.
 */
export function eligibility(cluster: MemberCluster, now: number): Eligibility {
  const timeoutMs = eligibilityTimeoutMs(cluster.spec.heartbeatPeriodSeconds);
  if (cluster.metadata.deletionTimestamp !== undefined) return no('Left', 'cluster has left the fleet');

  const agent = agentOf(cluster);
  if (agent === undefined)
    return no('AgentNotOnline', 'cluster is not connected to the fleet: member agent not online yet');

  const silentMs = now - Date.parse(agent.lastReceivedHeartbeat ?? '');
  if (!(silentMs <= timeoutMs)) {
    const since = Number.isNaN(silentMs) ? 'ever' : `since ${agent.lastReceivedHeartbeat}`;
    return no('NoRecentHeartbeat', `cluster is not connected to the fleet: no recent heartbeat, none ${since}`);
  }

  if (conditionOf(agent.conditions, 'Joined')?.status !== 'True') {
    return no('AgentNotJoined', 'cluster is not connected to the fleet: member agent not joined yet');
  }

  const healthy = conditionOf(agent.conditions, 'Healthy');
  if (healthy === undefined) {
    return no('HealthUnknown', 'cluster is not connected to the fleet: health condition not available');
  }
  if (healthy.status === 'True') return ELIGIBLE;
  const unhealthyMs = now - Date.parse(healthy.lastTransitionTime);
  if (!(unhealthyMs <= timeoutMs)) {
    return no('Unhealthy', `cluster is not connected to the fleet: unhealthy since ${healthy.lastTransitionTime}`);
  }
  return ELIGIBLE;
}
