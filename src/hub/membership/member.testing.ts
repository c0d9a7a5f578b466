// A member and its objects on the hub, as a test needs them, from full objects through the real projections.

import { memberRules } from '../../api/agent-rights.ts';
import type { Condition } from '../../api/conditions.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster, MemberClusterSpec } from '../../api/member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { finalizers, labels } from '../../api/names.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import type { HubProfile } from '../profiles/sources.ts';
import { namespaces, roleBindings, roles } from '../sources.ts';
import { works } from '../work-source.ts';
import { defaultSettings } from './controller.ts';
import type { Observed, Settings } from './observed.ts';

export const NOW = Date.parse('2026-01-01T00:00:00Z');
export const MINUTE = 60_000;
export const ago = (ms: number): string => kubeTime(NOW - ms);

const meta = (name: string, more: ObjectMeta = {}): ObjectMeta => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  ...more,
});

export const aCondition = (type: string, status: Condition['status'], more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: ago(MINUTE),
  ...more,
});

export const anAgent = (
  joined: Condition['status'] | undefined,
  more: {
    readonly healthy?: Condition['status'];
    readonly stamp?: string;
    readonly generation?: number;
    readonly type?: string;
  } = {},
): NonNullable<MemberStatus['agentStatus']>[number] => {
  const { healthy = 'True', stamp = ago(1000), generation = 1, type = 'MemberAgent' } = more;
  return {
    type,
    conditions: [
      ...(joined === undefined
        ? []
        : [aCondition('Joined', joined, { reason: 'InternalMemberClusterJoined', observedGeneration: generation })]),
      aCondition('Healthy', healthy, { reason: 'InternalMemberClusterHealthy', observedGeneration: generation }),
    ],
    lastReceivedHeartbeat: stamp,
  };
};

export interface ClusterSetup {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<MemberClusterSpec>;
  readonly status?: MemberStatus;
}

/** With finalizer and label, with an identity, without a report. */
export const aCluster = ({ metadata = {}, spec = {}, status }: ClusterSetup = {}): MemberCluster => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: meta('east', {
    generation: 1,
    finalizers: [finalizers.memberCluster],
    labels: { [labels.memberName]: 'east' },
    ...metadata,
  }),
  spec: {
    identity: { kind: 'ServiceAccount', name: 'east-hub-cluster-access', namespace: 'fleet-system' },
    heartbeatPeriodSeconds: 60,
    ...spec,
  },
  ...(status === undefined ? {} : { status }),
});

export const leavingSince = (ms: number): ClusterSetup => ({ metadata: { deletionTimestamp: ago(ms), generation: 2 } });

const owner = {
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  name: 'east',
  uid: 'uid-east',
  controller: true,
};

export const aNamespace = (more: ObjectMeta = {}, status: unknown = { phase: 'Active' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: meta('fleet-member-east', {
    labels: { [labels.isFleetResource]: 'true' },
    ownerReferences: [owner],
    ...more,
  }),
  status,
});

export const aRole = (rules: unknown = memberRules): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: meta('fleet-role-east', { namespace: 'fleet-member-east' }),
  rules,
});

export const aRoleBinding = (more: { readonly subjects?: unknown; readonly roleRef?: unknown } = {}): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: meta('fleet-rolebinding-east', { namespace: 'fleet-member-east' }),
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'fleet-role-east' },
  subjects: [{ kind: 'ServiceAccount', name: 'east-hub-cluster-access', namespace: 'fleet-system' }],
  ...more,
});

export const anInternal = (
  more: {
    readonly state?: 'Join' | 'Leave';
    readonly generation?: number;
    readonly period?: number;
    readonly status?: MemberStatus;
  } = {},
): InternalMemberCluster => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'InternalMemberCluster',
  metadata: {
    ...meta('east', { namespace: 'fleet-member-east', generation: more.generation ?? 1 }),
    uid: 'uid-internal',
  },
  spec: { state: more.state ?? 'Join', heartbeatPeriodSeconds: more.period ?? 60 },
  ...(more.status === undefined ? {} : { status: more.status }),
});

export const aWork = (name: string, finalizersOfWork: readonly string[] = [finalizers.workCleanup]): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'Work',
  metadata: meta(name, { namespace: 'fleet-member-east', finalizers: finalizersOfWork }),
});

export interface Setup {
  readonly cluster?: MemberCluster;
  readonly internal?: InternalMemberCluster | null;
  readonly namespace?: KubeObject | null;
  readonly role?: KubeObject | null;
  readonly roleBinding?: KubeObject | null;
  readonly works?: readonly KubeObject[];
  readonly profile?: HubProfile;
  readonly beatSeenAt?: number;
  readonly identities?: Observed['identities'];
  readonly failure?: Observed['failure'];
  readonly now?: number;
  readonly settings?: Partial<Settings>;
}

const project = <T>(source: { project?(object: KubeObject): T }, object: KubeObject): T =>
  source.project?.(object) as T;

/** A complete member by default; `null` = the object does not exist. */
export function observed(setup: Setup = {}): Observed {
  const { cluster = aCluster(), internal = anInternal(), namespace = aNamespace() } = setup;
  const { role = aRole(), roleBinding = aRoleBinding() } = setup;
  return {
    cluster,
    ...(internal === null ? {} : { internal }),
    ...(namespace === null ? {} : { namespace: project(namespaces, namespace) }),
    ...(role === null ? {} : { role: project(roles, role) }),
    ...(roleBinding === null ? {} : { roleBinding: project(roleBindings, roleBinding) }),
    works: (setup.works ?? []).map((work) => project(works, work)),
    ...(setup.profile === undefined ? {} : { profile: setup.profile }),
    ...(setup.beatSeenAt === undefined ? {} : { beatSeenAt: setup.beatSeenAt }),
    ...(setup.identities === undefined ? {} : { identities: setup.identities }),
    ...(setup.failure === undefined ? {} : { failure: setup.failure }),
    now: setup.now ?? NOW,
    settings: { ...defaultSettings, ...setup.settings },
  };
}

/**
 * A decision in words: `create Namespace fleet-member-east`, `patch MemberCluster east (status)`, `event
 * NamespaceCreated`.
 */
export const inWords = ({ steps }: Decision): readonly string[] => steps.flat().map(words);

function words(action: Action): string {
  switch (action.do) {
    case 'create':
      return `create ${action.resource.kind} ${action.object.metadata.name}`;
    case 'patch':
    case 'json-patch':
      return `patch ${action.of.resource.kind} ${action.of.name}${action.subresource === undefined ? '' : ' (status)'}`;
    case 'delete':
      return `delete ${action.of.resource.kind} ${action.of.name}`;
    case 'event':
      return `${action.type === 'Warning' ? 'warning' : 'event'} ${action.reason}`;
  }
}

interface StatusPatch {
  readonly status: MemberStatus;
}

/** The status patch of the decision. */
export function statusPatch({ steps }: Decision): MemberStatus | undefined {
  const action = steps.flat().find((each) => each.do === 'patch' && each.subresource === 'status');
  return action?.do === 'patch' ? (action.merge as unknown as StatusPatch).status : undefined;
}

/** `True/Reason` of a condition that the decision writes. */
export function written(decision: Decision, type: string): string | undefined {
  const condition = statusPatch(decision)?.conditions?.find((each) => each.type === type);
  return condition === undefined ? undefined : `${condition.status}/${condition.reason}`;
}
