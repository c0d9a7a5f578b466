// A Pod on one of our nodes, as a kubelet reports it: pulled, running, ready, finished; and its end when it is deleted.

import type {
  Condition,
  Container,
  ContainerStatus,
  Node,
  Pod,
  PodSpec,
  PodStatus,
} from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { numberOf } from '../names.ts';
import { isFinished } from '../pods.ts';
import { type Timing, timingOf } from '../profile.ts';
import { conditionOf, isDeleting, timeOf } from '../reading.ts';
import { pods } from '../resources.ts';
import { nothing, type Outcome, type Rule, statusWrites } from '../rule.ts';

export interface PodRelated {
  /** The node it is bound to; undefined = the node does not exist any more. */
  readonly node: Node | undefined;
}

/** For bound Pods whose node is ours or was deleted. */
export const pod: Rule<Pod, PodRelated> = (object, { node }, now, profile) => {
  const { spec, metadata } = object;
  if (spec === undefined) return nothing;
  const end = (because: string): Outcome => ({ writes: [{ do: 'delete', resource: pods, of: object, because }] });
  if (node === undefined) return end('its node is gone');
  const timing = timingOf(profile, `${metadata.namespace}/${metadata.name}`, spec);
  if (isDeleting(object)) {
    const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    const stopAt = timeOf(metadata.deletionTimestamp) - graceMs + Math.min(graceMs, timing.stopMs);
    return now >= stopAt ? end('stopped') : { writes: [], wakeAt: stopAt };
  }
  if (isFinished(object)) return nothing;
  const { stage, wakeAt } = stageAt(object, spec, timing, now);
  const writes =
    stage === undefined || isIn(object, stage)
      ? []
      : statusWrites(pods, object, {
          status: statusFor({ object, spec, node, stage, timing, now }),
          because: stage,
        });
  return { writes, ...(wakeAt === undefined ? {} : { wakeAt }) };
};

type Stage = 'Creating' | 'PullBackOff' | 'Running' | 'Ready' | 'CrashLoop' | 'Succeeded' | 'Failed';

const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 300_000;

/** The stage that the Pod should have (undefined = the current one), and when that changes without an event. */
function stageAt(
  object: Pod,
  spec: PodSpec,
  timing: Timing,
  now: number,
): { readonly stage: Stage | undefined; readonly wakeAt?: number } {
  const { status } = object;
  const boundAt = timeOf(
    conditionOf(status?.conditions, 'PodScheduled')?.lastTransitionTime ?? object.metadata.creationTimestamp,
  );
  const [first] = status?.containerStatuses ?? [];
  const startedAt = timeOf(first?.state?.running?.startedAt);
  if (startedAt === 0 && (first?.restartCount ?? 0) === 0) {
    const pulledAt = boundAt + timing.pullMs;
    if (timing.pullMs > 0 && now < pulledAt) return { stage: 'Creating', wakeAt: pulledAt };
    if (timing.fault === 'PullFails') return { stage: 'PullBackOff' };
  }
  const since = startedAt === 0 ? now : startedAt;
  if (timing.fault === 'Crashes') {
    if (spec.restartPolicy === 'Never') return { stage: 'Failed' };
    const restarts = first?.restartCount ?? 0;
    const again = timeOf(first?.lastState?.terminated?.finishedAt) + backOffMs(restarts);
    if (restarts > 0 && now < again) return { stage: undefined, wakeAt: again };
    return { stage: 'CrashLoop', wakeAt: now + backOffMs(restarts + 1) };
  }
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== 'Always') {
    const doneAt = since + timing.jobMs;
    return now < doneAt ? { stage: 'Ready', wakeAt: doneAt } : { stage: 'Succeeded' };
  }
  if (timing.fault === 'NeverReady') return { stage: 'Running' };
  const readyAt = since + timing.readyMs;
  return now < readyAt ? { stage: 'Running', wakeAt: readyAt } : { stage: 'Ready' };
}

const backOffMs = (restarts: number): number =>
  Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.max(0, restarts - 1));

const gatesOpen = ({ spec, status }: Pod): boolean =>
  (spec?.readinessGates ?? []).every(
    ({ conditionType }) => conditionOf(status?.conditions, conditionType)?.status === 'True',
  );

/** Whether the status already shows the stage. A crash loop is reported again at every restart. */
function isIn(object: Pod, stage: Stage): boolean {
  const { status } = object;
  const [first] = status?.containerStatuses ?? [];
  const waits = first?.state?.waiting?.reason;
  const isUp = conditionOf(status?.conditions, 'ContainersReady')?.status === 'True';
  switch (stage) {
    case 'Creating':
      return waits === 'ContainerCreating';
    case 'PullBackOff':
      return waits === 'ImagePullBackOff';
    case 'CrashLoop':
      return false;
    case 'Running':
      return first?.state?.running !== undefined && !isUp;
    case 'Ready':
      return isUp && (conditionOf(status?.conditions, 'Ready')?.status === 'True') === gatesOpen(object);
    default:
      return status?.phase === stage;
  }
}

interface Reporting {
  readonly object: Pod;
  readonly spec: PodSpec;
  readonly node: Node;
  readonly stage: Stage;
  readonly timing: Timing;
  readonly now: number;
}

const PHASES: Readonly<Record<Stage, string>> = {
  Creating: 'Pending',
  PullBackOff: 'Pending',
  Running: 'Running',
  Ready: 'Running',
  CrashLoop: 'Running',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
};

function statusFor(reporting: Reporting): PodStatus {
  const { object, spec, node, stage, now } = reporting;
  const old = object.status ?? {};
  const isUp = stage === 'Ready';
  const hasStarted = PHASES[stage] !== 'Pending';
  const unready = `containers with unready status: [${spec.containers.map(({ name }) => name).join(' ')}]`;
  const condition = (type: string, isTrue: boolean, why: Partial<Condition> = {}): Condition => {
    const status = isTrue ? 'True' : 'False';
    const before = conditionOf(old.conditions, type);
    return {
      type,
      status,
      lastProbeTime: null,
      lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? kubeTime(now)) : kubeTime(now),
      ...(isTrue ? {} : why),
    } as Condition;
  };
  const why =
    stage === 'Succeeded'
      ? { reason: 'PodCompleted' }
      : stage === 'Failed'
        ? { reason: 'PodFailed' }
        : { reason: 'ContainersNotReady', message: unready };
  const gateWhy = isUp ? { reason: 'ReadinessGatesNotReady', message: 'not all readiness gates are true' } : why;
  const ours = [
    condition('PodReadyToStartContainers', hasStarted && !['Succeeded', 'Failed'].includes(stage)),
    condition('Initialized', true, { reason: 'PodCompleted' }),
    condition('Ready', isUp && gatesOpen(object), gateWhy),
    condition('ContainersReady', isUp, why),
  ];
  const kept = (old.conditions ?? []).filter((each) => !ours.some(({ type }) => type === each.type));
  const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  const podIP = old.podIP ?? podAddress(object.metadata.uid ?? '');
  return {
    ...old,
    phase: PHASES[stage],
    conditions: [...ours, ...kept],
    ...(hostIP === '' ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(hasStarted ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: old.startTime ?? kubeTime(now),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainerStatuses: spec.initContainers.map((each) => initStatus(each, stage, now)) }),
    containerStatuses: spec.containers.map((each) => containerStatus(each, reporting)),
  };
}

const podAddress = (uid: string): string => {
  const host = numberOf(uid, 65_534) + 1;
  return `10.244.${host >> 8}.${host & 255}`;
};

function containerStatus(container: Container, { object, stage, timing, now }: Reporting): ContainerStatus {
  const { name, image = '' } = container;
  const old = object.status?.containerStatuses?.find((each) => each.name === name);
  const at = kubeTime(now);
  const startedAt = old?.state?.running?.startedAt ?? at;
  const restartCount = (old?.restartCount ?? 0) + (stage === 'CrashLoop' ? 1 : 0);
  const hasStarted = stage === 'Running' || stage === 'Ready';
  return {
    name,
    image,
    imageID: PHASES[stage] === 'Pending' ? '' : `pretend://${image}`,
    ready: stage === 'Ready',
    started: hasStarted,
    restartCount,
    ...(PHASES[stage] === 'Pending' ? {} : { containerID: `pretend://${object.metadata.uid}/${name}/${restartCount}` }),
    state: stateOf(),
    lastState: stage === 'CrashLoop' ? { terminated: ended(1, 'Error', at) } : (old?.lastState ?? {}),
  };

  function stateOf(): NonNullable<ContainerStatus['state']> {
    switch (stage) {
      case 'Creating':
        return { waiting: { reason: 'ContainerCreating' } };
      case 'PullBackOff':
        if (image !== timing.image) return { waiting: { reason: 'ContainerCreating' } };
        return { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } };
      case 'CrashLoop':
        return { waiting: { reason: 'CrashLoopBackOff', message: `back-off restarting failed container=${name}` } };
      case 'Succeeded':
        return { terminated: ended(0, 'Completed', startedAt) };
      case 'Failed':
        return { terminated: ended(1, 'Error', startedAt) };
      default:
        return { running: { startedAt } };
    }
  }

  function ended(exitCode: number, reason: string, from: string) {
    return { exitCode, reason, startedAt: from, finishedAt: at };
  }
}

function initStatus({ name, image = '', restartPolicy }: Container, stage: Stage, now: number): object {
  const isDone = PHASES[stage] !== 'Pending';
  const isSidecar = restartPolicy === 'Always';
  const at = kubeTime(now);
  return {
    name,
    image,
    imageID: isDone ? `pretend://${image}` : '',
    ready: isDone,
    started: isDone && isSidecar,
    restartCount: 0,
    state: !isDone
      ? { waiting: { reason: 'PodInitializing' } }
      : isSidecar
        ? { running: { startedAt: at } }
        : { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at } },
    lastState: {},
  };
}
