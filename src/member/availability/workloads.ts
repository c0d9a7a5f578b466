// Deployments, StatefulSets and DaemonSets: available when every desired replica runs the newest template and is
// available. If only existing replicas counted, a crashing update would be available.
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';
import type { LabelSelector } from '../../base/selector.ts';
import { trouble } from './trouble.ts';
import {
  available,
  conditionIn,
  count,
  failed,
  fieldsOf,
  isObserved,
  type NewestPods,
  notYet,
  type Rule,
  wantedReplicas,
} from './verdict.ts';

/**
 * The message contains the desired number, which changes only with the spec, and not the actual number, which changes
 * all the time.
 */
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
  if (!isObserved(live)) return notYet(waits(wanted));
  const progressing = conditionIn(live, 'Progressing');
  const isStuck = progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded';
  const starting = startingOf(live);
  return isStuck
    ? failed('it made no progress within its deadline', howFar(live), starting)
    : notYet(waits(wanted), starting);
};

/** The Deployment itself reports a Pod that cannot be created (quota, admission); for other causes see its Pods. */
function startingOf(live: KubeObject) {
  const failure = conditionIn(live, 'ReplicaFailure');
  if (failure?.status === 'True') return { trouble: trouble('FailedCreate', failure.message) };
  const revision = live.metadata.annotations?.[REVISION];
  return revision === undefined ? {} : newest(live, { revision });
}

const REVISION = 'deployment.kubernetes.io/revision';

const newest = (live: KubeObject, more: Omit<NewestPods, 'selector'>): { readonly pods?: NewestPods } => {
  const { selector } = fieldsOf(live.spec);
  return isObject(selector) ? { pods: { selector: selector as LabelSelector, ...more } } : {};
};

/** The progress of the rollout, and the conditions that its controller reports. */
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
  if (isThere) return available;
  const revision = status['updateRevision'];
  const isKnown = isObserved(live) && typeof revision === 'string';
  return notYet(waits(wanted), isKnown ? newest(live, { labels: { 'controller-revision-hash': revision } }) : {});
};

export const daemonSet: Rule = (live) => {
  const status = fieldsOf(live.status);
  const isThere =
    isObserved(live) &&
    count(status, 'numberAvailable') === count(status, 'desiredNumberScheduled') &&
    count(status, 'currentNumberScheduled') === count(status, 'updatedNumberScheduled');
  if (isThere) return available;
  const generation = live.metadata.annotations?.['deprecated.daemonset.template.generation'];
  const isKnown = isObserved(live) && generation !== undefined;
  return notYet(
    'it is not up to date and available on all of its nodes yet',
    isKnown ? newest(live, { labels: { 'pod-template-generation': generation } }) : {},
  );
};
