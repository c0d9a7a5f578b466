// What every store promises, run on each implementation.
import { afterEach, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { WindowOptions } from '../../src/apiserver/store/history.ts';
import { type Change, ObjectTooLarge, RevisionMismatch, type Store } from '../../src/apiserver/store/store.ts';

export interface Subject {
  readonly name: string;
  open(options?: WindowOptions & { readonly report?: (error: unknown) => void }): Promise<{
    /** Cluster 'a', and others of the same log where there is one. */
    store(cluster?: string): Store;
    close(): Promise<void>;
  }>;
}

export const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
});

const key = (name: string, namespace = 'shop') => `/configmaps/${namespace}/${name}`;
const named = (changes: readonly Change[] | 'compacted') =>
  changes === 'compacted' ? changes : changes.map((c) => `${c.deleted ? '-' : '+'}${c.key}`);

export function describeStore(subject: Subject): void {
  describe(`the ${subject.name} store`, () => {
    const opened: { close(): Promise<void> }[] = [];
    const open = async (options: Parameters<Subject['open']>[0] = {}) => {
      const session = await subject.open(options);
      opened.push(session);
      return session;
    };
    afterEach(async () => {
      for (const session of opened.splice(0)) await session.close();
    });
    const put = async (store: Store, at: string, data: Record<string, string> = {}) => {
      const { revision, durable } = store.commit({
        key: at,
        expect: store.get(at, 'head')?.revision ?? 'absent',
        value: configMap(at.split('/').at(-1)!, data),
      });
      await durable;
      return revision;
    };
    const remove = async (store: Store, at: string) => {
      const { revision, durable } = store.commit({
        key: at,
        expect: store.get(at, 'head')!.revision,
        value: undefined,
      });
      await durable;
      return revision;
    };

    describe('the size of an object', () => {
      // Characters of one, two and three bytes, and one that JSON writes with six.
      const letters = ['x', 'ä', '€', '\u0001'];
      test.each(letters)('counts the bytes of its JSON: %j', async (letter) => {
        const store = (await open()).store();
        const value = (length: number) => configMap('a', { x: letter.repeat(length) });
        // The revision is part of it: of the same length for all that follow.
        const bytesOf = (length: number) =>
          Buffer.byteLength(
            JSON.stringify({ ...value(length), metadata: { ...value(length).metadata, resourceVersion: '1' } }),
          );
        const maxBytes = bytesOf(1000);
        const write = (length: number) =>
          store.commit({ key: key('a'), expect: 'absent', value: value(length), maxBytes });
        const { head } = store;
        expect(() => write(1001)).toThrow(ObjectTooLarge);
        expect(store.head).toBe(head);
        expect(store.get(key('a'), 'head')).toBeUndefined();
        const { durable, stored } = write(1000);
        await durable;
        expect(stored.bytes().length).toBe(maxBytes);
      });

      test('has no limit where none is named', async () => {
        const store = (await open()).store();
        await put(store, key('a'), { x: 'x'.repeat(5_000_000) });
        expect(store.get(key('a'))?.bytes().length).toBeGreaterThan(5_000_000);
      });
    });

    describe('a write', () => {
      test('is visible once durable, stamped with its revision and frozen', async () => {
        const store = (await open()).store();
        const { revision, stored, durable } = store.commit({
          key: key('a'),
          expect: 'absent',
          value: configMap('a', { x: '1' }),
        });
        expect(revision).toBe(store.head);
        await durable;
        expect(store.visible).toBe(revision);
        const seen = store.get(key('a'))!;
        expect(seen.revision).toBe(revision);
        expect(seen.object()).toEqual({
          ...configMap('a', { x: '1' }),
          metadata: { name: 'a', namespace: 'shop', resourceVersion: String(revision) },
        });
        expect(stored.object()).toEqual(seen.object());
        expect(Object.isFrozen(seen.object())).toBe(true);
        await store.durable(key('a'));
        await store.durable(key('nothing-there'));
        expect(Object.isFrozen(seen.object().metadata)).toBe(true);
        expect(Object.isFrozen(seen.object()['data'])).toBe(true);
      });

      test('takes the next revision, whatever the key', async () => {
        const store = (await open()).store();
        const before = store.head;
        const revisions = [await put(store, key('b')), await put(store, key('a')), await put(store, key('b'))];
        expect(revisions).toEqual([before + 1, before + 2, before + 3]);
      });

      test.each([
        { it: 'a create finds something', expects: 'absent' as const, there: true },
        { it: 'an update finds nothing', expects: 7, there: false },
        { it: 'an update saw an older revision', expects: 0, there: true },
      ])('is refused and leaves nothing behind when $it', async ({ expects, there }) => {
        const store = (await open()).store();
        if (there) await put(store, key('a'), { x: 'first' });
        const head = store.head;
        const write = () => store.commit({ key: key('a'), expect: expects, value: configMap('a', { x: 'second' }) });
        expect(write).toThrow(RevisionMismatch);
        expect(store.head).toBe(head);
        expect(store.get(key('a'), 'head')?.object()['data']).toEqual(there ? { x: 'first' } : undefined);
      });

      test('that deletes what is not there is refused', async () => {
        const store = (await open()).store();
        expect(() => store.commit({ key: key('a'), expect: 'absent', value: undefined })).toThrow(RevisionMismatch);
        expect(() => store.commit({ key: key('a'), expect: 3, value: undefined })).toThrow(RevisionMismatch);
      });

      test('compares with head, so two writers of one key in one breath cannot both win', async () => {
        const store = (await open()).store();
        const first = store.commit({ key: key('a'), expect: 'absent', value: configMap('a') });
        expect(() => store.commit({ key: key('a'), expect: 'absent', value: configMap('a') })).toThrow(
          RevisionMismatch,
        );
        const second = store.commit({ key: key('a'), expect: first.revision, value: configMap('a', { x: '2' }) });
        expect(store.get(key('a'), 'head')?.revision).toBe(second.revision);
        await second.durable;
        expect(store.get(key('a'))?.revision).toBe(second.revision);
      });

      test('of head deletes what was only pending, and may create it again', async () => {
        const store = (await open()).store();
        const created = store.commit({ key: key('a'), expect: 'absent', value: configMap('a') });
        store.commit({ key: key('a'), expect: created.revision, value: undefined });
        expect(store.get(key('a'), 'head')).toBeUndefined();
        await store.commit({ key: key('a'), expect: 'absent', value: configMap('a', { again: 'yes' }) }).durable;
        expect(store.get(key('a'))?.object()['data']).toEqual({ again: 'yes' });
        expect(named(store.since(created.revision - 1, ''))).toEqual([`+${key('a')}`, `-${key('a')}`, `+${key('a')}`]);
      });
    });

    describe('the bytes of an object', () => {
      test.each([
        { it: 'in the usual order', value: configMap('a', { x: '1' }) },
        { it: 'with metadata last', value: { kind: 'ConfigMap', data: {}, apiVersion: 'v1', metadata: { name: 'a' } } },
        { it: 'with a key that looks like a number', value: { ...configMap('a'), 7: 'seven' } },
        { it: 'with nothing but the three', value: { metadata: { name: 'a' }, kind: 'Thing', apiVersion: 'g/v1' } },
        { it: 'with text beyond ASCII', value: configMap('a', { grüße: '日本 \u2028 😀 \ud800' }) },
      ])('$it are JSON that begins with apiVersion, kind and metadata', async ({ value }) => {
        const store = (await open()).store();
        await store.commit({ key: key('a'), expect: 'absent', value }).durable;
        const stored = store.get(key('a'))!;
        const text = Buffer.from(stored.bytes()).toString();
        expect(text).toMatch(/^\{"apiVersion":"[^"]+","kind":"[^"]+","metadata":\{/);
        expect(JSON.parse(text)).toEqual(stored.object());
        expect(stored.object()).toEqual({
          ...value,
          metadata: { ...value.metadata, resourceVersion: String(stored.revision) },
        });
      });

      test('keep a key named __proto__ as data', async () => {
        const store = (await open()).store();
        const hostile = JSON.parse(
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"__proto__":{"polluted":1},"data":{"__proto__":"x"}}',
        ) as KubeObject;
        await store.commit({ key: key('a'), expect: 'absent', value: hostile }).durable;
        const text = Buffer.from(store.get(key('a'))!.bytes()).toString();
        expect(text).toContain('"__proto__":{"polluted":1}');
        expect(Object.hasOwn(store.get(key('a'))!.object(), '__proto__')).toBe(true);
        expect(Object.getPrototypeOf(store.get(key('a'))!.object())).toBe(Object.prototype);
        expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      });
    });

    describe('a range', () => {
      const fill = async (store: Store) => {
        const keys = [
          '/configmaps/shop/b',
          'apps/deployments/shop/web',
          '/configmaps/shop/a',
          '/configmaps/shop-2/x',
          '/configmaps/bank/z',
          '/nodes//n1',
          '/configmaps/shop/c',
          '/configmapsets/shop/a',
        ];
        for (const at of keys) await put(store, at);
      };

      test.each([
        { prefix: '/configmaps/', finds: ['bank/z', 'shop-2/x', 'shop/a', 'shop/b', 'shop/c'] },
        { prefix: '/configmaps/shop/', finds: ['shop/a', 'shop/b', 'shop/c'] },
        { prefix: '/nodes/', finds: ['/n1'] },
        { prefix: '/secrets/', finds: [] },
      ])('of "$prefix" is what lies under it, in order', async ({ prefix, finds }) => {
        const store = (await open()).store();
        await fill(store);
        const { items, revision, more, remaining } = store.range(prefix);
        const plural = prefix.split('/')[1];
        expect(items.map((item) => item.key)).toEqual(finds.map((found) => `/${plural}/${found}`));
        expect({ revision, more, remaining }).toEqual({ revision: store.visible, more: false, remaining: 0 });
      });

      test('of nothing is everything', async () => {
        const store = (await open()).store();
        await fill(store);
        const keys = store.range('').items.map((item) => item.key);
        expect(keys).toEqual([...keys].sort());
        expect(keys).toHaveLength(8);
      });

      test('comes in pages that leave out nothing and say how much is left', async () => {
        const store = (await open()).store();
        await fill(store);
        const first = store.range('/configmaps/', { limit: 2 });
        expect(first.items.map((i) => i.key)).toEqual(['/configmaps/bank/z', '/configmaps/shop-2/x']);
        expect({ more: first.more, remaining: first.remaining }).toEqual({ more: true, remaining: 3 });
        const second = store.range('/configmaps/', { limit: 3, after: first.items.at(-1)!.key });
        expect(second.items.map((i) => i.key)).toEqual([
          '/configmaps/shop/a',
          '/configmaps/shop/b',
          '/configmaps/shop/c',
        ]);
        expect({ more: second.more, remaining: second.remaining }).toEqual({ more: false, remaining: 0 });
      });

      test('goes on after a key that is gone', async () => {
        const store = (await open()).store();
        await fill(store);
        await remove(store, '/configmaps/shop/a');
        expect(store.range('/configmaps/', { after: '/configmaps/shop/a', limit: 1 }).items[0]?.key).toBe(
          '/configmaps/shop/b',
        );
      });

      test('does not show what was deleted', async () => {
        const store = (await open()).store();
        await fill(store);
        await remove(store, '/configmaps/shop/b');
        expect(store.range('/configmaps/shop/').items.map((i) => i.key)).toEqual([
          '/configmaps/shop/a',
          '/configmaps/shop/c',
        ]);
      });
    });

    describe('history', () => {
      test('tells each change after a revision, oldest first, by prefix', async () => {
        const store = (await open()).store();
        const start = store.visible;
        await put(store, key('a'));
        const second = await put(store, key('b', 'bank'));
        await put(store, '/nodes//n1');
        await put(store, key('a'), { x: '2' });
        await remove(store, key('a'));
        const all = [`+${key('a')}`, `+${key('b', 'bank')}`, '+/nodes//n1', `+${key('a')}`, `-${key('a')}`];
        expect(named(store.since(start, ''))).toEqual(all);
        expect(named(store.since(second, ''))).toEqual(all.slice(2));
        expect(named(store.since(start, '/configmaps/'))).toEqual([all[0], all[1], all[3], all[4]]);
        expect(named(store.since(start, '/configmaps/bank/'))).toEqual([all[1]]);
        expect(named(store.since(second, '/configmaps/bank/'))).toEqual([]);
        expect(named(store.since(start, '/secrets/'))).toEqual([]);
        expect(named(store.since(store.visible, ''))).toEqual([]);
      });

      test('knows what stood there before', async () => {
        const store = (await open()).store();
        const start = store.visible;
        const first = await put(store, key('a'), { x: '1' });
        const second = await put(store, key('a'), { x: '2' });
        await remove(store, key('a'));
        await put(store, key('a'), { x: '3' });
        const changes = store.since(start, '') as readonly Change[];
        expect(changes.map((c) => c.previous?.revision)).toEqual([undefined, first, second, undefined]);
        expect(changes[1]?.previous?.object()['data']).toEqual({ x: '1' });
      });

      test('shows a deletion as the last object with a new revision, in both forms', async () => {
        const store = (await open()).store();
        const created = await put(store, key('a'), { x: '1' });
        const { revision, stored, durable } = store.commit({ key: key('a'), expect: created, value: undefined });
        await durable;
        expect(revision).toBe(created + 1);
        const [change] = store.since(created, '') as readonly Change[];
        for (const last of [stored, change!.stored]) {
          expect(last.revision).toBe(revision);
          expect(last.object().metadata.resourceVersion).toBe(String(revision));
          expect(last.object()['data']).toEqual({ x: '1' });
          expect(JSON.parse(Buffer.from(last.bytes()).toString())).toEqual(last.object());
          expect(Object.isFrozen(last.object())).toBe(true);
        }
        expect(change).toMatchObject({ revision, key: key('a'), deleted: true });
        expect(change!.previous?.revision).toBe(created);
      });

      test('beyond the window is compacted, and everything within it is told', async () => {
        const store = (await open({ windowChanges: 5 })).store();
        const revisions: number[] = [];
        for (let i = 0; i < 12; i++) revisions.push(await put(store, key(`n${i % 3}`, i % 2 ? 'shop' : 'bank')));
        const floor = revisions[6]!; // the last one that fell out
        expect(store.since(floor - 1, '')).toBe('compacted');
        expect(store.since(floor - 1, '/configmaps/')).toBe('compacted');
        expect((store.since(floor, '') as readonly Change[]).map((c) => c.revision)).toEqual(revisions.slice(7));
        expect((store.since(floor, '/configmaps/shop/') as readonly Change[]).map((c) => c.revision)).toEqual(
          revisions.filter((r, i) => r > floor && i % 2 === 1),
        );
      });

      test('is compacted only where something was dropped: what is quiet is not forgotten because others are busy', async () => {
        const store = (await open({ windowChanges: 5 })).store();
        const first = await put(store, key('first', 'quiet'));
        const last = await put(store, key('last', 'quiet'));
        for (let i = 0; i < 50; i++) await put(store, key(`n${i % 3}`, 'busy'));
        expect(store.since(last, '/configmaps/')).toBe('compacted');
        expect(store.since(first, '/configmaps/quiet/')).toBe('compacted');
        expect(store.since(last, '/configmaps/quiet/')).toEqual([]);
        expect(store.since(first, '/secrets/')).toEqual([]);
        const again = await put(store, key('last', 'quiet'));
        expect((store.since(last, '/configmaps/quiet/') as readonly Change[]).map((c) => c.revision)).toEqual([again]);
      });

      test('is bounded in bytes as well, but always keeps the newest change', async () => {
        const store = (await open({ windowBytes: 10_000 })).store();
        for (let i = 0; i < 10; i++) await put(store, key(`n${i}`), { x: 'x'.repeat(3_000) });
        const kept = (store.since(store.visible - 3, '') as readonly Change[]).length;
        expect(kept).toBe(3);
        expect(store.since(store.visible - 4, '')).toBe('compacted');
        const huge = await put(store, key('huge'), { x: 'x'.repeat(50_000) });
        expect((store.since(huge - 1, '') as readonly Change[]).length).toBe(1);
      });

      test('of a store in which nothing was dropped reaches back to the beginning', async () => {
        const store = (await open()).store();
        await put(store, key('a'));
        expect(named(store.since(0, ''))).toEqual([`+${key('a')}`]);
      });
    });

    describe('a subscriber', () => {
      const counted = () => {
        let count = 0;
        return {
          wake: () => {
            count++;
          },
          get count() {
            return count;
          },
        };
      };

      test.each([
        { prefix: '', woken: true },
        { prefix: '/configmaps/', woken: true },
        { prefix: '/configmaps/shop/', woken: true },
        { prefix: '/configmaps/bank/', woken: false },
        { prefix: '/secrets/', woken: false },
      ])('to "$prefix" is woken by a change in shop: $woken', async ({ prefix, woken }) => {
        const store = (await open()).store();
        const subscriber = counted();
        store.subscribe(prefix, subscriber.wake);
        await put(store, key('a'));
        await Promise.resolve();
        expect(subscriber.count).toBe(woken ? 1 : 0);
      });

      test('finds the change when it is woken, and never inside a commit', async () => {
        const store = (await open()).store();
        const seen: (readonly string[] | 'compacted')[] = [];
        let committing = false;
        const start = store.visible;
        store.subscribe('', () => {
          expect(committing).toBe(false);
          seen.push(named(store.since(start, '')));
        });
        committing = true;
        const { durable } = store.commit({ key: key('a'), expect: 'absent', value: configMap('a') });
        committing = false;
        await durable;
        await Promise.resolve();
        expect(seen).toEqual([[`+${key('a')}`]]);
      });

      test('is woken once for a burst', async () => {
        const store = (await open()).store();
        const subscriber = counted();
        store.subscribe('/configmaps/', subscriber.wake);
        const durables = Array.from(
          { length: 50 },
          (_, i) => store.commit({ key: key(`n${i}`), expect: 'absent', value: configMap(`n${i}`) }).durable,
        );
        await Promise.all(durables);
        await Promise.resolve();
        expect(subscriber.count).toBe(1);
      });

      test('is not woken after it left', async () => {
        const store = (await open()).store();
        const subscriber = counted();
        const leave = store.subscribe('', subscriber.wake);
        leave();
        leave();
        await put(store, key('a'));
        await Promise.resolve();
        expect(subscriber.count).toBe(0);
      });

      test('that throws disturbs nobody and is reported', async () => {
        const errors: unknown[] = [];
        const store = (await open({ report: (error) => errors.push(error) })).store();
        const before = counted();
        const after = counted();
        store.subscribe('', before.wake);
        store.subscribe('', () => {
          throw new Error('boom');
        });
        store.subscribe('', after.wake);
        await put(store, key('a'));
        await Promise.resolve();
        expect([before.count, after.count]).toEqual([1, 1]);
        expect(errors.map(String)).toEqual(['Error: boom']);
      });

      test('may subscribe anew, unsubscribe others and write while it is woken', async () => {
        const store = (await open()).store();
        const victim = counted();
        const again = counted();
        let leave = store.subscribe('', function resubscribe() {
          leave();
          dropVictim();
          again.wake();
          if (again.count === 1) {
            store.commit({ key: key('b'), expect: 'absent', value: configMap('b') });
          }
          leave = store.subscribe('', resubscribe);
        });
        const dropVictim = store.subscribe('', victim.wake);
        await put(store, key('a'));
        await put(store, key('c'));
        await put(store, key('d'));
        expect(victim.count).toBe(0);
        expect(again.count).toBeGreaterThanOrEqual(3);
        expect(again.count).toBeLessThanOrEqual(4);
        expect(store.get(key('b'))).toBeDefined();
      });
    });

    describe('several clusters', () => {
      test('keep their own keys, revisions, history and subscribers', async () => {
        const session = await open();
        const [a, b] = [session.store('a'), session.store('b')];
        let wakes = 0;
        b.subscribe('', () => {
          wakes++;
        });
        const startOfB = b.visible;
        await put(a, key('x'), { of: 'a' });
        await put(a, key('y'), { of: 'a' });
        expect(b.visible).toBe(startOfB);
        expect(b.get(key('x'))).toBeUndefined();
        expect(b.range('').items).toEqual([]);
        expect(b.since(startOfB, '')).toEqual([]);
        expect(wakes).toBe(0);
        await put(b, key('x'), { of: 'b' });
        expect(b.visible).toBe(startOfB + 1);
        expect(a.get(key('x'))?.object()['data']).toEqual({ of: 'a' });
      });
    });
  });
}
