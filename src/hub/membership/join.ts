// A member that joins: its namespace, its permissions, the InternalMemberCluster through which hub and agent
// communicate, and the status.
//
// Guarantee: every part may be missing, changed or incomplete; a reconcile corrects what it finds and reports in
// ReadyToJoin what it cannot correct.
import { type Hold, sentenceOf } from '../../api/hold.ts';
import { internalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { identityCauses, subjectOf } from '../../api/member-identity.ts';
import { memberNameProblem } from '../../api/member-name.ts';
import { finalizers, labels, memberNamespace, memberRole, memberRoleBinding } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { apiVersionOf } from '../../api/object.ts';
import { namespaceResource, RBAC_GROUP, roleBindingResource, roleResource } from '../../api/resources.ts';
import { canonicalJson } from '../../base/json.ts';
import { assertUnchanged, create, patch, recordEvent, refTo, remove, seen } from '../../runtime/actions.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import {
  adoption,
  foreignOwner,
  isNamesakes,
  isTerminating,
  newNamespace,
  ownerReference,
} from '../members/member-namespace.ts';
import { internalMemberClusters, memberClusters, namespaces, roleBindings, roles } from '../sources.ts';
import { isStuck, STUCK_AFTER_MS, terminatingSince } from './leave-progress.ts';
import type { Observed } from './observed.ts';
import { agentsOf, isUnreachable, memberAgentOf, READY, silentFrom, statusFor, type Verdict } from './report.ts';
import { writeStatus } from './status-patch.ts';
import { releaseWorks } from './works.ts';

type Steps = readonly (readonly Action[])[];

export function join(observed: Observed): Decision {
  const { cluster, namespace } = observed;
  const marks = marking(observed);
  const obstacle = obstacleTo(observed);

  if (obstacle !== undefined) {
    // If the namespace is not ours or is terminating, the objects in it say nothing about this member.
    const { internal: _internal, ...rest } = observed;
    const status = writeStatus(rest, statusFor(rest, { readyToJoin: refusal(observed, obstacle) }));
    const releases =
      namespace !== undefined && obstacle.code === 'NamespaceTerminating'
        ? releaseWorks(namespace, observed.works)
        : [];
    return {
      steps: marks.length > 0 ? [...marks, ...releases] : [...status, ...releases],
      holds: [obstacle, ...healthHolds(rest)],
      ...wake(rest, obstacle),
      because: sentenceOf(obstacle),
    };
  }

  const arrangements = arrange(observed);
  const refused = arrangements.length > 0 ? refusedStep(observed) : undefined;
  if (refused !== undefined) {
    const status = writeStatus(observed, statusFor(observed, { readyToJoin: verdictOf(refused) }));
    return {
      steps: marks.length > 0 ? [...marks, ...arrangements] : [...status, ...arrangements],
      holds: [refused, ...healthHolds(observed)],
      ...wake(observed),
      because: sentenceOf(refused),
    };
  }

  // Steps end with the first failure, so the status is written only after everything that it reports exists. The status
  // patch needs the resourceVersion that was read, so a reconcile that writes finalizers leaves the status to the next
  // one.
  const status = marks.length > 0 ? [] : writeStatus(observed, statusFor(observed, { readyToJoin: READY }));
  const steps = [...marks, ...arrangements, ...status];
  return {
    steps,
    holds: healthHolds(observed),
    ...wake(observed),
    because: steps.length === 0 ? `${cluster.metadata.name} is up to date` : (steps[0]?.[0]?.because ?? ''),
  };
}

// ---- what blocks

function obstacleTo(observed: Observed): Hold | undefined {
  const { cluster, namespace } = observed;
  const subject = refTo(memberClusters.resource, cluster);
  const problem = memberNameProblem(cluster.metadata.name ?? '');
  const [cause] = identityCauses(cluster.spec.identity);
  const message = problem ?? (cause === undefined ? undefined : `${cause.field}: ${cause.message}`);
  if (message !== undefined) {
    return { code: 'SpecInvalid', subject, facts: { message }, next: 'delete the MemberCluster or correct it' };
  }
  if (namespace === undefined) return undefined;
  const on = refTo(namespaces.resource, namespace);
  const owner = foreignOwner(namespace, cluster);
  if (owner !== undefined) {
    return { code: 'NamespaceForeign', subject, on, facts: { owner }, next: 'choose another name for the member' };
  }
  if (!isTerminating(namespace)) return undefined;
  return {
    code: 'NamespaceTerminating',
    subject,
    on,
    facts: namespace.remaining === undefined ? {} : { message: namespace.remaining },
    since: terminatingSince(namespace),
    next: 'look for finalizers in the namespace',
  };
}

/** The last reconcile was refused. Conflicts between two writers are normal and resolve themselves. */
function refusedStep({ cluster, failure }: Observed): Hold | undefined {
  if (failure === undefined || failure.reason === 'Conflict' || failure.reason === 'AlreadyExists') return undefined;
  const subject = refTo(memberClusters.resource, cluster);
  return {
    code: 'StepRefused',
    subject,
    facts: { message: failure.message },
    next: 'check the permissions of the hub',
  };
}

const verdictOf = (hold: Hold): Verdict => ({
  status: 'False',
  reason: hold.code as Verdict['reason'],
  message: sentenceOf(hold),
});

function refusal({ namespace, now }: Observed, obstacle: Hold): Verdict {
  if (obstacle.code !== 'NamespaceTerminating' || namespace === undefined) return verdictOf(obstacle);
  // The number of remaining objects changes all the time, so the condition reports it only once the namespace is stuck.
  if (isStuck(namespace, now)) return { ...verdictOf(obstacle), reason: 'NamespaceStuck' };
  return verdictOf({ ...obstacle, facts: {} });
}

// ---- what has to exist

/** Finalizers and label in one write. A joined member has a ClusterProfile, which is deleted before it. */
function marking({ cluster }: Observed): Steps {
  const { metadata } = cluster;
  const { name = '', finalizers: present = [] } = metadata;
  const wanted = [finalizers.memberCluster, ...(hasJoined(cluster) ? [finalizers.clusterProfileCleanup] : [])];
  const missing = wanted.filter((each) => !present.includes(each));
  const isLabelled = metadata.labels?.[labels.memberName] === name;
  if (missing.length === 0 && isLabelled) return [];
  return [
    [
      patch(
        seen(memberClusters, cluster),
        {
          metadata: {
            ...(missing.length === 0 ? {} : { finalizers: [...present, ...missing] }),
            ...(isLabelled ? {} : { labels: { [labels.memberName]: name } }),
          },
        },
        'a member has a finalizer until it has left, and its own name as label',
      ),
    ],
  ];
}

function hasJoined({ metadata, status }: MemberCluster): boolean {
  const joined = conditionOf(status?.conditions, 'Joined');
  return joined?.status === 'True' && joined.observedGeneration === metadata.generation;
}

interface Arrangement {
  readonly action: Action;
  readonly reason: string;
}

function arrange(observed: Observed): Steps {
  const { cluster } = observed;
  const wanted = [
    arrangeNamespace(observed),
    arrangeRole(observed),
    arrangeRoleBinding(observed),
    arrangeInternal(observed),
  ].filter((each) => each !== undefined);
  if (wanted.length === 0) return [];
  const events = wanted.map(({ action, reason }) =>
    recordEvent(memberClusters, cluster, { type: 'Normal', reason, message: action.because }),
  );
  // Before taking over from another member of this name, confirm that ours still exists: with a stale cache, ours may
  // be the deleted one. Adding the finalizers confirms it too.
  const isTaking = observed.namespace !== undefined && isNamesakes(observed.namespace, cluster);
  const asks: Steps =
    isTaking && marking(observed).length === 0
      ? [[assertUnchanged(seen(memberClusters, cluster), `makes sure that ${cluster.metadata.name} is still there`)]]
      : [];
  // One after the other: each needs the namespace, and the RoleBinding needs the Role.
  return [...asks, ...wanted.map(({ action }) => [action]), events];
}

function arrangeNamespace({ cluster, namespace }: Observed): Arrangement | undefined {
  if (namespace === undefined) {
    const because = `creates namespace ${memberNamespace(cluster.metadata.name ?? '')}`;
    return { action: create('hub', namespaceResource, newNamespace(cluster), because), reason: 'NamespaceCreated' };
  }
  const merge = adoption(namespace, cluster);
  if (merge === undefined) return undefined;
  const because = `adopts namespace ${namespace.metadata.name}`;
  return { action: patch(seen(namespaces, namespace), merge, because), reason: 'NamespacePatched' };
}

const within = (observed: Observed, name: string) => ({
  name,
  namespace: memberNamespace(observed.cluster.metadata.name ?? ''),
  ownerReferences: [ownerReference(observed.cluster)],
});

function arrangeRole(observed: Observed): Arrangement | undefined {
  const { cluster, role, settings } = observed;
  const name = memberRole(cluster.metadata.name ?? '');
  const { rules } = settings;
  if (role === undefined) {
    const object = {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: 'Role',
      metadata: within(observed, name),
      rules,
    };
    return { action: create('hub', roleResource, object, `creates Role ${name}`), reason: 'RoleCreated' };
  }
  if (role.rules === canonicalJson(rules)) return undefined;
  return { action: patch(seen(roles, role), { rules }, `restores the rules of Role ${name}`), reason: 'RoleUpdated' };
}

function arrangeRoleBinding(observed: Observed): Arrangement | undefined {
  const { cluster, roleBinding } = observed;
  const name = memberRoleBinding(cluster.metadata.name ?? '');
  const roleRef = { apiGroup: RBAC_GROUP, kind: 'Role', name: memberRole(cluster.metadata.name ?? '') };
  const subjects = [subjectOf(cluster.spec.identity)];
  if (roleBinding === undefined) {
    const object = {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: 'RoleBinding',
      metadata: within(observed, name),
      roleRef,
      subjects,
    };
    const because = `creates RoleBinding ${name}`;
    return { action: create('hub', roleBindingResource, object, because), reason: 'RoleBindingCreated' };
  }
  // The roleRef of a RoleBinding is immutable: it is deleted, and the next reconcile creates it again.
  if (roleBinding.roleRef !== canonicalJson(roleRef)) {
    const because = `removes RoleBinding ${name}, which binds another role`;
    return { action: remove(seen(roleBindings, roleBinding), because), reason: 'RoleBindingUpdated' };
  }
  if (roleBinding.subjects === canonicalJson(subjects)) return undefined;
  const because = `binds ${cluster.spec.identity.kind} ${cluster.spec.identity.name} in RoleBinding ${name}`;
  return { action: patch(seen(roleBindings, roleBinding), { subjects }, because), reason: 'RoleBindingUpdated' };
}

function arrangeInternal(observed: Observed): Arrangement | undefined {
  const { cluster, internal } = observed;
  const { name = '' } = cluster.metadata;
  const spec = { state: 'Join', heartbeatPeriodSeconds: cluster.spec.heartbeatPeriodSeconds };
  if (internal === undefined) {
    const object = {
      apiVersion: apiVersionOf(internalMemberCluster.group, internalMemberCluster.version),
      kind: internalMemberCluster.kind,
      metadata: within(observed, name),
      spec,
    };
    return {
      action: create('hub', internalMemberCluster, object, `creates InternalMemberCluster ${name}`),
      reason: 'InternalMemberClusterCreated',
    };
  }
  if (canonicalJson(internal.spec) === canonicalJson(spec)) return undefined;
  return {
    action: patch(
      seen(internalMemberClusters, internal),
      { spec },
      `sets state ${spec.state} and a heartbeat every ${spec.heartbeatPeriodSeconds} s`,
    ),
    reason: 'InternalMemberClusterSpecUpdated',
  };
}

// ---- what the member waits for, and until when

function healthHolds(observed: Observed): readonly Hold[] {
  const { cluster, settings } = observed;
  const subject = refTo(memberClusters.resource, cluster);
  if (memberAgentOf(agentsOf(observed)) === undefined) {
    return [{ code: 'AgentNotConnected', subject, facts: {}, next: 'start the agent of the member' }];
  }
  if (!isUnreachable(observed)) return [];
  const seconds = settings.unreachablePeriods * cluster.spec.heartbeatPeriodSeconds;
  return [{ code: 'Unreachable', subject, facts: { seconds }, next: 'check the agent and its connection to the hub' }];
}

/** The next time at which something changes without an event. */
function wake(observed: Observed, obstacle?: Hold): Pick<Decision, 'wakeAt'> {
  const moments = [
    isUnreachable(observed) ? undefined : silentFrom(observed),
    obstacle?.code === 'NamespaceTerminating' && obstacle.since !== undefined
      ? obstacle.since + STUCK_AFTER_MS
      : undefined,
  ].filter((each) => each !== undefined && each > observed.now) as number[];
  return moments.length === 0 ? {} : { wakeAt: Math.min(...moments) };
}
