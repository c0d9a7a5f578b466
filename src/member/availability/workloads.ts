// Deployments, StatefulSets and DaemonSets: available when every wanted replica runs the newest template and is available. Counting only replicas
// that exist would call a crashing update available.
import type { KubeObject } from '../../api/object.ts';
import {
  available,
  conditionIn,
  count,
  failed,
  fieldsOf,
  isObserved,
  notYet,
  type Rule,
  wantedReplicas,
} from './verdict.ts';

/** How many it wants changes only with its spec; how many are there changes all the time. */
const waits = (wanted: number): string =>
  wanted === 1
    ? 'its replica is not up to date and available yet'
    : `not all of its ${wanted === 0 ? '' : `${wanted} `}replicas are up to date and available yet`;

export const deployment: Rule = (live) => {
  const status = fieldsOf(live.status);
  const wanted = wantedReplicas(live);
  const isThere =
    isObserved(live) &&
    count(status, 'availableReplicas') === wanted &&
    count(status, 'updatedReplicas') === wanted &&
    count(status, 'unavailableReplicas') === 0;
  if (isThere) return available;
  const progressing = conditionIn(live, 'Progressing');
  const isStuck =
    isObserved(live) && progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded';
  return isStuck ? failed('it made no progress within its deadline', howFar(live)) : notYet(waits(wanted));
};

/** How far it came, and what its own controller says. */
function howFar(live: KubeObject): string {
  const status = fieldsOf(live.status);
  const wanted = wantedReplicas(live);
  const counted = (name: string) => `${count(status, name)} of ${wanted}`;
  const failure = conditionIn(live, 'ReplicaFailure');
  const said = [conditionIn(live, 'Progressing'), failure?.status === 'True' ? failure : undefined];
  return [
    `${counted('updatedReplicas')} replicas are updated, ${counted('availableReplicas')} are available`,
    ...said.flatMap((each) => (each?.message ? [each.message.replace(/\.$/, '')] : [])),
  ].join('; ');
}

export const statefulSet: Rule = (live) => {
  const status = fieldsOf(live.status);
  const wanted = wantedReplicas(live);
  const isThere =
    isObserved(live) &&
    count(status, 'availableReplicas') === wanted &&
    count(status, 'currentReplicas') === count(status, 'updatedReplicas') &&
    status['currentRevision'] === status['updateRevision'];
  return isThere ? available : notYet(waits(wanted));
};

export const daemonSet: Rule = (live) => {
  const status = fieldsOf(live.status);
  const isThere =
    isObserved(live) &&
    count(status, 'numberAvailable') === count(status, 'desiredNumberScheduled') &&
    count(status, 'currentNumberScheduled') === count(status, 'updatedNumberScheduled');
  return isThere ? available : notYet('it is not up to date and available on all of its nodes yet');
};
