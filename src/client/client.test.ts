import { describe, expect, expectTypeOf, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import type { Kind } from '../api/kind.ts';
import { memberCluster } from '../api/member-cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { Request, Transport } from '../api/transport.ts';
import { createMemoryStore } from '../apiserver/store/memory.ts';
import { ApiError } from '../base/errors.ts';
import { createClient } from './client.ts';

const configMaps = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const configMap = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { mine: 'yes' } },
  ...more,
});
const mine = { namespace: 'default', labels: 'mine' };
const namesIn = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

async function open(options: Parameters<typeof aCluster>[0] = {}) {
  const cluster = await aCluster(options);
  const requests: Request[] = [];
  const inner = cluster.as(admin);
  const transport: Transport = {
    call(request, signal) {
      requests.push(request);
      return inner.call(request, signal);
    },
    watch: (request, signal) => inner.watch(request, signal),
  };
  return {
    cluster,
    requests,
    client: createClient(transport, 'tester'),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

describe('a client', () => {
  test('knows the types of our kinds, and takes any other resource', async () => {
    type SpecOf<K> = K extends Kind<infer Spec, infer _> ? Spec : never;
    const client = createClient({} as Transport, 'tester');
    expectTypeOf(client.get<typeof memberCluster>)
      .returns.resolves.toHaveProperty('spec')
      .toEqualTypeOf<SpecOf<typeof memberCluster> | undefined>();
    expectTypeOf(client.get<typeof configMaps>).returns.resolves.toEqualTypeOf<KubeObject>();
    expectTypeOf(client.delete<typeof configMaps>).returns.resolves.toEqualTypeOf<KubeObject | undefined>();
  });

  test('writes, reads and deletes a kind of ours', async () => {
    await using run = await open({ kinds: [memberCluster] });
    const { client } = run;
    const made = await client.create(memberCluster, {
      apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
      kind: 'MemberCluster',
      metadata: { name: 'eu-1' },
      spec: { identity: { kind: 'ServiceAccount', name: 'x', namespace: 'fleet-system', apiGroup: '' } } as never,
    });
    expect(made.spec?.identity.name).toBe('x');
    expect((await client.get(memberCluster, { name: 'eu-1' })).metadata.uid).toBe(made.metadata.uid);
    const list = await client.list(memberCluster);
    expect(list.items.map((each) => each.spec?.identity.name)).toEqual(['x']);
  });

  test('finds the place of an object in the object', async () => {
    await using run = await open();
    const { client, requests } = run;
    const made = await client.create(configMaps, configMap('a', { data: { x: '1' } }));
    const changed = await client.update(configMaps, { ...made, data: { x: '2' } });
    expect(changed['data']).toEqual({ x: '2' });
    const patch = { type: 'merge', body: { data: { x: '3' } } } as const;
    const patched = await client.patch(configMaps, { namespace: 'default', name: 'a' }, patch);
    expect(patched['data']).toEqual({ x: '3' });
    expect(requests.map((request) => ('manager' in request ? request.manager : ''))).toEqual([
      'tester',
      'tester',
      'tester',
    ]);
    expect(requests.map(({ at }) => [at.namespace, at.name])).toEqual([
      ['default', undefined],
      ['default', 'a'],
      ['default', 'a'],
    ]);
  });

  test('names the object in the path of what is created below it', async () => {
    await using run = await open();
    const object = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'default', namespace: 'default' },
      spec: {},
    };
    const accounts = { group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true };
    const made = await run.client.create(accounts, object, { subresource: 'token' });
    expect(made.status).toMatchObject({ token: expect.any(String) });
  });

  test('says undefined for what is not there, and throws everything else', async () => {
    await using run = await open();
    expect(await run.client.find(configMaps, { namespace: 'default', name: 'none' })).toBeUndefined();
    expect((await run.client.find(configMaps, { namespace: 'default', name: 'kube-root-ca.crt' }))?.kind).toBe(
      'ConfigMap',
    );
    const nobody = createClient(run.cluster.as({ name: 'nobody', groups: [] }), 'x');
    await expect(nobody.find(configMaps, { namespace: 'default', name: 'a' })).rejects.toMatchObject({ code: 403 });
    await expect(run.client.get(configMaps, { namespace: 'default', name: 'none' })).rejects.toMatchObject({
      code: 404,
    });
  });

  test('passes conditions and rehearsals on', async () => {
    await using run = await open();
    const at = { namespace: 'default', name: 'a' };
    await run.client.create(configMaps, configMap('a'), { dryRun: true });
    expect(await run.client.find(configMaps, at)).toBeUndefined();
    await run.client.create(configMaps, configMap('a', { metadata: { ...at, finalizers: ['example.dev/x'] } }));
    await expect(run.client.delete(configMaps, at, { uid: 'other' })).rejects.toMatchObject({ reason: 'Conflict' });
    expect((await run.client.delete(configMaps, at))?.metadata.deletionTimestamp).toBeDefined();
    await run.client.patch(configMaps, at, { type: 'merge', body: { metadata: { finalizers: null } } });
    await run.client.create(configMaps, configMap('a'));
    expect(await run.client.delete(configMaps, at)).toBeUndefined();
  });

  test('lists page by page, as one list of one revision', async () => {
    await using run = await open();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await run.client.create(configMaps, configMap(name));
    run.requests.length = 0;
    const list = await run.client.list(configMaps, { ...mine, limit: 2, view: 'metadata' });
    expect(namesIn(list.items)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(list.items.every(({ kind }) => kind === 'PartialObjectMetadata')).toBe(true);
    expect(list.metadata).toEqual({ resourceVersion: expect.any(String) });
    expect(run.requests).toHaveLength(3);
    expect(Object.isFrozen(list) && Object.isFrozen(list.items)).toBe(true);
    const pages = [];
    for await (const page of run.client.pages(configMaps, { ...mine, limit: 3 })) pages.push(namesIn(page.items));
    expect(pages).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
  });

  test('asks for a revision with the first page only', async () => {
    await using run = await open();
    for (const name of ['a', 'b', 'c']) await run.client.create(configMaps, configMap(name));
    run.requests.length = 0;
    await run.client.list(configMaps, { ...mine, limit: 2, revision: '0' });
    expect(run.requests.map((request) => (request as { revision?: string }).revision)).toEqual(['0', undefined]);
  });

  test('lists at once what expires while it is paged through', async () => {
    await using run = await open({ store: createMemoryStore({ windowChanges: 10 }) });
    const { client } = run;
    for (let i = 0; i < 6; i++) await client.create(configMaps, configMap(`a-${i}`));
    const pages = client.pages(configMaps, { ...mine, limit: 2 })[Symbol.asyncIterator]();
    await pages.next();
    for (let i = 0; i < 30; i++) await client.create(configMaps, configMap(`b-${i}`));
    await expect(pages.next()).rejects.toMatchObject({ code: 410 });

    let calls = 0;
    const forgetful: Transport = {
      async call(request, signal) {
        // Many changes between any two pages.
        if (request.verb === 'list' && request.continue !== undefined) {
          for (let i = 0; i < 30; i++) await run.cluster.create('configmaps', 'default', configMap(`c-${calls}-${i}`));
        }
        calls++;
        return run.cluster.call(request).finally(() => signal);
      },
      watch: () => {
        throw new Error('no');
      },
    };
    const list = await createClient(forgetful, 'x').list(configMaps, { ...mine, limit: 2 });
    expect(list.items).toHaveLength(66);
    expect(calls).toBe(3);
  });

  test('does not hide a 410 that is not about paging', async () => {
    const gone = new ApiError(410, 'Expired', 'too old');
    const transport: Transport = {
      call: () => Promise.reject(gone),
      watch: () => {
        throw gone;
      },
    };
    await expect(createClient(transport, 'x').list(configMaps, { revision: '1' })).rejects.toBe(gone);
  });

  test('watches', async () => {
    await using run = await open();
    const { metadata } = await run.client.list(configMaps, mine);
    await run.client.create(configMaps, configMap('a'));
    const seen = [];
    const { signal } = new AbortController();
    for await (const batch of run.client.watch(configMaps, { ...mine, revision: metadata.resourceVersion }, signal)) {
      seen.push(...batch);
      break;
    }
    expect(seen.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(['ADDED a']);
  });
});
