// The resources that the simulated cluster reads and writes.
import type { Resource } from '../../api/kind.ts';

const resource = (group: string, kind: string, plural: string, namespaced = true): Resource =>
  Object.freeze({ group, version: 'v1', kind, plural, namespaced });

export const deployments = resource('apps', 'Deployment', 'deployments');
export const replicaSets = resource('apps', 'ReplicaSet', 'replicasets');
export const statefulSets = resource('apps', 'StatefulSet', 'statefulsets');
export const daemonSets = resource('apps', 'DaemonSet', 'daemonsets');
export const controllerRevisions = resource('apps', 'ControllerRevision', 'controllerrevisions');
export const jobs = resource('batch', 'Job', 'jobs');
export const podDisruptionBudgets = resource('policy', 'PodDisruptionBudget', 'poddisruptionbudgets');
export const pods = resource('', 'Pod', 'pods');
export const claims = resource('', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const services = resource('', 'Service', 'services');
export const nodes = resource('', 'Node', 'nodes', false);
export const leases = resource('coordination.k8s.io', 'Lease', 'leases');
export const crds = resource('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', false);
