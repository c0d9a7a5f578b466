// Requests that try to pass for others or to break the server: paths that mean two things, credentials that are none, impersonation, and bodies
// that no client sends. Written as bytes over TLS, so that no client library tidies them up first. None may succeed, and the server goes on.
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { memberNamespace, SYSTEM_NAMESPACE } from '../../src/api/names.ts';
import type { Connection } from '../../src/client/connection.ts';

const OWN = memberNamespace('bounds-x');
const OTHER = memberNamespace('bounds-y');
const TENANT = 'bounds-team';

export interface RawRequest {
  readonly it: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** A real server answers 500 to headers that make no sense together. */
  readonly mayFail?: true;
}

const WORKS = '/apis/placement.kubernetes-fleet.io/v1beta1';
const SECRETS = `/api/v1/namespaces/${OTHER}/secrets`;
const escaped = (text: string) => [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

/** With the credentials of a member, which may read the Works in its own namespace. */
export const PATHS: readonly RawRequest[] = [
  `${WORKS}/namespaces/${OWN}/works/../../../../../../api/v1/namespaces/${OTHER}/secrets`,
  `${WORKS}/namespaces/${OWN}/../${OTHER}/works`,
  `${WORKS}/namespaces/${OWN}%2f..%2f${OTHER}/works`,
  `${WORKS}/namespaces/${OWN}/..%2f${OTHER}/works`,
  `${WORKS}/namespaces/${OWN}/works/..%2f..%2f${OTHER}%2fworks`,
  `${WORKS}/namespaces/${OWN}/works/%2e%2e/%2e%2e/${OTHER}/works`,
  `${WORKS}/namespaces/${OWN}%00/works`,
  `${WORKS}/namespaces/${OWN}%20/works`,
  `${WORKS}//namespaces/${OTHER}/works`,
  `${WORKS}/watch/namespaces/${OTHER}/works?timeoutSeconds=1`,
  `${WORKS}/watch/works?timeoutSeconds=1`,
  `${WORKS}/works?fieldSelector=metadata.namespace%3D${OWN}`,
  `${WORKS}/works?namespace=${OWN}`,
  `${WORKS}/namespaces/${escaped(OTHER)}/works`,
  `/api/v1/namespaces/${OTHER}/../${OWN}/secrets`,
  `//api/v1/namespaces/${OTHER}/secrets`,
  `/api/v1//secrets`,
  `/api/v1/./secrets`,
  `/api/v1/secrets/`,
  `/api/v1/secrets?watch=1&timeoutSeconds=1`,
  `/API/v1/secrets`,
  `/api/V1/secrets`,
  `${SECRETS}/%00`,
  `${SECRETS}/..`,
  `${SECRETS};a=b`,
  `${SECRETS}%3fwatch=1`,
  `${SECRETS}/it/status`,
  '/api/v1/watch/secrets?timeoutSeconds=1',
  `/api/v1/watch/namespaces/${OTHER}/configmaps?timeoutSeconds=1`,
  `/api/v1/proxy/namespaces/${OTHER}/services/it`,
  `/api/v1/namespaces/${OTHER}/services/it/proxy/`,
  `/api/v1/namespaces/${OTHER}/pods/it/exec?command=sh`,
  `/api/v1/namespaces/${OTHER}/pods/it/log`,
  '/api/v1/nodes/it/proxy/pods',
  '/api/v1/namespaces/__proto__/secrets',
  '/api/v1/__proto__',
  '/api/v1/constructor',
  '/apis/__proto__/v1/it',
  '/apis/constructor/prototype/it',
  '/metrics',
  '/debug/pprof/',
  '/logs/',
  '/configz',
  '/etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/clusters/hub/api/v1/secrets',
  '/clusters/..%2f/api/v1/secrets',
].map((path) => ({ it: path, path }));

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const ACCOUNT = 'system:serviceaccount:kube-system:default';
const claims = encoded({
  iss: 'https://kubernetes.default.svc',
  aud: ['https://kubernetes.default.svc'],
  sub: ACCOUNT,
  exp: 4_000_000_000,
  'kubernetes.io': { namespace: 'kube-system', serviceaccount: { name: 'default', uid: 'x' } },
});
const unsigned = `${encoded({ alg: 'none', typ: 'JWT' })}.${claims}.`;
const keyed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${claims}`;
const forged = `${keyed}.${createHmac('sha256', 'secret').update(keyed).digest('base64url')}`;

const shows = (it: string, headers: Readonly<Record<string, string>>, path = '/api/v1/secrets'): RawRequest => ({
  it,
  path,
  headers,
});
/** Without a credential, or with one that is none. */
export const CREDENTIALS: readonly RawRequest[] = [
  shows('nothing at all', {}),
  shows('a token that nobody issued', { authorization: 'Bearer x' }),
  shows('an empty token', { authorization: 'Bearer ' }),
  shows('a scheme without a token', { authorization: 'Bearer' }),
  shows('the word null', { authorization: 'Bearer null' }),
  shows('a name and a password', { authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` }),
  shows('an unsigned token', { authorization: `Bearer ${unsigned}` }),
  shows('a token signed with a guess', { authorization: `Bearer ${forged}` }),
  shows('a token whose signature is cut off', { authorization: `Bearer ${keyed}` }),
  shows('a token of 60,000 characters', { authorization: `Bearer ${'x'.repeat(60_000)}` }),
  shows('a token with odd characters', { authorization: 'Bearer __proto__' }),
  shows('a token as a cookie', { cookie: `token=${forged}` }),
  shows('a token in the path', {}, `/api/v1/secrets?access_token=${forged}`),
  shows('the headers of a proxy', { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }),
  shows('the headers of another proxy', { 'x-forwarded-user': 'admin', 'x-forwarded-for': '127.0.0.1' }),
  shows('the certificate in a header', {
    'x-ssl-client-cert': 'CN=admin,O=system:masters',
    'ssl-client-verify': 'SUCCESS',
  }),
  shows('somebody else', { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }),
  shows('another method in a header', { 'x-http-method-override': 'GET' }),
];

const as = (it: string, headers: Readonly<Record<string, string>>, mayFail?: true): RawRequest => ({
  it,
  path: `/api/v1/namespaces/${OTHER}/secrets`,
  headers,
  ...(mayFail ? { mayFail } : {}),
});
/** With the credentials of a member and of a tenant. */
export const IMPERSONATIONS: readonly RawRequest[] = [
  as('an administrator', { 'impersonate-user': 'admin' }),
  as('an administrator by group', { 'impersonate-user': 'it', 'impersonate-group': 'system:masters' }),
  as('a group alone', { 'impersonate-group': 'system:masters' }, true),
  as('a uid alone', { 'impersonate-uid': '1' }, true),
  as('an extra alone', { 'impersonate-extra-scopes': 'all' }, true),
  as('nobody', { 'impersonate-user': '' }, true),
  as('the anonymous user', { 'impersonate-user': 'system:anonymous' }),
  as('a ServiceAccount of the system', { 'impersonate-user': `system:serviceaccount:${SYSTEM_NAMESPACE}:default` }),
  as('a ServiceAccount of another namespace', { 'impersonate-user': `system:serviceaccount:${OTHER}:default` }),
  as('a ServiceAccount without a name', { 'impersonate-user': `system:serviceaccount:${OTHER}:` }),
  as('a node', { 'impersonate-user': 'system:node:it', 'impersonate-group': 'system:nodes' }),
  as('oneself, in another group', { 'impersonate-user': 'bounds-tenant', 'impersonate-group': 'system:masters' }),
];

const MAPS = `/api/v1/namespaces/${TENANT}/configmaps`;
const json = { 'content-type': 'application/json' };
const map = (more: object) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' }, ...more });
const posts = (it: string, body: string | Buffer, headers: Readonly<Record<string, string>> = json): RawRequest => ({
  it,
  method: 'POST',
  path: MAPS,
  headers,
  body,
});
const patches = (it: string, type: string, body: string): RawRequest => ({
  it,
  method: 'PATCH',
  path: `${MAPS}/kube-root-ca.crt`,
  headers: { 'content-type': type },
  body,
});
const aliases = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join('\n');
/** With the credentials of a tenant, which may write ConfigMaps in its own namespace. */
export const BODIES: readonly RawRequest[] = [
  posts('half an object', '{'),
  posts('nothing', ''),
  posts('null', 'null'),
  posts('a list', '[]'),
  posts('a text', '"x"'),
  posts('a number that is none', map({}).replace('}}', '},"data":{"a":NaN}}')),
  posts('another kind', JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'it' } })),
  posts('another version', JSON.stringify({ apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'it' } })),
  posts('another namespace', map({ metadata: { name: 'it', namespace: OTHER } })),
  posts('a list of objects', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] })),
  posts('no name', map({ metadata: {} })),
  posts('a name that is a path', map({ metadata: { name: '../it' } })),
  posts('a name with a zero byte', map({ metadata: { name: 'it\u0000' } })),
  posts('a name that is too long', map({ metadata: { name: 'x'.repeat(300) } })),
  posts('a name that is a number', map({ metadata: { name: 1 } })),
  posts('metadata that is a list', map({ metadata: [] })),
  posts('a label that is none', map({ metadata: { name: 'it', labels: { 'a b': 'c' } } })),
  posts('a finalizer that is none', map({ metadata: { name: 'it', finalizers: ['a b'] } })),
  posts(
    'an owner without a uid',
    map({ metadata: { name: 'it', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n' }] } }),
  ),
  posts('annotations of 300 KiB', map({ metadata: { name: 'it', annotations: { a: 'x'.repeat(300 * 1024) } } })),
  posts('data that are no texts', map({ data: { a: 1 } })),
  posts('a key that is a path', map({ data: { '../a': 'x' } })),
  posts('100,000 brackets', `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  posts('100,000 open brackets', '['.repeat(100_000)),
  posts('more than 3 MiB', map({ data: { a: 'x'.repeat(3.5 * 1024 * 1024) } })),
  posts('aliases of aliases in YAML', `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${aliases}`, {
    'content-type': 'application/yaml',
  }),
  posts('YAML that is none', '{a: [}', { 'content-type': 'application/yaml' }),
  posts('a protobuf that is none', Buffer.from('6b38730000ff', 'hex'), {
    'content-type': 'application/vnd.kubernetes.protobuf',
  }),
  posts('a media type that is none', map({}), { 'content-type': 'text/html' }),
  posts('bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22])),
  posts('compressed bytes', Buffer.from('1f8b0800000000000003ab050043bfa6a302000000', 'hex'), {
    ...json,
    'content-encoding': 'gzip',
  }),
  patches('half a patch', 'application/merge-patch+json', '{'),
  patches('a merge patch that is a list', 'application/merge-patch+json', '[]'),
  patches('a JSON patch that is none', 'application/json-patch+json', '{}'),
  patches('a JSON patch with an operation that is none', 'application/json-patch+json', '[{"op":"exec","path":"/a"}]'),
  patches(
    'a JSON patch into a prototype',
    'application/json-patch+json',
    '[{"op":"add","path":"/__proto__/a","value":1}]',
  ),
  patches(
    'a JSON patch of 20,000 operations',
    'application/json-patch+json',
    JSON.stringify(Array.from({ length: 20_000 }, () => ({ op: 'add', path: '/data/a', value: 'x' }))),
  ),
  patches('another name', 'application/merge-patch+json', '{"metadata":{"name":"other"}}'),
  patches('another namespace in a patch', 'application/merge-patch+json', `{"metadata":{"namespace":"${OTHER}"}}`),
  patches('a patch type that is none', 'application/json', '{}'),
  patches('an apply without a field manager', 'application/apply-patch+yaml', map({})),
];

export interface RawAnswer {
  readonly code: number;
  readonly text: string;
}

export function send(
  connection: Connection,
  { method = 'GET', path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  const { server, ca, certificate, key } = connection;
  const { hostname, port } = new URL(server);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: hostname,
        port,
        method,
        path,
        headers: { ...length, ...headers },
        agent: false,
        ...(ca === undefined ? {} : { ca }),
        ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
      },
      (response) => resolve(read(response)),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function read(response: IncomingMessage): Promise<RawAnswer> {
  let text = '';
  for await (const chunk of response) text += chunk.toString();
  return { code: response.statusCode ?? 0, text };
}
