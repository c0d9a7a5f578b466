// InternalMemberCluster: how hub and agent exchange the state of one membership, in the member's own namespace on the
// hub.
import { defineKind, type Infer, s, type WithSpec } from './build.ts';
import { age, date, text } from './columns.ts';
import { conditionList } from './conditions.ts';
import { clusterGroup, V1 } from './groups.ts';
import { heartbeatPeriodSeconds } from './heartbeat.ts';
import { MAX_REPORTED_CONDITIONS, type MemberStatus, memberStatus } from './member-status.ts';
import { annotations, PURGE } from './names.ts';

const spec = s.object(
  {
    state: s.oneOf(['Join', 'Leave'], { doc: 'Whether the member should be part of the fleet.' }),
    heartbeatPeriodSeconds,
  },
  { doc: 'Desired state.' },
);

const status = memberStatus(conditionList('Observed state, reported by the agent.', MAX_REPORTED_CONDITIONS));

const agentCondition = (type: string): string =>
  `.status.agentStatus[?(@.type=="MemberAgent")].conditions[?(@.type=="${type}")].status`;

export const internalMemberCluster = defineKind({
  in: clusterGroup,
  versions: V1,
  namespaced: true,
  kind: 'InternalMemberCluster',
  plural: 'internalmemberclusters',
  short: 'imc',
  doc: 'The hub asks the agent of one member to join or leave, and the agent reports its status. Users do not write it.',
  spec,
  status,
  columns: [
    text('State', '.spec.state'),
    text('Joined', agentCondition('Joined')),
    text('Healthy', agentCondition('Healthy')),
    date('Last-Seen', '.status.agentStatus[?(@.type=="MemberAgent")].lastReceivedHeartbeat'),
    age,
  ],
});

/** The agent must remove the placed objects before it leaves. */
export const isPurging = ({ metadata, spec }: InternalMemberCluster): boolean =>
  spec.state === 'Leave' && metadata.annotations?.[annotations.onLeave] === PURGE;

export type InternalMemberClusterSpec = Infer<typeof spec>;
export type InternalMemberCluster = WithSpec<InternalMemberClusterSpec, MemberStatus>;
