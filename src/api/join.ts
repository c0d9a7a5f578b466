// The objects that `flotilla join NAME` creates on a hub: an identity that may renew its own token, and the
// MemberCluster that names it.
import type { Taint } from './member-cluster.ts';
import { memberCluster } from './member-cluster.ts';
import { finalizers, memberServiceAccount, memberTokenSecret, labels as names, SYSTEM_NAMESPACE } from './names.ts';
import { apiVersionOf, type KubeObject, type Labels } from './object.ts';
import { RBAC_GROUP } from './resources.ts';

export interface JoinOptions {
  readonly name: string;
  readonly labels?: Labels;
  readonly taints?: readonly Taint[];
  readonly heartbeatPeriodSeconds?: number;
}

/** Create them in this order; objects that already exist are kept. */
export interface JoinObjects {
  readonly namespace: KubeObject;
  readonly serviceAccount: KubeObject;
  /** Allows the agent to create tokens for this ServiceAccount only, to renew its own. */
  readonly renewalRole: KubeObject;
  readonly renewalRoleBinding: KubeObject;
  /** Only for a token that does not expire. The API server fills in `data.token` and `data['ca.crt']`. */
  readonly tokenSecret: KubeObject;
  readonly memberCluster: KubeObject;
}

export function joinObjects({ name, labels, taints, heartbeatPeriodSeconds }: JoinOptions): JoinObjects {
  const account = memberServiceAccount(name);
  const marks = { [names.joinedMember]: name };
  return {
    namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
    serviceAccount: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: account, namespace: SYSTEM_NAMESPACE, labels: marks },
    },
    renewalRole: {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: 'Role',
      metadata: { name: account, namespace: SYSTEM_NAMESPACE, labels: marks },
      rules: [{ apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [account], verbs: ['create'] }],
    },
    renewalRoleBinding: {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: 'RoleBinding',
      metadata: { name: account, namespace: SYSTEM_NAMESPACE, labels: marks },
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }],
    },
    tokenSecret: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: memberTokenSecret(name),
        namespace: SYSTEM_NAMESPACE,
        labels: marks,
        annotations: { 'kubernetes.io/service-account.name': account },
      },
      type: 'kubernetes.io/service-account-token',
    },
    memberCluster: {
      apiVersion: apiVersionOf(memberCluster.group, memberCluster.version),
      kind: memberCluster.kind,
      metadata: {
        name,
        ...(labels === undefined ? {} : { labels }),
        // Set at creation: otherwise a member that is deleted before the hub has seen it would leave its identity
        // behind.
        finalizers: [finalizers.memberCluster],
      },
      spec: {
        identity: { kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE },
        ...(heartbeatPeriodSeconds === undefined ? {} : { heartbeatPeriodSeconds }),
        ...(taints === undefined ? {} : { taints }),
      },
    },
  };
}
