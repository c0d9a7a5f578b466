// The durable store: one append-only log for all clusters of a process, with their state in memory.
//
// This file: group commit. A write joins the batch that collects while the previous one is synced; one sync then makes
// the whole batch durable and visible, for all clusters. See also record.ts (the bytes), recovery.ts (opening),
// snapshot.ts (compaction) and log-store.ts (one cluster).
// Guarantee: no client sees a write that a crash can undo; a rejected write never becomes visible; a revision that was
// visible is never reused with other content.
import { messageOf } from '../../base/errors.ts';
import type { Disk } from './disk.ts';
import { dataFiles, draftName, obsoleteFiles, segmentName } from './files.ts';
import { ClusterStore, type RecordSink } from './log-store.ts';
import { FILE_HEADER_BYTES, kinds, RecordWriter, Stretches, type WrittenRecord } from './record.ts';
import { ParsedObjects } from './record-stored.ts';
import { freshSegment, type Recovered, recover } from './recovery.ts';
import { Cut, writeSnapshot } from './snapshot.ts';
import { type Change, type Store, StoreUnavailable } from './store.ts';
import { type StateOptions, VisibleState } from './visible-state.ts';

export interface LogOptions extends StateOptions {
  readonly disk: Disk;
  /** Schedules a function after ready callbacks: lets writes collect and slices yield. Default: setImmediate. */
  readonly defer?: (run: () => void) => void;
  /** A snapshot is due when the segments are larger than the last snapshot and this. */
  readonly snapshotMinBytes?: number;
  /** The maximum of JSON bytes whose parsed form is cached, too. */
  readonly parsedBytes?: number;
  /** When a batch may be written and synced, if several logs share a drive; default: immediately. */
  readonly inTurn?: (write: () => Promise<void>) => Promise<void>;
}

/** Counts since the log was opened. */
export interface LogCounts {
  readonly records: number;
  readonly syncs: number;
  readonly snapshots: number;
  readonly failedSnapshots: number;
  /** How often JSON was parsed. */
  readonly parses: number;
}

export interface Log {
  /** Returns the same store for the same name. A cluster is created by its first write. */
  store(cluster: string): Store;
  /** Names of all clusters that have been written or requested, sorted. */
  clusters(): readonly string[];
  /** Deletes a cluster with its data. A new one with the same name starts empty and continues its revisions. */
  dropCluster(cluster: string): Promise<void>;
  counts(): LogCounts;
  /** Makes everything durable, releases the directory and closes the disk. Later writes are rejected. */
  close(): Promise<void>;
}

/** Locks the disk and reads its data. Rejects with one sentence if it is in use, damaged or of a newer format. */
export async function openLog(options: LogOptions): Promise<Log> {
  const { disk } = options;
  const release = await disk.lock();
  try {
    const parsed = new ParsedObjects(options.parsedBytes ?? 4 * MIB);
    return new DiskLog(options, await recover(disk, parsed, options), parsed, release);
  } catch (error) {
    await disk.close();
    await release();
    throw error;
  }
}

const MIB = 1024 * 1024;
const BLOCK_BYTES = 256 * 1024;
// Limits how long making one batch visible blocks the event loop.
const BATCH_RECORDS = 1024;
const BATCH_BYTES = 8 * MIB;
const GATHER_TURNS = 4;
/** Up to this many concurrent writers may belong to one change that a client waits for. */
const FEW = 8;

/** Records that are synced together. */
class Batch {
  readonly number: number;
  readonly records = new Stretches();
  readonly entries: { readonly cluster: ClusterStore; readonly change: Change | undefined }[] = [];
  readonly durable: Promise<void>;
  resolve!: () => void;
  reject!: (error: StoreUnavailable) => void;

  constructor(number: number) {
    this.number = number;
    this.durable = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.durable.catch(() => {}); // an ignored result must not crash the process
  }

  get isFull(): boolean {
    return this.entries.length >= BATCH_RECORDS || this.records.bytes >= BATCH_BYTES;
  }
}

class DiskLog implements Log, RecordSink {
  readonly parsed: ParsedObjects;
  readonly #disk: Disk;
  readonly #options: LogOptions;
  readonly #release: () => Promise<void>;
  readonly #defer: (run: () => void) => void;
  /** Runs after the callbacks that are ready now. */
  readonly #atOnce: (run: () => void) => void;
  readonly #clusters = new Map<string, ClusterStore>();
  readonly #dropped: Map<string, number>;
  readonly #dropping = new Set<ClusterStore>();
  readonly #writer = new RecordWriter(BLOCK_BYTES);
  readonly #stopSnapshot = new AbortController();
  readonly #counts = { records: 0, syncs: 0, snapshots: 0, failedSnapshots: 0 };

  /** Waiting batches, oldest first; the last one collects. */
  readonly #waiting: Batch[] = [];
  #nextBatch: number;
  #flushing: Promise<void> | undefined;

  #segment: number;
  #segmentBytes: number;
  #snapshotBytes: number;
  #bytesSinceSnapshot: number;
  #snapshotDueAt = 0;
  #cut: Cut | undefined;
  #snapshotting: Promise<void> | undefined;

  #readOnly: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: LogOptions, recovered: Recovered, parsed: ParsedObjects, release: () => Promise<void>) {
    this.parsed = parsed;
    this.#disk = options.disk;
    this.#options = options;
    this.#release = release;
    this.#defer = options.defer ?? setImmediate;
    this.#atOnce = options.defer ?? process.nextTick;
    this.#dropped = recovered.dropped;
    for (const [name, state] of recovered.clusters) this.#clusters.set(name, new ClusterStore(name, state, this));
    this.#segment = recovered.segment;
    this.#segmentBytes = recovered.segmentBytes;
    this.#nextBatch = recovered.nextBatch;
    this.#snapshotBytes = recovered.snapshotBytes;
    this.#bytesSinceSnapshot = recovered.bytesSinceSnapshot;
    this.#planSnapshot();
  }

  store(name: string): Store {
    let cluster = this.#clusters.get(name);
    if (cluster === undefined) {
      const base = this.#dropped.get(name);
      const image = base === undefined ? undefined : { items: [], revision: base };
      cluster = new ClusterStore(name, new VisibleState(this.#options, image), this);
      this.#clusters.set(name, cluster);
    } else if (this.#dropping.has(cluster)) throw beingDropped(name);
    return cluster;
  }

  clusters(): readonly string[] {
    return [...this.#clusters.keys()].sort();
  }

  async dropCluster(name: string): Promise<void> {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) return;
    this.checkWritable(cluster);
    this.#dropping.add(cluster);
    const revision = cluster.nextRevision();
    const record = this.record({ kind: kinds.drop, cluster, revision, key: '', json: '' });
    this.#droppedAt.set(cluster, revision);
    await this.queue(record, cluster, undefined);
  }

  counts(): LogCounts {
    return { ...this.#counts, parses: this.parsed.count };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  checkWritable(cluster: ClusterStore): void {
    if (this.#closing !== undefined) throw new StoreUnavailable(`the log in ${this.#disk.place} is closed`);
    if (this.#readOnly !== undefined) throw new StoreUnavailable(this.#readOnly);
    if (this.#dropping.has(cluster)) throw beingDropped(cluster.name);
    if (this.#clusters.get(cluster.name) !== cluster) {
      throw new StoreUnavailable(`the cluster "${cluster.name}" was dropped`);
    }
  }

  record({ kind, cluster, revision, key, json }: Parameters<RecordSink['record']>[0]): WrittenRecord {
    const batch = this.#gathering().number;
    return this.#writer.write({ kind, batch, revision, cluster: cluster.name, key, json });
  }

  queue(record: WrittenRecord, cluster: ClusterStore, change: Change | undefined): Promise<void> {
    const batch = this.#gathering();
    batch.records.add(record);
    batch.entries.push({ cluster, change });
    this.#flushing ??= this.#flush();
    return batch.durable;
  }

  #gathering(): Batch {
    const last = this.#waiting.at(-1);
    if (last !== undefined && !last.isFull) return last;
    const batch = new Batch(this.#nextBatch++);
    this.#waiting.push(batch);
    return batch;
  }

  async #flush(): Promise<void> {
    await this.#gather();
    for (let under = this.#begin(); under !== undefined; ) {
      const { batch, written } = under;
      try {
        await written;
      } catch (error) {
        await this.#fail(batch, error);
        await this.#gather();
        under = this.#begin();
        continue;
      }
      const mustRotate = this.#bytesSinceSnapshot >= this.#snapshotDueAt && this.#snapshotting === undefined;
      // Later writers have waited long enough: the disk starts the next batch while this one becomes visible.
      under = mustRotate ? undefined : this.#begin();
      this.#show(batch);
      if (mustRotate) await this.#rotate();
      if (under !== undefined) continue;
      await this.#gather();
      under = this.#begin();
    }
    this.#flushing = undefined;
  }

  #begin(): { readonly batch: Batch; readonly written: Promise<void> } | undefined {
    const [batch] = this.#waiting;
    if (batch === undefined) return undefined;
    // The batch collects until its turn.
    const write = () => {
      this.#waiting.shift();
      return this.#write(batch);
    };
    return { batch, written: this.#options.inTurn?.(write) ?? write() };
  }

  // Concurrent writes go into one batch. A sync costs more than a turn of the event loop, so with many writers it waits
  // a few turns for more, as long as each turn brings some; with few it does not, because a client waits for them.
  async #gather(): Promise<void> {
    await new Promise<void>((resolve) => this.#atOnce(resolve));
    for (let turn = 0, before = this.#gathered; before > FEW && turn < GATHER_TURNS; turn++) {
      await this.#pause();
      const now = this.#gathered;
      if (now === before) return;
      before = now;
    }
  }

  get #gathered(): number {
    return this.#waiting[0]?.entries.length ?? 0;
  }

  async #write(batch: Batch): Promise<void> {
    if (this.#readOnly !== undefined) throw new StoreUnavailable(this.#readOnly); // since the batch began
    const file = segmentName(this.#segment);
    const seal = { kind: kinds.seal, batch: batch.number, revision: 0, cluster: '', key: '', json: '' };
    batch.records.add(this.#writer.write(seal));
    const { bytes } = batch.records;
    batch.records.drain((stretch) => this.#disk.append(file, stretch));
    await this.#disk.sync(file);
    this.#segmentBytes += bytes;
    this.#bytesSinceSnapshot += bytes;
    this.#counts.syncs++;
    this.#counts.records += batch.entries.length;
  }

  #show(batch: Batch): void {
    const touched = new Set<ClusterStore>();
    for (const { cluster, change } of batch.entries) {
      if (change === undefined) {
        this.#finishDrop(cluster);
        continue;
      }
      this.#cut?.note(cluster.state.entries, change.key, change.previous);
      cluster.show(change);
      touched.add(cluster);
    }
    // Wake readers first: they perform the next step.
    for (const cluster of touched) cluster.state.wake();
    batch.resolve();
  }

  // Later writes depend on earlier ones, so all pending writes fail together. Their clients get the error after the
  // file is truncated: before that a crash could still make the writes durable.
  async #fail(batch: Batch, error: unknown): Promise<void> {
    const failed = [batch, ...this.#waiting.splice(0)];
    this.#nextBatch = batch.number;
    for (const cluster of new Set(failed.flatMap((each) => each.entries.map((entry) => entry.cluster)))) {
      cluster.discardPending();
      this.#dropping.delete(cluster);
    }
    if (this.#readOnly === undefined) await this.#cutBack(error);
    const message = this.#readOnly ?? `nothing was written: ${sentenceOf(error, this.#disk)}`;
    for (const each of failed) each.reject(new StoreUnavailable(message, { cause: error }));
  }

  async #cutBack(error: unknown): Promise<void> {
    try {
      await this.#disk.truncate(segmentName(this.#segment), this.#segmentBytes);
    } catch (truncateError) {
      this.#readOnly = `the store is read-only until it is opened again: ${sentenceOf(error, this.#disk)}, and the log could not be cut back (${messageOf(truncateError)})`;
    }
  }

  #finishDrop(cluster: ClusterStore): void {
    const revision = this.#droppedAt.get(cluster)!;
    this.#droppedAt.delete(cluster);
    this.#dropping.delete(cluster);
    this.#clusters.delete(cluster.name);
    this.#dropped.set(cluster.name, revision);
    cluster.becomeEmpty(new VisibleState(this.#options, { items: [], revision }));
  }

  readonly #droppedAt = new Map<ClusterStore, number>();

  #planSnapshot(): void {
    this.#snapshotDueAt = Math.max(this.#options.snapshotMinBytes ?? 16 * MIB, this.#snapshotBytes);
  }

  // Between two batches the segment contains exactly the visible state, so it can be cut here.
  async #rotate(): Promise<void> {
    const number = this.#segment + 1;
    try {
      await freshSegment(this.#disk, number, this.#nextBatch - this.#waiting.length);
    } catch {
      this.#postponeSnapshot(); // the old segment continues
      return;
    }
    this.#segment = number;
    this.#segmentBytes = FILE_HEADER_BYTES;
    const clusters = [...this.#clusters.values()].map(({ name, visible, state }) => ({
      name,
      revision: visible,
      entries: state.entries,
    }));
    this.#cut = new Cut(
      clusters.sort((a, b) => (a.name < b.name ? -1 : 1)),
      [...this.#dropped].map(([name, revision]) => ({ name, revision })),
    );
    this.#snapshotting = this.#snapshot(number, this.#cut);
  }

  async #snapshot(number: number, cut: Cut): Promise<void> {
    const disk = this.#disk;
    const before = this.#bytesSinceSnapshot;
    try {
      const { signal } = this.#stopSnapshot;
      this.#snapshotBytes = await writeSnapshot({ disk, number, cut, signal });
      this.#bytesSinceSnapshot -= before;
      this.#counts.snapshots++;
      this.#planSnapshot();
      for (const file of obsoleteFiles(dataFiles(await disk.list()), number)) await disk.remove(file);
    } catch {
      // Without the snapshot nothing is lost, because the segments contain everything. Writes report a full disk.
      this.#counts.failedSnapshots++;
      this.#postponeSnapshot();
      await disk.remove(draftName(number)).catch(() => {});
    }
    this.#cut = undefined;
    this.#snapshotting = undefined;
  }

  #postponeSnapshot(): void {
    this.#snapshotDueAt = this.#bytesSinceSnapshot + (this.#options.snapshotMinBytes ?? 16 * MIB);
  }

  async #close(): Promise<void> {
    this.#stopSnapshot.abort();
    await this.#flushing;
    await this.#snapshotting;
    // A final seal proves that everything before it is durable: without it a damaged last batch would look like a torn
    // one.
    if (this.#readOnly === undefined && this.#counts.records > 0) {
      await this.#write(this.#gathering()).catch(() => {});
    }
    await this.#disk.close();
    await this.#release();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#defer(resolve));
  }
}

const beingDropped = (name: string): StoreUnavailable => new StoreUnavailable(`the cluster "${name}" is being dropped`);

function sentenceOf(error: unknown, disk: Disk): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk of ${disk.place} is full; free some space and try again`;
  return `cannot write to ${disk.place}: ${messageOf(error)}`;
}
