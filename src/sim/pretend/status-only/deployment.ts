// A Deployment without ReplicaSets and Pods that reports as if it had them: one write when something changes, another
// when the rollout would be complete. Its status contains all state: the message of `Progressing` names the ReplicaSet
// of the template.

import type { Condition, Deployment, DeploymentSpec } from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { podName, templateHash } from '../names.ts';
import { type Profile, timingOf } from '../profile.ts';
import { conditionOf, isDeleting, timeOf } from '../reading.ts';
import { deployments } from '../resources.ts';
import { earliest, nothing, type Outcome, type Rule, statusWrites } from '../rule.ts';
import { availability, deadlineOf, hasDeadline, positive, withCondition } from '../rules/deployment.ts';
import { budgetOf } from '../rules/rolling.ts';
import { type Played, playRollout } from './rollout-time.ts';

const REVISION = 'deployment.kubernetes.io/revision';

export const deploymentStatus: Rule<Deployment, undefined> = (object, _related, now, profile) => {
  const { spec, metadata, status = {} } = object;
  if (spec === undefined || isDeleting(object)) return nothing;
  const set = `${metadata.name}-${templateHash(spec.template)}`;
  const told = conditionOf(status.conditions, 'Progressing');
  const isSeen = status.observedGeneration === metadata.generation && told !== undefined;
  const view: View = { object, spec, set, now, profile };
  if (!isSeen) return begin(view);
  if (told.reason !== 'ReplicaSetUpdated') return nothing;
  // Between the two writes the status is that of the first one, so the rollout can be computed again from it.
  const older = (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  const played = play(view, older, Math.max(0, (status.availableReplicas ?? 0) - older));
  const startedAt = timeOf(told.lastUpdateTime);
  const doneAt = startedAt + played.durationMs;
  if (doneAt <= now) return { writes: report(view, done(spec), 'NewReplicaSetAvailable') };
  const deadline = Number.isFinite(doneAt) ? undefined : deadlineOf(spec, told);
  if (deadline !== undefined && deadline <= now) return { writes: report(view, undefined, 'ProgressDeadlineExceeded') };
  return { writes: [], ...earliest(doneAt, hasDeadline(spec) ? deadline : undefined) };
};

interface View {
  readonly object: Deployment;
  readonly spec: DeploymentSpec;
  readonly set: string;
  readonly now: number;
  readonly profile: Profile;
}

type Counts = Played['first'];

const done = ({ replicas }: DeploymentSpec): Counts => ({ older: 0, newest: replicas, available: replicas });

/**
 * Pods become available when they would if they existed: equal names get equal times. Whether they fail is drawn once
 * for all.
 */
function play({ object, spec, set, profile }: View, older: number, newest: number): Played {
  const { namespace } = object.metadata;
  const isHopeless = timingOf(profile, `${namespace}/${set}`, spec.template.spec).fault !== undefined;
  const isRecreated = spec.strategy.type === 'Recreate';
  return playRollout({
    replicas: spec.replicas,
    budget: isRecreated ? { surge: 0, unavailable: spec.replicas } : budgetOf(spec),
    older,
    newest,
    availableAfterMs(k) {
      if (isHopeless) return Number.POSITIVE_INFINITY;
      const { pullMs, readyMs, stopMs } = timingOf(profile, `${namespace}/${podName(set, k)}`, spec.template.spec);
      return pullMs + readyMs + (spec.minReadySeconds ?? 0) * 1000 + (isRecreated && older > 0 ? stopMs : 0);
    },
  });
}

function begin(view: View): Outcome {
  const { object, spec, set, now } = view;
  const { status = {} } = object;
  const told = conditionOf(status.conditions, 'Progressing');
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const isSame = told?.message?.includes(`"${set}"`) === true;
  if (spec.paused === true) {
    const counts = {
      older: replicas - (isSame ? updatedReplicas : 0),
      newest: isSame ? updatedReplicas : 0,
      available: availableReplicas,
    };
    return { writes: report(view, counts, 'DeploymentPaused') };
  }
  // Pods that are not available when the spec changes are dropped: this costs nothing and is not visible.
  const wasDone = isSame && told?.reason === 'NewReplicaSetAvailable';
  const older = isSame ? Math.max(0, Math.min(replicas - updatedReplicas, availableReplicas)) : availableReplicas;
  const newest = wasDone ? availableReplicas : isSame ? Math.max(0, availableReplicas - older) : 0;
  const { first, durationMs } = play(view, older, newest);
  if (durationMs === 0) return { writes: report(view, first, 'NewReplicaSetAvailable') };
  // Strategy Recreate: the old Pods are terminating, and no new one is created before they are deleted.
  const isStopping = spec.strategy.type === 'Recreate' && older > 0;
  const counts = isStopping ? { older, newest: 0, available: 0 } : first;
  return { writes: report(view, counts, 'ReplicaSetUpdated'), ...earliest(now + durationMs) };
}

const MESSAGES: Readonly<Record<string, { readonly status: string; message(set: string): string }>> = {
  ReplicaSetUpdated: { status: 'True', message: (set) => `ReplicaSet "${set}" is progressing.` },
  NewReplicaSetAvailable: { status: 'True', message: (set) => `ReplicaSet "${set}" has successfully progressed.` },
  ProgressDeadlineExceeded: { status: 'False', message: (set) => `ReplicaSet "${set}" has timed out progressing.` },
  DeploymentPaused: { status: 'Unknown', message: () => 'Deployment is paused' },
};

/** Without `counts` the current ones stay. */
function report({ object, spec, set, now }: View, counts: Counts | undefined, reason: string) {
  const { status: before = {}, metadata } = object;
  const told = conditionOf(before.conditions, 'Progressing');
  const { status = 'True', message = () => '' } = MESSAGES[reason] ?? {};
  const next: Condition = {
    type: 'Progressing',
    status,
    lastUpdateTime: kubeTime(now),
    lastTransitionTime: kubeTime(now),
    reason,
    message: message(set),
  };
  const { older = 0, newest = 0, available = 0 } = counts ?? {};
  const numbers =
    counts === undefined
      ? positive({
          replicas: before.replicas ?? 0,
          updatedReplicas: before.updatedReplicas ?? 0,
          readyReplicas: before.readyReplicas ?? 0,
          availableReplicas: before.availableReplicas ?? 0,
          unavailableReplicas: before.unavailableReplicas ?? 0,
        })
      : positive({
          replicas: older + newest,
          updatedReplicas: newest,
          readyReplicas: available,
          availableReplicas: available,
          unavailableReplicas: Math.max(0, older + newest - available),
        });
  const isNewTemplate = reason !== 'DeploymentPaused' && told?.message?.includes(`"${set}"`) !== true;
  const revision = Number(metadata.annotations?.[REVISION] ?? 0) + (isNewTemplate ? 1 : 0);
  const conditions = withCondition(
    withCondition(before.conditions ?? [], availability(now, spec, numbers.availableReplicas ?? 0)),
    next,
    told?.reason !== reason || told.message !== next.message || reason === 'ReplicaSetUpdated',
  );
  return statusWrites(deployments, object, {
    status: { observedGeneration: metadata.generation ?? 0, ...numbers, conditions },
    because: reason,
    ...(revision === 0 ? {} : { annotations: { [REVISION]: String(revision) } }),
  });
}
