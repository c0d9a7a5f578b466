// The verbs as a client of the in-process transport meets them. Texts are those of a real 1.34 server.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../src/api/object.ts';
import type { Request, WatchEvent } from '../src/api/transport.ts';
import { createMemoryStore } from '../src/apiserver/store/memory.ts';
import { list as listVerb } from '../src/apiserver/verbs/list.ts';
import type { ApiError } from '../src/base/errors.ts';
import { aCluster, type TestCluster } from './cluster.ts';
import { runs } from './properties.ts';

const foos = {
  metadata: { name: 'foos.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'foos', kind: 'Foo' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  a: { type: 'string' },
                  replicas: { type: 'integer' },
                  mode: { type: 'string', default: 'Fast' },
                },
              },
              status: {
                type: 'object',
                properties: { b: { type: 'string' }, replicas: { type: 'integer' }, selector: { type: 'string' } },
              },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
          },
        },
      },
    ],
  },
};

async function withFoos(): Promise<TestCluster> {
  const cluster = await aCluster();
  await cluster.create('customresourcedefinitions', undefined, foos);
  await cluster.settled();
  return cluster;
}

const refusal = async (attempt: Promise<unknown>): Promise<{ code: number; reason: string; message: string }> => {
  try {
    await attempt;
  } catch (error) {
    const { code, reason, message } = error as ApiError;
    return { code, reason, message };
  }
  throw new Error('nothing was refused');
};

const patch = (
  cluster: TestCluster,
  at: ReturnType<TestCluster['at']>,
  body: unknown,
  type: 'merge' | 'json' | 'strategic' = 'merge',
) =>
  cluster
    .call({ verb: 'patch', at, patch: { type, body: body as never }, manager: 'test' })
    .then((answer) => answer.object as KubeObject);

const update = (cluster: TestCluster, at: ReturnType<TestCluster['at']>, object: KubeObject) =>
  cluster.call({ verb: 'update', at, object, manager: 'test' }).then((answer) => answer.object as KubeObject);

describe('create', () => {
  test.each([
    {
      it: 'needs a name',
      body: { metadata: {} },
      refused: {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      },
    },
    {
      it: 'refuses a resourceVersion',
      body: { metadata: { name: 'a', resourceVersion: '5' } },
      refused: { code: 500, reason: '', message: 'resourceVersion should not be set on objects to be created' },
    },
    {
      it: 'refuses another namespace in the body',
      body: { metadata: { name: 'a', namespace: 'other' } },
      refused: {
        code: 400,
        reason: 'BadRequest',
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      },
    },
    {
      it: 'names unknown fields',
      body: { metadata: { name: 'a' }, dataz: {} },
      refused: {
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataz"',
      },
    },
    {
      it: 'refuses a value of the wrong type',
      body: { metadata: { name: 'a' }, data: { a: 1 } },
      refused: {
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      },
    },
  ])('$it', async ({ body, refused }) => {
    await using cluster = await aCluster();
    expect(await refusal(cluster.create('configmaps', 'default', body))).toEqual(refused);
  });

  test('tells all that is wrong with metadata at once', async () => {
    await using cluster = await aCluster();
    const metadata = { name: 'A_', labels: { 'a b': 'c d' }, finalizers: ['x'], ownerReferences: [{ kind: 'x' }] };
    const { message } = await refusal(cluster.create('configmaps', 'default', { metadata }));
    for (const field of [
      'metadata.name',
      'metadata.labels',
      'metadata.ownerReferences.uid',
      'metadata.finalizers[0]',
    ]) {
      expect(message).toContain(`${field}: Invalid value`);
    }
  });

  test('replaces what only the server may say', async () => {
    await using cluster = await aCluster();
    const metadata = {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2000-01-01T00:00:00Z',
      deletionTimestamp: '2000-01-01T00:00:00Z',
    };
    const made = await cluster.create('configmaps', 'default', { metadata });
    expect(made.metadata).toMatchObject({ creationTimestamp: '2026-01-01T00:00:00Z', namespace: 'default' });
    expect(made.metadata.uid).not.toBe('mine');
    expect(made.metadata.deletionTimestamp).toBeUndefined();
  });

  test('needs its namespace, and a live one', async () => {
    await using cluster = await aCluster();
    expect(await refusal(cluster.create('configmaps', 'nope', { metadata: { name: 'a' } }))).toMatchObject({
      code: 404,
      message: 'namespaces "nope" not found',
    });
    await cluster.create('namespaces', undefined, { metadata: { name: 'going', finalizers: ['example.io/stay'] } });
    await cluster.call({ verb: 'delete', at: cluster.at('namespaces', undefined, 'going') });
    expect(await refusal(cluster.create('configmaps', 'going', { metadata: { name: 'a' } }))).toMatchObject({
      code: 403,
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
    });
  });

  test('generates names that do not collide', async () => {
    await using cluster = await aCluster();
    const names = new Set<string>();
    for (let i = 0; i < 50; i++) {
      const made = await cluster.create('configmaps', 'default', { metadata: { generateName: 'web-' } });
      expect(made.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      names.add(made.metadata.name as string);
    }
    expect(names.size).toBe(50);
  });

  test('meets an existing name', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    expect(await refusal(cluster.create('configmaps', 'default', { metadata: { name: 'a' } }))).toEqual({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    });
  });

  test('on a dry run checks everything and stores nothing', async () => {
    await using cluster = await aCluster();
    const head = cluster.store.head;
    const at = cluster.at('configmaps', 'default');
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const answer = await cluster.call({ verb: 'create', at, object, manager: 'test', dryRun: true });
    expect(answer.object?.metadata.uid).toBeDefined();
    expect(cluster.store.head).toBe(head);
    expect(await refusal(cluster.get('configmaps', 'default', 'a'))).toMatchObject({
      code: 404,
      message: 'configmaps "a" not found',
    });
  });

  test('defaults a custom object and drops its status', async () => {
    await using cluster = await withFoos();
    const made = await cluster.create('foos', 'default', {
      metadata: { name: 'a' },
      spec: { a: 'x' },
      status: { b: 'q' },
    });
    expect(made).toMatchObject({ spec: { a: 'x', mode: 'Fast' }, metadata: { generation: 1 } });
    expect(made.status).toBeUndefined();
  });
});

describe('update', () => {
  test('that changes nothing keeps the revision and wakes nobody', async () => {
    await using cluster = await aCluster();
    const made = await cluster.create('configmaps', 'default', { metadata: { name: 'a' }, data: { k: 'v' } });
    const head = cluster.store.head;
    const same = await update(cluster, cluster.at('configmaps', 'default', 'a'), made);
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    expect(cluster.store.head).toBe(head);
  });

  test('with an old revision is a conflict', async () => {
    await using cluster = await aCluster();
    const made = await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    const at = cluster.at('configmaps', 'default', 'a');
    await update(cluster, at, { ...made, data: { n: '1' } });
    expect(await refusal(update(cluster, at, { ...made, data: { n: '2' } }))).toEqual({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  test('of a custom object needs a revision, of a ConfigMap not', async () => {
    await using cluster = await withFoos();
    await cluster.create('foos', 'default', { metadata: { name: 'a' } });
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    const body = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: 'a' } });
    expect(await refusal(update(cluster, cluster.at('foos', 'default', 'a'), body('example.io/v1', 'Foo')))).toEqual({
      code: 422,
      reason: 'Invalid',
      message:
        'foos.example.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
    await update(cluster, cluster.at('configmaps', 'default', 'a'), body('v1', 'ConfigMap'));
  });

  test('counts generations for what was asked, not for status or metadata', async () => {
    await using cluster = await withFoos();
    const at = cluster.at('foos', 'default', 'a');
    await cluster.create('foos', 'default', { metadata: { name: 'a' }, spec: { a: '1' } });
    const generations = [];
    generations.push((await patch(cluster, at, { metadata: { labels: { l: '1' } } })).metadata.generation);
    generations.push(
      (await patch(cluster, { ...at, subresource: 'status' }, { status: { b: 'x' } })).metadata.generation,
    );
    generations.push((await patch(cluster, at, { spec: { a: '2' } })).metadata.generation);
    generations.push((await patch(cluster, at, { spec: { a: '2' } })).metadata.generation);
    expect(generations).toEqual([1, 1, 2, 2]);
  });

  test('keeps status and the rest apart', async () => {
    await using cluster = await withFoos();
    const at = cluster.at('foos', 'default', 'a');
    await cluster.create('foos', 'default', { metadata: { name: 'a' }, spec: { a: '1' } });
    const viaMain = await patch(cluster, at, { spec: { a: '2' }, status: { b: 'ignored' } });
    expect(viaMain.status).toBeUndefined();
    const viaStatus = await patch(
      cluster,
      { ...at, subresource: 'status' },
      { metadata: { labels: { l: '1' } }, spec: { a: '3' }, status: { b: 'set' } },
    );
    expect(viaStatus).toMatchObject({ spec: { a: '2' }, status: { b: 'set' } });
    expect(viaStatus.metadata.labels).toBeUndefined();
  });
});

describe('patch', () => {
  test.each([
    { it: 'with another revision is a conflict', body: { metadata: { resourceVersion: '1' } }, code: 409 },
    { it: 'may not rename', body: { metadata: { name: 'b' } }, code: 400 },
    { it: 'may not change the uid', body: { metadata: { uid: 'b' } }, code: 422 },
    { it: 'must leave a valid object', body: { spec: { replicas: 'q' } }, code: 422 },
  ])('$it', async ({ body, code }) => {
    await using cluster = await withFoos();
    await cluster.create('foos', 'default', { metadata: { name: 'a' } });
    expect((await refusal(patch(cluster, cluster.at('foos', 'default', 'a'), body))).code).toBe(code);
  });

  test('by strategy works on built-in kinds and not on custom ones', async () => {
    await using cluster = await withFoos();
    await cluster.create('foos', 'default', { metadata: { name: 'a' } });
    expect(await refusal(patch(cluster, cluster.at('foos', 'default', 'a'), {}, 'strategic'))).toMatchObject({
      code: 415,
    });
    const template = (image: string) => ({
      metadata: { labels: { app: 'w' } },
      spec: {
        containers: [
          { name: 'one', image },
          { name: 'two', image: 'two:1' },
        ],
      },
    });
    await cluster.create('deployments', 'default', {
      metadata: { name: 'w' },
      spec: { selector: { matchLabels: { app: 'w' } }, template: template('one:1') },
    });
    const body = { spec: { template: { spec: { containers: [{ name: 'one', image: 'one:2' }] } } } };
    const patched = await patch(cluster, cluster.at('deployments', 'default', 'w'), body, 'strategic');
    const { containers } = (patched.spec as { template: { spec: { containers: { name: string; image: string }[] } } })
      .template.spec;
    expect(containers.map(({ name, image }) => `${name}=${image}`)).toEqual(['one=one:2', 'two=two:1']);
    expect(patched.metadata.generation).toBe(2);
  });

  test('with a test that fails is refused in a real server’s words', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' }, data: { k: 'v' } });
    const body = [{ op: 'test', path: '/data/k', value: 'other' }];
    expect(await refusal(patch(cluster, cluster.at('configmaps', 'default', 'a'), body, 'json'))).toEqual({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  });
});

describe('delete', () => {
  test('waits for finalizers, which cannot grow meanwhile', async () => {
    await using cluster = await withFoos();
    const at = cluster.at('foos', 'default', 'a');
    await cluster.create('foos', 'default', { metadata: { name: 'a', finalizers: ['x.io/y'] } });
    const marked = (await cluster.call({ verb: 'delete', at })).object;
    expect(marked?.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    expect(await refusal(patch(cluster, at, { metadata: { finalizers: ['x.io/y', 'x.io/z'] } }))).toMatchObject({
      code: 422,
      message:
        'Foo.example.io "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/z"}',
    });
    const last = await patch(cluster, at, { metadata: { finalizers: null } });
    expect(last.metadata.resourceVersion).toBe(marked?.metadata.resourceVersion);
    expect((await refusal(cluster.get('foos', 'default', 'a'))).code).toBe(404);
  });

  test('of a CRD waits for objects with finalizers, which can still be changed; no new ones are created', async () => {
    await using cluster = await withFoos();
    const at = cluster.at('foos', 'default', 'a');
    const crd = cluster.at('customresourcedefinitions', undefined, 'foos.example.io');
    await cluster.create('foos', 'default', { metadata: { name: 'a', finalizers: ['x.io/y', 'plain'] } });
    await cluster.call({ verb: 'delete', at: crd });
    await cluster.settled();
    expect(await refusal(cluster.create('foos', 'default', { metadata: { name: 'b' } }))).toMatchObject({
      code: 403,
      message: 'foos.example.io "b" is forbidden: create not allowed while custom resource definition is terminating',
    });
    const labeled = await patch(cluster, at, { metadata: { labels: { a: 'b' } } });
    expect(labeled.metadata).toMatchObject({ labels: { a: 'b' }, deletionTimestamp: '2026-01-01T00:00:00Z' });
    const object = { ...labeled, spec: { a: 'put' } };
    const { object: put } = await cluster.call({ verb: 'update', at, object, manager: 'test' });
    expect(put?.spec).toMatchObject({ a: 'put' });
    expect((await patch(cluster, crd, { metadata: { labels: { a: 'b' } } })).metadata).toMatchObject({
      labels: { a: 'b' },
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    });
    await patch(cluster, at, { metadata: { finalizers: null } });
    await cluster.settled();
    expect((await refusal(cluster.call({ verb: 'get', at: crd }))).code).toBe(404);
  });

  test('keeps to its preconditions', async () => {
    await using cluster = await aCluster();
    const made = await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    const at = cluster.at('configmaps', 'default', 'a');
    expect((await refusal(cluster.call({ verb: 'delete', at, uid: 'other' }))).message).toBe(
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    );
    expect((await refusal(cluster.call({ verb: 'delete', at, revision: '1' }))).code).toBe(409);
    await cluster.call({
      verb: 'delete',
      at,
      uid: made.metadata.uid as string,
      revision: made.metadata.resourceVersion as string,
    });
  });

  test('of a bound Pod waits until somebody deletes it with grace 0', async () => {
    await using cluster = await aCluster();
    const at = cluster.at('pods', 'default', 'p');
    await cluster.create('pods', 'default', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n1' },
    };
    await cluster.call({ verb: 'create', at: { ...at, subresource: 'binding' }, object: binding, manager: 'test' });
    expect(
      (
        await refusal(
          cluster.call({ verb: 'create', at: { ...at, subresource: 'binding' }, object: binding, manager: 'test' }),
        )
      ).code,
    ).toBe(409);
    const marked = (await cluster.call({ verb: 'delete', at })).object;
    expect(marked?.metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: '2026-01-01T00:00:30Z',
    });
    expect((await cluster.get('pods', 'default', 'p')).metadata.deletionTimestamp).toBeDefined();
    await cluster.call({ verb: 'delete', at, graceSeconds: 0 });
    expect((await refusal(cluster.get('pods', 'default', 'p'))).code).toBe(404);
  });

  test('by propagation: foreground and background take dependents along, orphan leaves them', async () => {
    for (const propagation of ['Foreground', 'Background', 'Orphan'] as const) {
      await using cluster = await aCluster();
      const owner = await cluster.create('configmaps', 'default', { metadata: { name: 'owner' } });
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true },
      ];
      await cluster.create('configmaps', 'default', { metadata: { name: 'child', ownerReferences } });
      await cluster.settled();
      await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'default', 'owner'), propagation });
      await cluster.settled();
      expect((await refusal(cluster.get('configmaps', 'default', 'owner'))).code).toBe(404);
      if (propagation === 'Orphan') {
        expect((await cluster.get('configmaps', 'default', 'child')).metadata.ownerReferences).toBeUndefined();
      } else expect((await refusal(cluster.get('configmaps', 'default', 'child'))).code).toBe(404);
    }
  });

  test('of a namespace empties it and then lets it go', async () => {
    await using cluster = await aCluster();
    await cluster.create('namespaces', undefined, { metadata: { name: 'team' } });
    await cluster.create('configmaps', 'team', { metadata: { name: 'a' } });
    await cluster.settled();
    await cluster.call({ verb: 'delete', at: cluster.at('namespaces', undefined, 'team') });
    await cluster.settled();
    expect((await refusal(cluster.get('namespaces', undefined, 'team'))).code).toBe(404);
    expect(cluster.store.range('/configmaps/team/').items).toEqual([]);
    expect(cluster.errors).toEqual([]);
  });
});

describe('list', () => {
  const names = (items: readonly KubeObject[] | undefined) => items?.map((item) => item.metadata.name);
  const list = async (cluster: TestCluster, options: Partial<Extract<Request, { verb: 'list' }>>) =>
    (await cluster.call({ verb: 'list', at: cluster.at('configmaps', 'many'), ...options })).list;

  async function many(): Promise<TestCluster> {
    const cluster = await aCluster();
    await cluster.create('namespaces', undefined, { metadata: { name: 'many' } });
    await cluster.settled();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await cluster.create('configmaps', 'many', { metadata: { name, labels: { odd: String('ace'.includes(name)) } } });
    }
    return cluster;
  }

  test('selects by labels and fields', async () => {
    await using cluster = await many();
    expect(names((await list(cluster, { labels: 'odd=true' }))?.items)).toEqual(['a', 'c', 'e']);
    expect(names((await list(cluster, { fields: 'metadata.name=b' }))?.items)).toEqual(['b']);
    expect(names((await list(cluster, { fields: 'metadata.name!=b', labels: 'odd!=true,odd' }))?.items)).toEqual(['d']);
    expect(await refusal(list(cluster, { fields: 'spec.a=1' }))).toMatchObject({
      code: 400,
      message: '"spec.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
    expect((await refusal(list(cluster, { labels: 'a in' }))).message).toBe(
      "unable to parse requirement: found '' expected: '('",
    );
  });

  test('of many, by selector, leaves others a turn every few milliseconds and shows the moment of its beginning', async () => {
    await using cluster = await aCluster();
    const { store, running } = cluster;
    for (let i = 10; i < 33; i++) {
      await cluster.create('configmaps', 'default', {
        metadata: { name: `c${i}`, labels: { even: `${i % 2 === 0}` } },
      });
    }
    await cluster.settled();
    const revision = store.visible;
    const pauses: (() => void)[] = [];
    let now = cluster.clock.now();
    // Each look at the time takes half a millisecond: there is one before a slice and one after each object.
    const clock = {
      now: () => (now += 0.5),
      at: (_epochMs: number, _name: string, run: () => void) => {
        pauses.push(run);
        return () => {};
      },
    };
    const found = running.cluster.registry.find('', 'v1', 'configmaps')!;
    const listing = listVerb(
      { ...running.cluster, clock },
      { ...found, namespace: 'default' },
      { labels: 'even=true' },
    );
    await cluster.create('configmaps', 'default', { metadata: { name: 'c11-late', labels: { even: 'true' } } });
    let slices = 1;
    for (; pauses.length > 0; slices++) {
      pauses.pop()?.();
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
    const { items, revision: at } = await listing;
    expect(slices).toBe(3); // of 23 and kube-root-ca.crt
    expect(items.map(({ key }) => key.slice(-3))).toEqual(
      Array.from({ length: 12 }, (_, index) => `c${10 + 2 * index}`),
    );
    expect(at).toBe(revision);
  });

  test('in pages shows the moment of the first page, whatever happens meanwhile', async () => {
    await using cluster = await many();
    const first = await list(cluster, { limit: 2 });
    expect(names(first?.items)).toEqual(['a', 'b']);
    expect(first?.metadata.remainingItemCount).toBe(4);
    await cluster.call({ verb: 'delete', at: cluster.at('configmaps', 'many', 'd') });
    await cluster.create('configmaps', 'many', { metadata: { name: 'cc' } });
    await patch(cluster, cluster.at('configmaps', 'many', 'e'), { data: { late: 'yes' } });
    const rest = await list(cluster, { continue: first?.metadata.continue as string });
    expect(names(rest?.items)).toEqual(['c', 'd', 'e', 'kube-root-ca.crt']);
    expect(rest?.items.find((item) => item.metadata.name === 'e')?.['data']).toBeUndefined();
    expect(rest?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });

  test('in pages of any size shows that moment and counts what is left of it, whatever is written in between', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
    const meanwhile = fc.array(fc.record({ name, gone: fc.boolean() }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name),
        fc.integer({ min: 1, max: 4 }),
        fc.array(meanwhile, { minLength: 7, maxLength: 7 }),
        async (there, limit, writes) => {
          await using cluster = await aCluster();
          await cluster.create('namespaces', undefined, { metadata: { name: 'many' } });
          await cluster.settled();
          for (const each of there) await cluster.create('configmaps', 'many', { metadata: { name: each } });
          const whole = (await list(cluster, {}))?.items as readonly KubeObject[];
          const seen: KubeObject[] = [];
          let next: string | undefined;
          do {
            const page = await list(cluster, { limit, ...(next ? { continue: next } : {}) });
            seen.push(...(page?.items ?? []));
            next = page?.metadata.continue;
            expect(page?.metadata.remainingItemCount ?? 0).toBe(whole.length - seen.length);
            for (const { name: each, gone } of writes.pop() ?? []) {
              const at = cluster.at('configmaps', 'many', each);
              const stands = cluster.store.get(`/configmaps/many/${each}`) !== undefined;
              if (!stands) await cluster.create('configmaps', 'many', { metadata: { name: each } });
              else if (gone) await cluster.call({ verb: 'delete', at });
              else await patch(cluster, at, { data: { revision: String(cluster.store.head) } });
            }
          } while (next);
          expect(seen).toEqual(whole);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  test('refuses tokens that are nonsense or too old', async () => {
    const store = createMemoryStore({ windowChanges: 3 });
    await using cluster = await aCluster({ store });
    for (const name of ['a', 'b', 'c']) await cluster.create('configmaps', 'default', { metadata: { name } });
    const at = cluster.at('configmaps', 'default');
    const first = (await cluster.call({ verb: 'list', at, limit: 1 })).list;
    for (let i = 0; i < 10; i++)
      await patch(cluster, cluster.at('configmaps', 'default', 'a'), { data: { i: String(i) } });
    expect(
      await refusal(cluster.call({ verb: 'list', at, continue: first?.metadata.continue as string })),
    ).toMatchObject({ code: 410, reason: 'Expired' });
    for (const token of [
      'abc',
      'e30',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"/secrets/"}').toString('base64url'),
    ]) {
      expect(await refusal(cluster.call({ verb: 'list', at, continue: token }))).toMatchObject({ code: 400 });
    }
  });

  test('of any page size gives all objects once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (wanted, limit, selects) => {
          await using cluster = await aCluster();
          await cluster.create('namespaces', undefined, { metadata: { name: 'many' } });
          await cluster.settled();
          for (const name of wanted)
            await cluster.create('configmaps', 'many', { metadata: { name, labels: { mine: 'yes' } } });
          const seen: string[] = [];
          let next: string | undefined;
          do {
            const page = await list(cluster, {
              limit,
              ...(selects ? { labels: 'mine' } : { fields: 'metadata.name!=kube-root-ca.crt' }),
              ...(next ? { continue: next } : {}),
            });
            seen.push(...(names(page?.items) as string[]));
            next = page?.metadata.continue;
          } while (next);
          expect(seen).toEqual([...wanted].sort());
        },
      ),
      { numRuns: runs(30) },
    );
  });
});

describe('watch', () => {
  async function follow(
    cluster: TestCluster,
    options: { labels?: string; revision?: string; fields?: string },
    act: () => Promise<unknown>,
  ): Promise<string[]> {
    const stop = new AbortController();
    const seen: WatchEvent[] = [];
    const done = (async () => {
      for await (const batch of cluster
        .as({ name: 'admin', groups: ['system:masters'] })
        .watch({ at: cluster.at('configmaps', 'default'), ...options }, stop.signal)) {
        seen.push(...batch);
        if (seen.some((event) => event.object.metadata.name === 'last' || event.object.metadata.labels?.['last']))
          stop.abort();
      }
    })();
    await act();
    await cluster.create('configmaps', 'default', { metadata: { name: 'last', labels: { last: 'yes', app: 'web' } } });
    await done;
    return seen
      .map((event) => `${event.type} ${event.object.metadata.name}`)
      .filter((text) => !text.includes('kube-root-ca'));
  }

  test('from nowhere begins with what is there', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    expect(await follow(cluster, {}, async () => {})).toEqual(['ADDED a', 'ADDED last']);
  });

  test('with a selector shows objects come and go as they begin and cease to match', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    const at = cluster.at('configmaps', 'default', 'a');
    const revision = String(cluster.store.visible);
    const events = await follow(cluster, { labels: 'app=web', revision }, async () => {
      await patch(cluster, at, { metadata: { labels: { app: 'web' } } });
      await patch(cluster, at, { data: { n: '1' } });
      await patch(cluster, at, { data: { n: '1' } });
      await patch(cluster, at, { metadata: { labels: { app: null } } });
      await patch(cluster, at, { data: { n: '2' } });
      await patch(cluster, at, { metadata: { labels: { app: 'web' } } });
      await cluster.call({ verb: 'delete', at });
    });
    expect(events).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a', 'ADDED last']);
  });

  test('with a selector shows of what ceases to match the last that did, at the revision of the change', async () => {
    await using cluster = await aCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a', labels: { app: 'web' } } });
    const at = cluster.at('configmaps', 'default', 'a');
    const since = cluster.store.visible;
    await patch(cluster, at, { metadata: { labels: { app: null } }, data: { n: '1' } });
    const stop = new AbortController();
    const watching = cluster
      .as({ name: 'admin', groups: ['system:masters'] })
      .watch({ at: cluster.at('configmaps', 'default'), labels: 'app=web', revision: String(since) }, stop.signal);
    for await (const [event] of watching) {
      expect(event).toMatchObject({
        type: 'DELETED',
        object: { metadata: { labels: { app: 'web' }, resourceVersion: String(since + 1) } },
      });
      expect(event?.object).not.toHaveProperty('data');
      stop.abort();
    }
  });

  test('from a revision beyond the window is told so', async () => {
    await using cluster = await aCluster({ store: createMemoryStore({ windowChanges: 2 }) });
    for (let i = 0; i < 5; i++) await cluster.create('configmaps', 'default', { metadata: { name: `c${i}` } });
    const watching = cluster
      .as({ name: 'admin', groups: ['system:masters'] })
      .watch({ at: cluster.at('configmaps', 'default'), revision: '1' }, new AbortController().signal);
    const { code, reason, message } = await refusal(watching[Symbol.asyncIterator]().next());
    expect({ code, reason }).toEqual({ code: 410, reason: 'Expired' });
    expect(message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });
});

describe('subresources', () => {
  test('scale shows and changes one number', async () => {
    await using cluster = await withFoos();
    const at = { ...cluster.at('foos', 'default', 'a'), subresource: 'scale' as const };
    await cluster.create('foos', 'default', { metadata: { name: 'a' }, spec: { replicas: 2 } });
    expect((await cluster.call({ verb: 'get', at })).object).toMatchObject({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      spec: { replicas: 2 },
      status: { replicas: 0 },
    });
    await patch(cluster, at, { spec: { replicas: 5 } });
    expect((await cluster.get('foos', 'default', 'a')).spec).toMatchObject({ replicas: 5 });
    expect((await refusal(patch(cluster, at, { spec: { replicas: -1 } }))).code).toBe(422);
  });

  test('a token stands for its ServiceAccount for as long as asked', async () => {
    await using cluster = await aCluster();
    const at = { ...cluster.at('serviceaccounts', 'default', 'default'), subresource: 'token' as const };
    const ask = (expirationSeconds: number) =>
      cluster.call({
        verb: 'create',
        at,
        manager: 'test',
        object: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: { expirationSeconds },
        },
      });
    const { status } = (await ask(600)).object as KubeObject<unknown, { token: string; expirationTimestamp: string }>;
    expect(status?.expirationTimestamp).toBe('2026-01-01T00:10:00Z');
    expect(cluster.running.cluster.checkToken?.(status?.token as string, [])).toMatchObject({
      ok: true,
      user: { name: 'system:serviceaccount:default:default' },
    });
    for (const spec of [
      { expirationSeconds: 'long' },
      { audiences: 'everybody' },
      { audiences: [1] },
      { boundObjectRef: { kind: 'constructor', name: 'x' } },
      { boundObjectRef: 'x' },
    ]) {
      const object = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
      expect((await refusal(cluster.call({ verb: 'create', at, manager: 'test', object }))).code).toBe(400);
    }
    cluster.clock.advance(20 * 60_000);
    expect(cluster.running.cluster.checkToken?.(status?.token as string, [])).toMatchObject({ ok: false });
    expect((await refusal(ask(10))).code).toBe(422);
  });
});

describe('authorization', () => {
  test('is the same in process as over the wire', async () => {
    await using cluster = await aCluster();
    const nobody = cluster.as({ name: 'nobody', groups: ['system:authenticated'] });
    expect(await refusal(nobody.call({ verb: 'list', at: cluster.at('namespaces') }))).toMatchObject({
      code: 403,
      message:
        'namespaces is forbidden: User "nobody" cannot list resource "namespaces" in API group "" at the cluster scope',
    });
  });

  test('to update what is there is none to add what is not', async () => {
    await using cluster = await aCluster();
    await cluster.create('roles', 'default', {
      metadata: { name: 'keeper' },
      rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update'] }],
    });
    await cluster.create('rolebindings', 'default', {
      metadata: { name: 'keeper' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'keeper' },
      subjects: [{ kind: 'User', name: 'keeper' }],
    });
    const keeper = cluster.as({ name: 'keeper', groups: ['system:authenticated'] });
    const put = {
      verb: 'update',
      at: cluster.at('leases', 'default', 'mine'),
      object: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'mine' }, spec: {} },
      manager: 'test',
    } as const;
    expect(await refusal(keeper.call(put))).toMatchObject({
      code: 403,
      message:
        'leases.coordination.k8s.io "mine" is forbidden: User "keeper" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
    });
    const { object: made } = await cluster.call(put);
    await keeper.call({ ...put, object: { ...(made as KubeObject), spec: { holderIdentity: 'me' } } });
    expect((await cluster.get('leases', 'default', 'mine')).spec).toEqual({ holderIdentity: 'me' });
  });
});

describe('what a resource does not offer is refused in process as over the wire', () => {
  test.each<{ it: string; code: number; ask: (cluster: TestCluster) => Request }>([
    {
      it: 'an update of a subresource that can only be created',
      code: 405,
      ask: (cluster) => ({
        verb: 'update',
        at: { ...cluster.at('serviceaccounts', 'default', 'default'), subresource: 'token' },
        object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', labels: { a: 'b' } } },
        manager: 'test',
      }),
    },
    {
      it: 'the status of what has none',
      code: 404,
      ask: (cluster) => ({
        verb: 'get',
        at: { ...cluster.at('configmaps', 'default', 'kube-root-ca.crt'), subresource: 'status' },
      }),
    },
    {
      it: 'a namespace for what has none',
      code: 404,
      ask: (cluster) => ({
        verb: 'create',
        at: cluster.at('clusterroles', 'default'),
        object: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' } },
        manager: 'test',
      }),
    },
    {
      it: 'a deletion that names nothing',
      code: 405,
      ask: (cluster) => ({ verb: 'delete', at: cluster.at('configmaps', 'default') }),
    },
    { it: 'a list of reviews', code: 405, ask: (cluster) => ({ verb: 'list', at: cluster.at('tokenreviews') }) },
  ])('$it', async ({ code, ask }) => {
    await using cluster = await aCluster();
    const { head } = cluster.store;
    expect((await refusal(cluster.call(ask(cluster)))).code).toBe(code);
    expect(cluster.store.head).toBe(head);
  });
});

describe('an object above 1.5 MiB', () => {
  const TOO_LARGE = { code: 500, reason: '', message: 'etcdserver: request is too large' };
  const big = 'x'.repeat(1_600_000);
  const half = 'x'.repeat(800_000);
  const foo = (spec: object, name = 'a') => ({ metadata: { name }, spec });

  test('is refused whatever verb makes it so, and leaves what was there', async () => {
    await using cluster = await withFoos();
    expect(await refusal(cluster.create('foos', 'default', foo({ a: big })))).toEqual(TOO_LARGE);
    const made = await cluster.create('foos', 'default', foo({ a: half }));
    const at = cluster.at('foos', 'default', 'a');
    const attempts: readonly Request[] = [
      { verb: 'update', at, object: { ...made, spec: { a: big } } as KubeObject, manager: 'test' },
      { verb: 'patch', at, patch: { type: 'merge', body: { spec: { a: big } } }, manager: 'test' },
      {
        verb: 'patch',
        at,
        patch: { type: 'json', body: [{ op: 'add', path: '/spec/a', value: big }] },
        manager: 'test',
      },
      {
        verb: 'patch',
        at: { ...at, subresource: 'status' },
        patch: { type: 'merge', body: { status: { b: half } } },
        manager: 'test',
      },
    ];
    for (const attempt of attempts) expect(await refusal(cluster.call(attempt)), attempt.verb).toEqual(TOO_LARGE);
    expect(await cluster.get('foos', 'default', 'a')).toEqual(made);
  });

  test('is shown by a dry run, which stores nothing', async () => {
    await using cluster = await withFoos();
    const answer = await cluster.call({
      verb: 'create',
      at: cluster.at('foos', 'default'),
      object: { apiVersion: 'example.io/v1', kind: 'Foo', ...foo({ a: big }) } as KubeObject,
      manager: 'test',
      dryRun: true,
    });
    expect((answer.object as KubeObject).metadata.name).toBe('a');
  });

  test('can be deleted, and let go of, when it has just the size', async () => {
    await using cluster = await withFoos();
    const finalizers = ['example.io/one', 'example.io/two'];
    const small = await cluster.create('foos', 'default', { metadata: { name: 'a', finalizers }, spec: { a: '' } });
    const room = 1.5 * 1024 * 1024 - Buffer.byteLength(JSON.stringify(small)) - 20;
    const at = cluster.at('foos', 'default', 'a');
    await cluster.call({
      verb: 'patch',
      at,
      patch: { type: 'merge', body: { spec: { a: 'x'.repeat(room) } } },
      manager: 'test',
    });
    await cluster.call({ verb: 'delete', at });
    for (const left of [['example.io/two'], []]) {
      await cluster.call({
        verb: 'patch',
        at,
        patch: { type: 'merge', body: { metadata: { finalizers: left } } },
        manager: 'test',
      });
    }
    expect((await refusal(cluster.get('foos', 'default', 'a'))).code).toBe(404);
  });
});
