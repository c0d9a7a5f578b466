// Lists, pages, selectors, tables, parts of objects, discovery.
import { APPS, CORE, deploymentOf, get, inNamespace, PARTIAL, PARTIAL_LIST, post, TABLE } from './requests.ts';

const maps = `${CORE}/configmaps`;
const map = (name: string, labels: object) => ({ metadata: { name, labels }, data: { a: '1' } });
const described = { without: [{ line: /"description": /, known: 'descriptions' }] };
const hashed = {
  without: [{ line: /"storageVersionHash": /, known: 'storage-version-hash' }],
  unordered: 'a real server lists the kinds of a group in the order in which they were defined',
};
const GROUPS = [
  'apps',
  'batch',
  'autoscaling',
  'policy',
  'rbac.authorization.k8s.io',
  'networking.k8s.io',
  'coordination.k8s.io',
  'placement.kubernetes-fleet.io',
  'cluster.kubernetes-fleet.io',
];

export const rawReading = inNamespace('raw-reading', [
  post(maps, map('a', { tier: 'front', n: '1' })),
  post(maps, map('b', { tier: 'back', n: '2' })),
  post(maps, map('c', { tier: 'back' })),
  get(`${maps}?labelSelector=tier`),
  get(`${maps}?labelSelector=tier&limit=1`, { keep: { next: 'metadata.continue' } }),
  get(`${maps}?labelSelector=tier&limit=1&continue={{next}}`, { keep: { next: 'metadata.continue' } }),
  get(`${maps}?labelSelector=tier&limit=1&continue={{next}}`, {
    without: [{ line: /"continue"/, known: 'last-page' }],
  }),
  get(`${maps}?limit=2`, { keep: { next: 'metadata.continue' } }),
  get(`${maps}?limit=2&continue={{next}}`),
  get(`${maps}?limit=2&continue={{next}}&resourceVersion=5`),
  get(`${maps}?labelSelector=tier%20in%20(front)%2Cn`),
  get(`${maps}?labelSelector=n%3E1`),
  get(`${maps}?labelSelector=!n%2Ctier!%3Dfront`),
  get(`${maps}?fieldSelector=metadata.name%3Da`),
  get(`${maps}?fieldSelector=metadata.name!%3Da%2Cmetadata.namespace%3Dn-{{id}}&labelSelector=tier`),
  get(`${maps}?labelSelector=tier`, { headers: TABLE, ...described }),
  get(`${maps}?labelSelector=n%3D1&includeObject=Object`, { headers: TABLE, ...described }),
  get(`${maps}?labelSelector=n%3D1&includeObject=None`, { headers: TABLE, ...described }),
  get(`${maps}/a`, { headers: TABLE, ...described }),
  get(`${maps}/a`, { headers: PARTIAL }),
  get(`${maps}?labelSelector=tier`, { headers: PARTIAL_LIST }),
  get(`${maps}/a`, { headers: { accept: 'application/yaml' }, differs: { known: 'yaml-order' } }),
  get(`${maps}?pretty=true&labelSelector=n%3D1`),
  get(`${maps}/absent`, { headers: TABLE }),
  post(`${APPS}/deployments`, deploymentOf('web')),
  get(`${APPS}/deployments`, { headers: TABLE, ...described }),
  get(`${APPS}/deployments/web/status`),
  get(`${APPS}/deployments?resourceVersion=0`),
  get(`${CORE}/pods?fieldSelector=status.phase%3DRunning`),
  get(`${CORE}/events`),
  get('/api', { differs: { known: 'server-address' } }),
  get('/api/v1', { differs: { known: 'componentstatus' } }),
  ...GROUPS.map((group) => get(`/apis/${group}`)),
  get('/apis/apps/v1', hashed),
  get('/apis/batch/v1', hashed),
  get('/apis/rbac.authorization.k8s.io/v1', hashed),
  get('/apis/placement.kubernetes-fleet.io/v1', hashed),
  get('/apis/placement.kubernetes-fleet.io/v1beta1', hashed),
  get('/apis/cluster.kubernetes-fleet.io/v1', hashed),
  get('/healthz'),
  get('/livez'),
  get('/readyz'),
]);
