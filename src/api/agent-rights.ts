// The permissions of a member's agent as RBAC rules: on the hub, and on its own cluster. Separate from rights.ts, so
// that an agent does not load the kinds of the hub.
import { appliedWork } from './applied-work.ts';
import { internalMemberCluster } from './internal-member-cluster.ts';
import type { Resource } from './kind.ts';
import { namespaceResource, nodeResource, podResource, RBAC_GROUP } from './resources.ts';
import { work } from './work.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export const READ = ['get', 'list', 'watch'];
export const REPORT = ['get', 'update', 'patch'];
/** For objects that a controller creates: `patch` also changes finalizers. */
export const KEEP = ['create', 'patch', 'delete'];
/** To learn of new kinds, a process watches CustomResourceDefinitions and APIServices. */
export const KINDS: readonly Rule[] = [
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: READ },
  { apiGroups: ['apiregistration.k8s.io'], resources: ['apiservices'], verbs: READ },
];
const EVENTS: Rule = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] };

/** One rule for resources of one group. */
export function allow(verbs: readonly string[], resources: readonly Resource[], subresource = ''): Rule {
  const [first] = resources as readonly [Resource];
  return { apiGroups: [first.group], resources: resources.map(({ plural }) => `${plural}${subresource}`), verbs };
}

/**
 * A member's agent on the hub, only in the member's own namespace: it reads Works, and reports on them and on its
 * cluster.
 * Differs from KubeFleet: there a member has all verbs on every fleet kind in its namespace, so a stolen identity could
 * delete the InternalMemberCluster, forge Works, and read any other object there.
 */
export const memberRules: readonly Rule[] = [
  allow(READ, [internalMemberCluster]),
  allow(REPORT, [internalMemberCluster], '/status'),
  // update and patch: the agent's finalizer keeps a Work until the member has cleaned up.
  allow([...READ, 'update', 'patch'], [work]),
  allow(REPORT, [work], '/status'),
  EVENTS,
];

/** The agent cannot work without these permissions. */
export const agentBasicRules: readonly Rule[] = [
  allow([...READ, ...KEEP], [appliedWork]),
  allow(['get', 'patch'], [appliedWork], '/status'),
  // Needed for blockOwnerDeletion on API servers with the OwnerReferencesPermissionEnforcement admission plugin.
  allow(['update'], [appliedWork], '/finalizers'),
  allow(READ, [namespaceResource, nodeResource, podResource]),
  ...KINDS,
  EVENTS,
];

/**
 * What the agent may place, usually everything. With fewer permissions it reports each object that it may not apply.
 */
export const agentPlacingRules: readonly Rule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: [...READ, ...KEEP] },
  // Roles are placed as they are on the hub, whatever permissions the agent itself has.
  {
    apiGroups: [RBAC_GROUP],
    resources: ['clusterroles', 'roles'],
    verbs: ['bind', 'escalate'],
  },
];
