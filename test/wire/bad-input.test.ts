// What clients should not send, over https against the built program: a Status with the right code and text, and the server goes on.
// With WIRE_KUBECONFIG set to that of a real Kubernetes 1.34, the rows that are not `ours` alone are held against it.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, type Reply, rawSocket, type Sent } from './https.ts';
import { knownDifferences } from './known.ts';
import { type Server, startServer } from './server.ts';

const real = process.env['WIRE_KUBECONFIG'];
const NAMESPACE = 'bad-input';
const CM = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const CRP = '/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacements';
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

const map = (name: string, rest = '') => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}${rest}}`;
const crp = (name: string, spec: string) =>
  `{"apiVersion":"placement.kubernetes-fleet.io/v1","kind":"ClusterResourcePlacement","metadata":{"name":"${name}"},"spec":${spec}}`;
const selectors = '"resourceSelectors":[{"group":"","version":"v1","kind":"Namespace","name":"x"}]';
const nested = (depth: number, open = '{"a":', close = '}') => `${open.repeat(depth)}1${close.repeat(depth)}`;
const type = (contentType: string) => ({ headers: { 'content-type': contentType } });
const merge = type('application/merge-patch+json');
const protobuf = 'application/vnd.kubernetes.protobuf';

interface Row extends Sent {
  readonly it: string;
  readonly method?: string;
  readonly path: string;
  readonly code: number;
  readonly reason?: string;
  /** The whole message, or what it must match. */
  readonly says?: string | RegExp;
  /** The body instead, where it is no Status. */
  readonly text?: string;
  /** A real server says it otherwise, or does not mind: the id of the row in docs/known-differences.md that says why. */
  readonly ours?: string;
}

const bodies: readonly Row[] = [
  {
    it: 'JSON that breaks off',
    path: CM,
    body: '{"apiVersion":"v1","kind":"ConfigMap"',
    code: 400,
    says: /couldn't get version\/kind; json parse error: unexpected end of JSON input/,
  },
  {
    it: 'JSON with a comma too many',
    path: CM,
    body: '{"kind":"ConfigMap","apiVersion":"v1",}',
    code: 400,
    says: /json parse error: invalid character '}' looking for beginning of object key string/,
  },
  {
    it: 'no JSON at all',
    path: CM,
    body: 'hello',
    code: 400,
    says: /json parse error: invalid character 'h' looking for beginning of value/,
  },
  { it: 'a list instead of an object', path: CM, body: '[]', code: 400, says: /cannot unmarshal array into Go value/ },
  { it: 'null', path: CM, body: 'null', code: 422, reason: 'Invalid', says: /metadata.name: Required value/ },
  {
    it: 'an empty body',
    path: CM,
    body: '',
    code: 400,
    says: /couldn't get version\/kind; json parse error: unexpected end of JSON input \(<empty>\)$/,
  },
  {
    it: 'another kind',
    path: CM,
    body: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}',
    code: 400,
    reason: 'BadRequest',
    says: /^Secret in version "v1" cannot be handled as a ConfigMap: /,
  },
  {
    it: 'another version',
    path: DEPLOYMENTS,
    body: '{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"a"}}',
    code: 400,
    reason: 'BadRequest',
    says: 'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
  },
  {
    it: 'a number for a text',
    path: CM,
    body: map('a', ',"data":{"x":1}'),
    code: 400,
    says: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  },
  {
    it: 'an unknown field, strictly',
    path: `${CM}?fieldValidation=Strict`,
    body: map('a', ',"nothing":1'),
    code: 400,
    says: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nothing"',
  },
  {
    it: 'a field twice, strictly',
    path: `${CM}?fieldValidation=Strict`,
    body: map('a', ',"data":{"x":"1"},"data":{"x":"2"}'),
    code: 400,
    says: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data"',
  },
  {
    it: 'an unknown word for the validation',
    path: `${CM}?fieldValidation=Hard`,
    body: map('a'),
    code: 422,
    reason: 'Invalid',
    says: 'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Hard": supported values: "", "Ignore", "Strict", "Warn"',
  },
  {
    it: 'an unknown word for the dry run',
    path: `${CM}?dryRun=Some`,
    body: map('a'),
    code: 422,
    reason: 'Invalid',
    says: /dryRun: Unsupported value: \["Some"\]: supported values: "All"/,
  },
  {
    it: 'a name that is none',
    path: CM,
    body: map('A_b'),
    code: 422,
    reason: 'Invalid',
    says: /^ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of/,
  },
  {
    it: 'no name',
    path: CM,
    body: '{"metadata":{}}',
    code: 422,
    reason: 'Invalid',
    says: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    it: 'a namespace that differs',
    path: CM,
    body: '{"metadata":{"name":"a","namespace":"other"}}',
    code: 400,
    says: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    it: 'a revision on an object to be created',
    path: CM,
    body: '{"metadata":{"name":"a","resourceVersion":"7"}}',
    code: 500,
    says: 'resourceVersion should not be set on objects to be created',
  },
  {
    it: 'an object that is there',
    path: CM,
    body: map('there'),
    code: 409,
    reason: 'AlreadyExists',
    says: 'configmaps "there" already exists',
  },
  {
    it: 'a namespace that is not there',
    path: '/api/v1/namespaces/absent/configmaps',
    body: map('a'),
    code: 404,
    reason: 'NotFound',
    says: 'namespaces "absent" not found',
  },
  {
    it: 'a ConfigMap of more than a megabyte',
    path: CM,
    body: map('a', `,"data":{"x":"${'x'.repeat(1_100_000)}"}`),
    code: 422,
    reason: 'Invalid',
    says: 'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes',
  },
  {
    it: 'ten megabytes',
    path: CM,
    body: map('a', `,"data":{"x":"${'x'.repeat(10 * 1024 * 1024)}"}`),
    code: 413,
    reason: 'RequestEntityTooLarge',
    says: /limit is 3145728/,
  },
  { it: 'YAML that is none', path: CM, body: 'a: [', ...type('application/yaml'), code: 400, says: /yaml|flow/i },
  {
    it: 'YAML that multiplies',
    path: CM,
    body: `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefghi'[i]}`)}]`)
      .join('\n')}\n`,
    ...type('application/yaml'),
    code: 400,
    says: /.+/,
  },
  {
    it: 'protobuf without its mark',
    path: CM,
    body: 'xxxx',
    ...type(protobuf),
    code: 400,
    says: /provided data does not appear to be a protobuf message, expected prefix \[107 56 115 0\] \(78787878\)$/,
  },
  {
    it: 'protobuf that breaks off',
    path: CM,
    body: Buffer.from('6b3873000a0f0a0276', 'hex'),
    ...type(protobuf),
    code: 400,
    says: /.+/,
  },
  {
    it: 'protobuf of a custom kind',
    path: CRP,
    body: Buffer.from('6b387300', 'hex'),
    ...type(protobuf),
    code: 400,
    says: /must be of type ClusterResourcePlacement/,
    ours: 'custom-protobuf',
  },
  {
    it: 'a form',
    path: CM,
    body: 'a=b',
    ...type('application/x-www-form-urlencoded'),
    code: 415,
    reason: 'UnsupportedMediaType',
    says: /the body of the request was in an unknown format - accepted media types include: application\/json/,
  },
  { it: 'nesting 100,000 deep', path: CM, body: map('a', `,"data":${nested(100_000)}`), code: 400, says: /.+/ },
  { it: 'lists nested 100,000 deep', path: CM, body: '['.repeat(100_000), code: 400, says: /.+/ },
  {
    it: 'a custom object nested deeper than any schema',
    path: CRP,
    body: crp('deep', nested(20_000)),
    code: 400,
    says: /.+/,
  },
  {
    it: 'a wrong type in a custom object',
    path: CRP,
    body: crp('a', '{"resourceSelectors":7}'),
    code: 422,
    reason: 'Invalid',
    says: /^ClusterResourcePlacement.placement.kubernetes-fleet.io "a" is invalid: \[?spec.resourceSelectors: Invalid value: "integer": spec.resourceSelectors in body must be of type array: "integer"/,
  },
  {
    it: 'a custom object without a kind',
    path: CRP,
    body: '{"metadata":{"name":"a"}}',
    code: 400,
    says: /Object 'Kind' is missing/,
  },
  {
    it: 'a custom object of another kind',
    path: CRP,
    body: '{"apiVersion":"placement.kubernetes-fleet.io/v1","kind":"Other","metadata":{"name":"a"}}',
    code: 422,
    says: 'Other.placement.kubernetes-fleet.io "a" is invalid: kind: Invalid value: "Other": must be ClusterResourcePlacement',
  },
  {
    it: 'a body that says it is compressed',
    path: CM,
    body: gzipSync(map('a')),
    headers: { 'content-encoding': 'gzip' },
    code: 400,
    says: /.+/,
  },
];

const patches: readonly Row[] = [
  {
    it: 'a patch of no known type',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '{}',
    ...type('application/json'),
    code: 415,
    reason: 'UnsupportedMediaType',
    says: /^415: Unsupported Media Type$|accepted media types include: application\/json-patch\+json/,
  },
  {
    it: 'a strategic patch of a custom object',
    path: `${CRP}/there`,
    method: 'PATCH',
    body: '{}',
    ...type('application/strategic-merge-patch+json'),
    code: 415,
    reason: 'UnsupportedMediaType',
    says: 'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  },
  {
    it: 'a merge patch that is no object',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '[]',
    ...merge,
    code: 400,
    says: /.+/,
  },
  {
    it: 'a merge patch that is no JSON',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '{',
    ...merge,
    code: 400,
    says: /.+/,
  },
  {
    it: 'a JSON patch of nonsense',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '[{"op":"fly"}]',
    ...type('application/json-patch+json'),
    code: 422,
    reason: 'Invalid',
    says: 'the server rejected our request due to an error in our request',
  },
  {
    it: 'a JSON patch whose test fails',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '[{"op":"test","path":"/data","value":7}]',
    ...type('application/json-patch+json'),
    code: 422,
    reason: 'Invalid',
    says: 'the server rejected our request due to an error in our request',
  },
  {
    it: 'a JSON patch with 10,001 steps',
    path: `${CM}/there`,
    method: 'PATCH',
    body: JSON.stringify(Array(10_001).fill({ op: 'add', path: '/data/a', value: 'b' })),
    ...type('application/json-patch+json'),
    code: 413,
    reason: 'RequestEntityTooLarge',
    says: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  },
  {
    it: 'a patch of what is not there',
    path: `${CM}/absent`,
    method: 'PATCH',
    body: '{}',
    ...merge,
    code: 404,
    reason: 'NotFound',
    says: 'configmaps "absent" not found',
  },
  {
    it: 'a patch with a stale revision',
    path: `${CM}/there`,
    method: 'PATCH',
    body: '{"metadata":{"resourceVersion":"1"}}',
    ...merge,
    code: 409,
    reason: 'Conflict',
    says: 'Operation cannot be fulfilled on configmaps "there": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    it: 'a PUT under another name',
    path: `${CM}/there`,
    method: 'PUT',
    body: map('other'),
    code: 400,
    reason: 'BadRequest',
    says: 'the name of the object (other) does not match the name on the URL (there)',
  },
  {
    it: 'a PUT without a name',
    path: `${CM}/there`,
    method: 'PUT',
    body: '{"metadata":{}}',
    code: 400,
    says: /name must be provided|does not match/,
  },
  {
    it: 'a PUT of what is not there',
    path: `${CM}/absent`,
    method: 'PUT',
    body: map('absent'),
    code: 404,
    says: 'configmaps "absent" not found',
  },
  {
    it: 'a PUT with a revision that is no number',
    path: `${CM}/there`,
    method: 'PUT',
    body: '{"metadata":{"name":"there","resourceVersion":"x"}}',
    code: 500,
    says: 'strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    it: 'a PUT of a custom object without a revision',
    path: `${CRP}/there`,
    method: 'PUT',
    body: crp('there', `{${selectors}}`),
    code: 422,
    says: 'clusterresourceplacements.placement.kubernetes-fleet.io "there" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  },
  {
    it: 'server-side apply',
    path: `${CM}/there?fieldManager=me`,
    method: 'PATCH',
    body: map('there'),
    ...type('application/apply-patch+yaml'),
    code: 415,
    reason: 'UnsupportedMediaType',
    says: /server-side apply/i,
    ours: 'server-side-apply',
  },
  {
    it: 'a deletion with a foreign uid',
    path: `${CM}/there`,
    method: 'DELETE',
    body: '{"preconditions":{"uid":"7"}}',
    code: 409,
    reason: 'Conflict',
    says: /^Operation cannot be fulfilled on ConfigMap "there": the UID in the precondition \(7\) does not match the UID in record|^Operation cannot be fulfilled on configmaps "there": the UID in the precondition \(7\) does not match/,
  },
  {
    it: 'a deletion in two ways at once',
    path: `${CM}/there`,
    method: 'DELETE',
    body: '{"orphanDependents":true,"propagationPolicy":"Background"}',
    code: 422,
    says: /orphanDependents and deletionPropagation cannot be both set/,
  },
  {
    it: 'a deletion in an unknown way',
    path: `${CM}/there`,
    method: 'DELETE',
    body: '{"propagationPolicy":"Slowly"}',
    code: 422,
    says: /propagationPolicy: Unsupported value: "Slowly": supported values: "Foreground", "Background", "Orphan", "nil"/,
  },
];

const paths: readonly Row[] = [
  { it: 'an unknown group', path: '/apis/nothing.dev/v1/things', code: 404, text: '404 page not found\n' },
  {
    it: 'an unknown kind of a known group',
    path: '/apis/apps/v1/things',
    code: 404,
    reason: 'NotFound',
    says: 'the server could not find the requested resource',
  },
  {
    it: 'an unknown version',
    path: '/apis/apps/v9/deployments',
    code: 404,
    says: 'the server could not find the requested resource',
  },
  {
    it: 'an unknown version of a custom group',
    path: '/apis/placement.kubernetes-fleet.io/v9/x',
    code: 404,
    text: '404 page not found\n',
  },
  {
    it: 'a version that nothing has',
    path: '/apis/apps/v9',
    code: 404,
    says: 'the server could not find the requested resource',
  },
  {
    it: 'an unknown subresource',
    path: `${CM}/there/nothing`,
    code: 404,
    says: 'the server could not find the requested resource',
  },
  {
    it: 'an absent object',
    path: `${CM}/absent`,
    code: 404,
    reason: 'NotFound',
    says: 'configmaps "absent" not found',
  },
  {
    it: 'a way up',
    path: '/api/v1/namespaces/default/../../../secret',
    code: 404,
    says: 'the server could not find the requested resource',
  },
  {
    it: 'a name that is a way up',
    path: `${CM}/%2e%2e`,
    code: 400,
    says: /Name parameter invalid: "\.\.": may not be '\.\.'/,
  },
  { it: 'a NUL in the path', path: `${CM}/a%00b`, code: 404, reason: 'NotFound' },
  { it: 'a bad escape', path: `${CM}/%zz`, code: 400, ours: 'bad-escape' },
  { it: 'a path of 100,000 characters', path: `${CM}/${'a'.repeat(100_000)}`, code: 404 },
  {
    it: 'a method nobody knows',
    method: 'PROPFIND',
    path: CM,
    code: 405,
    reason: 'MethodNotAllowed',
    says: 'the server does not allow this method on the requested resource',
  },
  {
    it: 'POST to an object',
    method: 'POST',
    path: `${CM}/there`,
    body: '{}',
    code: 405,
    reason: 'MethodNotAllowed',
    says: 'the server does not allow this method on the requested resource',
  },
  {
    it: 'PUT to a collection',
    method: 'PUT',
    path: CM,
    body: '{}',
    code: 405,
    reason: 'MethodNotAllowed',
    says: 'the server does not allow this method on the requested resource',
  },
  {
    it: 'what cannot be shown',
    path: CM,
    headers: { accept: 'text/html' },
    code: 406,
    reason: 'NotAcceptable',
    says: /^only the following media types are accepted: application\/json/,
    ours: 'media-types',
  },
];

const queries: readonly Row[] = [
  {
    it: 'a bad label selector',
    path: `${CM}?labelSelector=a%20in%20(b`,
    code: 400,
    reason: 'BadRequest',
    says: /unable to parse requirement: found '', expected: ',' or '\)'/,
  },
  {
    it: 'a label selector with a bad key',
    path: `${CM}?labelSelector=a/b/c=d`,
    code: 400,
    says: /unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name must consist of/,
  },
  {
    it: 'a bad field selector',
    path: `${CM}?fieldSelector=a`,
    code: 400,
    says: /invalid selector: 'a'; can't understand 'a'/,
  },
  {
    it: 'a field that cannot be selected',
    path: `${CM}?fieldSelector=data.a=b`,
    code: 400,
    says: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    it: 'a selector of 6,000 terms',
    path: `${CM}?labelSelector=${Array(6_000).fill('a!=b').join(',')}`,
    code: 200,
  },
  {
    it: 'a bad continue token',
    path: `${CM}?limit=1&continue=nonsense`,
    code: 400,
    says: /continue key is not valid|invalid continue token/,
  },
  {
    it: 'a continue token of somebody’s own make',
    path: `${CM}?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../../x"}').toString('base64url')}`,
    code: 400,
    says: /continue/,
  },
  {
    it: 'a limit that is no number',
    path: `${CM}?limit=many`,
    code: 400,
    says: 'strconv.ParseInt: parsing "many": invalid syntax',
  },
  { it: 'a negative limit', path: `${CM}?limit=-1`, code: 200 },
  {
    it: 'a revision that is no number',
    path: `${CM}?resourceVersion=x`,
    code: 400,
    says: 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    it: 'a revision of the future',
    path: `${CM}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`,
    code: 504,
    reason: 'Timeout',
    says: /Too large resource version: 99999999, current: \d+/,
  },
  {
    it: 'a revision match without a revision',
    path: `${CM}?resourceVersionMatch=Exact`,
    code: 422,
    says: /resourceVersionMatch is forbidden unless resourceVersion is provided/,
  },
  {
    it: 'a watch with a timeout that is no number',
    path: `${CM}?watch=1&timeoutSeconds=x`,
    code: 400,
    says: 'strconv.ParseInt: parsing "x": invalid syntax',
  },
  {
    it: 'a watch of a revision that is no number',
    path: `${CM}?watch=1&resourceVersion=x`,
    code: 400,
    ours: 'watch-bad-revision',
    says: 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  },
  {
    it: 'escapes that are no UTF-8',
    path: `${CM}?labelSelector=%ff%fe`,
    code: 400,
    says: /unable to parse requirement: <nil>: Invalid value: /,
  },
];

const identities: readonly Row[] = [
  {
    it: 'nobody',
    path: CM,
    anonymous: true,
    code: 403,
    reason: 'Forbidden',
    says: `configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "${NAMESPACE}"`,
  },
  {
    it: 'a wrong token',
    path: CM,
    anonymous: true,
    headers: { authorization: 'Bearer nonsense' },
    code: 401,
    reason: 'Unauthorized',
    says: 'Unauthorized',
  },
  {
    it: 'a token that looks like one',
    path: CM,
    anonymous: true,
    headers: {
      authorization: `Bearer ${['{"alg":"none"}', '{"sub":"admin"}', ''].map((part) => Buffer.from(part).toString('base64url')).join('.')}`,
    },
    code: 401,
    reason: 'Unauthorized',
    says: 'Unauthorized',
  },
  {
    it: 'nobody who would be somebody',
    path: CM,
    anonymous: true,
    headers: { 'impersonate-user': 'admin' },
    code: 403,
    reason: 'Forbidden',
    says: 'users "admin" is forbidden: User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope',
  },
  {
    it: 'a group without a user',
    path: CM,
    headers: { 'impersonate-group': 'system:masters' },
    code: 500,
    says: /requested \[\{Group {2}system:masters {4}\}\] without impersonating a user/,
    ours: 'impersonation-error',
  },
];

describe('what clients should not send', () => {
  let server: Server | undefined;
  let kubeconfig: string;
  const ask = (row: Row): Promise<Reply> =>
    call(kubeconfig, row.method ?? (row.body === undefined ? 'GET' : 'POST'), row.path, row);

  beforeAll(async () => {
    if (real === undefined) server = await startServer();
    kubeconfig = real ?? (server as Server).kubeconfig;
    await call(kubeconfig, 'POST', '/api/v1/namespaces', { body: `{"metadata":{"name":"${NAMESPACE}"}}` });
    await call(kubeconfig, 'POST', CM, { body: map('there', ',"data":{"a":"1"}') });
    await call(kubeconfig, 'POST', CRP, { body: crp('there', `{${selectors}}`) });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  describe.each([
    { what: 'bodies', rows: bodies },
    { what: 'patches and deletions', rows: patches },
    { what: 'paths and methods', rows: paths },
    { what: 'queries', rows: queries },
    { what: 'identities', rows: identities },
  ])('$what', ({ rows }) => {
    test.each(rows.filter((row) => real === undefined || !row.ours))('$it', async (row) => {
      if (row.ours) expect(knownDifferences).toContain(row.ours);
      const reply = await ask(row);
      expect(reply.code, reply.text.slice(0, 500)).toBe(row.code);
      if (row.text !== undefined) expect(reply.text).toBe(row.text);
      else if (row.code >= 400)
        expect(reply.json).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: row.code });
      if (row.reason !== undefined) expect(reply.json).toMatchObject({ reason: row.reason });
      if (row.says instanceof RegExp) expect(reply.json?.['message']).toMatch(row.says);
      else if (row.says !== undefined) expect(reply.json).toMatchObject({ message: row.says });
      // No answer repeats what it was sent without end.
      expect(reply.text.length).toBeLessThan(300_000);
    });
  });

  test('keys like __proto__ are data or unknown, and change nothing else', async () => {
    const name = 'proto';
    const body = `{"metadata":{"name":"${name}","labels":{"__proto__":"x","constructor":"y"}},"data":{"__proto__":"1","toString":"2","constructor":"3"},"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}`;
    const created = await call(kubeconfig, 'POST', CM, { body });
    expect([201, 422]).toContain(created.code);
    const plain = await call(kubeconfig, 'POST', CM, { body: map('plain') });
    expect(plain.text).not.toContain('polluted');
    const patch = {
      body: '{"__proto__":{"polluted":"yes"},"data":{"__proto__":"4","constructor":"5"}}',
      headers: { 'content-type': 'application/merge-patch+json' },
    };
    const patched = await call(kubeconfig, 'PATCH', `${CM}/plain`, patch);
    expect(patched.code).toBe(200);
    expect(patched.text).not.toContain('polluted');
    expect(patched.text).toContain('"constructor":"5"');
    const again = await call(kubeconfig, 'GET', `${CM}/there`);
    expect(again.json).toMatchObject({ data: { a: '1' } });
    expect(Object.keys((again.json as { data: object }).data)).toEqual(['a']);
  });

  describe.skipIf(real !== undefined)('on the socket itself', () => {
    const converse = async (send: string, waitFor: RegExp): Promise<string> => {
      const socket = await rawSocket(kubeconfig);
      let text = '';
      return new Promise<string>((resolve) => {
        const finish = () => {
          socket.destroy();
          resolve(text);
        };
        socket.on('data', (chunk) => {
          text += String(chunk);
          if (waitFor.test(text)) finish();
        });
        socket.on('close', finish);
        socket.on('error', finish);
        socket.write(send);
      });
    };

    test.each([
      { it: 'no HTTP', send: 'hello\r\n\r\n', answer: /^HTTP\/1.1 400/ },
      {
        it: 'headers of a megabyte',
        send: `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`,
        answer: /^HTTP\/1.1 431/,
      },
      {
        it: 'two lengths',
        send: 'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'a length and chunks',
        send: 'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'a line end inside a header',
        send: 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n',
        answer: /^HTTP\/1.1 400/,
      },
      {
        it: 'an upgrade',
        send: `GET ${CM} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
        answer: /^HTTP\/1.1 200/,
      },
    ])('$it', async ({ send, answer }) => {
      expect(await converse(send, /\r\n\r\n/)).toMatch(answer);
    });

    test('requests that never end do not keep others waiting', async () => {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => rawSocket(kubeconfig)));
      for (const socket of sockets) {
        socket.on('error', () => {});
        socket.write(
          'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
        );
      }
      expect((await call(kubeconfig, 'GET', '/readyz')).text).toBe('ok');
      for (const socket of sockets) socket.destroy();
    });

    test('the server is still there, and has said nothing of faults of its own', async () => {
      expect((await call(kubeconfig, 'GET', '/readyz')).text).toBe('ok');
      expect(server?.process.exitCode).toBeNull();
      expect(server?.output()).not.toMatch(/Error|at .*\.js/);
    });
  });
});
