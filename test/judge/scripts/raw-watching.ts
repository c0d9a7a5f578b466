// Watches: what is told of a sequence of writes, to whom, in what form. A watch is asked after the writes, from the moment before them, so
// that it has all to tell at once.
import { CORE, get, inNamespace, MERGE, PARTIAL, PLACEMENT, patch, post, remove, TABLE } from './requests.ts';

const maps = `${CORE}/configmaps`;
const CRPS = `${PLACEMENT}/v1/clusterresourceplacements`;
const since = (path: string, query = '') => `${path}?watch=true&timeoutSeconds=1&resourceVersion={{start}}${query}`;
const map = (name: string, labels?: object) => ({
  metadata: { name, ...(labels ? { labels } : {}) },
  data: { a: '1' },
});
const placement = {
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'w-{{id}}', labels: { watched: '{{id}}' } },
  spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'x' }] },
};
const byLabel = (selector: string) => `&labelSelector=${encodeURIComponent(selector)}`;
const byField = (selector: string) => `&fieldSelector=${encodeURIComponent(selector)}`;

export const rawWatching = inNamespace('raw-watching', [
  get(`${maps}?limit=1`, { keep: { start: 'metadata.resourceVersion' } }),
  post(maps, map('a', { tier: 'front' })),
  patch(MERGE, `${maps}/a`, { data: { a: '2' } }),
  patch(MERGE, `${maps}/a`, { data: { a: '2' } }),
  patch(MERGE, `${maps}/a`, { metadata: { labels: { tier: 'back' } } }),
  post(maps, map('b')),
  patch(MERGE, `${maps}/a`, { metadata: { labels: { tier: 'front' } } }),
  remove(`${maps}/a`),
  get(since(maps)),
  get(since(maps, byLabel('tier=front'))),
  get(since(maps, byLabel('tier'))),
  get(since(maps, byField('metadata.name=b'))),
  get(since(`${maps}/a`)),
  get(since(maps), { headers: PARTIAL }),
  get(since(maps, byField('metadata.name=b')), {
    headers: TABLE,
    without: [{ line: /"description": /, known: 'descriptions' }],
  }),
  get(`${maps}?watch=true&timeoutSeconds=1&resourceVersion={{start}}&limit=1&fieldSelector=metadata.name=b`),
  get(
    `/api/v1/watch/namespaces/n-{{id}}/configmaps?timeoutSeconds=1&resourceVersion={{start}}&fieldSelector=metadata.name=b`,
  ),
  post(CRPS, placement),
  patch(MERGE, `${CRPS}/w-{{id}}`, { metadata: { annotations: { a: 'b' } } }),
  patch(MERGE, `${CRPS}/w-{{id}}/status`, { status: { observedResourceIndex: '0' } }),
  remove(`${CRPS}/w-{{id}}`),
  get(since(CRPS, byLabel('watched={{id}}'))),
  get(since(`${PLACEMENT}/v1beta1/clusterresourceplacements`, byLabel('watched={{id}}'))),
  get(
    `${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan${byField('metadata.name=b')}`,
  ),
  get(`${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true`),
  get(`${maps}?watch=true&timeoutSeconds=1${byField('metadata.name=b')}`),
  get(`${maps}?watch=true&timeoutSeconds=1&resourceVersion=0${byField('metadata.name=b')}`),
  get(`${maps}?watch=true&fieldSelector=data.a=1`),
]);
