// The `controllers` set for fleets that are too large to have Pods: every workload computes its own status.

import type { Budget, Deployment, Node, StatefulSet } from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { compileLabelSelector } from '../../../base/selector.ts';
import type { Controller, WatchRule } from '../../../runtime/controller.ts';
import { controllerOf, itself, keyOf, ofKey, splitKey } from '../controller-of.ts';
import { isAnotherPlace } from '../controllers.ts';
import type { Profile } from '../profile.ts';
import { isDeleting } from '../reading.ts';
import type { Rule } from '../rule.ts';
import { budgetWrites } from '../rules/pod-disruption-budget.ts';
import { budgets, daemonSets, deployments, jobs, nodes, replicaSets, statefulSets } from '../sources.ts';
import { deploymentStatus } from './deployment.ts';
import { daemonSetStatus, jobStatus, replicaSetStatus, statefulSetStatus } from './workloads.ts';

// biome-ignore lint/suspicious/noExplicitAny: controllers over different observations stand in one list, as in ManagerOptions.
export const statusControllers = (profile: Profile): readonly Controller<any>[] => [
  alone('deployment', deployments, deploymentStatus, profile),
  alone('replicaset', replicaSets, replicaSetStatus, profile),
  alone('statefulset', statefulSets, statefulSetStatus, profile),
  alone('job', jobs, jobStatus, profile),
  controllerOf({
    name: 'daemonset',
    rule: daemonSetStatus,
    profile,
    watches: [itself(daemonSets), places],
    see(view, key) {
      const object = ofKey(view, daemonSets, key);
      return object && { object, related: { nodes: view.all(nodes) } };
    },
  }),
  controllerOf({
    name: 'poddisruptionbudget',
    rule: budgetStatus,
    profile,
    watches: [itself(budgets), budgetsOf(deployments), budgetsOf(statefulSets)],
    see(view, key) {
      const object = ofKey(view, budgets, key);
      if (object === undefined) return undefined;
      const { namespace } = splitKey(key);
      const all = [...view.all(deployments, namespace), ...view.all(statefulSets, namespace)];
      return { object, related: { workloads: all.filter((workload) => speaksFor(object, workload)) } };
    },
  }),
];

function alone<T extends KubeObject>(
  name: string,
  source: Parameters<typeof itself<T>>[0],
  rule: Rule<T, undefined>,
  profile: Profile,
) {
  return controllerOf({
    name,
    rule,
    profile,
    watches: [itself(source)],
    see(view, key) {
      const object = ofKey(view, source, key);
      return object && { object, related: undefined };
    },
  });
}

const places: WatchRule<Node> = {
  source: nodes,
  toKeys: (node, view, old) => (isAnotherPlace(node, old) ? view.all(daemonSets).map(keyOf) : []),
};

type Workload = Deployment | StatefulSet;

const speaksFor = ({ spec }: Budget, workload: Workload): boolean =>
  spec !== undefined && compileLabelSelector(spec.selector).matches(workload.spec?.template.metadata?.labels);

const budgetsOf = <T extends Workload>(source: WatchRule<T>['source']): WatchRule<T> => ({
  source,
  toKeys: (item, view) =>
    view
      .all(budgets, item.metadata.namespace)
      .filter((budget) => speaksFor(budget, item))
      .map(keyOf),
});

export const budgetStatus: Rule<Budget, { readonly workloads: readonly Workload[] }> = (object, { workloads }, now) => {
  if (object.spec === undefined || isDeleting(object)) return { writes: [] };
  const sum = (of: (workload: Workload) => number | undefined) =>
    workloads.reduce((total, each) => total + (of(each) ?? 0), 0);
  const counts = {
    found: sum((each) => each.status?.replicas),
    expected: sum((each) => each.spec?.replicas),
    healthy: sum((each) => each.status?.readyReplicas),
  };
  return { writes: budgetWrites(object, object.spec, counts, now) };
};
