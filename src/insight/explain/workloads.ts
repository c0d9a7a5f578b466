// The built-in kinds that create Pods.
import type { Resource } from '../../api/kind.ts';

const workload = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});

/** A lookup table: values that a member reports are never used in a URL. */
export const WORKLOADS: readonly Resource[] = [
  workload('apps', 'Deployment', 'deployments'),
  workload('apps', 'StatefulSet', 'statefulsets'),
  workload('apps', 'DaemonSet', 'daemonsets'),
  workload('apps', 'ReplicaSet', 'replicasets'),
  workload('batch', 'Job', 'jobs'),
];

export const hasPods = (kind: string): boolean => WORKLOADS.some((each) => each.kind === kind);
