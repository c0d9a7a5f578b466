// Why the Pods of a workload do not start, in the codes of Kubernetes. Pure.
//
// A cause must be stable, because each change is a write on the hub: a retrying kubelet alternates between several
// reasons.

import { START_FAILURES, type StartFailure } from '../../api/apply-cause.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { compileLabelSelector } from '../../base/selector.ts';
import { type Fields, fieldsOf, type NewestPods, type Trouble } from './verdict.ts';

export interface TroubledPod extends Trouble {
  readonly labels: ObjectMeta['labels'];
  /** The controller that owns the Pod. */
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
}

const LONGEST_MESSAGE = 256;

/** By the reason of a waiting container. */
const WAITING: ReadonlyMap<string, StartFailure> = new Map<string, StartFailure>([
  ['ErrImagePull', 'ImagePullBackOff'],
  ['ImagePullBackOff', 'ImagePullBackOff'],
  ['InvalidImageName', 'InvalidImageName'],
  ['ErrImageNeverPull', 'ErrImageNeverPull'],
  ['CreateContainerConfigError', 'CreateContainerConfigError'],
  ['CreateContainerError', 'CreateContainerError'],
  ['RunContainerError', 'RunContainerError'],
  ['CrashLoopBackOff', 'CrashLoopBackOff'],
]);

export const trouble = (code: StartFailure, message: unknown): Trouble => ({
  code,
  message: (typeof message === 'string' ? message : '').slice(0, LONGEST_MESSAGE),
});

/** Why a Pod does not start, or undefined. */
export function troubleOf({ metadata, status }: KubeObject): TroubledPod | undefined {
  const fields = fieldsOf(status);
  const found =
    first(['initContainerStatuses', 'containerStatuses'].flatMap((name) => itemsOf(fields, name)).flatMap(stuck)) ??
    unschedulable(fields);
  if (found === undefined) return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return {
    ...found,
    labels: metadata.labels,
    owner: owner === undefined ? undefined : { kind: owner.kind, name: owner.name },
  };
}

/** The first in the order of the codes. */
const first = <T extends Trouble>(found: readonly T[]): T | undefined =>
  found.toSorted((a, b) => START_FAILURES.indexOf(a.code) - START_FAILURES.indexOf(b.code))[0];

const itemsOf = (fields: Fields, name: string): readonly Fields[] => {
  const items = fields[name];
  return Array.isArray(items) ? items.map(fieldsOf) : [];
};

/**
 * Between two crashes a container runs for a moment, so after the second crash it counts as crashing until it is ready.
 */
const CRASHES = 2;

function stuck(container: Fields): readonly Trouble[] {
  const { reason, message } = fieldsOf(fieldsOf(container['state'])['waiting']);
  const cause = typeof reason === 'string' ? WAITING.get(reason) : undefined;
  if (cause !== undefined) return [trouble(cause, message)];
  const restarts = container['restartCount'];
  const { exitCode } = fieldsOf(fieldsOf(container['lastState'])['terminated']);
  const isCrashing =
    container['ready'] === false && typeof restarts === 'number' && restarts >= CRASHES && exitCode !== 0;
  return isCrashing && exitCode !== undefined ? [trouble('CrashLoopBackOff', `exit code ${exitCode}`)] : [];
}

function unschedulable(status: Fields): Trouble | undefined {
  const scheduled = itemsOf(status, 'conditions').find((each) => each['type'] === 'PodScheduled');
  const isStuck = scheduled?.['status'] === 'False' && scheduled['reason'] === 'Unschedulable';
  return isStuck ? trouble('Unschedulable', scheduled['message']) : undefined;
}

/** The Pods of the newest template, as far as their labels show it. */
export const amongNewest = (pods: readonly TroubledPod[], { selector, labels = {} }: NewestPods) => {
  const compiled = compileLabelSelector(selector);
  return pods.filter(
    (pod) =>
      compiled.matches(pod.labels) && Object.entries(labels).every(([key, value]) => pod.labels?.[key] === value),
  );
};

export const worstOf = first;
