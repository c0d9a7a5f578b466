// ReplicaSets, StatefulSets, DaemonSets and Jobs that report without Pods: one write when something changes, another
// when it would be complete. A condition `Progressing`, which Kubernetes does not use for these kinds, records the time
// and the subject of the first one.

import type {
  Condition,
  DaemonSet,
  Job,
  Node,
  PodTemplate,
  ReplicaSet,
  StatefulSet,
} from '../../../api/builtin/shapes.ts';
import type { Resource } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { kubeTime } from '../../../base/clock.ts';
import { countRoundedUp } from '../../../base/int-or-percent.ts';
import { podName, templateHash } from '../names.ts';
import { type Profile, timingOf } from '../profile.ts';
import { conditionOf, isDeleting, timeOf } from '../reading.ts';
import { daemonSets, jobs, replicaSets, statefulSets } from '../resources.ts';
import { earliest, nothing, type Outcome, type Rule, statusWrites, type Write } from '../rule.ts';
import { positive } from '../rules/deployment.ts';
import { matchesNode, repels } from '../rules/node-fit.ts';

interface Plan {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** The goal; another goal starts again. */
  readonly goal: string;
  readonly durationMs: number;
  /** The status until then, and at the end. */
  readonly meanwhile: object;
  readonly finally: object;
}

const NEVER = 'never';

/** The two writes. The first one records when the second is due, because by then its inputs have changed. */
function follow({ resource, object, goal, durationMs, meanwhile, finally: end }: Plan, now: number): Outcome {
  const { conditions, observedGeneration } = (object.status ?? {}) as Noted;
  const told = conditionOf(conditions, 'Progressing');
  const { generation = 0 } = object.metadata;
  const write = (status: object, isOver: boolean, due: string): readonly Write[] => {
    const condition = {
      type: 'Progressing',
      status: isOver ? 'False' : 'True',
      reason: isOver ? 'Done' : 'UnderWay',
      message: `${goal} by ${due}`,
      lastTransitionTime: kubeTime(now),
    };
    const full = { observedGeneration: generation, ...status, conditions: [condition] };
    return statusWrites(resource, object, { status: full, because: condition.reason });
  };
  if (told?.message?.startsWith(`${goal} by `) !== true) {
    if (durationMs <= 0) return { writes: write(end, true, new Date(now).toISOString()) };
    const doneAt = now + durationMs;
    const due = Number.isFinite(doneAt) ? new Date(doneAt).toISOString() : NEVER;
    return { writes: write(meanwhile, false, due), ...earliest(doneAt) };
  }
  const due = told.message.slice(goal.length + 4);
  const doneAt = due === NEVER ? Number.POSITIVE_INFINITY : timeOf(due);
  if (told.status === 'True' && doneAt <= now) return { writes: write(end, true, due) };
  // A change that does not affect the goal only updates observedGeneration.
  const noted = { status: { ...(object.status as object), observedGeneration: generation }, because: 'seen' };
  return {
    writes: observedGeneration === generation ? [] : statusWrites(resource, object, noted),
    ...(told.status === 'True' ? earliest(doneAt) : {}),
  };
}

interface Noted {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

interface Times {
  readonly upMs: number;
  readonly stopMs: number;
}

/** How long each of `count` Pods takes, from creation to available and from deletion to the end. */
function timesOf(
  profile: Profile,
  owner: KubeObject,
  template: PodTemplate,
  count: number,
  nameOf: (k: number) => string,
): readonly Times[] {
  const { namespace, name = '' } = owner.metadata;
  const isHopeless = timingOf(profile, `${namespace}/${name}`, template.spec).fault !== undefined;
  return Array.from({ length: count }, (_, k) => {
    const { pullMs, readyMs, stopMs } = timingOf(profile, `${namespace}/${nameOf(k)}`, template.spec);
    return { upMs: isHopeless ? Number.POSITIVE_INFINITY : pullMs + readyMs, stopMs };
  });
}

const longest = (times: readonly Times[], of: (each: Times) => number): number => Math.max(0, ...times.map(of));
const together = (times: readonly Times[], of: (each: Times) => number): number =>
  times.reduce((sum, each) => sum + of(each), 0);

export const replicaSetStatus: Rule<ReplicaSet, undefined> = (object, _related, now, profile) => {
  const { spec, metadata, status } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const had = status?.availableReplicas ?? 0;
  const kept = Math.min(had, spec.replicas);
  const times = timesOf(profile, object, spec.template, spec.replicas - kept, (k) =>
    podName(metadata.name ?? '', kept + k),
  );
  const counts = (available: number) => ({
    replicas: spec.replicas,
    ...positive({ fullyLabeledReplicas: spec.replicas, readyReplicas: available, availableReplicas: available }),
  });
  return follow(
    {
      resource: replicaSets,
      object,
      goal: `${spec.replicas} Pods`,
      durationMs: longest(times, ({ upMs }) => upMs) + (spec.minReadySeconds ?? 0) * 1000 * (times.length > 0 ? 1 : 0),
      meanwhile: counts(kept),
      finally: counts(spec.replicas),
    },
    now,
  );
};

export const statefulSetStatus: Rule<StatefulSet, undefined> = (object, _related, now, profile) => {
  const { spec, metadata, status } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const { replicas } = spec;
  const revision = `${metadata.name}-${templateHash(spec.template)}`;
  const current = status?.currentRevision ?? revision;
  const had = Math.min(status?.replicas ?? 0, replicas);
  const partition = Math.min(spec.updateStrategy.rollingUpdate?.partition ?? 0, replicas);
  const isNew = current !== revision && spec.updateStrategy.type === 'RollingUpdate';
  const updates = isNew ? Math.max(0, had - partition) : 0;
  const isOrdered = spec.podManagementPolicy !== 'Parallel';
  const waits = (spec.minReadySeconds ?? 0) * 1000;
  const times = timesOf(profile, object, spec.template, replicas, (k) => `${metadata.name}-${k}`);
  const created = times.slice(had);
  const up = (each: Times) => each.upMs + waits;
  const durationMs =
    (isOrdered ? together(created, up) : longest(created, up)) +
    together(times.slice(partition, partition + updates), (each) => up(each) + each.stopMs);
  const isWhole = !isNew || partition === 0;
  const counts = (available: number, total: number, updated: number, isOver: boolean) => ({
    replicas: total,
    ...positive({
      readyReplicas: available,
      currentReplicas: isOver && isWhole ? updated : total - (isNew ? updated : 0),
      updatedReplicas: updated,
    }),
    availableReplicas: available,
    currentRevision: isOver && isWhole ? revision : current,
    updateRevision: revision,
    collisionCount: 0,
  });
  const atOnce = had < replicas ? (isOrdered ? had + 1 : replicas) : replicas;
  return follow(
    {
      resource: statefulSets,
      object,
      goal: `${replicas} Pods of ${revision} from ${partition}`,
      durationMs,
      meanwhile: counts(
        Math.max(0, Math.min(had, had - (updates > 0 ? 1 : 0))),
        atOnce,
        isNew ? Math.min(1, updates) : atOnce,
        false,
      ),
      finally: counts(replicas, replicas, isNew ? replicas - partition : replicas, true),
    },
    now,
  );
};

export interface DaemonNodes {
  readonly nodes: readonly Node[];
}

export const daemonSetStatus: Rule<DaemonSet, DaemonNodes> = (object, { nodes }, now, profile) => {
  const { spec, metadata, status } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const tolerations = [
    ...(spec.template.spec.tolerations ?? []),
    { operator: 'Exists', key: 'node.kubernetes.io/unschedulable' },
  ];
  const places = nodes.filter(
    (node) => matchesNode(spec.template.spec, node) && !repels(node, tolerations, ['NoSchedule', 'NoExecute']),
  );
  const count = places.length;
  const hash = templateHash(spec.template);
  const told = conditionOf(status?.conditions, 'Progressing')?.message ?? '';
  const isUpdate = told !== '' && !told.includes(hash) && spec.updateStrategy.type === 'RollingUpdate';
  const had = Math.min(status?.numberAvailable ?? 0, count);
  const atATime = Math.max(1, countRoundedUp(spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 1, count));
  const waits = (spec.minReadySeconds ?? 0) * 1000;
  const times = timesOf(profile, object, spec.template, count, (k) => `${metadata.name}-${places[k]?.metadata.name}`);
  let durationMs = longest(times.slice(had), ({ upMs }) => upMs + waits);
  if (isUpdate) {
    for (let k = 0; k < had; k += atATime)
      durationMs += longest(times.slice(k, k + atATime), (each) => each.upMs + each.stopMs + waits);
  }
  const counts = (available: number, updated: number) => ({
    desiredNumberScheduled: count,
    currentNumberScheduled: count,
    numberMisscheduled: 0,
    numberReady: available,
    ...positive({ updatedNumberScheduled: updated, numberAvailable: available, numberUnavailable: count - available }),
  });
  const down = isUpdate ? Math.min(atATime, had) : 0;
  return follow(
    {
      resource: daemonSets,
      object,
      goal: `${hash} on ${count} nodes`,
      durationMs,
      meanwhile: counts(had - down, isUpdate ? down + (count - had) : count),
      finally: counts(count, count),
    },
    now,
  );
};

const FIRST_BACK_OFF_MS = 10_000;

export const jobStatus: Rule<Job, undefined> = (object, _related, now, profile) => {
  const { spec, metadata, status = {} } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const end = ['Complete', 'Failed']
    .map((type) => conditionOf(status.conditions, type))
    .find((each) => each?.status === 'True');
  if (end !== undefined) {
    if (spec.ttlSecondsAfterFinished === undefined) return nothing;
    const until = timeOf(end.lastTransitionTime) + spec.ttlSecondsAfterFinished * 1000;
    if (now < until) return { writes: [], wakeAt: until };
    return { writes: [{ do: 'delete', resource: jobs, of: object, because: 'ttlSecondsAfterFinished' }] };
  }
  const write = (next: object, because: string) =>
    statusWrites(jobs, object, { status: { terminating: 0, uncountedTerminatedPods: {}, ready: 0, ...next }, because });
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastProbeTime: kubeTime(now),
    lastTransitionTime: kubeTime(now),
    reason,
    message,
  });
  if (spec.suspend === true) {
    const old = conditionOf(status.conditions, 'Suspended');
    return {
      writes: write({ conditions: [old ?? condition('Suspended', 'JobSuspended', 'Job suspended')] }, 'suspended'),
    };
  }
  const completions = spec.completions ?? spec.parallelism;
  const atATime = Math.max(1, Math.min(spec.parallelism, completions));
  const { pullMs, jobMs, fault } = timingOf(
    profile,
    `${metadata.namespace}/${podName(metadata.name ?? '', 0)}`,
    spec.template.spec,
  );
  const fails = fault === 'Crashes';
  const tries = spec.backoffLimit + 1;
  const durationMs =
    fault === 'PullFails'
      ? Number.POSITIVE_INFINITY
      : fails
        ? tries * pullMs + FIRST_BACK_OFF_MS * (2 ** spec.backoffLimit - 1)
        : Math.ceil(completions / atATime) * (pullMs + jobMs);
  const startTime = status.startTime ?? kubeTime(now);
  const begun = { startTime, active: atATime };
  const doneAt = timeOf(startTime) + durationMs;
  const deadline =
    spec.activeDeadlineSeconds === undefined ? undefined : timeOf(startTime) + spec.activeDeadlineSeconds * 1000;
  const isLate = deadline !== undefined && deadline <= now && deadline < doneAt;
  if (isLate || (fails && doneAt <= now)) {
    const [reason, message] = isLate
      ? ['DeadlineExceeded', 'Job was active longer than specified deadline']
      : ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];
    const conditions = [
      condition('FailureTarget', reason ?? '', message ?? ''),
      condition('Failed', reason ?? '', message ?? ''),
    ];
    return { writes: write({ startTime, failed: isLate ? atATime : tries, conditions }, reason ?? '') };
  }
  if (doneAt <= now) {
    const message = 'Reached expected number of succeeded pods';
    const conditions = [
      condition('SuccessCriteriaMet', 'CompletionsReached', message),
      condition('Complete', 'CompletionsReached', message),
    ];
    return {
      writes: write({ startTime, completionTime: kubeTime(now), succeeded: completions, conditions }, 'complete'),
    };
  }
  return { writes: write(begun, `${atATime} active`), ...earliest(doneAt, deadline) };
};
