// Predicates on Pods for controllers.

import type { Pod, PodTemplate } from '../../api/builtin/shapes.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { conditionOf, controllerOf, isDeleting, timeOf } from './reading.ts';

export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Counts towards replicas: neither finished nor being deleted. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isDeleting(pod);

const readySince = ({ status }: Pod): number | undefined => {
  const ready = conditionOf(status?.conditions, 'Ready');
  return ready?.status === 'True' ? timeOf(ready.lastTransitionTime) : undefined;
};

export const isReady = (pod: Pod): boolean => readySince(pod) !== undefined;

/** When a ready Pod becomes (or became) available; undefined while it is not ready. */
export const availableFrom = (pod: Pod, minReadySeconds = 0): number | undefined => {
  const since = readySince(pod);
  return since === undefined ? undefined : since + minReadySeconds * 1000;
};

export const isAvailable = (pod: Pod, minReadySeconds: number | undefined, now: number): boolean => {
  if (!minReadySeconds) return isReady(pod);
  const from = availableFrom(pod, minReadySeconds);
  return from !== undefined && from <= now;
};

/** The next time at which a Pod becomes available without another change. */
export function nextAvailable(
  pods: readonly Pod[],
  minReadySeconds: number | undefined,
  now: number,
): number | undefined {
  if (!minReadySeconds) return undefined;
  const moments = pods.map((pod) => availableFrom(pod, minReadySeconds)).filter((at) => at !== undefined && at > now);
  return moments.length === 0 ? undefined : Math.min(...(moments as number[]));
}

export const byName = (a: Pod, b: Pod): number => byText(a.metadata.name ?? '', b.metadata.name ?? '');

export const byCreation = (
  a: { readonly metadata: Pod['metadata'] },
  b: { readonly metadata: Pod['metadata'] },
): number =>
  byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  byText(a.metadata.name ?? '', b.metadata.name ?? '');

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Pods sorted for deletion: the least valuable first. */
export function cheapestFirst(pods: readonly Pod[]): readonly Pod[] {
  const neighbours = new Map<string, number>();
  for (const { spec } of pods) {
    if (spec?.nodeName) neighbours.set(spec.nodeName, (neighbours.get(spec.nodeName) ?? 0) + 1);
  }
  const keys = (pod: Pod): readonly number[] => [
    pod.spec?.nodeName ? 1 : 0,
    PHASES[pod.status?.phase ?? 'Pending'] ?? 0,
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.[COST] ?? 0) || 0,
    -(neighbours.get(pod.spec?.nodeName ?? '') ?? 0),
    -(readySince(pod) ?? 0),
    -(pod.status?.containerStatuses ?? []).reduce((sum, each) => Math.max(sum, each.restartCount), 0),
    -timeOf(pod.metadata.creationTimestamp),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: keys(pod) }));
  ranked.sort((a, b) => {
    for (const [index, value] of a.rank.entries()) {
      const order = byNumber(value, b.rank[index] ?? 0);
      if (order !== 0) return order;
    }
    return byName(a.pod, b.pod);
  });
  return ranked.map(({ pod }) => pod);
}

/** The Pods that this owner manages; others with the same owner name belong to a deleted predecessor. */
export const managedPods = (pods: readonly Pod[], uid: string | undefined): readonly Pod[] =>
  pods.filter((pod) => controllerOf(pod)?.uid === uid);

export const namesOf = (pods: readonly Pod[]): ReadonlySet<string> =>
  new Set(pods.map((pod) => pod.metadata.name ?? ''));

/** Whether a Pod has all labels of its template. */
export const hasLabelsOf = (template: PodTemplate, { metadata }: Pod): boolean =>
  Object.entries(template.metadata?.labels ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
