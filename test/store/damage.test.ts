// Files that do not read as they were written. What a crash can do to the end of the log is repaired; everything else is refused with
// one sentence that names the file and the place.
import { describe, expect, test } from 'vitest';
import { FakeDisk } from '../../src/apiserver/store/fake-disk.ts';
import { openLog } from '../../src/apiserver/store/log.ts';
import { LogDamaged } from '../../src/apiserver/store/recovery.ts';
import { seededRandom } from '../../src/base/random.ts';
import { configMap } from './conformance.ts';

const open = (disk: FakeDisk) => openLog({ disk, defer: queueMicrotask, snapshotMinBytes: 1e9 });
const segment = 'segment-00000001';

/** Writes `batches` one after the other, each with several objects, and tells how long the file was after each. */
async function written(batches: readonly number[], close: boolean) {
  const disk = new FakeDisk();
  const log = await open(disk);
  const store = log.store('a');
  const lengths = [disk.contentOf(segment).length];
  let n = 0;
  for (const count of batches) {
    const durables = Array.from({ length: count }, () => {
      const name = `n${n++}`;
      return store.commit({ key: `/configmaps/shop/${name}`, expect: 'absent', value: configMap(name) }).durable;
    });
    await Promise.all(durables);
    lengths.push(disk.contentOf(segment).length);
  }
  if (close) await log.close();
  return { disk, lengths, bytes: Buffer.from(disk.contentOf(segment)) };
}

function diskWith(files: Readonly<Record<string, Uint8Array>>): FakeDisk {
  const disk = new FakeDisk();
  for (const [file, bytes] of Object.entries(files)) disk.append(file, bytes);
  return disk;
}

const countOf = async (disk: FakeDisk) => {
  const log = await open(disk);
  const count = log.store('a').range('').items.length;
  expect(log.store('a').visible).toBe(count + 1);
  return { log, count };
};

const flipped = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 0x40;
  return copy;
};

describe('a torn end', () => {
  test('at any byte loses only what was torn, and the log can be written on and read again', async () => {
    const batches = [1, 2, 3, 1];
    const { bytes, lengths } = await written(batches, false);
    for (let length = lengths[1]!; length <= bytes.length; length++) {
      const disk = diskWith({ [segment]: bytes.subarray(0, length) });
      const { log, count } = await countOf(disk);
      const durable = lengths.filter((end) => end <= length).length - 1;
      const acknowledged = batches.slice(0, durable).reduce((sum, n) => sum + n, 0);
      expect(count).toBeGreaterThanOrEqual(acknowledged);
      expect(count).toBeLessThanOrEqual(acknowledged + (batches[durable] ?? 0));
      await log.store('a').commit({ key: '/configmaps/shop/new', expect: 'absent', value: configMap('new') }).durable;
      const again = await countOf(disk.crash(seededRandom(length)));
      expect(again.count).toBe(count + 1);
    }
  });

  test('of zeros or rubbish instead of records is cut off', async () => {
    const { bytes } = await written([1, 2, 3], false);
    for (const tail of [Buffer.alloc(5000), Buffer.alloc(5000, 0xff), Buffer.from('{"json":1}'.repeat(300))]) {
      expect((await countOf(diskWith({ [segment]: Buffer.concat([bytes, tail]) }))).count).toBe(6);
    }
  });

  test('with a hole in the last batch is cut off at the hole', async () => {
    const { bytes, lengths } = await written([2, 3], false);
    const holed = Buffer.from(bytes).fill(0, lengths[1]! + 10, lengths[1]! + 40);
    expect((await countOf(diskWith({ [segment]: holed }))).count).toBe(2);
  });

  test('of a segment that had just begun is nothing', async () => {
    for (let length = 0; length < 20; length++) {
      const disk = diskWith({ [segment]: Buffer.alloc(length) });
      const { log } = await countOf(disk);
      await log.store('a').commit({ key: '/configmaps/shop/a', expect: 'absent', value: configMap('a') }).durable;
      expect((await countOf(disk.crash(seededRandom(1)))).count).toBe(1);
    }
  });
});

describe('damage', () => {
  test('to any byte that was durable is refused, and the sentence says where', async () => {
    const { bytes, lengths } = await written([1, 2, 1], true);
    const durable = lengths.at(-1)!; // what follows is the last seal
    for (let at = 20; at < durable; at++) {
      const error = await open(diskWith({ [segment]: flipped(bytes, at) })).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(LogDamaged);
      expect(String(error)).toMatch(/segment-00000001 in fake-disk is damaged at byte \d+: .*; restore/);
      const place = Number(/byte (\d+)/.exec(String(error))![1]);
      expect(place).toBeLessThanOrEqual(at);
    }
  });

  test('does not change the files', async () => {
    const { bytes } = await written([1, 2, 1], true);
    const damaged = flipped(bytes, 100);
    const disk = diskWith({ [segment]: damaged });
    await expect(open(disk)).rejects.toThrow(LogDamaged);
    expect(disk.contentOf(segment)).toEqual(damaged);
    await expect(open(disk)).rejects.toThrow(LogDamaged); // the lock was given back
  });

  test('to a header is refused', async () => {
    const { bytes } = await written([1], true);
    for (let at = 0; at < 20; at++) {
      await expect(open(diskWith({ [segment]: flipped(bytes, at) }))).rejects.toThrow(LogDamaged);
    }
  });

  test('to any byte of a snapshot, and a snapshot that ends early, is refused', async () => {
    const disk = new FakeDisk();
    const log = await openLog({ disk, defer: queueMicrotask, snapshotMinBytes: 400 });
    for (let i = 0; i < 6; i++) {
      await log.store('a').commit({ key: `/configmaps/shop/n${i}`, expect: 'absent', value: configMap(`n${i}`) })
        .durable;
    }
    await log.close();
    const names = await disk.list();
    const snapshot = names.find((name) => name.startsWith('snapshot'))!;
    const files = Object.fromEntries(names.map((name) => [name, Buffer.from(disk.contentOf(name))]));
    expect((await countOf(diskWith(files))).count).toBe(6);
    const bytes = files[snapshot]!;
    for (let at = 0; at < bytes.length; at++) {
      await expect(open(diskWith({ ...files, [snapshot]: flipped(bytes, at) }))).rejects.toThrow(LogDamaged);
      await expect(open(diskWith({ ...files, [snapshot]: bytes.subarray(0, at) }))).rejects.toThrow(LogDamaged);
    }
    const { [names.find((name) => name.startsWith('segment'))!]: _, ...withoutSegment } = files;
    await expect(open(diskWith(withoutSegment))).rejects.toThrow(/segment-\d+ is missing from fake-disk/);
    const { [snapshot]: __, ...withoutSnapshot } = files;
    await expect(open(diskWith(withoutSnapshot))).rejects.toThrow(/segment-00000001 is missing from fake-disk/);
  });

  test('to the end of a segment that is not the last is refused', async () => {
    const first = await written([2, 2], false);
    const second = Buffer.from(first.bytes);
    const torn = first.bytes.subarray(0, first.bytes.length - 3);
    await expect(open(diskWith({ [segment]: torn, 'segment-00000002': second }))).rejects.toThrow(
      /segment-00000001 in fake-disk is damaged/,
    );
  });

  test('such as a record that tells another story than those before it is refused', async () => {
    const { bytes, lengths } = await written([1, 1], false);
    const twice = Buffer.concat([bytes, bytes.subarray(lengths[1]!)]);
    await expect(open(diskWith({ [segment]: twice }))).rejects.toThrow(/batch 2 stands where 3 should be/);
  });
});

test('a newer format is refused with one sentence', async () => {
  const { bytes } = await written([1], true);
  const newer = Buffer.from(bytes);
  newer.writeUInt16LE(2, 8);
  await expect(open(diskWith({ [segment]: newer }))).rejects.toThrow(
    'segment-00000001 in fake-disk has format 2, and this version of Flotilla reads up to format 1: start a newer version',
  );
});
