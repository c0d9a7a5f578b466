// `flotilla roles`: identities and roles as YAML for `kubectl apply -f -`. The hub's controllers need no administrator;
// they grant a member's agent its permissions on the hub, in a namespace of its own. For users, there are roles without
// subjects: three aggregate to Kubernetes' view, edit and admin, so that a user with one of these in a namespace can
// use our kinds there; two are for approvers, and an administrator has to bind them.

import { agentBasicRules, agentPlacingRules, type Rule } from '../../api/agent-rights.ts';
import { HUB_ACCOUNT, SYSTEM_NAMESPACE } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { RBAC_GROUP } from '../../api/resources.ts';
import {
  adminRules,
  approverRules,
  editRules,
  hubBasicRules,
  hubSelectingRules,
  hubStatusRules,
  hubSystemRules,
  networkingRules,
  viewRules,
} from '../../api/rights.ts';
import { writeYaml } from '../../base/write-yaml.ts';

export const ROLE_TARGETS = ['hub', 'hub-status', 'hub-networking', 'member', 'people'] as const;
export type RoleTarget = (typeof ROLE_TARGETS)[number];

export const AGENT_ACCOUNT = 'flotilla-member';
/** Bound by a RoleBinding: gates of the runs in its namespace. */
export const APPROVER = 'flotilla-approver';
/** Bound by a ClusterRoleBinding: gates of ClusterStagedUpdateRuns. */
export const CLUSTER_APPROVER = 'flotilla-cluster-approver';

const RBAC = `${RBAC_GROUP}/v1`;

const role = (kind: 'Role' | 'ClusterRole', name: string, rules: readonly Rule[]): KubeObject => ({
  apiVersion: RBAC,
  kind,
  metadata: { name, ...(kind === 'Role' ? { namespace: SYSTEM_NAMESPACE } : {}) },
  rules: rules as never,
});

/** A role that aggregates to the Kubernetes role of that name. */
const addTo = (usual: 'view' | 'edit' | 'admin', rules: readonly Rule[]): KubeObject => {
  const { metadata, ...rest } = role('ClusterRole', `flotilla-${usual}`, rules);
  return { ...rest, metadata: { ...metadata, labels: { [`${RBAC_GROUP}/aggregate-to-${usual}`]: 'true' } } };
};

/** Binds the role of this name and kind to the account. */
const grant = (kind: 'Role' | 'ClusterRole', name: string, account: string): KubeObject => ({
  apiVersion: RBAC,
  kind: `${kind}Binding`,
  metadata: { name, ...(kind === 'Role' ? { namespace: SYSTEM_NAMESPACE } : {}) },
  roleRef: { apiGroup: RBAC_GROUP, kind, name },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM_NAMESPACE }],
});

const identity = (account: string): readonly KubeObject[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: SYSTEM_NAMESPACE } },
];

const OBJECTS: Readonly<Record<RoleTarget, readonly KubeObject[]>> = {
  hub: [
    ...identity(HUB_ACCOUNT),
    role('ClusterRole', HUB_ACCOUNT, hubBasicRules),
    grant('ClusterRole', HUB_ACCOUNT, HUB_ACCOUNT),
    // Separate, so that an administrator who wants the hub to read less can replace it.
    role('ClusterRole', `${HUB_ACCOUNT}-selecting`, hubSelectingRules),
    grant('ClusterRole', `${HUB_ACCOUNT}-selecting`, HUB_ACCOUNT),
    role('Role', HUB_ACCOUNT, hubSystemRules),
    grant('Role', HUB_ACCOUNT, HUB_ACCOUNT),
  ],
  'hub-status': [
    role('ClusterRole', `${HUB_ACCOUNT}-status`, hubStatusRules),
    grant('ClusterRole', `${HUB_ACCOUNT}-status`, HUB_ACCOUNT),
  ],
  'hub-networking': [
    role('ClusterRole', `${HUB_ACCOUNT}-networking`, networkingRules),
    grant('ClusterRole', `${HUB_ACCOUNT}-networking`, HUB_ACCOUNT),
  ],
  member: [
    ...identity(AGENT_ACCOUNT),
    role('ClusterRole', AGENT_ACCOUNT, agentBasicRules),
    grant('ClusterRole', AGENT_ACCOUNT, AGENT_ACCOUNT),
    // Separate, so that an administrator who wants to grant less can replace it.
    role('ClusterRole', `${AGENT_ACCOUNT}-placing`, agentPlacingRules),
    grant('ClusterRole', `${AGENT_ACCOUNT}-placing`, AGENT_ACCOUNT),
  ],
  people: [
    addTo('view', viewRules),
    addTo('edit', editRules),
    addTo('admin', adminRules),
    role('ClusterRole', APPROVER, approverRules('namespaced')),
    role('ClusterRole', CLUSTER_APPROVER, approverRules('cluster')),
  ],
};

export const rolesFor = (target: RoleTarget): readonly KubeObject[] => OBJECTS[target];

export const roles = (target: RoleTarget): string => yamlOf(OBJECTS[target]);

export const yamlOf = (objects: readonly KubeObject[]): string =>
  objects.map((object) => `---\n${writeYaml(object)}`).join('');
