// The `controllers` set: the controllers of kube-controller-manager, one per kind.

import type { Budget, Node, Pod } from '../../api/builtin/shapes.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import { compileLabelSelector } from '../../base/selector.ts';
import type { Controller, Source, View, WatchRule } from '../../runtime/controller.ts';
import { controllerOf, itself, keyOf, ofKey, onlyRead, splitKey } from './controller-of.ts';
import { daemonSetNews, deploymentNews, jobNews, replicaSetNews, statefulSetNews } from './events.ts';
import type { Profile } from './profile.ts';
import { controllerOf as ownerOf } from './reading.ts';
import { daemonSet } from './rules/daemon-set.ts';
import { deployment } from './rules/deployment.ts';
import { job } from './rules/job.ts';
import { podDisruptionBudget } from './rules/pod-disruption-budget.ts';
import { replicaSet } from './rules/replica-set.ts';
import { statefulSet } from './rules/stateful-set.ts';
import {
  budgets,
  claims,
  daemonSets,
  deployments,
  jobs,
  nodes,
  ownerKey,
  pods,
  replicaSets,
  revisions,
  statefulSets,
} from './sources.ts';

// biome-ignore lint/suspicious/noExplicitAny: controllers over different observations stand in one list, as in ManagerOptions.
export const workloadControllers = (profile: Profile): readonly Controller<any>[] => [
  controllerOf({
    name: 'deployment',
    rule: deployment,
    profile,
    reporter: deploymentNews,
    watches: [itself(deployments), ownedBy(replicaSets, 'Deployment'), lastPods],
    see(view, key) {
      const object = ofKey(view, deployments, key);
      if (object === undefined) return undefined;
      const { namespace, name } = splitKey(key);
      const named = view.by(replicaSets, 'owner', ownerKey(namespace, 'Deployment', name));
      const mine = named.filter((set) => ownerOf(set)?.uid === object.metadata.uid);
      const taken = view.all(replicaSets, namespace).filter((set) => ownerOf(set)?.uid !== object.metadata.uid);
      return {
        object,
        related: {
          replicaSets: mine,
          pods:
            object.spec?.strategy.type === 'Recreate'
              ? mine.flatMap((set) => podsOf(view, 'ReplicaSet', keyOf(set)))
              : [],
          taken: new Set(taken.map((set) => set.metadata.name ?? '')),
        },
      };
    },
  }),
  controllerOf({
    name: 'replicaset',
    rule: replicaSet,
    profile,
    reporter: replicaSetNews,
    watches: [itself(replicaSets), ownedBy(pods, 'ReplicaSet')],
    see(view, key) {
      const object = ofKey(view, replicaSets, key);
      return object && { object, related: { pods: podsOf(view, 'ReplicaSet', key) } };
    },
  }),
  controllerOf({
    name: 'statefulset',
    rule: statefulSet,
    profile,
    reporter: statefulSetNews,
    watches: [itself(statefulSets), ownedBy(pods, 'StatefulSet'), ownedBy(revisions, 'StatefulSet'), onlyRead(claims)],
    see(view, key) {
      const object = ofKey(view, statefulSets, key);
      if (object === undefined) return undefined;
      const { namespace } = splitKey(key);
      const hasVolumes = (object.spec?.volumeClaimTemplates ?? []).length > 0;
      return {
        object,
        related: {
          pods: podsOf(view, 'StatefulSet', key),
          revisions: revisionsOf(view, 'StatefulSet', key, object.metadata.uid),
          claims: new Set(hasVolumes ? view.all(claims, namespace).map((claim) => claim.metadata.name ?? '') : []),
        },
      };
    },
  }),
  controllerOf({
    name: 'daemonset',
    rule: daemonSet,
    profile,
    reporter: daemonSetNews,
    watches: [itself(daemonSets), ownedBy(pods, 'DaemonSet'), ownedBy(revisions, 'DaemonSet'), placesForDaemons],
    see(view, key) {
      const object = ofKey(view, daemonSets, key);
      return (
        object && {
          object,
          related: {
            pods: podsOf(view, 'DaemonSet', key),
            revisions: revisionsOf(view, 'DaemonSet', key, object.metadata.uid),
            nodes: view.all(nodes),
          },
        }
      );
    },
  }),
  controllerOf({
    name: 'job',
    rule: job,
    profile,
    reporter: jobNews,
    watches: [itself(jobs), ownedBy(pods, 'Job')],
    see(view, key) {
      const object = ofKey(view, jobs, key);
      return object && { object, related: { pods: podsOf(view, 'Job', key) } };
    },
  }),
  controllerOf({
    name: 'poddisruptionbudget',
    rule: podDisruptionBudget,
    profile,
    watches: [itself(budgets), budgetsOf(pods), budgetsIn(deployments), budgetsIn(statefulSets), onlyRead(replicaSets)],
    see(view, key) {
      const object = ofKey(view, budgets, key);
      if (object === undefined) return undefined;
      const matching = view.all(pods, splitKey(key).namespace).filter((pod) => speaksFor(object, pod));
      return { object, related: { pods: matching, workloads: workloadsOf(view, matching) } };
    },
  }),
];

/** Enqueues the controller of the changed object. */
const ownedBy = <T extends KubeObject>(source: Source<T>, kind: string): WatchRule<T> => ({
  source,
  toKeys(item) {
    const owner = ownerOf(item);
    return owner?.kind === kind ? [`${item.metadata.namespace}/${owner.name}`] : [];
  },
});

/** A Deployment with strategy Recreate waits until the last old Pod is deleted. */
const lastPods: WatchRule<Pod> = {
  source: pods,
  toKeys(pod, view) {
    const { namespace } = pod.metadata;
    const set = ownerOf(pod);
    if (set?.kind !== 'ReplicaSet') return [];
    const owned = view.get(replicaSets, set.name, namespace);
    const owner = owned && ownerOf(owned);
    if (owner?.kind !== 'Deployment') return [];
    const recreates = view.get(deployments, owner.name, namespace)?.spec?.strategy.type === 'Recreate';
    return recreates ? [`${namespace}/${owner.name}`] : [];
  },
};

/** Whether the node has changed for a DaemonSet or a scheduler. */
export const isAnotherPlace = (node: Node, old: Node | undefined): boolean =>
  old === undefined ||
  !deepEqual(node.metadata.labels, old.metadata.labels) ||
  !deepEqual(node.spec?.taints, old.spec?.taints) ||
  node.spec?.unschedulable !== old.spec?.unschedulable ||
  !deepEqual(node.status?.allocatable, old.status?.allocatable);

const placesForDaemons: WatchRule<Node> = {
  source: nodes,
  toKeys: (node, view, old) => (isAnotherPlace(node, old) ? view.all(daemonSets).map(keyOf) : []),
};

const podsOf = (view: View, kind: string, key: string): readonly Pod[] => {
  const { namespace, name } = splitKey(key);
  return view.by(pods, 'owner', ownerKey(namespace, kind, name));
};

const revisionsOf = (view: View, kind: string, key: string, uid: string | undefined) => {
  const { namespace, name } = splitKey(key);
  return view.by(revisions, 'owner', ownerKey(namespace, kind, name)).filter((each) => ownerOf(each)?.uid === uid);
};

const speaksFor = ({ spec }: Budget, { metadata }: Pod): boolean =>
  spec !== undefined && compileLabelSelector(spec.selector).matches(metadata.labels);

const budgetsOf = (source: typeof pods): WatchRule<Pod> => ({
  source,
  toKeys: (pod, view) =>
    view
      .all(budgets, pod.metadata.namespace)
      .filter((budget) => speaksFor(budget, pod))
      .map(keyOf),
});

/** The desired number of Pods of a workload affects its disruption budgets. */
export const budgetsIn = <T extends KubeObject>(source: Source<T>): WatchRule<T> => ({
  source,
  toKeys: (item, view, old) =>
    old !== undefined && item.metadata.generation === old.metadata.generation
      ? []
      : view.all(budgets, item.metadata.namespace).map(keyOf),
});

function workloadsOf(
  view: View,
  matching: readonly Pod[],
): ReadonlyMap<string, { readonly uid: string; readonly replicas: number }> {
  const found = new Map<string, { readonly uid: string; readonly replicas: number }>();
  for (const pod of matching) {
    const owner = ownerOf(pod);
    if (owner === undefined || found.has(owner.uid)) continue;
    const { namespace } = pod.metadata;
    if (owner.kind === 'StatefulSet') {
      const set = view.get(statefulSets, owner.name, namespace);
      if (set?.spec) found.set(owner.uid, { uid: owner.uid, replicas: set.spec.replicas });
    } else if (owner.kind === 'ReplicaSet') {
      const set = view.get(replicaSets, owner.name, namespace);
      const above = set && ownerOf(set);
      const whole = above?.kind === 'Deployment' ? view.get(deployments, above.name, namespace) : undefined;
      const replicas = whole?.spec?.replicas ?? set?.spec?.replicas;
      if (replicas !== undefined) found.set(owner.uid, { uid: whole?.metadata.uid ?? owner.uid, replicas });
    }
  }
  return found;
}
