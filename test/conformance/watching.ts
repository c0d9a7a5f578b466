// What every Transport promises about watches, run on each.
import { describe, expect, test } from 'vitest';
import type { User } from '../../src/api/object.ts';
import type { WatchEvent, WatchRequest } from '../../src/api/transport.ts';
import { createMemoryStore } from '../../src/apiserver/store/memory.ts';
import {
  askable,
  configMap,
  isDeeplyFrozen,
  objectOf,
  onlyOurs,
  open,
  refusal,
  type Server,
  type Session,
  shown,
  store,
} from './script.ts';
import type { StartServed } from './subjects.ts';

const nobody: User = { name: 'nobody', groups: ['system:authenticated'] };
const manager = 'test';
const noRoot = 'metadata.name!=kube-root-ca.crt';

const merge = (session: Session, name: string, body: object) =>
  session.call({
    verb: 'patch',
    at: session.at('configmaps', 'default', name),
    patch: { type: 'merge', body: body as never },
    manager,
  });
const remove = (session: Session, name: string) =>
  session.call({ verb: 'delete', at: session.at('configmaps', 'default', name) });
const revisionOf = async (session: Session): Promise<string> =>
  (await session.call({ verb: 'list', at: session.at('configmaps'), limit: 1 })).list?.metadata.resourceVersion ?? '';

const ITS_TIME = 'its time cannot be moved, and a bookmark takes a minute';

export function describeWatches(start: StartServed, server: Server = 'ours'): void {
  const MANY = server === 'ours' ? 2000 : 300;

  describe('a watch', () => {
    test('without a revision begins with what is there', async () => {
      await using session = await open(start);
      const made = await session.create(configMap('a'));
      const watch = session.watch({ at: session.at('configmaps', 'default'), fields: noRoot });
      expect(await watch.take(1)).toEqual([{ type: 'ADDED', object: made }]);
      await session.create(configMap('b'));
      expect(shown(await watch.take(1))).toEqual(['ADDED b']);
    });

    test('from a revision tells all that came after it, in order, whole', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      const made = await session.create(configMap('a'));
      const changed = objectOf(await merge(session, 'a', { data: { x: '1' } }));
      await remove(session, 'a');
      const watch = session.watch({ at: session.at('configmaps', 'default'), revision });
      const [first, second, third] = await watch.take(3);
      expect(first).toEqual({ type: 'ADDED', object: made });
      expect(second).toEqual({ type: 'MODIFIED', object: changed });
      expect(third).toMatchObject({ type: 'DELETED', object: { ...changed, metadata: { name: 'a' } } });
      expect(Number(third?.object.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
      // From the middle one hears the rest.
      const { resourceVersion = '' } = made.metadata;
      const later = session.watch({ at: session.at('configmaps'), revision: resourceVersion });
      expect(shown(await later.take(2))).toEqual(['MODIFIED a', 'DELETED a']);
    });

    test('with a selector hears of what begins and what ceases to match', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      const watch = session.watch({ at: session.at('configmaps', 'default'), revision, labels: 'app=web' });
      await session.create(configMap('a'));
      await merge(session, 'a', { metadata: { labels: { app: 'web' } } });
      await merge(session, 'a', { data: { x: '1' } });
      await merge(session, 'a', { metadata: { labels: { app: 'db' } } });
      await merge(session, 'a', { data: { x: '2' } });
      await session.create(configMap('b', {}, { labels: { app: 'web' } }));
      expect(shown(await watch.take(4))).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
    });

    test('sees one namespace or all', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      await session.create({ ...configMap('far'), metadata: { name: 'far', namespace: 'kube-system' } });
      await session.create(configMap('near'));
      const near = session.watch({ at: session.at('configmaps', 'default'), revision });
      const all = session.watch({ at: session.at('configmaps'), revision });
      expect(shown(await near.take(1))).toEqual(['ADDED near']);
      expect(shown(await all.take(2))).toEqual(['ADDED far', 'ADDED near']);
    });

    test('shows metadata alone', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      const { metadata } = await session.create(configMap('a', { x: '1' }));
      const watch = session.watch({
        at: session.at('configmaps', 'default'),
        revision,
        view: 'metadata',
        bookmarks: true,
      });
      const [event] = await watch.take(1);
      const object = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
      expect(event).toEqual({ type: 'ADDED', object });
    });

    onlyOurs(server, ITS_TIME)('shows metadata alone in bookmarks, too', async () => {
      await using session = await open(start);
      const { metadata } = await session.create(configMap('a', { x: '1' }));
      const { resourceVersion = '' } = metadata;
      const at = session.at('configmaps', 'default');
      const watch = session.watch({ at, revision: resourceVersion, view: 'metadata', bookmarks: true });
      watch.begin();
      await session.create(configMap('b'));
      const [second] = await watch.take(1);
      session.ours().clock.advance(60_000);
      expect((await watch.take(1))[0]).toEqual({
        type: 'BOOKMARK',
        object: {
          apiVersion: 'meta.k8s.io/v1',
          kind: 'PartialObjectMetadata',
          metadata: { resourceVersion: second?.object.metadata.resourceVersion },
        },
      });
    });

    test('shows tables, with columns in the first alone', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      await session.create(configMap('a', { x: '1' }));
      await session.create(configMap('b'));
      const watch = session.watch({
        at: session.at('configmaps', 'default'),
        revision,
        view: 'table',
        bookmarks: true,
      });
      const [first, second] = await watch.take(2);
      expect(first?.object).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 1, session.exactly('0s')] }] });
      expect(first?.object['columnDefinitions']).toHaveLength(3);
      expect(second?.object).toMatchObject({
        columnDefinitions: null,
        rows: [{ cells: ['b', 0, session.exactly('0s')] }],
      });
      if (server === 'real') return;
      session.ours().clock.advance(60_000);
      const [bookmark] = await watch.take(1);
      const { resourceVersion } = second?.object.metadata ?? {};
      expect(bookmark).toMatchObject({
        type: 'BOOKMARK',
        object: { kind: 'Table', metadata: { resourceVersion }, rows: [{ object: { metadata: { resourceVersion } } }] },
      });
    });

    onlyOurs(server, ITS_TIME)(
      'gets a bookmark every minute if it asks for them, and a last one when its time is up',
      async () => {
        await using session = await open(start);
        const { clock } = session.ours();
        const revision = await revisionOf(session);
        const made = await session.create(configMap('a'));
        const at = session.at('configmaps', 'default');
        const watch = session.watch({ at, revision, bookmarks: true, timeoutSeconds: 150 });
        const quiet = session.watch({ at, revision, timeoutSeconds: 150 });
        expect(shown(await watch.take(1))).toEqual(['ADDED a']);
        expect(shown(await quiet.take(1))).toEqual(['ADDED a']);
        const bookmark = (resourceVersion: string | undefined) => ({
          type: 'BOOKMARK',
          object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion } },
        });
        clock.advance(60_000);
        expect(await watch.take(1)).toEqual([bookmark(made.metadata.resourceVersion)]);
        // What happens elsewhere moves it on.
        const far = await session.create({ ...configMap('far'), metadata: { name: 'far', namespace: 'kube-system' } });
        clock.advance(60_000);
        expect(await watch.take(1)).toEqual([bookmark(far.metadata.resourceVersion)]);
        clock.advance(30_000);
        expect(await watch.rest()).toEqual([bookmark(far.metadata.resourceVersion)]);
        expect(await quiet.rest()).toEqual([]);
      },
    );

    onlyOurs(server, ITS_TIME)('loses nothing when its timeout comes together with events', async () => {
      await using session = await open(start);
      const { clock } = session.ours();
      const at = session.at('configmaps', 'default');
      const watch = session.watch({ at, revision: await revisionOf(session), bookmarks: true, timeoutSeconds: 10 });
      await session.create(configMap('first'));
      await watch.take(1);
      await store(session, [configMap('last')]);
      clock.advance(10_000);
      expect(shown(await watch.rest())).toEqual(['ADDED last', 'BOOKMARK']);
    });

    test.each([
      { phase: 'before it begins' },
      { phase: 'while it waits for the first event' },
      { phase: 'between events' },
      { phase: 'after its end' },
    ])('ends quietly when it is aborted $phase', async ({ phase }) => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      const watch = session.watch({ at: session.at('configmaps', 'default'), revision, timeoutSeconds: 2 });
      if (phase === 'while it waits for the first event') watch.begin();
      if (phase === 'between events' || phase === 'after its end') {
        await session.create(configMap('a'));
        await watch.take(1);
      }
      if (phase === 'after its end') {
        if (server === 'ours') session.ours().clock.advance(2_000);
        expect(await watch.rest()).toEqual([]);
      }
      watch.stop();
      expect(await watch.rest()).toEqual([]);
    });

    test('is let go of by whoever stops reading', async () => {
      await using session = await open(start);
      const { signal } = new AbortController();
      const seen: WatchEvent[] = [];
      for await (const batch of session.transport.watch({ at: session.at('configmaps', 'default') }, signal)) {
        seen.push(...batch);
        break;
      }
      expect(shown(seen)).toEqual(['ADDED kube-root-ca.crt']);
      expect(isDeeplyFrozen(seen[0])).toBe(true);
    });

    test('that is not read for long gets everything afterwards, in order', async () => {
      await using session = await open(start);
      const at = session.at('configmaps', 'default');
      const watch = session.watch({ at, revision: await revisionOf(session) });
      await session.create(configMap('begin'));
      expect(shown(await watch.take(1))).toEqual(['ADDED begin']);
      const text = '🚢'.repeat(500);
      const names = Array.from({ length: MANY }, (_, i) => `m-${i}`);
      await store(
        session,
        names.map((name) => configMap(name, { text })),
      );
      const events = await watch.take(MANY);
      expect(shown(events)).toEqual(names.map((name) => `ADDED ${name}`));
      expect(events.every(({ object }) => (object['data'] as { text: string }).text === text)).toBe(true);
    });

    test('of a large object has it whole', async () => {
      await using session = await open(start);
      const revision = await revisionOf(session);
      const text = 'naïve 🚢 '.repeat(60_000);
      await session.create(configMap('large', { text }));
      const watch = session.watch({ at: session.at('configmaps', 'default'), revision });
      const [event] = await watch.take(1);
      expect(event?.object['data']).toEqual({ text });
    });

    test('goes on beside many others', async () => {
      await using session = await open(start);
      const at = session.at('configmaps', 'default');
      const revision = await revisionOf(session);
      const watches = Array.from({ length: 60 }, () => session.watch({ at, revision }));
      for (const watch of watches) watch.begin();
      await session.create(configMap('a'));
      const events = await Promise.all(watches.map((watch) => watch.take(1)));
      expect(events.map(shown)).toEqual(watches.map(() => ['ADDED a']));
      // And calls are not held up by them.
      expect(objectOf(await session.call({ verb: 'get', at: { ...at, name: 'a' } })).kind).toBe('ConfigMap');
    });
  });

  describe('a watch is refused', () => {
    const cases: readonly {
      readonly it: string;
      readonly query: Partial<WatchRequest>;
      readonly refused: object;
      readonly as?: User;
      /** Why a real server is not asked. */
      readonly onlyOurs?: string;
    }[] = [
      {
        it: 'to somebody without rights',
        as: nobody,
        query: {},
        refused: {
          code: 403,
          reason: 'Forbidden',
          message:
            'configmaps is forbidden: User "nobody" cannot watch resource "configmaps" in API group "" in the namespace "default"',
          details: { kind: 'configmaps' },
        },
      },
      {
        it: 'with a selector that cannot be read',
        query: { labels: '=a=' },
        refused: { code: 400, reason: 'BadRequest' },
      },
      {
        it: 'from a revision that is none',
        query: { revision: 'x' },
        refused: { code: 400, reason: 'BadRequest' },
        onlyOurs: 'see watch-bad-revision in docs/known-differences.md',
      },
      {
        it: 'from the future',
        query: { revision: '99999999' },
        refused: { code: 504, reason: 'Timeout' },
        onlyOurs: 'see watch-future-revision in docs/known-differences.md',
      },
    ];
    test.each(askable(server, cases))('$it', async ({ as, query, refused }) => {
      await using session = await open(start);
      const request = { at: session.at('configmaps', 'default'), ...query };
      const transport = as ? session.as(as) : session.transport;
      const { code, reason, message, details } = await refusal(session.watch(request, transport).take(1));
      const error = { code, reason, message, details };
      expect(error).toMatchObject(refused);
      if (server === 'real') return;
      const same = session.ours().as(as ?? { name: 'admin', groups: ['system:masters'] });
      const direct = await refusal(session.watch(request, same).take(1));
      expect(error).toEqual({
        code: direct.code,
        reason: direct.reason,
        message: direct.message,
        details: direct.details,
      });
    });

    onlyOurs(server, 'it remembers for five minutes')('from a revision that is forgotten: 410', async () => {
      await using session = await open(start, { store: createMemoryStore({ windowChanges: 20 }) });
      const revision = await revisionOf(session);
      for (let i = 0; i < 50; i++) await session.create(configMap(`m-${i}`));
      const watch = session.watch({ at: session.at('configmaps', 'default'), revision });
      const error = await refusal(watch.take(1));
      expect(error).toMatchObject({ code: 410, reason: 'Expired' });
      expect(error.message).toContain('too old resource version');
    });
  });
}
