// A member that leaves: its agent is asked to leave, removes its finalizers from the Works and reports that; then the
// namespace is deleted with everything of the member on the hub. Workloads on the member keep running, unless the
// MemberCluster is annotated to purge them.
//
// Guarantee: it always ends. The wait for an unreachable agent is limited, and finalizers that stay on Works are
// removed here, even while the namespace is terminating.
import { type Hold, sentenceOf } from '../../api/hold.ts';
import { annotations, finalizers, PURGE } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { formatDuration } from '../../base/duration.ts';
import { assertUnchanged, patch, recordEvent, refTo, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, idle } from '../../runtime/controller.ts';
import { isNamesakes, isOurs, isTerminating } from '../members/member-namespace.ts';
import { hasProfileFinalizer, isOf } from '../profiles/decide.ts';
import { internalMemberClusters, memberClusters, namespaces } from '../sources.ts';
import {
  hasNeverReported,
  isStuck,
  leavingHold,
  leavingSince,
  PROGRESS_EVERY_MS,
  terminatingSince,
} from './leave-progress.ts';
import type { Observed } from './observed.ts';
import { joinedVerdict, statusFor, type Verdict } from './report.ts';
import { writeStatus } from './status-patch.ts';
import { releaseWorks } from './works.ts';

type Steps = readonly (readonly Action[])[];

export function leave(observed: Observed): Decision {
  const { cluster, namespace, internal, now, settings } = observed;
  const released = withoutProfile(observed);
  if (released !== undefined) return released;
  if (!cluster.metadata.finalizers?.includes(finalizers.memberCluster)) return idle('it has no finalizer of the hub');

  // The namespace of another member of this name: either it belongs to the successor and our cache is stale, or to the
  // predecessor and is about to be deleted. Removing our finalizer now would orphan our own namespace, with no
  // controller left to remove the finalizers of its Works.
  if (namespace !== undefined && isNamesakes(namespace, cluster)) {
    if (isTerminating(namespace)) return waitForNamespace(observed, leavingHold(observed));
    return idle('its namespace belongs to another member of its name');
  }

  // A namespace with another owner, and everything in it, is left alone.
  if (namespace === undefined || !isOurs(namespace, cluster)) return removed(observed);

  // The cache is stale: a successor exists already.
  if (internal !== undefined && isNamesakes(internal, cluster)) return idle('its name is taken by another member');

  const hold = leavingHold(observed);
  if (isTerminating(namespace)) return waitForNamespace(observed, hold);

  if (internal === undefined) return collect(observed, hold, 'its InternalMemberCluster does not exist any more');
  if (hasLeft(observed)) return collect(observed, hold, 'its agents have left');
  if (hasNeverReported(observed)) {
    // The cache may be stale: a first report in the meantime fails this write, and the agent is asked to leave.
    const sure = assertUnchanged(seen(internalMemberClusters, internal), 'makes sure that no agent has reported');
    const { steps, ...rest } = collect(observed, hold, 'no agent of it has ever reported');
    return { ...rest, steps: [[sure], ...steps] };
  }
  const forcedAt = leavingSince(observed) + settings.forceDeleteWaitMs;
  if (internal.spec.state === 'Leave' && now >= forcedAt) {
    const waited = formatDuration(settings.forceDeleteWaitMs);
    return collect(observed, hold, `its agents did not leave within ${waited}`, {
      reason: 'MemberClusterLeaveForced',
      message: `the member was removed although its agents did not leave within ${waited}; what is still there keeps running`,
    });
  }

  const asks: Steps =
    internal.spec.state === 'Leave'
      ? []
      : [[patch(seen(internalMemberClusters, internal), leaveRequest(observed), 'asks the agents to leave')]];
  return {
    steps: [...asks, ...progress(observed, hold)],
    holds: [hold],
    wakeAt: Math.max(now + 1, Math.min(forcedAt, now + PROGRESS_EVERY_MS)),
    because: sentenceOf(hold),
  };
}

/** A profile that a stale cache does not have is garbage collected with its owner. */
function withoutProfile({ cluster, profile, isProfileUnknown }: Observed): Decision | undefined {
  if (isProfileUnknown || !hasProfileFinalizer(cluster) || (profile !== undefined && isOf(profile, cluster)))
    return undefined;
  const rest = (cluster.metadata.finalizers ?? []).filter((each) => each !== finalizers.clusterProfileCleanup);
  const because = 'its ClusterProfile is deleted';
  const action = patch(seen(memberClusters, cluster), { metadata: { finalizers: rest } }, because);
  return { steps: [[action]], holds: [], because, again: 'at once' };
}

/** Both in one write, so that the agent never sees the request to leave without its mode. */
function leaveRequest({ cluster }: Observed) {
  const isPurged = cluster.metadata.annotations?.[annotations.onLeave] === PURGE;
  return {
    ...(isPurged ? { metadata: { annotations: { [annotations.onLeave]: PURGE } } } : {}),
    spec: { state: 'Leave' },
  };
}

/** Only a report about the present generation counts: an older one may be from before the request to leave. */
function hasLeft({ internal, settings }: Observed): boolean {
  if (internal?.spec.state !== 'Leave') return false;
  const agents = internal.status?.agentStatus ?? [];
  if (joinedVerdict(agents, settings.agents).status !== 'False') return false;
  return agents
    .filter((agent) => settings.agents.some((type) => type === agent.type))
    .every((agent) => conditionOf(agent.conditions, 'Joined')?.observedGeneration === internal.metadata.generation);
}

/** The token of a deleted member must not be accepted any more. */
function removed({ cluster, identities = [] }: Observed): Decision {
  const rest = (cluster.metadata.finalizers ?? []).filter((each) => each !== finalizers.memberCluster);
  const because = 'its namespace was deleted: the member has left';
  const action = patch(seen(memberClusters, cluster), { metadata: { finalizers: rest } }, because);
  const revoked = identities
    .filter(({ item }) => item.metadata.deletionTimestamp === undefined)
    .map(({ source, item }) => [remove(seen(source, item), 'the identity of a member that has left')]);
  return { steps: [...revoked, [action]], holds: [], because };
}

/** Removes the finalizers of the Works, then deletes the namespace with everything in it. */
function collect(
  observed: Observed,
  hold: Hold,
  because: string,
  warning?: { readonly reason: string; readonly message: string },
): Decision {
  const { cluster, namespace } = observed;
  if (namespace === undefined) return removed(observed);
  return {
    steps: [
      ...progress(observed, hold),
      ...releaseWorks(namespace, observed.works),
      [remove(seen(namespaces, namespace), because, 'Background')],
      ...(warning === undefined ? [] : [[recordEvent(memberClusters, cluster, { type: 'Warning', ...warning })]]),
    ],
    holds: [hold],
    because,
  };
}

function waitForNamespace(observed: Observed, hold: Hold): Decision {
  const { cluster, namespace, now } = observed;
  if (namespace === undefined) return removed(observed);
  const going: Hold = {
    code: 'NamespaceTerminating',
    subject: refTo(memberClusters.resource, cluster),
    on: refTo(namespaces.resource, namespace),
    facts: namespace.remaining === undefined ? {} : { message: namespace.remaining },
    since: terminatingSince(namespace),
    next: 'look for finalizers in the namespace',
  };
  // Most namespaces are deleted before a user could read this.
  const takesTime = now - terminatingSince(namespace) >= PROGRESS_EVERY_MS;
  return {
    steps: [...releaseWorks(namespace, observed.works), ...(takesTime ? progress(observed, going) : [])],
    holds: [hold, going],
    wakeAt: now + PROGRESS_EVERY_MS,
    because: sentenceOf(going),
  };
}

/** The condition reports the progress. A changed number is no transition, so it records no Event. */
function progress(observed: Observed, hold: Hold): Steps {
  const { internal, namespace, cluster, settings, now } = observed;
  const agents = internal?.status?.agentStatus ?? cluster.status?.agentStatus ?? [];
  const verdict = (reason: Verdict['reason']): Verdict => ({ status: 'False', reason, message: sentenceOf(hold) });
  const isLeft = joinedVerdict(agents, settings.agents).status === 'False';
  const readyToJoin =
    namespace !== undefined && isTerminating(namespace) && isStuck(namespace, now)
      ? verdict('NamespaceStuck')
      : verdict(isLeft ? 'MemberClusterNotReadyToJoin' : 'Leaving');
  return writeStatus(observed, statusFor(observed, { readyToJoin, isLeaving: true }));
}
