// Whether the hub receives heartbeats of a member, as membership reports it on the MemberCluster; for controllers that
// must not rely on an unreachable member.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

export const isReachable = ({ status }: MemberCluster): boolean =>
  conditionOf(status?.conditions, 'Healthy')?.reason !== 'MemberUnreachable';
