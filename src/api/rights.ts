// What the hub's controllers must be allowed to do, as RBAC rules, and at the end what people may do with the kinds of their namespace. The rights of
// agents are in agent-rights.ts.
// `flotilla roles` prints them, `flotilla hub` and `flotilla member` check theirs when they start, and the suites on real clusters run with
// nothing more.
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

/** The hub's controllers, in the whole cluster: without these they are of no use. */
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
  // GitRepos create placements and delete them.
  allow([...READ, ...KEEP], placements),
  allow(['patch'], placements, '/status'),
  // A copy of the status for people who can read only the namespace.
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
  // A subject cannot grant rights that it does not have, so the rights of members are repeated here.
  ...memberRules,
];

/** What placements may select: any kind, also one that is defined tomorrow. */
export const hubSelectingRules: readonly Rule[] = [{ apiGroups: ['*'], resources: ['*'], verbs: READ }];

/** Only on request: statuses that members report back are written onto the objects on the hub. */
export const hubStatusRules: readonly Rule[] = [{ apiGroups: ['*'], resources: ['*/status'], verbs: ['patch'] }];

/** What KubeFleet's networking agents of a member use in its namespace; only where they are expected. */
export const networkingRules: readonly Rule[] = [
  { apiGroups: ['networking.fleet.azure.com'], resources: ['*'], verbs: ['*'] },
];

const leases = (verbs: readonly string[]): Rule => ({
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs,
});

/** The hub's controllers, in the namespace of the system: replicas elect a leader, members have ClusterProfiles, and their identities end with them. */
export const hubSystemRules: readonly Rule[] = [
  leases(['get', 'create', 'patch']),
  allow([...READ, ...KEEP], [clusterProfile]),
  allow(['patch'], [clusterProfile], '/status'),
  allow([...READ, 'delete'], [serviceAccountResource, secretResource]),
];

// ---- people. These roles grant nothing beyond a namespace, except to the approver of cluster-scoped runs.

const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const written = [
  placement.namespaced,
  stagedUpdateRun.namespaced,
  stagedUpdateStrategy.namespaced,
  override.namespaced,
  envelope.namespaced,
];

/** Who may look at a namespace sees what is asked for and how far it is. */
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
  // These carry whole objects, Secrets among them, which who may only look does not see.
  allow(READ, [resourceSnapshot.namespaced, envelope.namespaced]),
  allow(WRITE, written),
];

const approving = (scope: 'cluster' | 'namespaced'): Rule => allow(REPORT, [approvalRequest[scope]], '/status');

/** Who changes a run does not approve it: that is for the administrators of the namespace. */
export const adminRules: readonly Rule[] = [
  approving('namespaced'),
  // A repository may bring Roles and RoleBindings, which only administrators of the namespace may create.
  allow(WRITE, [gitRepo]),
];

/** Opens gates and does nothing else. */
export const approverRules = (scope: 'cluster' | 'namespaced'): readonly Rule[] => [
  allow(READ, [stagedUpdateRun[scope], approvalRequest[scope]]),
  approving(scope),
];
