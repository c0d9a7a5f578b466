// Whether the hub still hears a member: what membership says on the MemberCluster, read by whoever must not count on a silent one.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';

export const isReachable = ({ status }: MemberCluster): boolean =>
  conditionOf(status?.conditions, 'Healthy')?.reason !== 'MemberUnreachable';
