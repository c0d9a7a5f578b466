// The progress of a leave, in messages and times.
import type { Hold } from '../../api/hold.ts';
import { kubeTime } from '../../base/clock.ts';
import { refTo } from '../../runtime/actions.ts';
import { type HubNamespace, memberClusters } from '../sources.ts';
import type { Observed } from './observed.ts';
import { agentsOf, isUnreachable, memberAgentOf } from './report.ts';
import { isHeld } from './works.ts';

const MINUTE = 60_000;
/** A namespace that has been terminating for this long is probably stuck. */
export const STUCK_AFTER_MS = 15 * MINUTE;
/** How often the number of remaining Works is updated while a member leaves: otherwise each Work would cost a write. */
export const PROGRESS_EVERY_MS = 10_000;

export const terminatingSince = ({ metadata }: HubNamespace): number => Date.parse(metadata.deletionTimestamp ?? '');

export const isStuck = (namespace: HubNamespace, now: number): boolean =>
  now - terminatingSince(namespace) >= STUCK_AFTER_MS;

export const leavingSince = ({ cluster }: Observed): number => Date.parse(cluster.metadata.deletionTimestamp ?? '');

/** Why the agent may never answer; undefined = it should. */
function silence(observed: Observed): string | undefined {
  if (observed.internal === undefined) return undefined;
  if (memberAgentOf(agentsOf(observed)) === undefined) return 'its agent has never connected';
  return isUnreachable(observed) ? 'its agent is unreachable' : undefined;
}

/** Nothing of the hub is on the cluster and there is no agent to ask, so the member is removed at once. */
export const hasNeverReported = ({ internal, cluster, works }: Observed): boolean =>
  [internal?.status, cluster.status].every((status) => (status?.agentStatus ?? []).length === 0) && !works.some(isHeld);

export function leavingHold(observed: Observed): Hold {
  const { cluster, works, settings } = observed;
  const since = leavingSince(observed);
  const agent = silence(observed);
  const forcedAt = since + settings.forceDeleteWaitMs;
  const isAtOnce = hasNeverReported(observed);
  return {
    code: 'Leaving',
    subject: refTo(memberClusters.resource, cluster),
    facts: {
      works: works.filter(isHeld).length,
      ...(agent === undefined ? {} : { agent }),
      ...(agent === undefined || isAtOnce ? {} : { forcedAt: kubeTime(forcedAt) }),
    },
    since,
    ...(isAtOnce ? {} : { until: forcedAt }),
    next: 'wait, or check the agent of the member',
  };
}
