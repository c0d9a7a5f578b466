// When a leaving member counts as deleted. A reachable agent leaves by itself; an unreachable one may never answer, and
// nothing may wait for it. Differs from KubeFleet: there the scheduler ignores a member with a deletionTimestamp until
// its object is deleted, which takes 15 minutes if it is dead.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

/** The number of missed heartbeats after which a leaving member counts as deleted. */
export const GONE_PERIODS = 6;

export const isLeaving = ({ metadata }: Pick<MemberCluster, 'metadata'>): boolean =>
  metadata.deletionTimestamp !== undefined;

/** The time of the newest heartbeat by the agent's clock; undefined = there never was one. */
export const heartbeatOf = ({ status }: MemberCluster): string | undefined =>
  status?.agentStatus?.find(({ type }) => type === 'MemberAgent')?.lastReceivedHeartbeat;

/**
 * When a leaving member counts as deleted, by the hub's clock. `heardAt`: when the hub saw its newest heartbeat. After
 * a restart the hub counts again, but for a member that was already unreachable the count continues.
 */
export function goneFrom(member: MemberCluster, heardAt: number): number {
  if (heartbeatOf(member) === undefined) return 0;
  const healthy = conditionOf(member.status?.conditions, 'Healthy');
  const unreachableSince = healthy?.reason === 'MemberUnreachable' ? Date.parse(healthy.lastTransitionTime) : heardAt;
  const lastHeard = Number.isNaN(unreachableSince) ? heardAt : Math.min(heardAt, unreachableSince);
  return lastHeard + GONE_PERIODS * member.spec.heartbeatPeriodSeconds * 1000;
}
