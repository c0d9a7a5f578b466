// The permissions of the hub's controllers as RBAC rules, and at the end the roles of users for the kinds in their
// namespace. The permissions of agents are in agent-rights.ts.
// `flotilla roles` prints them, `flotilla hub` and `flotilla member` check theirs when they start, and the suites on
// real clusters run with exactly these.
import { allow, KEEP, KINDS, memberRules, READ, REPORT, type Rule } from './agent-rights.ts';
import { approvalRequest } from './approval-request.ts';
import { binding } from './binding.ts';
import { clusterGroup } from './cluster-group.ts';
import { clusterProfile } from './cluster-profile.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { envelope } from './envelope.ts';
import { eviction } from './eviction.ts';
import { freeze } from './freeze.ts';
import { gitRepo } from './git-repo.ts';
import { internalMemberCluster } from './internal-member-cluster.ts';
import { memberCluster } from './member-cluster.ts';
import { override } from './override.ts';
import { overrideSnapshot } from './override-snapshot.ts';
import { placement } from './placement.ts';
import { clusterResourcePlacementStatus } from './placement-status.ts';
import { policySnapshot } from './policy-snapshot.ts';
import { resourceSnapshot } from './resource-snapshot.ts';
import {
  namespaceResource,
  roleBindingResource,
  roleResource,
  secretResource,
  serviceAccountResource,
} from './resources.ts';
import { stagedUpdateRun } from './staged-update-run.ts';
import { stagedUpdateStrategy } from './staged-update-strategy.ts';
import { work } from './work.ts';

const placements = [placement.cluster, placement.namespaced];
const bindings = [binding.cluster, binding.namespaced];
const policySnapshots = [policySnapshot.cluster, policySnapshot.namespaced];
const resourceSnapshots = [resourceSnapshot.cluster, resourceSnapshot.namespaced];

const runs = [stagedUpdateRun.cluster, stagedUpdateRun.namespaced];
const strategies = [stagedUpdateStrategy.cluster, stagedUpdateStrategy.namespaced];
const approvalRequests = [approvalRequest.cluster, approvalRequest.namespaced];

/** For the hub's controllers, cluster-wide: they cannot work without these permissions. */
export const hubBasicRules: readonly Rule[] = [
  allow([...READ, 'patch'], [memberCluster]),
  allow(['patch'], [memberCluster], '/status'),
  allow(READ, [clusterGroup, freeze]),
  allow(['patch'], [clusterGroup], '/status'),
  allow([...READ, 'patch'], [gitRepo]),
  allow(['patch'], [gitRepo], '/status'),
  // A namespace, a Role and a RoleBinding for each member, and its InternalMemberCluster.
  allow([...READ, ...KEEP], [namespaceResource]),
  allow([...READ, ...KEEP], [roleResource, roleBindingResource]),
  allow([...READ, ...KEEP], [internalMemberCluster]),
  // GitRepos create and delete placements.
  allow([...READ, ...KEEP], placements),
  allow(['patch'], placements, '/status'),
  // A copy of the status for users who can read only the namespace.
  allow([...READ, 'create', 'patch'], [clusterResourcePlacementStatus]),
  allow([...READ, ...KEEP], [...policySnapshots, ...resourceSnapshots, ...bindings, work]),
  allow(['patch'], [...policySnapshots, ...bindings], '/status'),
  allow([...READ, 'patch'], [eviction]),
  allow(['patch'], [eviction], '/status'),
  allow(READ, [disruptionBudget]),
  allow([...READ, 'patch'], [override.cluster, override.namespaced]),
  allow([...READ, ...KEEP], [overrideSnapshot.cluster, overrideSnapshot.namespaced]),
  allow(READ, strategies),
  allow([...READ, 'patch'], runs),
  allow([...READ, 'create', 'delete'], approvalRequests),
  allow(['patch'], [...runs, ...approvalRequests], '/status'),
  ...KINDS,
  // A subject cannot grant permissions that it does not have, so the hub needs the permissions of members, too.
  ...memberRules,
];

/** For the objects that placements select: any kind, including kinds defined later. */
export const hubSelectingRules: readonly Rule[] = [{ apiGroups: ['*'], resources: ['*'], verbs: READ }];

/** Optional: the hub writes statuses that members report back onto its own objects. */
export const hubStatusRules: readonly Rule[] = [{ apiGroups: ['*'], resources: ['*/status'], verbs: ['patch'] }];

/** For KubeFleet's networking agents of a member in the member's namespace; only where they are expected. */
export const networkingRules: readonly Rule[] = [
  { apiGroups: ['networking.fleet.azure.com'], resources: ['*'], verbs: ['*'] },
];

const leases = (verbs: readonly string[]): Rule => ({
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs,
});

/**
 * For the hub's controllers in the system namespace: leader election, ClusterProfiles of the members, and deletion of
 * the members' identities.
 */
export const hubSystemRules: readonly Rule[] = [
  leases(['get', 'create', 'patch']),
  allow([...READ, ...KEEP], [clusterProfile]),
  allow(['patch'], [clusterProfile], '/status'),
  allow([...READ, 'delete'], [serviceAccountResource, secretResource]),
];

// ---- users. These roles grant nothing beyond a namespace, except to the approver of cluster-scoped runs.

const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const written = [
  placement.namespaced,
  stagedUpdateRun.namespaced,
  stagedUpdateStrategy.namespaced,
  override.namespaced,
  envelope.namespaced,
];

/** Users who may view a namespace see the desired state and its progress. */
export const viewRules: readonly Rule[] = [
  allow(READ, [
    placement.namespaced,
    clusterResourcePlacementStatus,
    policySnapshot.namespaced,
    binding.namespaced,
    stagedUpdateRun.namespaced,
    stagedUpdateStrategy.namespaced,
    approvalRequest.namespaced,
    override.namespaced,
    overrideSnapshot.namespaced,
  ]),
  allow(READ, [gitRepo]),
];

export const editRules: readonly Rule[] = [
  // These contain whole objects, including Secrets, so view does not include them.
  allow(READ, [resourceSnapshot.namespaced, envelope.namespaced]),
  allow(WRITE, written),
];

const approving = (scope: 'cluster' | 'namespaced'): Rule => allow(REPORT, [approvalRequest[scope]], '/status');

/**
 * Only administrators of the namespace approve; edit does not include it, so that a user who changes a run cannot
 * approve it.
 */
export const adminRules: readonly Rule[] = [
  approving('namespaced'),
  // A repository may contain Roles and RoleBindings, which only administrators of the namespace may create.
  allow(WRITE, [gitRepo]),
];

/** Allows to open gates, and nothing else. */
export const approverRules = (scope: 'cluster' | 'namespaced'): readonly Rule[] => [
  allow(READ, [stagedUpdateRun[scope], approvalRequest[scope]]),
  approving(scope),
];
