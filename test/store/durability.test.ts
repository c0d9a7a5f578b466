// What only the log store promises: when a write may be seen, what a restart finds, and what happens when the disk says no.
import { describe, expect, test } from 'vitest';
import { FakeDisk } from '../../src/apiserver/store/fake-disk.ts';
import { type Log, type LogOptions, openLog } from '../../src/apiserver/store/log.ts';
import { oneByOne } from '../../src/apiserver/store/one-by-one.ts';
import { type Change, RevisionMismatch, type Store, StoreUnavailable } from '../../src/apiserver/store/store.ts';
import { seededRandom } from '../../src/base/random.ts';
import { configMap } from './conformance.ts';

const key = (name: string) => `/configmaps/shop/${name}`;
const put = (store: Store, name: string, data: Record<string, string> = {}) =>
  store.commit({
    key: key(name),
    expect: store.get(key(name), 'head')?.revision ?? 'absent',
    value: configMap(name, data),
  });
const remove = (store: Store, name: string) =>
  store.commit({ key: key(name), expect: store.get(key(name), 'head')!.revision, value: undefined });
const contents = (store: Store) =>
  Object.fromEntries(store.range('').items.map((item) => [item.key.split('/').at(-1), item.object()['data']]));

/** A disk whose syncs wait until they are let through. */
function gated() {
  const waiting: (() => void)[] = [];
  let open = true;
  let before = true;
  const disk = new FakeDisk({
    onStep: (operation) => {
      if (operation !== 'sync' || open) return undefined;
      before = !before; // each sync steps twice; only the first is held
      return before ? undefined : new Promise<void>((resolve) => waiting.push(resolve));
    },
  });
  return {
    disk,
    hold() {
      open = false;
    },
    async letThrough() {
      await turns();
      waiting.shift()?.();
      await turns();
    },
    get held() {
      return waiting.length;
    },
  };
}

const turns = async () => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

const open = (disk: FakeDisk, options: Partial<LogOptions> = {}): Promise<Log> =>
  openLog({ disk, defer: queueMicrotask, ...options });

const reopened = async (disk: FakeDisk, options: Partial<LogOptions> = {}) => {
  const left = disk.crash(seededRandom(1));
  return { disk: left, log: await open(left, options) };
};

describe('a pending write', () => {
  test('is seen by writers and by no reader until it is durable', async () => {
    const gate = gated();
    const log = await open(gate.disk);
    const store = log.store('a');
    await put(store, 'a', { x: 'old' }).durable;
    const visible = store.visible;
    gate.hold();
    let woken = 0;
    store.subscribe('', () => {
      woken++;
    });
    const { revision, durable } = put(store, 'a', { x: 'new' });
    put(store, 'b');
    await turns();
    expect(gate.held).toBe(1);
    expect([store.head, store.visible]).toEqual([revision + 1, visible]);
    expect(store.get(key('a'))?.object()['data']).toEqual({ x: 'old' });
    expect(store.get(key('a'), 'head')?.object()['data']).toEqual({ x: 'new' });
    expect(store.range('').items).toHaveLength(1);
    expect(store.range('').revision).toBe(visible);
    expect(store.since(visible, '')).toEqual([]);
    expect(woken).toBe(0);
    await gate.letThrough();
    await durable;
    expect([store.head, store.visible, woken]).toEqual([revision + 1, revision + 1, 1]);
    expect(store.range('').items).toHaveLength(2);
  });

  test('can be waited for by others than its writer', async () => {
    const gate = gated();
    const store = (await open(gate.disk)).store('a');
    gate.hold();
    put(store, 'a', { x: '1' });
    let waits = true;
    const seen = store.durable(key('a')).then(() => {
      waits = false;
      return store.get(key('a'))?.object()['data'];
    });
    await turns();
    expect([waits, gate.held]).toEqual([true, 1]);
    await gate.letThrough();
    expect(await seen).toEqual({ x: '1' });

    put(store, 'a', { x: '2' });
    gate.disk.failNext('sync', new Error('EIO'));
    const never = expect(store.durable(key('a'))).rejects.toThrow(StoreUnavailable);
    await gate.letThrough();
    await never;
    await store.durable(key('a'));
  });

  test('shares its sync with all that gathered, and there is never more than one under way', async () => {
    const gate = gated();
    const log = await open(gate.disk);
    const [a, b] = [log.store('a'), log.store('b')];
    gate.hold();
    const first = put(a, 'first').durable;
    await turns();
    const gathered = Array.from({ length: 100 }, (_, i) => put(i % 2 ? a : b, `n${i}`).durable);
    await turns();
    expect(gate.held).toBe(1);
    await gate.letThrough();
    await first;
    expect(log.counts()).toMatchObject({ records: 1, syncs: 1 });
    await gate.letThrough();
    await Promise.all(gathered);
    expect(log.counts()).toMatchObject({ records: 101, syncs: 2 });
  });

  test('waits for the log beside it on the drive, and all that come until then go with it', async () => {
    const inTurn = oneByOne();
    const gate = gated();
    const beside = await open(gate.disk, { inTurn });
    const log = await open(new FakeDisk(), { inTurn });
    gate.hold();
    const other = put(beside.store('a'), 'other').durable;
    await turns();
    const store = log.store('a');
    const first = put(store, 'first').durable;
    await turns();
    const second = put(store, 'second').durable;
    await turns();
    expect(log.counts()).toMatchObject({ records: 0, syncs: 0 });
    expect(store.get(key('first'))).toBeUndefined();
    await gate.letThrough();
    await Promise.all([other, first, second]);
    expect(log.counts()).toMatchObject({ records: 2, syncs: 1 });
  });

  test('that came during a sync is on its way to the disk before anybody is shown what that sync brought', async () => {
    const told: string[] = [];
    const disk = new FakeDisk({ onStep: (operation) => void (operation === 'sync' && told.push('disk')) });
    const log = await open(disk);
    const store = log.store('a');
    await put(store, 'first').durable;
    await turns();
    told.length = 0;
    store.subscribe('', () => {
      told.push(`shown ${store.visible}`);
    });
    const one = put(store, 'one');
    while (told.length === 0) await Promise.resolve();
    const two = put(store, 'two');
    await two.durable;
    // Each sync steps twice.
    expect(told).toEqual(['disk', 'disk', 'disk', `shown ${one.revision}`, 'disk', `shown ${two.revision}`]);
  });

  test('is part of a batch of bounded size', async () => {
    const log = await open(new FakeDisk());
    await Promise.all(Array.from({ length: 3000 }, (_, i) => put(log.store('a'), `n${i}`).durable));
    expect(log.counts()).toMatchObject({ records: 3000, syncs: 3 });
  });
});

describe('a restart', () => {
  const written = async (disk: FakeDisk, options: Partial<LogOptions> = {}) => {
    const log = await open(disk, options);
    const store = log.store('a');
    for (let i = 0; i < 40; i++) await put(store, `n${i % 7}`, { x: `${i}` }).durable;
    await remove(store, 'n3').durable;
    await put(log.store('b'), 'other', { of: 'b' }).durable;
    return log;
  };

  test.each([{ snapshotMinBytes: 1e9 }, { snapshotMinBytes: 1000 }])(
    'finds everything as it was ($snapshotMinBytes bytes between snapshots)',
    async (options) => {
      const disk = new FakeDisk();
      const before = await written(disk, options);
      const after = await reopened(disk, options);
      expect(after.log.clusters()).toEqual(['a', 'b']);
      for (const name of ['a', 'b']) {
        expect(contents(after.log.store(name))).toEqual(contents(before.store(name)));
        expect(after.log.store(name).visible).toBe(before.store(name).visible);
        expect(after.log.store(name).head).toBe(before.store(name).visible);
      }
      const [stored] = after.log.store('a').range('').items;
      expect(stored!.revision).toBe(before.store('a').range('').items[0]!.revision);
      expect(Buffer.from(stored!.bytes())).toEqual(Buffer.from(before.store('a').range('').items[0]!.bytes()));
      expect(before.counts().snapshots > 0).toBe(options.snapshotMinBytes === 1000);
    },
  );

  test('lets watches go on where they were', async () => {
    const disk = new FakeDisk();
    const before = await written(disk);
    const revision = before.store('a').visible - 3;
    const { log } = await reopened(disk);
    const changes = log.store('a').since(revision, '/configmaps/') as readonly Change[];
    expect(changes.map((change) => [change.key, change.deleted, change.previous?.revision])).toEqual(
      (before.store('a').since(revision, '/configmaps/') as readonly Change[]).map((change) => [
        change.key,
        change.deleted,
        change.previous?.revision,
      ]),
    );
    expect(changes.at(-1)?.stored.object()['data']).toEqual({ x: '38' });
  });

  test('goes on with the next revision', async () => {
    const disk = new FakeDisk();
    const before = await written(disk);
    const { log } = await reopened(disk);
    expect(put(log.store('a'), 'new').revision).toBe(before.store('a').visible + 1);
  });

  test('after a kill shows only what a power loss can no longer take', async () => {
    const gate = gated();
    const log = await open(gate.disk);
    await put(log.store('a'), 'a').durable;
    gate.hold();
    put(log.store('a'), 'b');
    await turns();
    // Everything that was handed to the system lives on in its cache.
    const everything = { next: () => 0.999, fork: () => everything, uuid: () => '' };
    const killed = gate.disk.kill(everything, {});
    const second = await open(killed);
    expect(Object.keys(contents(second.store('a')))).toEqual(['a', 'b']);
    const nothing = { next: () => 0, fork: () => nothing, uuid: () => '' };
    const third = await open(killed.crash(nothing));
    expect(Object.keys(contents(third.store('a')))).toEqual(['a', 'b']);
  });

  test('keeps the directory as short as the state: one snapshot, one segment', async () => {
    const disk = new FakeDisk();
    const log = await written(disk, { snapshotMinBytes: 500 });
    await turns();
    const files = await disk.list();
    expect(files.filter((file) => file.startsWith('snapshot'))).toHaveLength(1);
    expect(files.filter((file) => file.startsWith('segment'))).toHaveLength(1);
    expect(log.counts().failedSnapshots).toBe(0);
    await log.close();
  });

  test('finds a snapshot that was written a slice at a time: never much at once, however much there is', async () => {
    const lengths: number[] = [];
    const disk: FakeDisk = new FakeDisk({
      onStep: (operation, file) => {
        if (operation === 'sync' && file.endsWith('.part')) lengths.push(disk.contentOf(file).length);
      },
    });
    const log = await open(disk, { snapshotMinBytes: 3_000_000 });
    const store = log.store('a');
    const writes = Array.from({ length: 2000 }, (_, i) => put(store, `n${i}`, { x: 'x'.repeat(2000) }).durable);
    await Promise.all(writes);
    for (let i = 0; i < 100 && log.counts().snapshots === 0; i++) await turns();
    expect(log.counts().snapshots).toBe(1);
    const slices = lengths.map((length, index) => length - (lengths[index - 1] ?? 0));
    expect(Math.max(...slices)).toBeLessThan(260 * 1024);
    expect(slices.filter((bytes) => bytes > 0).length).toBeGreaterThan(2000 / 256);
  });

  test('after a close without writes leaves the files as they were', async () => {
    const disk = new FakeDisk();
    await (await written(disk)).close();
    const [file] = await disk.list();
    const before = Buffer.from(disk.contentOf(file!));
    await (await open(disk)).close();
    expect(disk.contentOf(file!)).toEqual(before);
  });
});

describe('a disk that says no', () => {
  test('because it is full refuses writes, loses nothing, and takes them again once there is room', async () => {
    const disk = new FakeDisk({ capacity: 4000 });
    const log = await open(disk);
    const store = log.store('a');
    const kept: string[] = [];
    let refusal: unknown;
    let refused = 0;
    for (let i = 0; refusal === undefined; i++) {
      const { revision, durable } = put(store, `n${i}`, { x: 'x'.repeat(300) });
      refused = revision;
      await durable.then(
        () => kept.push(`n${i}`),
        (error: unknown) => {
          refusal = error;
        },
      );
    }
    expect(refusal).toBeInstanceOf(StoreUnavailable);
    expect(String(refusal)).toContain(
      'nothing was written: the disk of fake-disk is full; free some space and try again',
    );
    expect(Object.keys(contents(store))).toEqual(kept);
    expect(store.head).toBe(store.visible);
    await expect(put(store, 'still-full', { x: 'x'.repeat(300) }).durable).rejects.toThrow(StoreUnavailable);
    disk.capacity = 100_000;
    const again = put(store, 'again');
    expect(again.revision).toBeGreaterThan(refused);
    await again.durable;
    const after = await reopened(disk);
    expect(Object.keys(contents(after.log.store('a'))).sort()).toEqual([...kept, 'again'].sort());
  });

  test('takes down all that is pending together, and writers start over from what is visible', async () => {
    const gate = gated();
    const log = await open(gate.disk);
    const store = log.store('a');
    await put(store, 'a', { x: '1' }).durable;
    const visible = store.visible;
    gate.hold();
    const first = put(store, 'a', { x: '2' });
    await turns();
    const second = put(store, 'a', { x: '3' });
    gate.disk.failNext('sync', Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    const outcomes = Promise.allSettled([first.durable, second.durable]);
    await gate.letThrough();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([store.head, store.visible]).toEqual([visible, visible]);
    expect(store.get(key('a'), 'head')?.object()['data']).toEqual({ x: '1' });
    expect(() => store.commit({ key: key('a'), expect: second.revision, value: configMap('a') })).toThrow(
      RevisionMismatch,
    );
  });

  test('does not bring the process down when nobody waits for the write', async () => {
    const disk = new FakeDisk();
    const log = await open(disk);
    disk.failNext('sync', new Error('EIO'));
    put(log.store('a'), 'a');
    await turns();
    await put(log.store('a'), 'b').durable;
    expect(Object.keys(contents(log.store('a')))).toEqual(['b']);
  });

  test('even to cutting the log back makes the store read-only, and readers go on', async () => {
    const disk = new FakeDisk();
    const log = await open(disk);
    const store = log.store('a');
    await put(store, 'a').durable;
    disk.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    disk.failNext('truncate', new Error('EIO: i/o error, ftruncate'));
    await expect(put(store, 'b').durable).rejects.toThrow(/read-only until it is opened again/);
    expect(() => put(store, 'c')).toThrow(StoreUnavailable);
    expect(Object.keys(contents(store))).toEqual(['a']);
    await log.close();
  });

  test('to cutting the log back also takes down what was written meanwhile, before any of it reaches the disk', async () => {
    let cutBack = () => {};
    const disk = new FakeDisk({
      onStep: (operation) =>
        operation === 'truncate' ? new Promise<void>((resolve) => (cutBack = resolve)) : undefined,
    });
    const log = await open(disk);
    const store = log.store('a');
    await put(store, 'a').durable;
    const visible = store.visible;
    disk.failNext('sync', new Error('EIO: i/o error, fdatasync'));
    disk.failNext('truncate', new Error('EIO: i/o error, ftruncate'));
    const first = put(store, 'b');
    await turns();
    const [segment = ''] = (await disk.list()).filter((file) => disk.contentOf(file).includes('"name":"b"'));
    const second = put(store, 'c');
    const outcomes = Promise.allSettled([first.durable, second.durable]);
    cutBack();
    const readOnly = expect.objectContaining({ message: expect.stringMatching(/^the store is read-only until/) });
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: readOnly },
      { status: 'rejected', reason: readOnly },
    ]);
    expect(disk.contentOf(segment).includes('"name":"c"')).toBe(false);
    expect([store.head, store.visible]).toEqual([visible, visible]);
    await log.close();
  });

  test('to a snapshot costs nothing but the snapshot', async () => {
    const disk = new FakeDisk();
    const log = await open(disk, { snapshotMinBytes: 500 });
    const store = log.store('a');
    disk.failNext('replace', new Error('EIO: i/o error, rename'));
    for (let i = 0; i < 30; i++) await put(store, `n${i % 5}`, { x: `${i}` }).durable;
    await turns();
    expect(log.counts().failedSnapshots).toBe(1);
    expect(log.counts().snapshots).toBeGreaterThan(0);
    const after = await reopened(disk);
    expect(contents(after.log.store('a'))).toEqual(contents(store));
  });

  test('is closed: writes are refused, reads go on', async () => {
    const log = await open(new FakeDisk());
    const store = log.store('a');
    const pending = put(store, 'a').durable;
    await log.close();
    await pending;
    expect(() => put(store, 'b')).toThrow(new StoreUnavailable('the log in fake-disk is closed'));
    expect(Object.keys(contents(store))).toEqual(['a']);
  });
});

describe('a dropped cluster', () => {
  test('is empty, tells its watchers so, and its revisions go on under the same name, over restarts and snapshots', async () => {
    const disk = new FakeDisk();
    const log = await open(disk, { snapshotMinBytes: 1000 });
    const store = log.store('a');
    await put(store, 'a').durable;
    const { revision, durable } = put(store, 'b');
    await durable;
    let woken = 0;
    store.subscribe('/configmaps/', () => {
      woken++;
    });
    const dropping = log.dropCluster('a');
    expect(() => put(store, 'c')).toThrow(StoreUnavailable);
    expect(() => log.store('a')).toThrow(StoreUnavailable);
    await dropping;
    expect(woken).toBe(1);
    expect(store.range('').items).toEqual([]);
    expect(store.since(revision, '')).toBe('compacted');
    expect(() => put(store, 'c')).toThrow(/dropped/);
    expect(log.clusters()).toEqual([]);

    for (let i = 0; i < 20; i++) await put(log.store('b'), `n${i % 2}`).durable;
    await turns();
    expect(log.counts().snapshots).toBeGreaterThan(0);
    const after = await reopened(disk);
    expect(after.log.clusters()).toEqual(['b']);
    const again = put(after.log.store('a'), 'a');
    expect(again.revision).toBeGreaterThan(revision + 1);
    await again.durable;
    const last = await reopened(after.disk);
    expect(Object.keys(contents(last.log.store('a')))).toEqual(['a']);
  });

  test('that could not be dropped lives on', async () => {
    const disk = new FakeDisk();
    const log = await open(disk);
    await put(log.store('a'), 'a').durable;
    disk.failNext('sync', new Error('EIO'));
    await expect(log.dropCluster('a')).rejects.toThrow(StoreUnavailable);
    await put(log.store('a'), 'b').durable;
    expect(Object.keys(contents(log.store('a')))).toEqual(['a', 'b']);
    await log.dropCluster('never-there');
  });
});

describe('work that is counted', () => {
  test('bytes are never parsed, an object once, and what was just written not at all', async () => {
    const disk = new FakeDisk();
    const first = await open(disk);
    for (let i = 0; i < 10; i++) {
      const { stored, durable } = put(first.store('a'), `n${i}`);
      await durable;
      stored.object();
      first
        .store('a')
        .get(key(`n${i}`))!
        .object();
    }
    expect(first.counts().parses).toBe(0);
    const { log } = await reopened(disk);
    for (const stored of log.store('a').range('').items) stored.bytes();
    expect(log.counts().parses).toBe(0);
    const stored = log.store('a').get(key('n3'))!;
    expect(stored.object()).toBe(stored.object());
    expect(log.counts().parses).toBe(1);
  });

  test('parsed objects are kept up to a bound', async () => {
    const log = await open(new FakeDisk(), { parsedBytes: 2000 });
    const store = log.store('a');
    for (let i = 0; i < 20; i++) await put(store, `n${i}`, { x: 'x'.repeat(500) }).durable;
    for (const stored of store.range('').items) stored.object();
    const parses = log.counts().parses;
    expect(parses).toBeGreaterThan(15);
    store.range('').items.at(-1)!.object();
    expect(log.counts().parses).toBe(parses);
  });
});
