// What every Transport promises about single calls, run on each.
import { describe, expect, test } from 'vitest';
import type { KubeObject, User } from '../../src/api/object.ts';
import type { Request } from '../../src/api/transport.ts';
import { createMemoryStore } from '../../src/apiserver/store/memory.ts';
import { AbortError, ApiError } from '../../src/base/errors.ts';
import {
  askable,
  configMap,
  deployment,
  isDeeplyFrozen,
  objectOf,
  onlyOurs,
  open,
  refusal,
  type Server,
  type Session,
  store,
} from './script.ts';
import { direct, type StartServed } from './subjects.ts';

const nobody: User = { name: 'nobody', groups: ['system:authenticated'] };
const manager = 'test';

export function describeCalls(start: StartServed, server: Server = 'ours'): void {
  const MANY = server === 'ours' ? 2000 : 300;

  describe('verbs', () => {
    test('create, get, update and delete one object', async () => {
      await using session = await open(start);
      const { call, at } = session;
      const made = await session.create(configMap('a', { x: '1' }));
      expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } });
      expect(made.metadata).toMatchObject({
        uid: expect.any(String),
        creationTimestamp: session.exactly('2026-01-01T00:00:00Z'),
      });
      const target = at('configmaps', 'default', 'a');
      expect(objectOf(await call({ verb: 'get', at: target }))).toEqual(made);

      const written = await call({ verb: 'update', at: target, object: { ...made, data: { x: '2' } }, manager });
      expect(objectOf(written)).toMatchObject({ data: { x: '2' }, metadata: { uid: made.metadata.uid } });
      expect(objectOf(written).metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);

      expect(await call({ verb: 'delete', at: target })).toEqual({ warnings: [] });
      expect((await refusal(call({ verb: 'get', at: target }))).code).toBe(404);
    });

    test('a name is made up where only its beginning is given', async () => {
      await using session = await open(start);
      const object = { ...configMap(''), metadata: { generateName: 'web-', namespace: 'default' } };
      const made = await session.create(object);
      expect(made.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
    });

    test.each([
      { type: 'merge', body: { data: { x: null, y: '2' } }, data: { y: '2', z: '3' } },
      {
        type: 'json',
        body: [
          { op: 'test', path: '/data/x', value: '1' },
          { op: 'add', path: '/data/y', value: '2' },
        ],
        data: { x: '1', y: '2', z: '3' },
      },
      { type: 'strategic', body: { data: { y: '2' } }, data: { x: '1', y: '2', z: '3' } },
    ] as const)('patch by $type', async ({ type, body, data }) => {
      await using session = await open(start);
      await session.create(configMap('a', { x: '1', z: '3' }));
      const patch = { type, body };
      const answer = await session.call({
        verb: 'patch',
        at: session.at('configmaps', 'default', 'a'),
        patch,
        manager,
      });
      expect(objectOf(answer)['data']).toEqual(data);
    });

    test('a deletion that finalizers hold up answers with the object, and ends when they go', async () => {
      await using session = await open(start);
      await session.create(configMap('held', {}, { finalizers: ['example.dev/hold'] }));
      const at = session.at('configmaps', 'default', 'held');
      const marked = objectOf(await session.call({ verb: 'delete', at }));
      expect(marked.metadata).toMatchObject({
        deletionTimestamp: session.exactly('2026-01-01T00:00:00Z'),
        finalizers: ['example.dev/hold'],
      });
      expect(objectOf(await session.call({ verb: 'get', at }))).toEqual(marked);
      const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
      await session.call({ verb: 'patch', at, patch, manager });
      expect((await refusal(session.call({ verb: 'get', at }))).reason).toBe('NotFound');
    });

    test.each([
      { it: 'a namespace', plural: 'namespaces', namespace: undefined, isLeft: true },
      {
        it: 'a service account, which servers answer with',
        plural: 'serviceaccounts',
        namespace: 'default',
        isLeft: false,
      },
      { it: 'a pod without a node', plural: 'pods', namespace: 'default', isLeft: false },
      { it: 'a pod with a node', plural: 'pods', namespace: 'default', isLeft: true, spec: { nodeName: 'n' } },
    ])('deleting $it leaves an object: $isLeft', async ({ plural, namespace, isLeft, spec }) => {
      await using session = await open(start);
      const { resource } = session.at(plural);
      const metadata = { name: 'x', ...(namespace === undefined ? {} : { namespace }) };
      const pod = { containers: [{ name: 'main', image: 'example/app:1' }], ...spec };
      await session.create({
        apiVersion: 'v1',
        kind: resource.kind,
        metadata,
        ...(plural === 'pods' ? { spec: pod } : {}),
      });
      const answer = await session.call({ verb: 'delete', at: session.at(plural, namespace, 'x') });
      expect(answer.object !== undefined).toBe(isLeft);
      if (isLeft) expect(objectOf(answer).metadata.deletionTimestamp).toBeDefined();
    });

    test('a deletion may be conditional on uid and revision', async () => {
      await using session = await open(start);
      const { metadata } = await session.create(configMap('a'));
      const at = session.at('configmaps', 'default', 'a');
      const { uid = '', resourceVersion: revision = '' } = metadata;
      expect((await refusal(session.call({ verb: 'delete', at, uid: 'other' }))).reason).toBe('Conflict');
      expect((await refusal(session.call({ verb: 'delete', at, uid, revision: '1' }))).reason).toBe('Conflict');
      expect(await session.call({ verb: 'delete', at, uid, revision })).toEqual({ warnings: [] });
    });

    test('a dry run answers as if and changes nothing', async () => {
      await using session = await open(start);
      const { call } = session;
      const kept = await session.create(configMap('kept', { x: '1' }));
      const at = session.at('configmaps', 'default', 'kept');
      const before = await session.state();
      const rehearsals: readonly Request[] = [
        {
          verb: 'create',
          at: session.at('configmaps', 'default'),
          object: configMap('new', { n: '1' }),
          manager,
          dryRun: true,
        },
        { verb: 'update', at, object: { ...kept, data: { x: '2' } }, manager, dryRun: true },
        { verb: 'patch', at, patch: { type: 'merge', body: { data: { x: '2' } } }, manager, dryRun: true },
        { verb: 'delete', at, dryRun: true },
      ];
      const answers = [];
      for (const request of rehearsals) answers.push(await call(request));
      expect(answers.map(({ object }) => object?.['data'])).toEqual([{ n: '1' }, { x: '2' }, { x: '2' }, undefined]);
      expect(await session.state()).toEqual(before);
      expect(objectOf(await call({ verb: 'get', at }))).toEqual(kept);
    });

    test('answers are frozen through and through', async () => {
      await using session = await open(start);
      await session.create(configMap('a', { x: '1' }, { labels: { app: 'web' } }));
      const at = session.at('configmaps', 'default', 'a');
      const requests: readonly Request[] = [
        ...(['object', 'metadata', 'table'] as const).flatMap((view): readonly Request[] => [
          { verb: 'get', at, view },
          { verb: 'list', at: session.at('configmaps'), view },
        ]),
        { verb: 'create', at: session.at('configmaps', 'default'), object: configMap('b'), manager },
        { verb: 'patch', at, patch: { type: 'merge', body: { data: { x: '2' } } }, manager },
        { verb: 'delete', at },
      ];
      for (const request of requests) expect(isDeeplyFrozen(await session.call(request))).toBe(true);
    });

    test('the server warns people', async () => {
      await using session = await open(start);
      const schema = { type: 'object', properties: { spec: { type: 'string', format: 'rumour' } } };
      const object = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'ships.example.dev' },
        spec: {
          group: 'example.dev',
          scope: 'Namespaced',
          names: { plural: 'ships', kind: 'Ship' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      };
      const at = session.at('customresourcedefinitions');
      const { warnings } = await session.call({ verb: 'create', at, object, manager, dryRun: true });
      expect(warnings).toEqual([expect.stringContaining('unrecognized format "rumour"')]);
    });
  });

  describe('views', () => {
    test.each(['object', 'metadata', 'table'] as const)('of one object: %s', async (view) => {
      await using session = await open(start);
      const made = await session.create(configMap('a', { secret: 'x' }));
      const answer = await session.call({ verb: 'get', at: session.at('configmaps', 'default', 'a'), view });
      const { metadata } = made;
      const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
      if (view === 'object') expect(objectOf(answer)).toEqual(made);
      if (view === 'metadata') expect(objectOf(answer)).toEqual(partial);
      if (view === 'table') {
        expect(objectOf(answer)).toMatchObject({
          apiVersion: 'meta.k8s.io/v1',
          kind: 'Table',
          metadata: { resourceVersion: metadata.resourceVersion },
          rows: [{ cells: ['a', 1, session.exactly('0s')], object: partial }],
        });
      }
    });

    test.each(['object', 'metadata', 'table'] as const)('of a list: %s', async (view) => {
      await using session = await open(start);
      const made = [await session.create(configMap('a')), await session.create(configMap('b'))];
      const at = session.at('configmaps', 'default');
      const answer = await session.call({
        verb: 'list',
        at,
        view,
        labels: '!x',
        fields: 'metadata.name!=kube-root-ca.crt',
      });
      const resourceVersion = session.exactly(made[1]?.metadata.resourceVersion);
      const partials = made.map(({ metadata }) => ({
        apiVersion: 'meta.k8s.io/v1',
        kind: 'PartialObjectMetadata',
        metadata,
      }));
      if (view === 'table') {
        expect(answer.list).toBeUndefined();
        expect(objectOf(answer)).toMatchObject({
          kind: 'Table',
          metadata: { resourceVersion },
          rows: [
            { cells: ['a', 0, session.exactly('0s')], object: partials[0] },
            { cells: ['b', 0, session.exactly('0s')], object: partials[1] },
          ],
        });
        return;
      }
      expect(answer).toEqual({
        list: {
          apiVersion: view === 'object' ? 'v1' : 'meta.k8s.io/v1',
          kind: view === 'object' ? 'ConfigMapList' : 'PartialObjectMetadataList',
          metadata: { resourceVersion },
          items: view === 'object' ? made : partials,
        },
        warnings: [],
      });
    });
  });

  describe('lists', () => {
    const named = (names: readonly string[]) => names.map((name) => configMap(name, {}, { labels: { n: name } }));
    const namesIn = (items: readonly KubeObject[] = []) => items.map(({ metadata }) => metadata.name);

    test('come in pages that together are the list as it was at the first one', async () => {
      await using session = await open(start);
      for (const object of named(['a', 'b', 'c', 'd', 'e'])) await session.create(object);
      const query = { verb: 'list', at: session.at('configmaps', 'default'), labels: 'n', limit: 2 } as const;
      const first = (await session.call(query)).list;
      expect(namesIn(first?.items)).toEqual(['a', 'b']);
      expect(first?.metadata).toEqual({
        resourceVersion: expect.any(String),
        continue: expect.any(String),
      });
      await session.create(configMap('aa', {}, { labels: { n: 'aa' } }));
      await session.create(configMap('f', {}, { labels: { n: 'f' } }));
      await session.call({ verb: 'delete', at: session.at('configmaps', 'default', 'e') });
      const second = (await session.call({ ...query, continue: first?.metadata.continue ?? '' })).list;
      expect(namesIn(second?.items)).toEqual(['c', 'd']);
      expect(second?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
      const third = (await session.call({ ...query, continue: second?.metadata.continue ?? '' })).list;
      expect(third?.metadata).toEqual({ resourceVersion: first?.metadata.resourceVersion });
      expect(namesIn(third?.items)).toEqual(['e']);
    });

    test('say how many are left when there is no selector', async () => {
      await using session = await open(start);
      for (const object of named(['a', 'b', 'c'])) await session.create(object);
      const answer = await session.call({ verb: 'list', at: session.at('configmaps', 'default'), limit: 1 });
      expect(answer.list?.metadata.remainingItemCount).toBe(3); // and kube-root-ca.crt
    });

    test('select by labels and fields, in one namespace or in all', async () => {
      await using session = await open(start);
      for (const object of named(['a', 'b'])) await session.create(object);
      const list = async (query: object, namespace?: string) =>
        namesIn((await session.call({ verb: 'list', at: session.at('configmaps', namespace), ...query })).list?.items);
      expect(await list({ labels: 'n in (a,x)' })).toEqual(['a']);
      expect(await list({ labels: 'n,n!=a' }, 'default')).toEqual(['b']);
      expect(await list({ fields: 'metadata.name=b' })).toEqual(['b']);
      expect(await list({ labels: 'n' }, 'kube-system')).toEqual([]);
    });

    test('are of any size', async () => {
      await using session = await open(start);
      const text = 'x'.repeat(500);
      await store(
        session,
        Array.from({ length: MANY }, (_, i) => configMap(`m-${i}`, { text })),
      );
      const at = session.at('configmaps', 'default');
      const { list } = await session.call({ verb: 'list', at });
      expect(list?.items).toHaveLength(MANY + 1);
      expect(new Set(namesIn(list?.items)).size).toBe(MANY + 1);
      expect(list?.items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1')).toBe(true);
    });
  });

  test('text of any script survives, and so do odd keys', async () => {
    await using session = await open(start);
    const value = 'naïve ☃ 🚢 日本語 \u2028\u2029 \u0000\u001f"\\\n\ttab \ud83d';
    const data = { a: value, b: 'é'.repeat(40_000), c: '🚢'.repeat(40_000) };
    const annotations = { 'example.dev/note': '🚢 "ahoy"', __proto__: 'x' } as Record<string, string>;
    const made = await session.create(configMap('odd', data, { annotations: { ...annotations } }));
    const got = objectOf(await session.call({ verb: 'get', at: session.at('configmaps', 'default', 'odd') }));
    expect(got).toEqual(made);
    // A lone surrogate is no character: over the wire it becomes the replacement character.
    expect((got['data'] as typeof data).a.slice(0, -1)).toBe(value.slice(0, -1));
    expect((got['data'] as typeof data).b).toBe(data.b);
    expect((got['data'] as typeof data).c).toBe(data.c);
    expect(got.metadata.annotations?.['example.dev/note']).toBe('🚢 "ahoy"');
  });

  test('many writers at once lose nothing: each writes on what it has read, or is refused', async () => {
    await using session = await open(start);
    await session.create(configMap('counter', { n: '0' }));
    const at = session.at('configmaps', 'default', 'counter');
    let conflicts = 0;
    const increments = async (transport = session.as({ name: 'w', groups: ['system:masters'] })) => {
      for (let done = 0; done < 5; ) {
        const seen = objectOf(await transport.call({ verb: 'get', at }));
        const n = Number((seen['data'] as { n: string }).n) + 1;
        try {
          await transport.call({ verb: 'update', at, object: { ...seen, data: { n: String(n) } }, manager });
          done++;
        } catch (error) {
          if (!(error instanceof ApiError) || error.reason !== 'Conflict') throw error;
          conflicts++;
        }
      }
    };
    await Promise.all(Array.from({ length: 6 }, () => increments()));
    expect(objectOf(await session.call({ verb: 'get', at }))['data']).toEqual({ n: '30' });
    expect(conflicts).toBeGreaterThan(0);
  });

  describe('subresources', () => {
    const at = (session: Session, name: 'status' | 'scale') => ({
      ...session.at('deployments', 'default', 'web'),
      subresource: name,
    });

    test('a status is written apart from the spec', async () => {
      await using session = await open(start);
      const made = await session.create(deployment('web', 2));
      const object = { ...made, spec: { ...(made.spec as object), replicas: 9 }, status: { replicas: 1 } };
      const written = objectOf(await session.call({ verb: 'update', at: at(session, 'status'), object, manager }));
      expect(written).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1 } });
      const patch = { type: 'merge', body: { status: { readyReplicas: 1 } } } as const;
      const patched = objectOf(await session.call({ verb: 'patch', at: at(session, 'status'), patch, manager }));
      expect(patched.status).toEqual({ replicas: 1, readyReplicas: 1 });
      expect(objectOf(await session.call({ verb: 'get', at: at(session, 'status') }))).toEqual(patched);
    });

    test('a scale is read and written', async () => {
      await using session = await open(start);
      const made = await session.create(deployment('web', 2));
      const scale = objectOf(await session.call({ verb: 'get', at: at(session, 'scale') }));
      expect(scale).toMatchObject({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'web', uid: made.metadata.uid },
        spec: { replicas: 2 },
      });
      const object = { ...scale, spec: { replicas: 3 } };
      expect(objectOf(await session.call({ verb: 'update', at: at(session, 'scale'), object, manager })).spec).toEqual({
        replicas: 3,
      });
      const patch = { type: 'merge', body: { spec: { replicas: 4 } } } as const;
      expect(objectOf(await session.call({ verb: 'patch', at: at(session, 'scale'), patch, manager })).kind).toBe(
        'Scale',
      );
      const after = objectOf(await session.call({ verb: 'get', at: session.at('deployments', 'default', 'web') }));
      expect(after.spec).toMatchObject({ replicas: 4 });
    });

    test('a token is issued', async () => {
      await using session = await open(start);
      const answer = await session.call({
        verb: 'create',
        at: { ...session.at('serviceaccounts', 'default', 'default'), subresource: 'token' },
        object: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: { expirationSeconds: 600 },
        },
        manager,
      });
      expect(objectOf(answer)).toMatchObject({
        kind: 'TokenRequest',
        status: {
          token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          expirationTimestamp: session.exactly('2026-01-01T00:10:00Z'),
        },
      });
    });

    test('a pod is bound to a node', async () => {
      await using session = await open(start);
      const spec = { containers: [{ name: 'main', image: 'example/app:1' }] };
      await session.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default' }, spec });
      const pod = session.at('pods', 'default', 'p');
      const object = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p', namespace: 'default' },
        target: { apiVersion: 'v1', kind: 'Node', name: 'n-1' },
      };
      const bound = await session.call({ verb: 'create', at: { ...pod, subresource: 'binding' }, object, manager });
      expect(objectOf(bound)).toMatchObject({ kind: 'Status', status: 'Success' });
      expect(objectOf(await session.call({ verb: 'get', at: pod })).spec).toMatchObject({ nodeName: 'n-1' });
    });

    test('a namespace is finalized', async () => {
      await using session = await open(start);
      const made = await session.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
      const finalize = { ...session.at('namespaces', undefined, 'team'), subresource: 'finalize' } as const;
      const object = { ...made, spec: { finalizers: ['kubernetes', 'example.dev/hold'] } };
      const answer = await session.call({ verb: 'update', at: finalize, object, manager });
      expect(objectOf(answer).spec).toEqual({ finalizers: ['kubernetes', 'example.dev/hold'] });
    });
  });

  describe('an abort', () => {
    const target = (session: Session) => session.at('configmaps', 'default', 'kube-root-ca.crt');

    test('before the call sends nothing', async () => {
      await using session = await open(start);
      const object = configMap('never');
      const request = { verb: 'create', at: session.at('configmaps', 'default'), object, manager } as const;
      const before = await session.state();
      await expect(session.transport.call(request, AbortSignal.abort())).rejects.toThrow(AbortError);
      expect(await session.state()).toEqual(before);
    });

    test('during the call ends it at once', async () => {
      await using session = await open(start);
      const controller = new AbortController();
      const call = session.transport.call({ verb: 'get', at: target(session) }, controller.signal);
      controller.abort();
      // In process the answer may be there before anybody can give up.
      const outcome = await call.catch((error: unknown) => error);
      if (start !== direct) expect(outcome).toBeInstanceOf(AbortError);
      // The next call is none the worse for it.
      expect(objectOf(await session.call({ verb: 'get', at: target(session) })).kind).toBe('ConfigMap');
    });

    test('after the answer changes nothing', async () => {
      await using session = await open(start);
      const controller = new AbortController();
      const answer = await session.transport.call({ verb: 'get', at: target(session) }, controller.signal);
      controller.abort();
      expect(objectOf(answer).kind).toBe('ConfigMap');
    });
  });

  describe('refusals are the same in code, reason, message and details', () => {
    const update = (object: KubeObject): ((session: Session) => Request) => {
      const { name = '' } = object.metadata;
      return (session) => ({ verb: 'update', at: session.at('configmaps', 'default', name), object, manager });
    };
    const create = (plural: string, object: object): ((session: Session) => Request) => {
      return (session) => {
        const { group, version, kind } = session.at(plural).resource;
        const apiVersion = group === '' ? version : `${group}/${version}`;
        const whole = { apiVersion, kind, ...object } as KubeObject;
        return { verb: 'create', at: session.at(plural, 'default'), object: whole, manager };
      };
    };
    const cases: readonly {
      readonly it: string;
      readonly ask: (session: Session) => Request;
      readonly as?: User;
      readonly refused: object;
      /** Why a real server is not asked. */
      readonly onlyOurs?: string;
    }[] = [
      {
        it: 'an object that is not there',
        ask: (session) => ({ verb: 'get', at: session.at('configmaps', 'default', 'none') }),
        refused: {
          code: 404,
          reason: 'NotFound',
          message: 'configmaps "none" not found',
          details: { name: 'none', kind: 'configmaps' },
        },
      },
      {
        it: 'a resource that is not there',
        ask: (session) => {
          const { resource } = session.at('configmaps');
          return { verb: 'list', at: { resource: { ...resource, plural: 'nosuch' } } };
        },
        refused: {
          code: 404,
          reason: 'NotFound',
          message: 'the server could not find the requested resource',
          details: {},
        },
      },
      {
        it: 'an object that is there already',
        ask: create('configmaps', { metadata: { name: 'kube-root-ca.crt' } }),
        refused: {
          code: 409,
          reason: 'AlreadyExists',
          message: 'configmaps "kube-root-ca.crt" already exists',
          details: { name: 'kube-root-ca.crt', kind: 'configmaps' },
        },
      },
      {
        it: 'a write on what has changed since',
        ask: update(configMap('kube-root-ca.crt', {}, { resourceVersion: '1' })),
        refused: {
          code: 409,
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on configmaps "kube-root-ca.crt": the object has been modified; please apply your changes to the latest version and try again',
          details: { name: 'kube-root-ca.crt', kind: 'configmaps' },
        },
      },
      {
        it: 'a deletion of another one of that name',
        ask: (session) => ({ verb: 'delete', at: session.at('configmaps', 'default', 'kube-root-ca.crt'), uid: 'u' }),
        refused: { code: 409, reason: 'Conflict', details: { name: 'kube-root-ca.crt', kind: 'ConfigMap' } },
      },
      {
        it: 'an object with wrong fields',
        ask: create('configmaps', { metadata: { name: 'Big Name' }, data: { 'a/b': 'x' } }),
        refused: {
          code: 422,
          reason: 'Invalid',
          details: {
            name: 'Big Name',
            kind: 'ConfigMap',
            causes: [{ field: 'metadata.name' }, { field: 'data[a/b]' }],
          },
        },
      },
      {
        it: 'a field that nobody knows',
        ask: create('configmaps', { metadata: { name: 'a' }, dato: { x: 'y' } }),
        refused: { code: 400, reason: 'BadRequest', message: expect.stringContaining('unknown field "dato"') },
      },
      {
        it: 'a patch with a field that nobody knows',
        ask: (session) => ({
          verb: 'patch',
          at: session.at('deployments', 'default', 'web'),
          patch: { type: 'merge', body: { spec: { replicaz: 1 } } },
          manager,
        }),
        refused: { code: 422, reason: 'Invalid', message: expect.stringContaining('unknown field "spec.replicaz"') },
      },
      {
        it: 'a patch whose test fails',
        ask: (session) => ({
          verb: 'patch',
          at: session.at('deployments', 'default', 'web'),
          patch: { type: 'json', body: [{ op: 'test', path: '/spec/replicas', value: 7 }] },
          manager,
        }),
        refused: { code: 422, reason: 'Invalid' },
      },
      {
        it: 'an apply of a field that another manager owns',
        ask: (session) => ({
          verb: 'patch',
          at: session.at('deployments', 'default', 'web'),
          patch: {
            type: 'apply',
            body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 5 } },
          },
          manager: 'other',
        }),
        refused: { code: 409, reason: 'Conflict' },
      },
      {
        it: 'another name in the body than in the path',
        ask: (session) => ({
          verb: 'update',
          at: session.at('configmaps', 'default', 'a'),
          object: configMap('b'),
          manager,
        }),
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'another namespace in the body than in the path',
        ask: create('configmaps', { metadata: { name: 'a', namespace: 'kube-system' } }),
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'a selector that cannot be read',
        ask: (session) => ({ verb: 'list', at: session.at('configmaps'), labels: '=a=' }),
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'a field that cannot be selected by',
        ask: (session) => ({ verb: 'list', at: session.at('configmaps'), fields: 'data.x=1' }),
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'a continue token that is none',
        ask: (session) => ({ verb: 'list', at: session.at('configmaps'), limit: 1, continue: 'rubbish' }),
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'a revision of the future',
        ask: (session) => ({ verb: 'list', at: session.at('configmaps'), revision: '999999999' }),
        refused: { code: 504, reason: 'Timeout' },
      },
      {
        it: 'a namespace that is not there',
        ask: (session) => ({
          verb: 'create',
          at: session.at('configmaps', 'nowhere'),
          object: { ...configMap('a'), metadata: { name: 'a' } },
          manager,
        }),
        refused: {
          code: 404,
          message: 'namespaces "nowhere" not found',
          details: { name: 'nowhere', kind: 'namespaces' },
        },
      },
      {
        it: 'somebody without rights',
        as: nobody,
        ask: (session) => ({ verb: 'get', at: session.at('secrets', 'default', 'a') }),
        refused: {
          code: 403,
          reason: 'Forbidden',
          message:
            'secrets "a" is forbidden: User "nobody" cannot get resource "secrets" in API group "" in the namespace "default"',
          details: { name: 'a', kind: 'secrets' },
        },
      },
      {
        it: 'a list by somebody without rights',
        as: nobody,
        ask: (session) => ({ verb: 'list', at: session.at('deployments') }),
        refused: {
          code: 403,
          message:
            'deployments.apps is forbidden: User "nobody" cannot list resource "deployments" in API group "apps" at the cluster scope',
          details: { group: 'apps', kind: 'deployments' },
        },
      },
      ...(['get', 'update', 'patch', 'delete'] as const).map((verb) => ({
        it: `a ${verb} without a name, which must never touch the whole collection,`,
        ask: (session: Session): Request => {
          const at = session.at('configmaps', 'default');
          if (verb === 'update') return { verb, at, object: configMap('a'), manager };
          if (verb === 'patch') return { verb, at, patch: { type: 'merge', body: {} }, manager };
          return { verb, at };
        },
        refused: {
          code: 405,
          reason: 'MethodNotAllowed',
          message: 'the server does not allow this method on the requested resource',
          details: {},
        },
      })),
    ];
    test.each(askable(server, cases))('$it', async ({ ask, as, refused }) => {
      await using session = await open(start);
      await session.create(deployment('web', 2));
      const before = await session.state();
      const transport = as ? session.as(as) : session.transport;
      const { code, reason, message, details } = await refusal(transport.call(ask(session)));
      const error = { code, reason, message, details };
      expect(error).toMatchObject(refused);
      expect(await session.state()).toEqual(before);
      if (server === 'real') return;
      // And to the last letter as on the direct way, which is the server itself.
      const same = session.ours().as(as ?? { name: 'admin', groups: ['system:masters', 'system:authenticated'] });
      const own = await refusal(same.call(ask(session)));
      expect(error).toEqual({
        code: own.code,
        reason: own.reason,
        message: own.message,
        details: own.details && JSON.parse(JSON.stringify(own.details)),
      });
      expect(await session.state()).toEqual(before);
    });

    onlyOurs(server, 'it remembers for five minutes')(
      'a continue token from before what the server remembers',
      async () => {
        await using session = await open(start, { store: createMemoryStore({ windowChanges: 20 }) });
        const at = session.at('configmaps', 'default');
        const token = (await session.call({ verb: 'list', at: session.at('configmaps'), limit: 1 })).list?.metadata
          .continue;
        for (let i = 0; i < 50; i++) await session.create(configMap(`m-${i}`));
        const call = session.call({ verb: 'list', at, limit: 1, continue: token ?? '' });
        expect(await refusal(call)).toMatchObject({ code: 410, reason: 'Expired' });
      },
    );
  });
}
