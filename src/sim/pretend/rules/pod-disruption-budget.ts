// A PodDisruptionBudget: how many of the Pods it speaks for may be disturbed now.
import { kubeTime } from '../../../base/clock.ts';
import { countRoundedUp } from '../../../base/int-or-percent.ts';
import { isReady } from '../pods.ts';
import { podDisruptionBudgets } from '../resources.ts';
import { nothing, type Rule, statusWrites } from '../rule.ts';
import { type Budget, type BudgetSpec, conditionOf, controllerOf, isDeleting, type Pod } from '../shapes.ts';

export interface BudgetRelated {
  /** Those that its selector matches. */
  readonly pods: readonly Pod[];
  /** By uid of a Pod's controller: the workload behind it and how many Pods that should have. */
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
  const healthy = pods.filter((pod) => isReady(pod) && !isDeleting(pod)).length;
  return { writes: budgetWrites(object, object.spec, { found: pods.length, expected, healthy }, now) };
};

export interface Counts {
  /** Pods that are there. */
  readonly found: number;
  /** Pods that there should be. */
  readonly expected: number;
  readonly healthy: number;
}

export function budgetWrites(object: Budget, spec: BudgetSpec, { found, expected, healthy }: Counts, now: number) {
  const { minAvailable, maxUnavailable } = spec;
  // A plain minimum asks nobody how many Pods there should be.
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
      ...(object.status?.disruptedPods === undefined ? {} : { disruptedPods: object.status.disruptedPods }),
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
