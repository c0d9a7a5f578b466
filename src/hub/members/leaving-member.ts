// When a member that is being deleted counts as gone. An agent that still reports leaves by itself; one that does not may never answer, and
// nothing may wait for it.
// Differs from KubeFleet: there the scheduler ignores a member with a deletionTimestamp until its object is gone, 15 minutes for a dead one.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

/** So many heartbeats may be missed before a member that is being deleted counts as gone. */
export const GONE_PERIODS = 6;

export const isLeaving = ({ metadata }: Pick<MemberCluster, 'metadata'>): boolean =>
  metadata.deletionTimestamp !== undefined;

/** The time of the newest heartbeat as the agent wrote it; undefined = there was never one. */
export const heartbeatOf = ({ status }: MemberCluster): string | undefined =>
  status?.agentStatus?.find(({ type }) => type === 'MemberAgent')?.lastReceivedHeartbeat;

/**
 * The moment from which a leaving member counts as gone, by the hub's clock. `heardAt`: when the hub saw its newest heartbeat. After a restart
 * the hub counts again, but a member that it called unreachable before was not heard since then.
 */
export function goneFrom(member: MemberCluster, heardAt: number): number {
  if (heartbeatOf(member) === undefined) return 0;
  const healthy = conditionOf(member.status?.conditions, 'Healthy');
  const unreachableSince = healthy?.reason === 'MemberUnreachable' ? Date.parse(healthy.lastTransitionTime) : heardAt;
  const lastHeard = Number.isNaN(unreachableSince) ? heardAt : Math.min(heardAt, unreachableSince);
  return lastHeard + GONE_PERIODS * member.spec.heartbeatPeriodSeconds * 1000;
}
