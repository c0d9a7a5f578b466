// Words for raw requests, so that scripts of them read as lists.
import type { Question, Script } from '../script.ts';

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

export const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
export const PARTIAL = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
export const PARTIAL_LIST = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };

type More = Partial<Omit<Question, 'path'>>;

export const get = (path: string, more: More = {}): Question => ({ path, ...more });
export const post = (path: string, body: unknown, more: More = {}): Question => ({ path, body, ...more });
export const put = (path: string, body: unknown, more: More = {}): Question => ({ method: 'PUT', path, body, ...more });
export const remove = (path: string, body?: unknown, more: More = {}): Question => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...more,
});
export const patch = (type: string, path: string, body: unknown, more: More = {}): Question => ({
  method: 'PATCH',
  path,
  body,
  type,
  ...more,
});

/** Requests in a namespace of their own, `n-{{id}}`, whose ServiceAccount is there. */
export const inNamespace = (name: string, steps: readonly Question[]): Script => ({
  name,
  steps: [
    post('/api/v1/namespaces', { metadata: { name: 'n-{{id}}' } }),
    get('/api/v1/namespaces/n-{{id}}/serviceaccounts/default', { until: 200 }),
    get('/api/v1/namespaces/n-{{id}}/configmaps/kube-root-ca.crt', { until: 200 }),
    ...steps,
    remove('/api/v1/namespaces/n-{{id}}'),
  ],
});

export const CORE = '/api/v1/namespaces/n-{{id}}';
export const APPS = '/apis/apps/v1/namespaces/n-{{id}}';
export const PLACEMENT = '/apis/placement.kubernetes-fleet.io';

export const deploymentOf = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
    ...spec,
  },
});
