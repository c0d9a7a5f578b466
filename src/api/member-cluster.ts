// MemberCluster: a cluster of the fleet.
import { deepEqual } from '../base/json.ts';
import { defineKind, type Infer, rule, s, type WithSpec } from './build.ts';
import { age, conditionStatus, date, text, wide } from './columns.ts';
import { conditionsByType } from './conditions.ts';
import { clusterGroup, V1 } from './groups.ts';
import { heartbeatPeriodSeconds } from './heartbeat.ts';
import type { AdmitRequest, Admitted, Kind } from './kind.ts';
import { identityCauses } from './member-identity.ts';
import {
  type AgentReason,
  MAX_REPORTED_CONDITIONS,
  type MemberStatus,
  memberStatus,
  type PropertyCondition,
  type PropertyReason,
} from './member-status.ts';
import { memberNamespace, SYSTEM_NAMESPACE } from './names.ts';
import type { KubeObject } from './object.ts';
import { LABEL_VALUE, LABEL_VALUE_LENGTH, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from './patterns.ts';

const taint = s.object(
  {
    key: s.string({ doc: 'The taint key.', pattern: QUALIFIED_NAME, maxLength: QUALIFIED_NAME_LENGTH }),
    value: s.optional(s.string({ doc: 'The taint value.', pattern: LABEL_VALUE, maxLength: LABEL_VALUE_LENGTH })),
    effect: s.oneOf(['NoSchedule'], { doc: 'NoSchedule: no new resources; those already there stay.' }),
  },
  { doc: 'One taint.' },
);
export type Taint = Infer<typeof taint>;

const spec = s.object(
  {
    identity: s.object(
      {
        kind: s.string({ doc: 'User, Group or ServiceAccount.' }),
        name: s.string({ doc: 'Name of the identity.' }),
        apiGroup: s.optional(s.string({ doc: 'API group of the identity; filled in for User and Group.' })),
        namespace: s.optional(s.string({ doc: 'Namespace of a ServiceAccount.' })),
      },
      { doc: 'Identity of the member agent on the hub.', atomic: true },
    ),
    heartbeatPeriodSeconds,
    taints: s.optional(
      s.array(taint, {
        doc: 'Keeps placements away that do not tolerate them.',
        maxItems: 100,
        rules: [rule('self.all(one, self.exists_one(other, other == one))', 'taints has an entry twice')],
      }),
    ),
    deleteOptions: s.optional(
      s.object(
        {
          validationMode: s.defaulted(
            s.oneOf(['Strict', 'Skip'], { doc: 'Whether a deletion is checked for what it would break.' }),
            'Strict',
          ),
        },
        { doc: 'How the cluster leaves the fleet.' },
      ),
    ),
  },
  { doc: 'Desired state.' },
);

const status = memberStatus(conditionsByType('The state of the membership.', MAX_REPORTED_CONDITIONS));

const usage = (kind: string, resource: string) => `.status.resourceUsage.${kind}.${resource}`;

const kind = defineKind({
  in: clusterGroup,
  versions: V1,
  namespaced: false,
  kind: 'MemberCluster',
  plural: 'memberclusters',
  short: 'cluster',
  doc: 'A cluster of the fleet.',
  spec,
  status,
  // Differs from KubeFleet: it accepts 63 characters and dots, and then forever fails to create the member's namespace.
  rules: [
    rule(
      "size(self.metadata.name) <= 50 && !self.metadata.name.contains('.')",
      'metadata.name may have at most 50 characters and no dots: the namespace fleet-member-<name> is made from it',
    ),
  ],
  columns: [
    conditionStatus('Joined', 'Joined'),
    conditionStatus('Healthy', 'Healthy'),
    age,
    date('Member-Agent-Last-Seen', '.status.agentStatus[?(@.type=="MemberAgent")].lastReceivedHeartbeat'),
    text('Node-Count', '.status.properties.kubernetes-fleet\\.io/node-count.value'),
    text('Available-CPU', usage('available', 'cpu')),
    text('Available-Memory', usage('available', 'memory')),
    wide(text('Allocatable-CPU', usage('allocatable', 'cpu'))),
    wide(text('Allocatable-Memory', usage('allocatable', 'memory'))),
  ],
});

/**
 * Rejects an identity that a RoleBinding cannot name: otherwise the member would wait forever, and only a condition
 * would show why.
 */
function admit({ verb, subresource, object, old }: AdmitRequest<MemberClusterSpec, MemberStatus>): Admitted {
  if (object === undefined || verb === 'delete' || subresource !== undefined) return admitted(object ?? old);
  const identity = object.spec?.identity;
  // An unchanged identity is not validated again: a new label or finalizer must not fail because of it.
  if (identity === undefined || deepEqual(identity, old?.spec?.identity)) return admitted(object);
  const causes = identityCauses(identity);
  if (causes.length > 0) return { ok: false, causes };
  return admitted(
    object,
    identity.kind === 'ServiceAccount' && !identity.namespace
      ? [
          `spec.identity: a ServiceAccount without a namespace means one in ${memberNamespace(object.metadata.name ?? '')}; most live in ${SYSTEM_NAMESPACE}`,
        ]
      : [],
  );
}

const admitted = (object: KubeObject | undefined, warnings: readonly string[] = []): Admitted => ({
  ok: true,
  object: object as KubeObject,
  warnings,
});

export const memberCluster: Kind<MemberClusterSpec, MemberStatus> = Object.freeze({ ...kind, admit });

export type MemberClusterSpec = Infer<typeof spec>;
export type MemberCluster = WithSpec<MemberClusterSpec, MemberStatus>;

export type MemberClusterCondition =
  | 'ReadyToJoin'
  | 'Joined'
  | 'Healthy'
  /** Ours. True while the hub omits a part of the agent's report; otherwise absent. */
  | 'StatusTrimmed'
  | PropertyCondition;
export type MemberClusterReason =
  | 'MemberClusterReadyToJoin'
  | 'MemberClusterNotReadyToJoin'
  | 'MemberClusterJoined'
  | 'MemberClusterLeft'
  | 'MemberClusterJoinStateUnknown'
  | 'MemberUnreachable'
  // Ours: why a member cannot join or has not left yet.
  | 'Leaving'
  | 'NamespaceForeign'
  | 'NamespaceStuck'
  | 'NamespaceTerminating'
  | 'SpecInvalid'
  | 'StepRefused'
  | 'ReportOutOfBounds'
  // Healthy copies the reason of the agent.
  | AgentReason
  | PropertyReason;
