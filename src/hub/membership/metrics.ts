// Metrics of members: how many joined and left, as in KubeFleet, and the state of each one, which KubeFleet does not
// report.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { registered } from '../status/registered.ts';

export interface MemberMetrics {
  /** Records the present state of a member. `beatSeenAt`: when the hub saw its newest heartbeat. */
  looked(member: MemberCluster, beatSeenAt: number | undefined): void;
  forget(name: string): void;
}

export const noMemberMetrics: MemberMetrics = { looked() {}, forget() {} };

const TYPES = ['ReadyToJoin', 'Joined', 'Healthy'] as const;

export function memberMetrics(registry: Registry): MemberMetrics {
  const counter = (name: string, help: string) =>
    registered(registry, name, () => new Counter({ name, help, labelNames: ['result'], registers: [registry] }));
  const gauge = (name: string, help: string, labelNames: readonly string[]) =>
    registered(registry, name, () => new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] }));
  const joins = counter('join_result_counter', 'Members that have joined.');
  const leaves = counter('leave_result_counter', 'Members that have left.');
  const beats = gauge(
    'flotilla_member_last_heartbeat_timestamp_seconds',
    'When the hub saw the newest heartbeat of a member.',
    ['cluster'],
  );
  const states = gauge('flotilla_member_condition', 'Conditions of a member: 1 = True, 0 = False, -1 = Unknown.', [
    'cluster',
    'type',
  ]);
  const joined = new Map<string, string | undefined>();
  return {
    looked({ metadata, status }, beatSeenAt) {
      const cluster = metadata.name ?? '';
      if (beatSeenAt !== undefined) beats.set({ cluster }, beatSeenAt / 1000);
      for (const type of TYPES) {
        const found = conditionOf(status?.conditions, type)?.status;
        if (found === undefined) states.remove({ cluster, type });
        else states.set({ cluster, type }, found === 'True' ? 1 : found === 'False' ? 0 : -1);
      }
      const now = conditionOf(status?.conditions, 'Joined')?.status;
      // After a restart, members that joined before are not counted again.
      if (joined.has(cluster) && joined.get(cluster) !== now) {
        if (now === 'True') joins.inc({ result: 'success' });
        if (now === 'False') leaves.inc({ result: 'success' });
      }
      joined.set(cluster, now);
    },
    forget(cluster) {
      joined.delete(cluster);
      beats.remove({ cluster });
      for (const type of TYPES) states.remove({ cluster, type });
    },
  };
}
