// The objects of every new cluster: namespaces, the Service of the API server, the system's priority classes, RBAC, and
// one APIService per group and version. Each cluster adds uid and creation time; everything else is frozen and shared
// by all clusters of the process.
import { builtinKinds } from '../../api/builtin/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import { lazy } from '../../base/lazy.ts';
import { bootstrapPolicy } from '../auth/bootstrap-policy.ts';
import { SYSTEM_PRIORITIES } from './priority-class.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const namespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});

/** The first address of the range; see service-addresses.ts. */
const API_SERVICE_IP = '10.96.0.1';
const API_PORT = 6443;

const kubernetesService: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    clusterIP: API_SERVICE_IP,
    clusterIPs: [API_SERVICE_IP],
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: API_PORT }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
  status: { loadBalancer: {} },
};

const priorityClass = ({ name, value, description }: (typeof SYSTEM_PRIORITIES)[number]): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name, generation: 1 },
  value,
  description,
  preemptionPolicy: 'PreemptLowerPriority',
});

/** The priority of each group for clients, and of the versions in a group. */
const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  '': 18000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'apiextensions.k8s.io': 16700,
  'admissionregistration.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'resource.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
};
const VERSION_PRIORITIES: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
};
const USUAL_VERSION_PRIORITY = 15;

function apiServices(): readonly KubeObject[] {
  const served = new Map<string, { readonly group: string; readonly version: string }>();
  for (const { group, versions } of builtinKinds) {
    // The aggregator's own group has no APIService.
    if (group === 'apiregistration.k8s.io') continue;
    for (const version of versions) served.set(`${version}.${group}`, { group, version });
  }
  return [...served].map(([name, { group, version }]) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
    spec: {
      ...(group === '' ? {} : { group }),
      groupPriorityMinimum: GROUP_PRIORITIES[group] ?? 1000,
      version,
      versionPriority: VERSION_PRIORITIES[`${group}/${version}`] ?? USUAL_VERSION_PRIORITY,
    },
    status: {
      conditions: [
        {
          lastTransitionTime: null,
          message: 'Local APIServices are always available',
          reason: 'Local',
          status: 'True',
          type: 'Available',
        },
      ],
    },
  }));
}

/** Sorted so that each object can be written after the ones before it. */
export const bootstrapObjects: () => readonly KubeObject[] = lazy(() =>
  deepFreeze([
    ...NAMESPACES.map(namespace),
    ...SYSTEM_PRIORITIES.map(priorityClass),
    ...bootstrapPolicy(),
    ...apiServices(),
    kubernetesService,
  ]),
);
