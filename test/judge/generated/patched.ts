// The objects whose patches are generated, each with some of everything that patches treat in their own way.
import type { KubeObject } from '../../../src/api/object.ts';

export interface Patched {
  readonly path: string;
  readonly object: KubeObject;
}

const container = (name: string, port = 80) => ({
  name,
  image: `${name}:1`,
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  ports: [{ name: `${name}-port`, containerPort: port }],
  resources: { limits: { cpu: '1' } },
});

/** One of each kind, under a name. */
export const patchedObjects = (namespace: string, name: string): readonly Patched[] => [
  {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { app: 'x', tier: 'front' }, annotations: { note: 'n' } },
      data: { a: '1', b: '2', 'c.txt': 'three' },
      binaryData: { z: 'AAE=' },
    },
  },
  {
    path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels: { app: 'x' } },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'x' } },
        template: {
          metadata: { labels: { app: 'x' }, annotations: { a: 'b' } },
          spec: {
            containers: [container('web'), container('side', 90)],
            volumes: [
              { name: 'v', configMap: { name: 'c' } },
              { name: 'w', emptyDir: {} },
            ],
            tolerations: [{ key: 'k', operator: 'Exists' }],
            nodeSelector: { disk: 'ssd' },
            imagePullSecrets: [{ name: 's' }],
          },
        },
      },
    },
  },
  {
    path: `/api/v1/namespaces/${namespace}/services`,
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, annotations: { a: 'b' } },
      spec: {
        selector: { app: 'x' },
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'https', port: 443 },
        ],
      },
    },
  },
  {
    path: `/api/v1/namespaces/${namespace}/pods`,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'x' } },
      spec: {
        containers: [container('web'), { name: 'side', image: 'side:1' }],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        activeDeadlineSeconds: 60,
        // The volume with its token has a name of its own on each server.
        automountServiceAccountToken: false,
      },
    },
  },
  {
    path: '/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacements',
    object: {
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: `${namespace}-${name}`, labels: { app: 'x' } },
      spec: {
        resourceSelectors: [
          { group: '', version: 'v1', kind: 'Namespace', name: 'a' },
          { group: '', version: 'v1', kind: 'Namespace', labelSelector: { matchLabels: { a: 'b' } } },
        ],
        policy: { placementType: 'PickN', numberOfClusters: 2, tolerations: [{ key: 'k', operator: 'Exists' }] },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%' } },
      },
    },
  },
];
