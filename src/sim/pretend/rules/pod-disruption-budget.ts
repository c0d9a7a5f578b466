// A PodDisruptionBudget: how many of the selected Pods may be disrupted now.

import type { Budget, BudgetSpec, Pod } from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { countRoundedUp } from '../../../base/int-or-percent.ts';
import { isReady } from '../pods.ts';
import { conditionOf, controllerOf, isDeleting } from '../reading.ts';
import { podDisruptionBudgets } from '../resources.ts';
import { earliest, nothing, type Rule, statusWrites } from '../rule.ts';

export interface BudgetRelated {
  /** The Pods that its selector matches. */
  readonly pods: readonly Pod[];
  /** By the uid of a Pod's controller: its workload, and the desired number of Pods. */
  readonly workloads: ReadonlyMap<string, { readonly uid: string; readonly replicas: number }>;
}

export const podDisruptionBudget: Rule<Budget, BudgetRelated> = (object, { pods, workloads }, now) => {
  if (object.spec === undefined || isDeleting(object)) return nothing;
  const sizes = new Map<string, number>();
  for (const pod of pods) {
    const workload = workloads.get(controllerOf(pod)?.uid ?? '');
    if (workload !== undefined) sizes.set(workload.uid, workload.replicas);
  }
  const expected = [...sizes.values()].reduce((sum, replicas) => sum + replicas, 0);
  const evicted = pendingEvictions(object, pods, now);
  const isHealthy = (pod: Pod) => isReady(pod) && !isDeleting(pod) && evicted[pod.metadata.name ?? ''] === undefined;
  const healthy = pods.filter(isHealthy).length;
  return {
    writes: budgetWrites(object, object.spec, { found: pods.length, expected, healthy, evicted }, now),
    ...earliest(...Object.values(evicted).map((time) => Date.parse(time) + EVICTION_TIMEOUT_MS)),
  };
};

/** An evicted Pod that still exists after this counts as healthy again. */
const EVICTION_TIMEOUT_MS = 120_000;

/** Evictions whose Pod has no deletionTimestamp yet: until then only the budget's status records them. */
function pendingEvictions({ status }: Budget, pods: readonly Pod[], now: number): Readonly<Record<string, string>> {
  const staying = new Set(pods.filter((pod) => !isDeleting(pod)).map(({ metadata }) => metadata.name));
  return Object.fromEntries(
    Object.entries(status?.disruptedPods ?? {}).filter(
      ([name, time]) => staying.has(name) && now < Date.parse(time) + EVICTION_TIMEOUT_MS,
    ),
  );
}

export interface Counts {
  /** The number of existing Pods. */
  readonly found: number;
  /** The desired number of Pods. */
  readonly expected: number;
  readonly healthy: number;
  /** Pods whose deletion is not visible yet, with the time of the eviction. */
  readonly evicted?: Readonly<Record<string, string>>;
}

export function budgetWrites(object: Budget, spec: BudgetSpec, counts: Counts, now: number) {
  const { found, expected, healthy, evicted = {} } = counts;
  const { minAvailable, maxUnavailable } = spec;
  // An absolute minimum does not depend on the desired number of Pods.
  const expectedPods = maxUnavailable === undefined && typeof minAvailable === 'number' ? found : expected;
  const desiredHealthy =
    maxUnavailable === undefined
      ? countRoundedUp(minAvailable ?? 1, expected)
      : Math.max(0, expected - countRoundedUp(maxUnavailable, expected));
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, healthy - desiredHealthy);
  const observedGeneration = object.metadata.generation ?? 0;
  const status = disruptionsAllowed > 0 ? 'True' : 'False';
  const old = conditionOf(object.status?.conditions, 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status,
    observedGeneration,
    lastTransitionTime: old?.status === status ? (old.lastTransitionTime ?? kubeTime(now)) : kubeTime(now),
    reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
  return statusWrites(podDisruptionBudgets, object, {
    status: {
      ...(Object.keys(evicted).length === 0 ? {} : { disruptedPods: evicted }),
      observedGeneration,
      disruptionsAllowed,
      currentHealthy: healthy,
      desiredHealthy,
      expectedPods,
      conditions: [...(object.status?.conditions ?? []).filter((each) => each.type !== condition.type), condition],
    },
    because: `${healthy} healthy, ${desiredHealthy} needed`,
  });
}
