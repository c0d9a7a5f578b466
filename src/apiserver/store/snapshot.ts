// Writes the whole state to a file while it changes, one slice at a time, so that the event loop is never blocked for
// long.
// Guarantee: the file contains exactly the visible state at the cut, when the following segment began; so replaying
// that segment also finds the previous value of each change.
import type { Disk } from './disk.ts';
import { draftName, snapshotName } from './files.ts';
import type { OrderedMap } from './ordered-map.ts';
import { FILE_HEADER_BYTES, fileHeader, kinds, type RecordParts, RecordWriter, Stretches } from './record.ts';
import { RecordStored } from './record-stored.ts';
import type { Stored } from './store.ts';

// About a millisecond of copying and checksums, whichever comes first.
const SLICE_BYTES = 256 * 1024;
const SLICE_RECORDS = 256;

export interface CutCluster {
  readonly name: string;
  readonly revision: number;
  readonly entries: OrderedMap<Stored>;
}

/** The state at one moment: the previous values of later changes are kept until they are written. */
export class Cut {
  readonly dropped: readonly { readonly name: string; readonly revision: number }[];
  readonly clusters: readonly CutCluster[];
  /** Previous values of keys that have changed since, by cluster. */
  readonly #before = new Map<OrderedMap<Stored>, Map<string, Stored | undefined>>();
  /** The last written key of each cluster; absent before its start, 'all' when it is complete. */
  readonly #written = new Map<OrderedMap<Stored>, { upTo: string } | 'all'>();

  constructor(clusters: readonly CutCluster[], dropped: Cut['dropped']) {
    this.clusters = clusters;
    this.dropped = dropped;
    for (const { entries } of clusters) this.#before.set(entries, new Map());
  }

  /** Must be called with every change before it is applied. */
  note(entries: OrderedMap<Stored>, key: string, previous: Stored | undefined): void {
    const before = this.#before.get(entries);
    if (before === undefined || before.has(key)) return;
    const written = this.#written.get(entries);
    if (written === 'all' || (written !== undefined && key <= written.upTo)) return;
    before.set(key, previous);
  }

  /** The next objects of a cluster as of the cut; undefined when all were returned. */
  next(entries: OrderedMap<Stored>, limit: number): readonly Stored[] | undefined {
    const written = this.#written.get(entries);
    if (written === 'all') return undefined;
    const before = this.#before.get(entries)!;
    const { values } = entries.range('', written?.upTo, limit);
    if (values.length === 0) {
      this.#written.set(entries, 'all');
      this.#before.delete(entries);
      return [...before.values()].filter((deletedSince) => deletedSince !== undefined);
    }
    this.#written.set(entries, { upTo: values.at(-1)!.key });
    if (before.size === 0) return values;
    return values.flatMap((stored) => {
      if (!before.has(stored.key)) return [stored];
      const image = before.get(stored.key);
      before.delete(stored.key);
      return image ?? []; // nothing: it was created since
    });
  }
}

/** Resolves to the length of the file once it is durable under its name. Throws the reason of an aborted `signal`. */
export async function writeSnapshot(options: {
  readonly disk: Disk;
  readonly number: number;
  readonly cut: Cut;
  readonly signal: AbortSignal;
}): Promise<number> {
  const { disk, number, cut, signal } = options;
  const draft = draftName(number);
  const writer = new RecordWriter(SLICE_BYTES);
  const slice = new Stretches();
  let length = FILE_HEADER_BYTES;
  let records = 0;
  let count = 0;
  const write = (record: RecordParts) => {
    const written = writer.write(record);
    slice.add(written);
    length += written.end - written.start;
    records++;
    return written;
  };
  const writeOut = async () => {
    slice.drain((stretch) => disk.append(draft, stretch));
    records = 0;
    // Synced slice by slice: one sync at the end would delay the log's own syncs.
    await disk.sync(draft);
    signal.throwIfAborted();
  };
  const isFull = () => slice.bytes >= SLICE_BYTES || records >= SLICE_RECORDS;

  await disk.remove(draft);
  disk.append(draft, fileHeader('snapshot', 0));
  const plain = { batch: 0, key: '', json: '' };
  for (const { name, revision } of cut.dropped) write({ ...plain, kind: kinds.drop, cluster: name, revision });
  for (const { name, revision, entries } of cut.clusters) {
    write({ ...plain, kind: kinds.cluster, cluster: name, revision });
    if (isFull()) await writeOut();
    for (;;) {
      const batch = cut.next(entries, 64);
      if (batch === undefined) break;
      for (const stored of batch) {
        const json = stored.bytes();
        const { key } = stored;
        const written = write({ kind: kinds.put, batch: 0, cluster: name, key, revision: stored.revision, json });
        // From here on the object uses the snapshot's densely packed block, so that blocks with old versions can be
        // freed.
        if (stored instanceof RecordStored) stored.moveTo(written.block, written.jsonStart);
        count++;
        if (isFull()) await writeOut();
      }
    }
  }
  write({ ...plain, kind: kinds.end, cluster: '', revision: count });
  await writeOut();
  await disk.replace(draft, snapshotName(number));
  return length;
}
