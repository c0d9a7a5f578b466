// What a member's agent must be allowed to do, as RBAC rules: on the hub, and on its own cluster. Apart from rights.ts, whose kinds an agent does not
// load.
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
/** All that a controller does to what it makes: `patch` also moves finalizers. */
export const KEEP = ['create', 'patch', 'delete'];
/** Who learns of new kinds watches what brings them. */
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
 * A member's agent on the hub, in the member's own namespace and nowhere else: reads its orders, reports on them, and tells of it.
 * Differs from KubeFleet: there a member may do everything with every fleet kind of its namespace, so a stolen identity could delete the
 * InternalMemberCluster, forge Works, and read whatever else comes to live there.
 */
export const memberRules: readonly Rule[] = [
  allow(READ, [internalMemberCluster]),
  allow(REPORT, [internalMemberCluster], '/status'),
  // update and patch: a finalizer keeps a Work until the member has cleaned up after it.
  allow([...READ, 'update', 'patch'], [work]),
  allow(REPORT, [work], '/status'),
  EVENTS,
];

/** Without these the agent is of no use. */
export const agentBasicRules: readonly Rule[] = [
  allow([...READ, ...KEEP], [appliedWork]),
  allow(['get', 'patch'], [appliedWork], '/status'),
  // Where owners that block a deletion are looked at, naming one needs this.
  allow(['update'], [appliedWork], '/finalizers'),
  allow(READ, [namespaceResource, nodeResource, podResource]),
  ...KINDS,
  EVENTS,
];

/** What the agent may place, usually anything. If its rights are smaller, it reports each object that it may not apply. */
export const agentPlacingRules: readonly Rule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: [...READ, ...KEEP] },
  // Roles are placed as they are on the hub, whatever the agent itself may do.
  {
    apiGroups: [RBAC_GROUP],
    resources: ['clusterroles', 'roles'],
    verbs: ['bind', 'escalate'],
  },
];
