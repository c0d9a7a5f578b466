// Who may do what: roles at work, refusals, reviews, and what nobody may give away.
import { APPS, CORE, get, inNamespace, MERGE, patch, post, remove } from './requests.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${RBAC}/namespaces/n-{{id}}/roles`;
const bindings = `${RBAC}/namespaces/n-{{id}}/rolebindings`;
const REVIEWS = '/apis/authorization.k8s.io/v1';
const as = (user: string, group?: string) => ({
  headers: { 'impersonate-user': user, ...(group === undefined ? {} : { 'impersonate-group': group }) },
});
const amy = as('amy-{{id}}', 'auditors');
const robot = as('system:serviceaccount:n-{{id}}:default');
const role = (name: string, ...rules: readonly object[]) => ({ metadata: { name }, rules });
const binding = (name: string, roleRef: object, ...subjects: readonly object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...roleRef },
  subjects,
});
const amySubject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'amy-{{id}}' };
const map = { metadata: { name: 'm' } };
const reviewed = (user: string, attributes: object) => ({ spec: { user, resourceAttributes: attributes } });

export const rawAccess = inNamespace('raw-access', [
  get(`${CORE}/configmaps`, amy),
  post(`${CORE}/configmaps`, map, amy),
  post(roles, role('reader', { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] })),
  post(roles, role('empty', { apiGroups: [''], resources: [], verbs: [] })),
  post(roles, role('urls', { nonResourceURLs: ['/x'], verbs: ['get'] })),
  post(bindings, binding('readers', { kind: 'Role', name: 'reader' }, amySubject)),
  post(bindings, binding('odd', { kind: 'Nothing', name: 'reader' }, amySubject)),
  post(bindings, binding('odd', { kind: 'Role', name: 'reader' }, { kind: 'Robot', name: 'x' })),
  get(`${CORE}/configmaps/absent`, { ...amy, until: 404 }),
  get(`${CORE}/secrets`, amy),
  post(`${CORE}/configmaps`, map, amy),
  patch(MERGE, `${bindings}/readers`, { roleRef: { name: 'other' } }),
  post(bindings, binding('admins', { kind: 'ClusterRole', name: 'admin' }, amySubject)),
  post(`${CORE}/configmaps?dryRun=All`, map, { ...amy, until: 201 }),
  post(roles, role('given', { apiGroups: [''], resources: ['pods'], verbs: ['get'] }), amy),
  post(roles, role('toomuch', { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] }), amy),
  post(roles, role('toomuch', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), amy),
  post(bindings, binding('toomuch', { kind: 'ClusterRole', name: 'cluster-admin' }, amySubject), amy),
  post(`${RBAC}/clusterroles`, role('x-{{id}}'), amy),
  get('/api/v1/nodes', amy),
  get('/apis/apps/v1/deployments', amy),
  get(`${APPS}/deployments`, amy),
  patch(MERGE, `${APPS}/deployments/x/scale`, {}, amy),
  remove('/api/v1/namespaces/n-{{id}}', undefined, amy),
  get(`${CORE}/configmaps`, robot),
  get('/apis/apps', robot),
  get('/healthz', { anonymous: true }),
  get('/api/v1/namespaces', { anonymous: true }),
  post(
    `${REVIEWS}/selfsubjectaccessreviews`,
    reviewed('', { namespace: 'n-{{id}}', verb: 'get', resource: 'pods' }),
    amy,
  ),
  post(`${REVIEWS}/selfsubjectaccessreviews`, { spec: {} }, amy),
  post(
    `${REVIEWS}/subjectaccessreviews`,
    reviewed('amy-{{id}}', { namespace: 'n-{{id}}', verb: 'get', resource: 'pods' }),
  ),
  post(`${REVIEWS}/subjectaccessreviews`, reviewed('amy-{{id}}', { verb: 'get', resource: 'pods' })),
  post(`${REVIEWS}/subjectaccessreviews`, reviewed('', { verb: 'get', resource: 'pods' })),
  post(`${REVIEWS}/subjectaccessreviews`, {
    spec: { user: 'amy', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
  }),
  post(
    `${REVIEWS}/namespaces/n-{{id}}/localsubjectaccessreviews`,
    reviewed('amy-{{id}}', { namespace: 'n-{{id}}', verb: 'get', resource: 'pods' }),
  ),
  post(
    `${REVIEWS}/namespaces/n-{{id}}/localsubjectaccessreviews`,
    reviewed('amy-{{id}}', { namespace: 'other', verb: 'get', resource: 'pods' }),
  ),
  post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, amy),
  post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'nonsense' } }),
  post(
    `${CORE}/serviceaccounts/default/token`,
    { spec: { expirationSeconds: 600 } },
    { differs: { known: 'managed-fields' } },
  ),
  post(`${CORE}/serviceaccounts/default/token`, { spec: { expirationSeconds: 5 } }),
  post(`${CORE}/serviceaccounts/absent/token`, { spec: {} }),
]);
