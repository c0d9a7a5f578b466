// The watches of the simulated cluster. On the direct transport the caches share the server's own frozen objects.

import type {
  Budget,
  ControllerRevision,
  DaemonSet,
  Deployment,
  Job,
  Lease,
  Node,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '../../api/builtin/shapes.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Source } from '../../runtime/controller.ts';
import { SERVER } from './controller-of.ts';
import { controllerOf } from './reading.ts';
import * as resources from './resources.ts';
import { LEASE_NAMESPACE } from './rules/node.ts';

type Indexes<T> = Readonly<Record<string, (item: T) => readonly string[]>>;

const source = <T extends KubeObject>(resource: Resource, indexes: Indexes<T> = {}): Source<T> => ({
  on: SERVER,
  resource,
  indexes,
});

/**
 * By kind and name, not uid: a new owner must see the Pods of its deleted predecessor, whose names are still in use.
 */
export const ownerKey = (namespace: string | undefined, kind: string, name: string): string =>
  `${namespace}/${kind}/${name}`;

const byOwner = (item: KubeObject): readonly string[] => {
  const owner = controllerOf(item);
  return owner === undefined ? [] : [ownerKey(item.metadata.namespace, owner.kind, owner.name)];
};

export const deployments = source<Deployment>(resources.deployments);
export const replicaSets = source<ReplicaSet>(resources.replicaSets, { owner: byOwner });
export const statefulSets = source<StatefulSet>(resources.statefulSets);
export const daemonSets = source<DaemonSet>(resources.daemonSets);
export const revisions = source<ControllerRevision>(resources.controllerRevisions, { owner: byOwner });
export const jobs = source<Job>(resources.jobs);
export const budgets = source<Budget>(resources.podDisruptionBudgets);
export const pods = source<Pod>(resources.pods, {
  owner: byOwner,
  node: (pod) => [pod.spec?.nodeName ?? ''],
});
export const claims = source<KubeObject>(resources.claims);
export const services = source<Service>(resources.services);
export const nodes = source<Node>(resources.nodes);
export const leases: Source<Lease> = { on: SERVER, resource: resources.leases, namespace: LEASE_NAMESPACE };
/** The namespace of Leases: it exists from the start, so it also shows that there is a cluster to create Nodes in. */
export const leaseNamespace: Source<KubeObject> = {
  on: SERVER,
  resource: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  fields: `metadata.name=${LEASE_NAMESPACE}`,
};
