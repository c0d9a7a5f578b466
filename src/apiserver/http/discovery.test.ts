import { afterEach, describe, expect, test } from 'vitest';
import { by } from '../../base/compare.ts';
import { builtinResources } from '../builtin/registry.ts';
import { createRegistry } from '../live-registry.ts';
import { byVersionPriority } from './served-groups.ts';
import { aCluster, aResource, aServer, type TestServer, widgets } from './server.testing.ts';

let server: TestServer;
afterEach(() => server?.close());

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
// The Accept header of kubectl.
const KUBECTL = `${V2},${V2.replace('v2', 'v2beta1')},application/json`;

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes.
type Any = any;

const aServerOfBuiltins = async () => {
  const cluster = aCluster();
  const registry = createRegistry(builtinResources());
  registry.setCustom([widgets]);
  server = await aServer({ ...cluster, cluster: { ...cluster.cluster, registry } });
  return registry;
};

describe('aggregated discovery', () => {
  test('lists every group in the order of a real server, custom ones last', async () => {
    await aServerOfBuiltins();
    const { json, headers } = await server.call('GET', '/apis', { headers: { accept: KUBECTL } });
    expect(headers['content-type']).toBe(V2);
    expect(headers).toMatchObject({ vary: 'Accept', 'cache-control': 'public' });
    const names = json.items.map((group: Any) => group.metadata.name);
    expect(names[0]).toBe('apiregistration.k8s.io');
    expect(names.at(-1)).toBe('example.dev');
    expect(names.indexOf('apps')).toBeLessThan(names.indexOf('batch'));
    const autoscaling = json.items.find((group: Any) => group.metadata.name === 'autoscaling');
    expect(autoscaling.versions.map((each: Any) => each.version)).toEqual(['v2', 'v1']);
    const custom = json.items.at(-1);
    expect(custom.versions.map((each: Any) => [each.version, each.freshness])).toEqual([
      ['v1', 'Current'],
      ['v1beta1', 'Current'],
    ]);
    const apps = json.items.find((group: Any) => group.metadata.name === 'apps').versions[0].resources;
    expect(apps.find((each: Any) => each.resource === 'deployments')).toEqual({
      resource: 'deployments',
      responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          subresource: 'status',
          responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
    const core = (await server.call('GET', '/api', { headers: { accept: KUBECTL } })).json;
    expect(core.items).toHaveLength(1);
    expect(core.items[0].metadata).toEqual({});
    const older = await server.call('GET', '/api', { headers: { accept: V2.replace('v2', 'v2beta1') } });
    expect(older.json.apiVersion).toBe('apidiscovery.k8s.io/v2beta1');
  });

  test('is sent again only when it has changed', async () => {
    const registry = await aServerOfBuiltins();
    const ask = (etag?: string) =>
      server.call('GET', '/apis', { headers: { accept: KUBECTL, ...(etag ? { 'if-none-match': etag } : {}) } });
    const first = await ask();
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    const second = await ask(etag);
    expect([second.code, second.text, second.headers.etag]).toEqual([304, '', etag]);
    registry.setCustom([]);
    const third = await ask(etag);
    expect(third.code).toBe(200);
    expect(third.text).not.toContain('example.dev');
  });
});

describe('legacy discovery', () => {
  test('lists groups, versions and resources with their subresources', async () => {
    server = await aServer();
    const get = async (path: string) => (await server.call('GET', path)).json;
    expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect((await get('/apis')).groups.at(-1)).toEqual({
      name: 'example.dev',
      versions: [
        { groupVersion: 'example.dev/v1', version: 'v1' },
        { groupVersion: 'example.dev/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'example.dev/v1', version: 'v1' },
    });
    expect(await get('/apis/apps/')).toMatchObject({ kind: 'APIGroup', name: 'apps' });
    const list = await get('/apis/apps/v1');
    expect(list).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    expect(list.resources.map((each: Any) => [each.name, each.singularName, each.kind, each.group])).toEqual([
      ['deployments', 'deployment', 'Deployment', undefined],
      ['deployments/scale', '', 'Scale', 'autoscaling'],
      ['deployments/status', '', 'Deployment', undefined],
    ]);
    expect((await server.call('GET', '/apis/nope')).code).toBe(404);
    expect((await server.call('GET', '/api', { headers: { accept: 'text/html' } })).code).toBe(406);
  });
});

test('versions are ordered as Kubernetes orders them', () => {
  const versions = [
    'foo10',
    'v1alpha1',
    'v1',
    'v11beta2',
    'v10',
    'v2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'foo1',
    'v11alpha2',
    'v1beta1',
  ];
  expect(versions.sort(byVersionPriority)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v1beta1',
    'v12alpha1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});

describe('OpenAPI v3', () => {
  const documentOf = async (name: string) => {
    const { paths } = (await server.call('GET', '/openapi/v3')).json;
    return server.call('GET', paths[name].serverRelativeURL);
  };

  test('has one document per group and version, which clients may keep', async () => {
    await aServerOfBuiltins();
    const { paths } = (await server.call('GET', '/openapi/v3')).json;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/example.dev/v1']));
    const url = paths['apis/apps/v1'].serverRelativeURL;
    expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
    const { headers } = await server.call('GET', url);
    expect(headers).toMatchObject({
      'cache-control': 'public, immutable',
      'content-type': 'application/json',
      vary: 'Accept',
    });
    expect(Date.parse(String(headers.expires)) - Date.parse(String(headers.date))).toBeGreaterThan(
      364 * 24 * 3600 * 1000,
    );
    expect((await server.call('GET', url, { headers: { 'if-none-match': String(headers.etag) } })).code).toBe(304);
    const moved = await server.call('GET', '/openapi/v3/apis/apps/v1?hash=old');
    expect([moved.code, moved.headers.location]).toEqual([301, url]);
    const plain = await server.call('GET', '/openapi/v3/apis/apps/v1');
    expect(plain.headers).toMatchObject({ 'cache-control': 'no-cache, private', etag: headers.etag });
    expect((await server.call('GET', '/openapi/v3/apis/nope/v1')).code).toBe(404);
  });

  test('says of every kind that patches are validated, and resolves every reference inside the document', async () => {
    await aServerOfBuiltins();
    for (const name of [
      'api/v1',
      'apis/apps/v1',
      'apis/autoscaling/v2',
      'apis/apiextensions.k8s.io/v1',
      'apis/example.dev/v1',
    ]) {
      const { json, text } = await documentOf(name);
      const { schemas } = json.components;
      for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
        expect(schemas, `${name} ${reference}`).toHaveProperty([
          (reference as string).replace('#/components/schemas/', ''),
        ]);
      }
      const patched = Object.values(json.paths as Record<string, Any>).flatMap(({ patch }) => (patch ? [patch] : []));
      expect(patched.length, name).toBeGreaterThan(0);
      for (const patch of patched) {
        expect(patch.parameters.map((each: Any) => each.name)).toContain('fieldValidation');
        expect(patch['x-kubernetes-group-version-kind']).toHaveProperty('kind');
      }
    }
  });

  test('marks the schema of a kind for explain', async () => {
    await aServerOfBuiltins();
    const apps = (await documentOf('apis/apps/v1')).json;
    const deployment = apps.components.schemas['io.k8s.api.apps.v1.Deployment'];
    expect(deployment['x-kubernetes-group-version-kind']).toEqual([
      { group: 'apps', version: 'v1', kind: 'Deployment' },
    ]);
    expect(JSON.stringify(deployment.properties.spec)).toContain(
      '#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec',
    );
    const { replicas, template } = apps.components.schemas['io.k8s.api.apps.v1.DeploymentSpec'].properties;
    expect(replicas).toMatchObject({ type: 'integer', format: 'int32' });
    expect(JSON.stringify(template)).toContain('#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec');
    expect(apps.components.schemas['io.k8s.api.core.v1.PodSpec'].properties).toHaveProperty('containers');
    expect(apps.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']).toMatchObject({
      get: { 'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' } },
    });
    const custom = (await documentOf('apis/example.dev/v1')).json.components.schemas['dev.example.v1.Widget'];
    expect(Object.keys(custom.properties)).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(custom['x-kubernetes-group-version-kind']).toEqual([
      { group: 'example.dev', version: 'v1', kind: 'Widget' },
    ]);
  });

  test('changes the hash of the group whose schema changed, and of no other', async () => {
    const registry = await aServerOfBuiltins();
    const hashes = async () => (await server.call('GET', '/openapi/v3')).json.paths;
    const before = await hashes();
    const changed = {
      ...widgets.versions[1]!,
      schema: { type: 'object', properties: { spec: { type: 'object' } } } as const,
    };
    registry.setCustom([aResource({ ...widgets, versions: [widgets.versions[0]!, changed] })]);
    const after = await hashes();
    const differing = Object.keys(after).filter(
      (name) => after[name].serverRelativeURL !== before[name].serverRelativeURL,
    );
    expect(differing.sort(by((name) => name))).toEqual(['apis/example.dev/v1']);
    expect((await documentOf('apis/example.dev/v1')).text).toContain('"spec":{"type":"object"}');
  });
});
