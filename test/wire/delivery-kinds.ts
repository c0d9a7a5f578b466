// One object of each kind whose availability seed 001 speaks of, and placements that send them to one cluster.
import type { KubeObject } from '../../src/api/object.ts';

const kind = (apiVersion: string, name: string, rest: object = {}, namespace?: string): KubeObject => ({
  apiVersion,
  kind: name,
  metadata: { name: 'data', ...(namespace === undefined ? {} : { namespace }) },
  ...rest,
});
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
const subjects = [{ kind: 'ServiceAccount', name: 'data', namespace: 'data' }];
const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: name, name: 'data' });

/** Namespace, the seventeenth, is the one they are in. */
const inNamespace = [
  kind('v1', 'Secret', { stringData: { key: 'value' } }, 'data'),
  kind('v1', 'ConfigMap', { data: { key: 'value' } }, 'data'),
  kind('rbac.authorization.k8s.io/v1', 'Role', { rules }, 'data'),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding', { subjects, roleRef: roleRef('Role') }, 'data'),
  kind('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {}, policyTypes: ['Ingress'] } }, 'data'),
  kind('storage.k8s.io/v1', 'CSIStorageCapacity', { storageClassName: 'data', capacity: '1Gi' }, 'data'),
  kind('apps/v1', 'ControllerRevision', { revision: 1, data: { key: 'value' } }, 'data'),
  kind('v1', 'LimitRange', { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } }, 'data'),
  kind('v1', 'ResourceQuota', { spec: { hard: { configmaps: '10' } } }, 'data'),
  kind('v1', 'ServiceAccount', {}, 'data'),
];
const ofCluster = [
  kind('rbac.authorization.k8s.io/v1', 'ClusterRole', { rules }),
  kind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', { subjects, roleRef: roleRef('ClusterRole') }),
  kind('storage.k8s.io/v1', 'CSIDriver', { spec: { attachRequired: false } }),
  kind('storage.k8s.io/v1', 'CSINode', { spec: { drivers: [] } }),
  kind('storage.k8s.io/v1', 'StorageClass', { provisioner: 'example.com/disk' }),
  kind('networking.k8s.io/v1', 'IngressClass', { spec: { controller: 'example.com/ingress' } }),
  kind('scheduling.k8s.io/v1', 'PriorityClass', { value: 10 }),
];
export const onlyData: readonly KubeObject[] = [namespace('data'), ...inNamespace, ...ofCluster];

export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export const service = (name: string, inNamespace: string, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: inNamespace },
  spec: { ports: [{ port: 80 }], selector: { app: 'web' }, ...spec },
});

export const deployment = (name: string, inNamespace: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: inNamespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
});

/** For the Pods of the Deployment of the same name. Real clusters do not keep count of Pods that have two budgets: they tell one of them, any. */
export const budget = (name: string, inNamespace: string, minAvailable: number): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: inNamespace },
  spec: { minAvailable, selector: { matchLabels: { app: name } } },
});

/** A definition without demands on what the objects hold. */
export const definition = (group: string, kindName: string, versionName: string): KubeObject => {
  const plural = `${kindName.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: kindName, plural, singular: kindName.toLowerCase() },
      versions: [
        {
          name: versionName,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
};

const WEIGHT = 'networking.fleet.azure.com/weight';
export const serviceExport = (name: string, inNamespace: string, weight: string): KubeObject => ({
  apiVersion: 'networking.fleet.azure.com/v1beta1',
  kind: 'ServiceExport',
  metadata: { name, namespace: inNamespace, annotations: { [WEIGHT]: weight } },
});

/** Sends the objects that have no namespace, and with a Namespace all that is in it, to this one cluster. */
export const placementOf = (name: string, cluster: string, objects: readonly KubeObject[]): KubeObject => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    policy: { placementType: 'PickFixed', clusterNames: [cluster] },
    resourceSelectors: objects
      .filter(({ metadata }) => metadata.namespace === undefined)
      .map(({ apiVersion, kind: kindName, metadata }) => {
        const [version, group = ''] = apiVersion.split('/').reverse();
        return { group, version, kind: kindName, name: metadata.name };
      }),
  },
});
