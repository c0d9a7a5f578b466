// The client's promises, kept against a real API server over HTTP/2: what test/conformance asks of every transport, as far as a server that is
// shared and whose time cannot be moved lets it be asked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubeconfigOf } from '../../scripts/kube/plane.ts';
import type { Resource } from '../../src/api/kind.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Request, Target, WatchEvent, WatchRequest } from '../../src/api/transport.ts';
import { kubeconfigText } from '../../src/apiserver/auth/kubeconfig.ts';
import { wallClock } from '../../src/base/clock.ts';
import { ApiError } from '../../src/base/errors.ts';
import { discover } from '../../src/client/discovery.ts';
import { type HttpTransport, httpTransport } from '../../src/client/http.ts';
import { connectionFrom } from '../../src/client/kubeconfig.ts';
import { hubPlane, skipsPlanes } from './planes.ts';

const NAMESPACE = 'conformance';
const manager = 'test';
const core = (kind: string, plural: string, namespaced = true): Resource => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});
const configMaps = core('ConfigMap', 'configmaps');
const namespaces = core('Namespace', 'namespaces', false);
const accounts = core('ServiceAccount', 'serviceaccounts');
const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const memberClusters: Resource = {
  group: 'cluster.kubernetes-fleet.io',
  version: 'v1',
  kind: 'MemberCluster',
  plural: 'memberclusters',
  namespaced: false,
};

const configMap = (name: string, data: Readonly<Record<string, string>> = {}, labels = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE, labels }, data }) as KubeObject;

describe.skipIf(skipsPlanes)('the transport to a real API server', () => {
  let transport: HttpTransport;
  const call = (request: Request) => transport.call(request);
  const object = async (request: Request) => (await call(request)).object as KubeObject;
  const at = (name?: string, resource = configMaps): Target => ({
    resource,
    ...(resource.namespaced ? { namespace: NAMESPACE } : {}),
    ...(name === undefined ? {} : { name }),
  });
  const create = (made: KubeObject, resource = configMaps) =>
    object({ verb: 'create', at: at(undefined, resource), object: made, manager });
  const merge = (name: string, body: object, resource = configMaps) =>
    object({ verb: 'patch', at: at(name, resource), patch: { type: 'merge', body: body as never }, manager });
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.unreachable('it was answered'),
      (error: unknown) => {
        expect(error).toBeInstanceOf(ApiError);
        return error as ApiError;
      },
    );
  /** As many events as asked for, in order, without bookmarks. */
  const watched = async (request: WatchRequest, count: number): Promise<readonly WatchEvent[]> => {
    const seen: WatchEvent[] = [];
    for await (const batch of transport.watch({ timeoutSeconds: 30, ...request }, new AbortController().signal)) {
      seen.push(...batch.filter(({ type }) => type !== 'BOOKMARK'));
      if (seen.length >= count) break;
    }
    return seen;
  };

  beforeAll(async () => {
    const text = kubeconfigText(kubeconfigOf([hubPlane]));
    const file = { path: 'kubeconfig', text, folder: '/', readFile: () => expect.unreachable('nothing is in files') };
    transport = httpTransport(connectionFrom([file]), { clock: wallClock });
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, namespaces);
  });
  afterAll(async () => {
    await call({ verb: 'delete', at: { resource: namespaces, name: NAMESPACE } });
    transport.close();
  });

  test('creates, reads, updates and deletes', async () => {
    const made = await create(configMap('one', { x: '1' }));
    expect(await object({ verb: 'get', at: at('one') })).toEqual(made);
    const written = await object({ verb: 'update', at: at('one'), object: { ...made, data: { x: '2' } }, manager });
    expect(written).toMatchObject({ data: { x: '2' }, metadata: { uid: made.metadata.uid } });
    expect((await refusal(call({ verb: 'update', at: at('one'), object: made, manager }))).reason).toBe('Conflict');
    expect((await refusal(create(configMap('one')))).reason).toBe('AlreadyExists');
    const uid = 'somebody-else';
    expect((await refusal(call({ verb: 'delete', at: at('one'), uid }))).reason).toBe('Conflict');
    expect(await call({ verb: 'delete', at: at('one') })).toEqual({ warnings: [] });
    expect(await refusal(call({ verb: 'get', at: at('one') }))).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  test.each([
    { type: 'merge', body: { data: { x: null, y: '2' } }, data: { y: '2', z: '3' } },
    { type: 'json', body: [{ op: 'replace', path: '/data/x', value: '9' }], data: { x: '9', z: '3' } },
    { type: 'strategic', body: { data: { z: null } }, data: { x: '1' } },
  ] as const)('patches by $type', async ({ type, body, data }) => {
    await create(configMap(type, { x: '1', z: '3' }));
    const patched = await object({ verb: 'patch', at: at(type), patch: { type, body: body as never }, manager });
    expect(patched['data']).toEqual(data);
    const dry = {
      verb: 'patch',
      at: at(type),
      patch: { type: 'merge', body: { data: { dry: 'run' } } },
      manager,
      dryRun: true,
    } as const;
    expect((await object(dry))['data']).toEqual({ ...data, dry: 'run' });
    expect((await object({ verb: 'get', at: at(type) }))['data']).toEqual(data);
  });

  test('lists in pages that together are the list as it was at the first one', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) await create(configMap(name, {}, { page: 'yes' }));
    const names: (string | undefined)[] = [];
    let next: string | undefined;
    do {
      const { list } = await call({
        verb: 'list',
        at: at(),
        labels: 'page=yes',
        limit: 2,
        ...(next === undefined ? {} : { continue: next }),
      });
      names.push(...(list?.items ?? []).map(({ metadata }) => metadata.name));
      if (next === undefined) await create(configMap('p0', {}, { page: 'yes' }));
      next = list?.metadata.continue || undefined;
    } while (next !== undefined);
    expect(names).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
    const { list } = await call({ verb: 'list', at: at(), fields: 'metadata.name=p3', view: 'metadata' });
    expect(list?.items).toHaveLength(1);
    expect(list?.items[0]).not.toHaveProperty('data');
  });

  test('watches from a revision: all that came after it, in order, whole, and what begins and ceases to match', async () => {
    const made = await create(configMap('w', { n: '0' }, { seen: 'yes' }));
    for (const n of ['1', '2']) await merge('w', { data: { n } });
    await merge('w', { metadata: { labels: { seen: 'no' } } });
    await merge('w', { metadata: { labels: { seen: 'yes' } } });
    await call({ verb: 'delete', at: at('w') });
    const revision = made.metadata.resourceVersion as string;
    const all = await watched({ at: at(), revision, fields: 'metadata.name=w' }, 5);
    expect(all.map(({ type, object: { data } }) => [type, (data as { n: string }).n])).toEqual([
      ['MODIFIED', '1'],
      ['MODIFIED', '2'],
      ['MODIFIED', '2'],
      ['MODIFIED', '2'],
      ['DELETED', '2'],
    ]);
    const some = await watched({ at: at(), revision, labels: 'seen=yes' }, 5);
    expect(some.map(({ type }) => type)).toEqual(['MODIFIED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED']);
  });

  test('ends a watch at its time, with a bookmark if asked, and refuses a revision that nobody remembers', async () => {
    const events: WatchEvent[] = [];
    const asked = { at: at(), fields: 'metadata.name=none', bookmarks: true, timeoutSeconds: 2 };
    for await (const batch of transport.watch(asked, new AbortController().signal)) events.push(...batch);
    expect(events.every(({ type }) => type === 'BOOKMARK')).toBe(true);
    const { list } = await call({ verb: 'list', at: at(), limit: 1 });
    const future = String(Number(list?.metadata.resourceVersion) + 1_000_000);
    const early = await refusal(call({ verb: 'list', at: at(), revision: future }));
    expect([400, 504]).toContain(early.code);
  });

  test('reads and writes subresources: status, scale, token', async () => {
    const member = {
      apiVersion: 'cluster.kubernetes-fleet.io/v1',
      kind: 'MemberCluster',
      metadata: { name: 'conformance' },
      spec: { identity: { kind: 'User', name: 'x' } },
    } as KubeObject;
    await create(member, memberClusters);
    const body = { spec: { heartbeatPeriodSeconds: 7 }, status: { properties: {} } };
    await call({
      verb: 'patch',
      at: { ...at('conformance', memberClusters), subresource: 'status' },
      patch: { type: 'merge', body },
      manager,
    });
    const now = await object({ verb: 'get', at: at('conformance', memberClusters) });
    expect(now).toMatchObject({ spec: { heartbeatPeriodSeconds: 60 }, status: { properties: {} } });
    await call({ verb: 'delete', at: at('conformance', memberClusters) });

    const spec = {
      replicas: 0,
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } },
    };
    await create(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'scaled', namespace: NAMESPACE },
        spec,
      } as KubeObject,
      deployments,
    );
    const scale = { ...at('scaled', deployments), subresource: 'scale' } as const;
    await call({ verb: 'patch', at: scale, patch: { type: 'merge', body: { spec: { replicas: 3 } } }, manager });
    expect(await object({ verb: 'get', at: scale })).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });

    await create(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: NAMESPACE } },
      accounts,
    );
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: [] },
    } as KubeObject;
    const token = await object({
      verb: 'create',
      at: { ...at('robot', accounts), subresource: 'token' },
      object: request,
      manager,
    });
    expect(token.status).toMatchObject({ token: expect.stringMatching(/^ey/) });
  });

  test('many writers at once lose nothing: each writes on what it has read, or is refused', async () => {
    await create(configMap('counter', { n: '0' }));
    const add = async (): Promise<void> => {
      const read = await object({ verb: 'get', at: at('counter') });
      const n = String(Number((read['data'] as { n: string }).n) + 1);
      const { resourceVersion } = read.metadata;
      await merge('counter', { metadata: { resourceVersion }, data: { n } }).catch((error: unknown) => {
        if (error instanceof ApiError && error.reason === 'Conflict') return add();
        throw error;
      });
    };
    await Promise.all(Array.from({ length: 12 }, add));
    expect((await object({ verb: 'get', at: at('counter') }))['data']).toEqual({ n: '12' });
  });

  test('text of any script and objects of any size survive', async () => {
    const data = { 'odd.key_-': 'ünïcødé 🚢 \u2028 \u0001'.replace('\u0001', ''), large: 'x'.repeat(900_000) };
    await create(configMap('large', data));
    expect((await object({ verb: 'get', at: at('large') }))['data']).toEqual(data);
  });

  test('knows every kind that the server serves, ours among them', async () => {
    const catalogue = await discover(transport);
    expect(catalogue.byWord('crp')).toMatchObject({ plural: 'clusterresourceplacements' });
    expect(catalogue.byWord('deploy')).toMatchObject({ group: 'apps', version: 'v1' });
    expect(catalogue.resources.length).toBeGreaterThan(80);
  });
});
