// Patches of every kind that is served, with their directives, on objects of every sort.
import {
  APPS,
  CORE,
  deploymentOf,
  get,
  inNamespace,
  JSON_PATCH,
  MERGE,
  PLACEMENT,
  patch,
  post,
  STRATEGIC,
} from './requests.ts';

const maps = `${CORE}/configmaps`;
const map = `${maps}/m`;
const web = `${APPS}/deployments/web`;
const service = `${CORE}/services/web`;
const CRPS = `${PLACEMENT}/v1/clusterresourceplacements`;
const crp = `${CRPS}/patched-{{id}}`;
const containers = [
  {
    name: 'web',
    image: 'web:1',
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
    ports: [{ containerPort: 80 }],
  },
  { name: 'side', image: 'side:1' },
];
const template = (spec: object) => ({ spec: { template: { spec } } });
const json = (at: string, ...operations: readonly object[]) => patch(JSON_PATCH, at, operations);
const merge = (at: string, body: unknown) => patch(MERGE, at, body);
const strategic = (at: string, body: unknown) => patch(STRATEGIC, at, body);

export const rawPatching = inNamespace('raw-patching', [
  post(maps, { metadata: { name: 'm', labels: { a: '1' } }, data: { a: '1', b: '2', 'c/d': 'no' } }),
  post(maps, { metadata: { name: 'm', labels: { a: '1' } }, data: { a: '1', b: '2' } }),
  merge(map, { data: { a: null, c: '3' } }),
  merge(map, { data: null }),
  merge(map, { data: { x: '1' }, metadata: { annotations: { note: 'x' } } }),
  merge(map, {}),
  merge(map, { metadata: null }),
  merge(map, []),
  merge(map, 'text'),
  merge(map, null),
  patch(STRATEGIC, map, null),
  patch(JSON_PATCH, map, null),
  merge(map, { metadata: { labels: { 'bad key': 'x' } } }),
  merge(map, { metadata: { generation: 9, uid: 'mine', creationTimestamp: null } }),
  merge(map, { immutable: true }),
  merge(map, { data: { y: '1' } }),
  merge(map, { immutable: false }),
  merge(map, { metadata: { labels: { still: 'ok' } } }),
  post(maps, { metadata: { name: 'j' }, data: { a: '1', 'x.y': '2', '~t': '3' } }),
  post(maps, { metadata: { name: 'j' }, data: { a: '1', 'x.y': '2' } }),
  json(`${maps}/j`, { op: 'add', path: '/data/b', value: '2' }, { op: 'copy', from: '/data/b', path: '/data/c' }),
  json(`${maps}/j`, { op: 'move', from: '/data/c', path: '/data/d' }, { op: 'test', path: '/data/d', value: '2' }),
  json(`${maps}/j`, { op: 'replace', path: '/data/a', value: '9' }, { op: 'remove', path: '/data/b' }),
  json(`${maps}/j`, { op: 'add', path: '/metadata/labels', value: { a: 'b' } }),
  json(`${maps}/j`, { op: 'add', path: '/metadata/labels/a~1b', value: 'c' }),
  json(`${maps}/j`, { op: 'test', path: '/data/none', value: null }),
  json(`${maps}/j`, { op: 'test', path: '/data/a', value: 9 }),
  json(`${maps}/j`, { op: 'add', path: '/nothing/deep', value: 1 }),
  json(`${maps}/j`, { op: 'add', path: 'data', value: {} }),
  json(`${maps}/j`, { op: 'add', path: '', value: {} }),
  json(`${maps}/j`, { op: 'move', from: '/nothing', path: '/data/z' }),
  json(`${maps}/j`, { op: 'copy', path: '/data/z' }),
  json(`${maps}/j`, { path: '/data/z', value: 'x' }),
  json(`${maps}/j`, { op: 'add', path: '/data/z' }),
  json(`${maps}/j`, { op: 'replace', path: '/data', value: null }),
  post(
    `${APPS}/deployments`,
    deploymentOf('web', { template: { metadata: { labels: { app: 'web' } }, spec: { containers } } }),
  ),
  strategic(web, template({ containers: [{ name: 'web', image: 'web:2' }] })),
  strategic(
    web,
    template({
      containers: [
        {
          name: 'web',
          env: [
            { name: 'A', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ],
    }),
  ),
  strategic(web, template({ containers: [{ name: 'web', env: [{ name: 'B', $patch: 'delete' }] }] })),
  strategic(web, template({ containers: [{ name: 'web', env: [{ $patch: 'replace' }, { name: 'Z', value: '9' }] }] })),
  strategic(
    web,
    template({ containers: [{ name: 'web', ports: [{ containerPort: 90 }, { containerPort: 80, protocol: 'UDP' }] }] }),
  ),
  { ...strategic(web, template({ $setElementOrder: null })), differs: { known: 'strategic-type-error' } },
  strategic(web, template({ '$setElementOrder/containers': [{ name: 'side' }, { name: 'web' }] })),
  strategic(
    web,
    template({
      '$setElementOrder/containers': [{ name: 'side' }, { name: 'new' }, { name: 'web' }],
      containers: [{ name: 'new', image: 'new:1' }],
    }),
  ),
  strategic(
    web,
    template({
      containers: [
        { name: 'side', $patch: 'delete' },
        { name: 'new', $patch: 'delete' },
      ],
    }),
  ),
  strategic(web, template({ containers: [{ image: 'nameless:1' }] })),
  strategic(web, template({ containers: [{ name: 'web', $patch: 'fly' }] })),
  strategic(web, template({ containers: null })),
  strategic(web, template({ tolerations: [{ key: 'a', operator: 'Exists' }], volumes: [{ name: 'v', emptyDir: {} }] })),
  {
    ...strategic(
      web,
      template({ volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }),
    ),
    without: [{ line: /unknown field .*\$retainKeys/, known: 'retain-keys-warning' }],
  },
  strategic(
    web,
    template({ volumes: [{ name: 'v', $patch: 'delete' }], nodeSelector: { $patch: 'replace', disk: 'ssd' } }),
  ),
  strategic(web, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  strategic(web, { spec: { strategy: { type: 'RollingUpdate' } } }),
  strategic(web, {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['x'], finalizers: ['example.com/a', 'example.com/b'] },
  }),
  strategic(web, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } }),
  strategic(web, { metadata: { finalizers: null } }),
  strategic(web, { spec: { selector: { matchLabels: { app: 'other' } } } }),
  merge(web, template({ containers: [{ name: 'web', image: 'web:3' }] })),
  merge(web, { spec: { replicas: -1 } }),
  merge(web, { spec: { replicas: 2.5 } }),
  merge(web, { status: { replicas: 3 } }),
  merge(`${web}/status`, {
    status: { replicas: 3, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 },
    spec: { replicas: 7 },
  }),
  merge(`${web}/status`, { status: { replicas: 3, readyReplicas: 9 } }),
  merge(`${web}/scale`, { spec: { replicas: 4 } }),
  merge(`${web}/scale`, { spec: { replicas: -4 } }),
  json(`${web}/scale`, { op: 'replace', path: '/spec/replicas', value: 5 }),
  get(`${web}/scale`),
  get(web),
  post(`${CORE}/services`, {
    metadata: { name: 'web' },
    spec: {
      ports: [
        { name: 'http', port: 80 },
        { name: 'https', port: 443 },
      ],
    },
  }),
  strategic(service, { spec: { ports: [{ port: 80, targetPort: 8080 }] } }),
  strategic(service, { spec: { ports: [{ port: 443, $patch: 'delete' }] } }),
  strategic(service, { spec: { ports: [{ port: 81, name: 'more' }] } }),
  strategic(service, { spec: { type: 'NodePort' } }),
  strategic(service, { spec: { type: 'ClusterIP' } }),
  strategic(service, { spec: { clusterIP: '10.0.0.9' } }),
  strategic(service, { spec: { type: 'ExternalName', externalName: 'example.com' } }),
  merge(service, { spec: { selector: { app: 'web' }, sessionAffinity: 'ClientIP' } }),
  merge(service, { spec: { sessionAffinity: 'Odd' } }),
  get(service),
  post(CRPS, {
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: 'ClusterResourcePlacement',
    metadata: { name: 'patched-{{id}}' },
    spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'x' }] },
  }),
  merge(crp, { spec: { policy: { placementType: 'PickN', numberOfClusters: 2 } } }),
  merge(crp, { spec: { strategy: { rollingUpdate: { maxUnavailable: '50%' } } } }),
  merge(crp, { spec: { strategy: null } }),
  merge(crp, { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } }),
  merge(crp, { spec: { strategy: { rollingUpdate: { maxUnavailable: '150 %' } } } }),
  merge(crp, { spec: { odd: 1 } }),
  json(crp, {
    op: 'add',
    path: '/spec/resourceSelectors/-',
    value: { group: '', version: 'v1', kind: 'Namespace', name: 'y' },
  }),
  json(crp, { op: 'remove', path: '/spec/resourceSelectors/5' }),
  json(crp, { op: 'replace', path: '/spec/resourceSelectors', value: [] }),
  json(`${crp}/status`, { op: 'add', path: '/status', value: { observedResourceIndex: '1' } }),
  merge(`${crp}/status`, { status: { conditions: [{ type: 'A' }] } }),
  get(crp),
  { method: 'DELETE', path: crp },
]);
