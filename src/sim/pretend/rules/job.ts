// A Job: Pods until enough have succeeded or too many have failed. Counts never decrease, so finished Pods may be
// deleted.

import type { Condition, Job, JobSpec, JobStatus, Pod } from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { kubeTime } from '../../../base/clock.ts';
import { freePodNames, lettersOf } from '../names.ts';
import { isActive, isReady, managedPods, namesOf } from '../pods.ts';
import { conditionOf, isDeleting, timeOf } from '../reading.ts';
import { jobs, pods } from '../resources.ts';
import { earliest, managedBy, nothing, type Outcome, type Rule, statusWrites, type Write } from '../rule.ts';
import { positive, withCondition } from './deployment.ts';
import type { PodsRelated } from './replica-set.ts';

const INDEX = 'batch.kubernetes.io/job-completion-index';
const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 600_000;

export const job: Rule<Job, PodsRelated> = (object, related, now) => {
  const { spec, status = {} } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const mine = managedPods(related.pods, object.metadata.uid);
  const active = mine.filter(isActive);
  const end = endOf(status);
  if (end !== undefined) return afterwards(object, spec, end, active, now);
  const view: View = { object, spec, status, mine, active, taken: namesOf(related.pods), now };
  const failure = failureOf(view);
  if (failure !== undefined) return fail(view, failure);
  if (spec.suspend === true) return suspend(view);
  if (isEnough(view)) {
    const conditions = [
      conditionAt(now, 'SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods'),
      conditionAt(now, 'Complete', 'CompletionsReached', 'Reached expected number of succeeded pods'),
    ];
    return {
      writes: [...removeAll(active, 'complete'), ...report(view, { conditions, end: kubeTime(now), active: 0 })],
    };
  }
  return work(view);
};

interface View {
  readonly object: Job;
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly mine: readonly Pod[];
  readonly active: readonly Pod[];
  readonly taken: ReadonlySet<string>;
  readonly now: number;
}

const countOf = ({ mine }: View, phase: string): number => mine.filter((pod) => pod.status?.phase === phase).length;
const succeededIn = (view: View): number => Math.max(view.status.succeeded ?? 0, countOf(view, 'Succeeded'));
const failedIn = (view: View): number => Math.max(view.status.failed ?? 0, countOf(view, 'Failed'));
const isIndexed = ({ spec }: View): boolean => spec.completionMode === 'Indexed';
const indexOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[INDEX] ?? -1);

const conditionAt = (now: number, type: string, reason: string, message: string, status = 'True'): Condition =>
  ({ type, status, lastProbeTime: kubeTime(now), lastTransitionTime: kubeTime(now), reason, message }) as Condition;

const removeAll = (active: readonly Pod[], because: string): readonly Write[] =>
  active.map((of): Write => ({ do: 'delete', resource: pods, of, because }));

function endOf({ conditions }: JobStatus): Condition | undefined {
  return ['Complete', 'Failed'].map((type) => conditionOf(conditions, type)).find((each) => each?.status === 'True');
}

/** A finished Job: its running Pods are deleted, and after its TTL the Job, too. */
function afterwards(object: Job, spec: JobSpec, end: Condition, active: readonly Pod[], now: number): Outcome {
  if (active.length > 0) return { writes: removeAll(active, 'the Job is over') };
  if (spec.ttlSecondsAfterFinished === undefined) return nothing;
  const until = timeOf(end.lastTransitionTime) + spec.ttlSecondsAfterFinished * 1000;
  if (now < until) return { writes: [], wakeAt: until };
  return { writes: [{ do: 'delete', resource: jobs, of: object, because: 'ttlSecondsAfterFinished' }] };
}

interface Failure {
  readonly reason: string;
  readonly message: string;
}

function failureOf(view: View): Failure | undefined {
  const { spec, status, now } = view;
  if (failedIn(view) > spec.backoffLimit) {
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const deadline = deadlineOf(spec, status);
  return deadline !== undefined && spec.suspend !== true && deadline <= now
    ? { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
    : undefined;
}

const deadlineOf = ({ activeDeadlineSeconds }: JobSpec, { startTime }: JobStatus): number | undefined =>
  activeDeadlineSeconds === undefined || startTime === undefined
    ? undefined
    : timeOf(startTime) + activeDeadlineSeconds * 1000;

function fail(view: View, { reason, message }: Failure): Outcome {
  const { now, active } = view;
  const conditions = [conditionAt(now, 'FailureTarget', reason, message), conditionAt(now, 'Failed', reason, message)];
  const failed = failedIn(view) + active.length;
  return { writes: [...removeAll(active, reason), ...report(view, { conditions, active: 0, failed })] };
}

function suspend(view: View): Outcome {
  const { status, now, active } = view;
  const suspended = conditionAt(now, 'Suspended', 'JobSuspended', 'Job suspended');
  const conditions = withCondition(status.conditions ?? [], suspended);
  return { writes: [...removeAll(active, 'suspended'), ...report(view, { conditions, active: 0 })] };
}

function isEnough(view: View): boolean {
  const { spec, active } = view;
  if (isIndexed(view)) return completedIndexes(view).length >= (spec.completions ?? 0);
  if (spec.completions === undefined) return succeededIn(view) > 0 && active.length === 0;
  return succeededIn(view) >= spec.completions;
}

const completedIndexes = ({ mine, spec, status }: View): readonly number[] => {
  const done = new Set([
    ...readIndexes(status.completedIndexes ?? ''),
    ...mine.filter((pod) => pod.status?.phase === 'Succeeded').map(indexOf),
  ]);
  return [...done].filter((index) => index >= 0 && index < (spec.completions ?? 0)).toSorted((a, b) => a - b);
};

function work(view: View): Outcome {
  const { spec, status, mine, active, now } = view;
  const resumed = conditionOf(status.conditions, 'Suspended')?.status === 'True';
  const conditions = resumed
    ? withCondition(status.conditions ?? [], conditionAt(now, 'Suspended', 'JobResumed', 'Job resumed', 'False'))
    : (status.conditions ?? []);
  const startTime = status.startTime === undefined || resumed ? kubeTime(now) : status.startTime;
  const left = isIndexed(view)
    ? (spec.completions ?? 0) - completedIndexes(view).length
    : spec.completions === undefined
      ? succeededIn(view) > 0
        ? active.length
        : spec.parallelism
      : spec.completions - succeededIn(view);
  const missing = Math.min(spec.parallelism, left) - active.length;
  const retryAt = backOffUntil(mine);
  if (missing > 0 && retryAt <= now) return { writes: create(view, missing) };
  const extra: readonly Write[] = missing < 0 ? removeAll(active.slice(missing), 'more than parallelism') : [];
  return {
    writes: [...extra, ...report(view, { conditions, startTime, active: active.length })],
    ...earliest(missing > 0 ? retryAt : undefined, deadlineOf(spec, { startTime })),
  };
}

/** Back-off after failures, increasing each time. */
function backOffUntil(mine: readonly Pod[]): number {
  const failed = mine.filter((pod) => pod.status?.phase === 'Failed');
  if (failed.length === 0) return 0;
  const last = Math.max(...failed.map(endedAt));
  return last + Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failed.length - 1));
}

const endedAt = ({ status, metadata }: Pod): number =>
  Math.max(
    timeOf(metadata.creationTimestamp),
    ...(status?.containerStatuses ?? []).map(({ state }) => timeOf(state?.terminated?.finishedAt)),
  );

function create(view: View, count: number): readonly Write[] {
  const { object, spec, active, mine, taken } = view;
  const { name: owner = '', namespace = '' } = object.metadata;
  const { template } = spec;
  const make = (name: string, index?: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: index === undefined ? `${owner}-` : `${owner}-${index}-`,
      namespace,
      ...template.metadata,
      ...(index === undefined
        ? {}
        : {
            labels: { ...template.metadata?.labels, [INDEX]: String(index) },
            annotations: { ...template.metadata?.annotations, [INDEX]: String(index) },
          }),
      ownerReferences: [managedBy(jobs, object)],
    },
    spec:
      index === undefined
        ? template.spec
        : {
            ...template.spec,
            hostname: `${owner}-${index}`,
            containers: template.spec.containers.map((container) => ({
              ...container,
              env: [...((container['env'] ?? []) as readonly unknown[]), indexVariable],
            })),
          },
  });
  const wanted = (pod: KubeObject): Write => ({
    do: 'create',
    resource: pods,
    object: pod,
    because: `${count} to run`,
  });
  if (!isIndexed(view)) return freePodNames(owner, count, taken).map((name) => wanted(make(name)));
  const busy = new Set([...completedIndexes(view), ...active.map(indexOf)]);
  const indexes = Array.from({ length: spec.completions ?? 0 }, (_, index) => index).filter(
    (index) => !busy.has(index),
  );
  return indexes.slice(0, count).map((index) => {
    const attempt = mine.filter((pod) => indexOf(pod) === index).length;
    return wanted(make(`${owner.slice(0, 50)}-${index}-${lettersOf(`${owner}/${index}/${attempt}`, 5)}`, index));
  });
}

const indexVariable = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } },
};

interface Reported {
  readonly conditions: readonly Condition[];
  readonly active: number;
  readonly failed?: number;
  readonly startTime?: string;
  readonly end?: string;
}

function report(view: View, { conditions, active, failed, startTime, end }: Reported): readonly Write[] {
  const { object, status, mine } = view;
  const completed = isIndexed(view) ? formatIndexes(completedIndexes(view)) : '';
  const next: JobStatus = {
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(startTime === undefined
      ? status.startTime === undefined
        ? {}
        : { startTime: status.startTime }
      : { startTime }),
    ...(end === undefined ? {} : { completionTime: end }),
    ...positive({ active, succeeded: succeededIn(view), failed: failed ?? failedIn(view) }),
    ...(completed === '' ? {} : { completedIndexes: completed }),
    terminating: mine.filter((pod) => isDeleting(pod)).length,
    uncountedTerminatedPods: {},
    ready: active === 0 ? 0 : view.active.filter(isReady).length,
  };
  return statusWrites(jobs, object, { status: next, because: `${active} active` });
}

/** `0,1,5-9`: runs of three or more are abbreviated. */
export function formatIndexes(indexes: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < indexes.length; ) {
    let last = i;
    while (indexes[last + 1] === (indexes[last] ?? 0) + 1) last++;
    if (last - i < 2) parts.push(...indexes.slice(i, last + 1).map(String));
    else parts.push(`${indexes[i]}-${indexes[last]}`);
    i = last + 1;
  }
  return parts.join(',');
}

function readIndexes(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  });
}
