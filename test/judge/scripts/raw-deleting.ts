// Finalizers, owners, grace and namespaces: what a deletion answers and what is left afterwards.
import { APPS, CORE, deploymentOf, get, inNamespace, MERGE, patch, post, remove } from './requests.ts';

const map = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata }, data: { a: '1' } });
const owned = (name: string, more: object = {}) =>
  map(name, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '{{owner}}', ...more }] });
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'c:1' }], ...spec },
});
const keep = { owner: 'metadata.uid' };
const maps = `${CORE}/configmaps`;

export const rawDeleting = inNamespace('raw-deleting', [
  post(maps, map('plain')),
  remove(`${maps}/plain?dryRun=All`),
  remove(`${maps}/plain`),
  remove(`${maps}/plain`),
  post(maps, map('held', { finalizers: ['example.com/hold'] })),
  remove(`${maps}/held`),
  remove(`${maps}/held`),
  patch(MERGE, `${maps}/held`, { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }),
  patch(MERGE, `${maps}/held`, { data: { a: '2' } }),
  patch(MERGE, `${maps}/held`, { metadata: { deletionTimestamp: null } }),
  patch(MERGE, `${maps}/held`, { metadata: { finalizers: [] } }),
  get(`${maps}/held`),
  post(maps, map('owner'), { keep }),
  post(maps, owned('background')),
  remove(`${maps}/owner`, { propagationPolicy: 'Background' }),
  get(`${maps}/background`, { until: 404 }),
  post(maps, map('owner'), { keep }),
  post(maps, owned('orphan')),
  remove(`${maps}/owner`, { propagationPolicy: 'Orphan' }),
  get(`${maps}/owner`, { until: 404 }),
  get(`${maps}/orphan`),
  post(maps, map('owner'), { keep }),
  post(maps, owned('foreground', { blockOwnerDeletion: true })),
  remove(`${maps}/owner`, { propagationPolicy: 'Foreground' }),
  get(`${maps}/owner`, { until: 404 }),
  get(`${maps}/foreground`),
  post(maps, map('c-1', { labels: { many: 'yes' } })),
  post(maps, map('c-2', { labels: { many: 'yes' } })),
  post(maps, map('c-3', { labels: { many: 'no' } })),
  remove(`${maps}?labelSelector=many%3Dyes`),
  get(`${maps}?labelSelector=many`),
  post(`${CORE}/pods`, pod('free')),
  remove(`${CORE}/pods/free`),
  post(`${CORE}/pods`, pod('bound', { nodeName: 'nowhere' })),
  remove(`${CORE}/pods/bound`),
  remove(`${CORE}/pods/bound`, { gracePeriodSeconds: 5 }),
  remove(`${CORE}/pods/bound`, { gracePeriodSeconds: 0 }),
  get(`${CORE}/pods/bound`),
  post(`${APPS}/deployments`, deploymentOf('web')),
  remove(`${APPS}/deployments/web`),
  post('/api/v1/namespaces', { metadata: { name: 'gone-{{id}}', finalizers: ['example.com/hold'] } }),
  get('/api/v1/namespaces/gone-{{id}}/serviceaccounts/default', { until: 200 }),
  post('/api/v1/namespaces/gone-{{id}}/configmaps', map('inside')),
  remove('/api/v1/namespaces/gone-{{id}}'),
  post('/api/v1/namespaces/gone-{{id}}/configmaps', map('late')),
  get('/api/v1/namespaces/gone-{{id}}/serviceaccounts/default', { until: 404 }),
  get('/api/v1/namespaces/gone-{{id}}/configmaps/inside', { until: 404 }),
  get('/api/v1/namespaces/gone-{{id}}/configmaps/kube-root-ca.crt', { until: 404 }),
]);
