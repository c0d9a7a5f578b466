import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { User } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import type { Attributes } from '../cluster.ts';
import { StoreUnavailable } from '../store/store.ts';
import { aCluster, aConfigMap, aServer, type CallOptions, type TestServer, widgets } from './server.testing.ts';

let server: TestServer;
afterEach(() => server.close());

const CM = '/api/v1/namespaces/default/configmaps';
const WIDGETS = '/apis/example.dev/v1/namespaces/default/widgets';
const JSON_HEADERS = { 'content-type': 'application/json' };
const sending = (body: unknown): CallOptions => ({ headers: JSON_HEADERS, body: JSON.stringify(body) });
const accepting = (accept: string): CallOptions => ({ headers: { accept } });
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

describe('a server', () => {
  test('creates, reads, lists, changes and deletes an object', async () => {
    server = await aServer();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } };
    const created = await server.call('POST', `${CM}?fieldManager=test`, sending(body));
    expect(created.code).toBe(201);
    expect(created.headers['content-type']).toBe('application/json');
    expect(created.headers['cache-control']).toBe('no-cache, private');
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    const read = await server.call('GET', `${CM}/a`);
    expect(read.json).toEqual(created.json);
    expect(Number(read.headers['content-length'])).toBe(read.text.length);

    const listed = await server.call('GET', CM);
    expect(listed.json.kind).toBe('ConfigMapList');
    expect(listed.json.items).toHaveLength(1);
    expect(listed.json.items[0]).not.toHaveProperty('kind');
    expect(listed.json.metadata.resourceVersion).toBe(read.json.metadata.resourceVersion);

    const patched = await server.call('PATCH', `${CM}/a`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"data":{"k":"w"}}',
    });
    expect([patched.code, patched.json.data]).toEqual([200, { k: 'w' }]);
    const put = await server.call('PUT', `${CM}/a`, sending(body));
    expect([put.code, put.json.data]).toEqual([200, { k: 'v' }]);

    const deleted = await server.call('DELETE', `${CM}/a`, sending({}));
    expect(deleted.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: created.json.metadata.uid },
    });
    expect((await server.call('GET', `${CM}/a`)).json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
      code: 404,
    });
  });

  test('answers a single object in every form', async () => {
    const cluster = aCluster();
    cluster.seed([aConfigMap('a', { k: 'v' })]);
    server = await aServer(cluster);
    const table = (await server.call('GET', `${CM}/a`, accepting(`${TABLE},application/json`))).json;
    expect(table).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: String(cluster.cluster.store.visible) },
    });
    expect(table.columnDefinitions.map((each: { name: string }) => each.name)).toEqual(['Name', 'Age']);
    expect(table.rows).toMatchObject([{ cells: ['a', '1s'], object: { kind: 'PartialObjectMetadata' } }]);
    const whole = (await server.call('GET', `${CM}/a?includeObject=Object`, accepting(TABLE))).json;
    expect(whole.rows[0].object.data).toEqual({ k: 'v' });
    const older = (await server.call('GET', `${CM}/a`, accepting(TABLE.replace('v1;', 'v1beta1;')))).json;
    expect(older.apiVersion).toBe('meta.k8s.io/v1beta1');
    const metadata = (await server.call('GET', `${CM}/a`, accepting(METADATA))).json;
    expect(Object.keys(metadata)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(metadata.metadata.name).toBe('a');
    const yaml = await server.call('GET', `${CM}/a`, accepting('application/yaml'));
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(yaml.text).toContain('data:\n  k: v\n');
    const list = await server.call('GET', `${CM}/a`, accepting(METADATA.replace('Metadata;', 'MetadataList;')));
    expect(list.json.message).toContain('but the requested object is not a list');
  });

  test('answers lists in every form, with pages', async () => {
    const cluster = aCluster();
    cluster.seed(['a', 'b', 'c'].map((name) => aConfigMap(name, { k: name })));
    server = await aServer(cluster);
    const names = (items: { metadata: { name: string } }[]) => items.map((each) => each.metadata.name);
    const page = (await server.call('GET', `${CM}?limit=2`)).json;
    expect(names(page.items)).toEqual(['a', 'b']);
    expect(page.metadata).toMatchObject({
      remainingItemCount: 1,
      resourceVersion: String(cluster.cluster.store.visible),
    });
    const rest = (await server.call('GET', `${CM}?limit=2&continue=${page.metadata.continue}`)).json;
    expect(names(rest.items)).toEqual(['c']);
    const table = (await server.call('GET', `${CM}?limit=2`, accepting(TABLE))).json;
    expect(table.rows.map((row: { cells: unknown[] }) => row.cells[0])).toEqual(['a', 'b']);
    expect(table.metadata.continue).toBe(page.metadata.continue);
    const list = (await server.call('GET', CM, accepting(METADATA.replace('Metadata;', 'MetadataList;')))).json;
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    expect(Object.keys(list.items[0])).toEqual(['kind', 'apiVersion', 'metadata']);
    expect((await server.call('GET', CM, accepting('application/yaml'))).text).toContain(
      'items:\n  - apiVersion: v1\n'.replace('  -', '-'),
    );
    expect((await server.call('GET', CM, accepting(METADATA))).code).toBe(406);
    expect((await server.call('GET', `${CM}?labelSelector=x%3Dy`)).json.items).toEqual([]);
    const gone = (await server.call('DELETE', CM)).json;
    expect([gone.kind, names(gone.items)]).toEqual(['ConfigMapList', ['a', 'b', 'c']]);
    expect((await server.call('GET', CM)).json.items).toEqual([]);
  });

  test('shows a stored object under each version that is served', async () => {
    server = await aServer();
    const body = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };
    expect((await server.call('POST', WIDGETS, sending(body))).json.apiVersion).toBe('example.dev/v1');
    const old = await server.call('GET', WIDGETS.replace('v1', 'v1beta1'));
    expect(old.json.items).toMatchObject([{ apiVersion: 'example.dev/v1beta1', kind: 'Widget', spec: { size: 1 } }]);
    expect(old.headers['warning']).toBe('299 - "use v1, not \\"v1beta1\\""');
    const now = (await server.call('GET', WIDGETS)).json;
    expect(now).toMatchObject({ apiVersion: 'example.dev/v1', kind: 'WidgetList' });
    expect(now.items).toMatchObject([{ apiVersion: 'example.dev/v1', kind: 'Widget', spec: { size: 1 } }]);
    const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' }, body: '{}' };
    expect((await server.call('PATCH', `${WIDGETS}/w`, strategic)).code).toBe(415);
  });

  test('streams a list of any size and stays whole', async () => {
    const cluster = aCluster();
    cluster.seed(
      Array.from({ length: 1500 }, (_, i) => aConfigMap(`c${String(i).padStart(5, '0')}`, { text: 'é'.repeat(500) })),
    );
    server = await aServer(cluster);
    const { json, headers } = await server.call('GET', CM);
    expect(headers['content-length']).toBeUndefined();
    expect(json.items).toHaveLength(1500);
    expect(json.items.at(-1)).toMatchObject({ metadata: { name: 'c01499' }, data: { text: 'é'.repeat(500) } });
    expect((await server.call('GET', CM, accepting(TABLE))).json.rows).toHaveLength(1500);
  });

  test.each([
    {
      it: 'an unknown resource of a known group',
      path: '/api/v1/foos',
      code: 404,
      message: 'the server could not find the requested resource',
    },
    { it: 'an unknown group', path: '/apis/nope/v1/foos', code: 404, text: '404 page not found\n' },
    { it: 'an unknown path', path: '/nope', code: 404, text: '404 page not found\n' },
    { it: 'an unknown cluster', path: '/clusters/nope/api/v1/nodes', code: 404, text: '404 page not found\n' },
    {
      it: 'an unknown kind of a custom group',
      path: '/apis/example.dev/v1/foos',
      code: 404,
      text: '404 page not found\n',
    },
    { it: 'an unserved version', path: '/apis/example.dev/v9/widgets', code: 404, text: '404 page not found\n' },
    {
      it: 'a namespaced object without namespace',
      path: '/api/v1/configmaps/x',
      code: 404,
      message: 'the server could not find the requested resource',
    },
    {
      it: 'a cluster-scoped object in a namespace',
      path: '/api/v1/namespaces/default/nodes',
      code: 404,
      message: 'the server could not find the requested resource',
    },
    {
      it: 'an unknown subresource',
      path: '/api/v1/namespaces/default/pods/x/bogus',
      code: 404,
      message: 'the server could not find the requested resource',
    },
    {
      it: 'a POST to an object',
      method: 'POST',
      path: `${CM}/x`,
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'a POST without namespace',
      method: 'POST',
      path: '/api/v1/configmaps',
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'a PUT to a collection',
      method: 'PUT',
      path: '/api/v1/nodes',
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'OPTIONS',
      method: 'OPTIONS',
      path: '/api/v1/nodes',
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'a DELETE of a status',
      method: 'DELETE',
      path: '/api/v1/nodes/x/status',
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'a POST to discovery',
      method: 'POST',
      path: '/api/v1',
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    },
    {
      it: 'a name that is none',
      path: `${CM}/%2e%2e`,
      code: 400,
      message: `Name parameter invalid: "..": may not be '..'`,
    },
    { it: 'a bad escape', path: `${CM}/%zz`, code: 400, message: 'invalid URL escape in "%zz"' },
    { it: 'a forged key', path: `${CM}/a%2Fb`, code: 404, message: 'the server could not find the requested resource' },
    {
      it: 'an unacceptable Accept',
      path: CM,
      accept: 'text/html',
      code: 406,
      message: 'only the following media types are accepted: application/json, application/yaml',
    },
    {
      it: 'a watch in YAML',
      path: `${CM}?watch=1`,
      accept: 'application/yaml',
      code: 406,
      message: 'only the following media types are accepted: application/json',
    },
    {
      it: 'a container',
      path: '/api/v1/namespaces/default/pods/x/log',
      code: 501,
      message: 'pods/log is not available: this server keeps objects and runs no containers',
    },
    { it: 'a bad limit', path: `${CM}?limit=x`, code: 400, message: 'strconv.ParseInt: parsing "x": invalid syntax' },
  ])('refuses $it as a real server does', async ({ method = 'GET', path, code, message, text, accept }) => {
    server = await aServer();
    const reply = await server.call(method, path, accept ? accepting(accept) : {});
    expect(reply.code).toBe(code);
    if (text !== undefined) expect(reply.text).toBe(text);
    else expect(reply.json).toMatchObject({ kind: 'Status', status: 'Failure', message, code });
  });

  test('has a document of OpenAPI v2 that describes nothing, as JSON and in the protobuf that kubectl asks for', async () => {
    server = await aServer();
    expect((await server.call('GET', '/openapi/v2')).json).toMatchObject({ swagger: '2.0', paths: {} });
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const { code, text } = await server.call('GET', '/openapi/v2', accepting(accept));
    expect(code).toBe(200);
    expect(text).toBe('\n\x032.0\x12\x10\n\x08Flotilla\x12\x041.34B\x00');
  });

  test('answers HEAD of a resource without a body, as 405', async () => {
    server = await aServer();
    expect(await server.call('HEAD', '/api/v1/nodes')).toMatchObject({ code: 405, text: '' });
  });

  test('passes what a verb throws on, with its code', async () => {
    const thrown: unknown[] = [];
    const failures = [
      new ApiError(400, 'BadRequest', 'invalid continue token: x'),
      new StoreUnavailable('disk full'),
      new Error('a bug'),
    ];
    const verbs = {
      list: () => {
        throw failures.shift();
      },
    };
    server = await aServer(aCluster({ verbs }), { onFailure: (error) => thrown.push(error) });
    expect((await server.call('GET', CM)).json).toMatchObject({ code: 400, message: 'invalid continue token: x' });
    const full = await server.call('GET', CM);
    expect(full.json).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    expect(full.headers['retry-after']).toBe('1');
    expect((await server.call('GET', CM)).json).toMatchObject({ code: 500, message: 'Internal error occurred: a bug' });
    expect(thrown.map(String)).toEqual(['StoreUnavailable: disk full', 'Error: a bug']);
  });

  test('hands warnings, manager, dry run and validation through to the verb and back', async () => {
    let told: unknown;
    const cluster = aCluster({
      verbs: {
        async create(_cluster, _at, _body, { warn, user, ...caller }) {
          told = { ...caller, user: user.name };
          warn('naïve "quotes" \\ and\nlines');
          warn('naïve "quotes" \\ and\nlines');
          warn('second');
          throw new ApiError(400, 'BadRequest', 'no');
        },
      },
    });
    server = await aServer(cluster);
    const reply = await server.call('POST', `${CM}?fieldManager=m&dryRun=All&fieldValidation=Strict`, sending({}));
    expect(told).toEqual({ manager: 'm', tracksFields: true, dryRun: true, fieldValidation: 'Strict', user: 'me' });
    const utf8 = Buffer.from(String(reply.headers['warning']), 'latin1').toString();
    expect(utf8).toBe('299 - "naïve \\"quotes\\" \\\\ and lines", 299 - "second"');
  });

  test('deletes with options from the body or the query', async () => {
    const asked: unknown[] = [];
    const cluster = aCluster({
      verbs: {
        async remove(_cluster, _at, options, caller) {
          asked.push([options, caller.dryRun]);
          return { stored: cluster.cluster.store.get('/namespaces//default')!, gone: false, returnsObject: true };
        },
      },
    });
    server = await aServer(cluster);
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan', dryRun: ['All'] };
    await server.call('DELETE', '/api/v1/namespaces/default', sending(options));
    const query = 'propagationPolicy=Background&gracePeriodSeconds=0';
    expect((await server.call('DELETE', `/api/v1/namespaces/default?${query}`)).json.kind).toBe('Namespace');
    expect((await server.call('DELETE', '/api/v1/namespaces/default', sending({ orphanDependents: false }))).code).toBe(
      202,
    );
    expect(asked).toEqual([
      [{ propagation: 'Orphan' }, true],
      [{ propagation: 'Background', graceSeconds: 0 }, false],
      [{ propagation: 'Background' }, false],
    ]);
  });

  test('keeps clusters behind path prefixes apart', async () => {
    const [root, member] = [aCluster(), aCluster({ name: 'm1' })];
    member.seed([aConfigMap('only-there')]);
    server = await aServer(root);
    server.clusters.set('m1', member);
    expect((await server.call('GET', `${CM}/only-there`)).code).toBe(404);
    expect((await server.call('GET', `/clusters/m1${CM}/only-there`)).code).toBe(200);
    expect((await server.call('GET', '/clusters/m1/healthz')).text).toBe('ok');
    expect((await server.call('GET', '/clusters/m1/version')).json.minor).toBe('34');
    root.cluster.registry.setCustom([]);
    expect((await server.call('GET', '/clusters/m1/apis/example.dev/v1')).json.resources[0].name).toBe(widgets.plural);
    expect((await server.call('GET', '/apis/example.dev/v1')).code).toBe(404);
  });
});

describe('a write', () => {
  test('whose answer nobody could read does not happen', async () => {
    const { cluster, seed, ...rest } = aCluster();
    seed([aConfigMap('there')]);
    server = await aServer({ cluster, ...rest });
    const { head } = cluster.store;
    const headers = { accept: 'application/vnd.example' };
    const body = JSON.stringify(aConfigMap('new'));
    expect((await server.call('POST', CM, { headers, body })).code).toBe(406);
    expect((await server.call('DELETE', `${CM}/there`, { headers })).code).toBe(406);
    expect((await server.call('DELETE', CM, { headers })).code).toBe(406);
    const list = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
    expect((await server.call('POST', CM, { headers: list, body })).code).toBe(406);
    const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    expect((await server.call('POST', `${CM}?includeObject=Half`, { headers: table, body })).code).toBe(400);
    expect(cluster.store.head).toBe(head);
  });

  test('of a kind that went while the client was still sending is refused', async () => {
    const { cluster, ...rest } = aCluster();
    server = await aServer({ cluster, ...rest });
    const body = JSON.stringify({ apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w' } });
    const { head } = cluster.store;
    const socket = connect(server.port, '127.0.0.1');
    const answered = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
    socket.write(
      `POST /apis/example.dev/v1/namespaces/default/widgets HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    while (server.load.requests === 0) await new Promise(setImmediate);
    cluster.registry.setCustom([]);
    socket.write(body.slice(9));
    expect(await answered).toMatch(/^HTTP\/1.1 404 /);
    expect(cluster.store.head).toBe(head);
    socket.destroy();
  });
});

describe('who asks', () => {
  test('is asked about with exactly what the path says', async () => {
    const cluster = aCluster();
    server = await aServer(cluster);
    const calls = [
      ['GET', `${CM}/x`],
      ['GET', CM],
      ['GET', `${CM}?fieldSelector=metadata.name%3Dx`],
      ['GET', `${CM}?watch=1&fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dx&resourceVersion=999999`],
      ['DELETE', `${CM}?fieldSelector=metadata.name%3Dx`],
      // Otherwise `resourceNames: [x]` with all verbs would be enough to create any object.
      ['POST', `${CM}?fieldSelector=metadata.name%3Dx`],
      ['GET', '/api/v1/namespaces/default'],
      ['DELETE', '/apis/apps/v1/namespaces/default/deployments'],
      ['PATCH', '/apis/apps/v1/namespaces/default/deployments/d/scale'],
      ['GET', '/healthz/'],
      ['GET', '/apis/nope/v1/foos'],
      ['POST', '/api/v1/namespaces/default/pods/p/exec?command=ls'],
    ] as const;
    for (const [method, path] of calls) await server.call(method, path);
    expect(cluster.asked).toEqual([
      { verb: 'get', group: '', resource: 'configmaps', namespace: 'default', name: 'x' },
      { verb: 'list', group: '', resource: 'configmaps', namespace: 'default' },
      { verb: 'list', group: '', resource: 'configmaps', namespace: 'default', name: 'x' },
      { verb: 'watch', group: '', resource: 'configmaps', namespace: 'default', name: 'x' },
      { verb: 'deletecollection', group: '', resource: 'configmaps', namespace: 'default', name: 'x' },
      { verb: 'create', group: '', resource: 'configmaps', namespace: 'default' },
      { verb: 'get', group: '', resource: 'namespaces', namespace: 'default', name: 'default' },
      { verb: 'deletecollection', group: 'apps', resource: 'deployments', namespace: 'default' },
      { verb: 'patch', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'default', name: 'd' },
      { verb: 'get', path: '/healthz' },
      { verb: 'list', group: 'nope', resource: 'foos' },
      { verb: 'create', group: '', resource: 'pods', subresource: 'exec', namespace: 'default', name: 'p' },
    ]);
  });

  test('and may not gets a 403 before anything else is said', async () => {
    server = await aServer(aCluster({ allows: () => false }));
    const denied = async (method: string, path: string) => (await server.call(method, path)).json.message;
    expect(await denied('GET', '/api/v1/nodes')).toBe(
      'nodes is forbidden: User "me" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    expect(await denied('GET', '/nope')).toBe('forbidden: User "me" cannot get path "/nope"');
    expect(await denied('GET', '/api/v1/foos')).toContain('cannot list resource "foos"');
    expect(await denied('POST', CM)).toContain(
      'cannot create resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  test('may be somebody else', async () => {
    const allows = (user: User, what: Attributes) => user.name === 'bob' || what.verb === 'impersonate';
    server = await aServer(aCluster({ allows }));
    expect((await server.call('GET', '/api/v1/nodes')).code).toBe(403);
    expect((await server.call('GET', '/api/v1/nodes', { headers: { 'Impersonate-User': 'bob' } })).code).toBe(200);
  });
});

describe('paths that are no resources', () => {
  test('tell about health', async () => {
    let fault: string | undefined;
    server = await aServer(aCluster({ checks: { store: () => fault } }));
    expect(await server.call('GET', '/livez')).toMatchObject({ code: 200, text: 'ok' });
    expect((await server.call('GET', '/readyz?verbose')).text).toBe('[+]ping ok\n[+]store ok\nreadyz check passed\n');
    expect((await server.call('GET', '/readyz/store')).text).toBe('ok');
    expect((await server.call('GET', '/readyz/nope')).code).toBe(404);
    fault = 'disk full';
    expect(await server.call('GET', '/healthz')).toMatchObject({
      code: 500,
      text: '[+]ping ok\n[-]store failed: disk full\nhealthz check failed\n',
    });
    expect((await server.call('GET', '/healthz?exclude=store&verbose')).text).toContain('[+]store excluded: ok');
  });

  test('tell the version, the paths and the metrics', async () => {
    server = await aServer();
    expect((await server.call('GET', '/version')).json).toMatchObject({
      major: '1',
      minor: '34',
      gitVersion: 'v1.34.4+flotilla',
    });
    expect((await server.call('GET', '/')).json.paths).toEqual(
      expect.arrayContaining([
        '/api/v1',
        '/apis/apps',
        '/apis/apps/v1',
        '/healthz',
        '/livez/ping',
        '/openapi/v3',
        '/version',
      ]),
    );
    await server.call('GET', `${CM}/x`);
    for (const method of ['GET', 'HEAD', 'PUT']) await server.call(method, `${CM}/x/word-of-a-stranger`);
    await server.call('GET', `${CM}/%25/word-of-a-stranger`);
    const { text, headers } = await server.call('GET', '/metrics');
    expect(text).not.toContain('word-of-a-stranger');
    expect(headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(text).toContain(
      'apiserver_request_total{verb="get",group="",version="v1",resource="configmaps",subresource="",code="404"} 2',
    );
    expect(text).toMatch(/apiserver_request_duration_seconds_bucket\{verb="get".*le="\+Inf"\} 2/);
    expect(text).toContain('apiserver_longrunning_requests 0');
    expect(text).toContain('flotilla_store_visible_revision 2');
    expect((await server.call('GET', '/openid/v1/jwks')).code).toBe(404);
  });
});
