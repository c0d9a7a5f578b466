// Whether the hub still sees heartbeats of a member: what membership reports on the MemberCluster, for controllers
// that must not rely on an unreachable one.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

export const isReachable = ({ status }: MemberCluster): boolean =>
  conditionOf(status?.conditions, 'Healthy')?.reason !== 'MemberUnreachable';
