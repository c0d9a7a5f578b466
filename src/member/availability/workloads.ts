// Deployments, StatefulSets and DaemonSets: available when every wanted replica runs the newest template and is available. Counting only replicas
// that exist would call a crashing update available.
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

const WAITS = 'not all of its replicas are up to date and available yet';

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
  return isStuck ? failed('it made no progress within its deadline') : notYet(WAITS);
};

export const statefulSet: Rule = (live) => {
  const status = fieldsOf(live.status);
  const isThere =
    isObserved(live) &&
    count(status, 'availableReplicas') === wantedReplicas(live) &&
    count(status, 'currentReplicas') === count(status, 'updatedReplicas') &&
    status['currentRevision'] === status['updateRevision'];
  return isThere ? available : notYet(WAITS);
};

export const daemonSet: Rule = (live) => {
  const status = fieldsOf(live.status);
  const isThere =
    isObserved(live) &&
    count(status, 'numberAvailable') === count(status, 'desiredNumberScheduled') &&
    count(status, 'currentNumberScheduled') === count(status, 'updatedNumberScheduled');
  return isThere ? available : notYet('it is not up to date and available on all of its nodes yet');
};
