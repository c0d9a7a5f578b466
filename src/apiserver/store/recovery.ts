// Opens a data directory: the newest snapshot and every segment after it, in order. Guarantee: everything that was ever
// durable is there; a tail that a crash tore is truncated; any other difference from what was written is reported as
// damage with file and offset, never repaired silently.

import { byText } from '../../base/compare.ts';
import type { Disk } from './disk.ts';
import { type DataFiles, dataFiles, obsoleteFiles, segmentName, snapshotName } from './files.ts';
import { weightOfChange } from './log-store.ts';
import {
  checkHeader,
  FILE_HEADER_BYTES,
  type FileType,
  FORMAT,
  fileHeader,
  kinds,
  type LogRecord,
  readRecord,
} from './record.ts';
import { type ParsedObjects, RecordStored } from './record-stored.ts';
import { DeletedStored } from './stored-form.ts';
import { type StateOptions, VisibleState } from './visible-state.ts';

export class LogDamaged extends Error {
  override readonly name = 'LogDamaged';
}

export interface Recovered {
  readonly clusters: Map<string, VisibleState>;
  /** The last revisions of deleted clusters: a new one with the same name continues from there. */
  readonly dropped: Map<string, number>;
  /** The segment for the next writes. */
  readonly segment: number;
  readonly segmentBytes: number;
  readonly nextBatch: number;
  readonly snapshotBytes: number;
  readonly bytesSinceSnapshot: number;
}

const READ_BYTES = 1024 * 1024;

export async function recover(disk: Disk, parsed: ParsedObjects, options: StateOptions): Promise<Recovered> {
  const files = dataFiles(await disk.list());
  const base = files.snapshots.at(-1) ?? 1;
  const segments = await usableSegments(disk, files, base);
  const reading = new Reading(disk, parsed, options);

  const snapshotBytes = files.snapshots.length > 0 ? await reading.snapshot(base) : 0;
  let bytesSinceSnapshot = 0;
  let tail: Tail | undefined;
  for (const number of segments) {
    tail = await reading.segment(number, number === segments.at(-1));
    bytesSinceSnapshot += tail.length;
  }
  const obsolete = obsoleteFiles(files, base);
  // After a kill -9 the snapshot may be only in the page cache, so it must be durable before the files it replaces are
  // deleted.
  if (obsolete.length > 0 && files.snapshots.length > 0) await disk.sync(snapshotName(base));
  for (const file of obsolete) await disk.remove(file);
  tail ??= await freshSegment(disk, 1, 1);
  return {
    clusters: reading.clusters,
    dropped: reading.dropped,
    segment: segments.at(-1) ?? 1,
    segmentBytes: tail.length,
    nextBatch: tail.nextBatch,
    snapshotBytes,
    bytesSinceSnapshot,
  };
}

interface Tail {
  readonly length: number;
  readonly nextBatch: number;
}

// A segment is created while the previous one still takes writes, so the last ones may be empty: then the previous one
// is the last.
async function usableSegments(disk: Disk, files: DataFiles, base: number): Promise<readonly number[]> {
  const segments = files.segments.filter((number) => number >= base);
  segments.forEach((number, index) => {
    if (number !== base + index) throw missing(disk, segmentName(base + index));
  });
  if (segments.length === 0 && (files.snapshots.length > 0 || files.segments.length > 0)) {
    throw missing(disk, segmentName(base));
  }
  while (segments.length > 1 && (await disk.size(segmentName(segments.at(-1)!))) <= FILE_HEADER_BYTES) {
    await disk.remove(segmentName(segments.pop()!));
  }
  return segments;
}

export async function freshSegment(disk: Disk, number: number, firstBatch: number): Promise<Tail> {
  const file = segmentName(number);
  await disk.remove(file); // a failed attempt may have left it empty
  disk.append(file, fileHeader('segment', firstBatch));
  await disk.sync(file);
  return { length: FILE_HEADER_BYTES, nextBatch: firstBatch };
}

class Reading {
  readonly clusters = new Map<string, VisibleState>();
  readonly dropped = new Map<string, number>();
  readonly #disk: Disk;
  readonly #parsed: ParsedObjects;
  readonly #options: StateOptions;

  constructor(disk: Disk, parsed: ParsedObjects, options: StateOptions) {
    this.#disk = disk;
    this.#parsed = parsed;
    this.#options = options;
  }

  async snapshot(number: number): Promise<number> {
    const file = snapshotName(number);
    await this.#header(file, 'snapshot');
    let current: { name: string; revision: number; items: RecordStored[] } | undefined;
    let count = 0;
    let ended = false;
    const finish = () => {
      if (current === undefined) return;
      const { name, revision, items } = current;
      // Sorted, except for the few that were deleted while the snapshot was written.
      if (items.some((item, i) => i > 0 && items[i - 1]!.key >= item.key)) items.sort((a, b) => byText(a.key, b.key));
      this.clusters.set(name, new VisibleState(this.#options, { items, revision }));
      current = undefined;
    };
    const stop = await this.#records(file, (record, block) => {
      if (ended) return 'something follows its end';
      if (record.kind === kinds.put) {
        if (current?.name !== record.cluster) return 'an object stands outside its cluster';
        current.items.push(this.#stored(record, block));
        count++;
      } else if (record.kind === kinds.cluster) {
        finish();
        current = { name: record.cluster, revision: record.revision, items: [] };
      } else if (record.kind === kinds.drop) {
        this.dropped.set(record.cluster, record.revision);
      } else if (record.kind === kinds.end) {
        finish();
        ended = true;
        if (record.revision !== count) return `it should have ${record.revision} objects and has ${count}`;
      } else return 'a record does not belong into a snapshot';
      return undefined;
    });
    if (stop.problem !== undefined) throw damaged(this.#disk, file, stop.at, stop.problem);
    if (!ended) throw damaged(this.#disk, file, stop.at, 'its end is missing');
    return stop.at;
  }

  async segment(number: number, isLast: boolean): Promise<Tail> {
    const file = segmentName(number);
    const size = await this.#disk.size(file);
    if (isLast && (await this.#wasNeverBegun(file, size))) return freshSegment(this.#disk, number, 1);
    const firstBatch = await this.#header(file, 'segment');
    // Batches before this one are sealed, hence durable.
    let openBatch = firstBatch;
    const stop = await this.#records(file, (record, block) => {
      if (record.batch !== openBatch) return `batch ${record.batch} stands where ${openBatch} should be`;
      if (record.kind === kinds.seal) openBatch = record.batch + 1;
      else return this.#replay(record, block);
      return undefined;
    });
    if (stop.problem !== undefined) {
      if (!isLast || stop.problem !== UNREADABLE) throw damaged(this.#disk, file, stop.at, stop.problem);
      const later = await this.#laterBatch({ file, from: stop.at + 1, openBatch });
      if (later !== undefined) {
        throw damaged(this.#disk, file, stop.at, `${UNREADABLE}, but sound ones follow at byte ${later}`);
      }
      await this.#disk.truncate(file, stop.at);
    } else if (isLast) {
      // After a kill -9 the tail may be only in the page cache, and a record that is read now must survive a power
      // loss.
      await this.#disk.sync(file);
    }
    return { length: stop.at, nextBatch: openBatch };
  }

  // The header is synced before the first record is written, so a file with an incomplete header has no records.
  async #wasNeverBegun(file: string, size: number): Promise<boolean> {
    if (size !== FILE_HEADER_BYTES) return size < FILE_HEADER_BYTES;
    const verdict = checkHeader(await this.#bytes(file, 0, FILE_HEADER_BYTES), 'segment');
    return !verdict.ok && verdict.newerFormat === undefined;
  }

  async #header(file: string, type: FileType): Promise<number> {
    const verdict = checkHeader(await this.#bytes(file, 0, FILE_HEADER_BYTES), type);
    if (verdict.ok) return verdict.firstBatch;
    if (verdict.newerFormat === undefined) throw damaged(this.#disk, file, 0, `its header is not that of a ${type}`);
    throw new LogDamaged(
      `${file} in ${this.#disk.place} has format ${verdict.newerFormat}, and this version of Flotilla reads up to format ${FORMAT}: start a newer version`,
    );
  }

  #replay(record: LogRecord, block: Buffer): string | undefined {
    const { kind, cluster, key, revision } = record;
    const state = this.#state(cluster);
    if (revision <= state.revision) return `revision ${revision} of ${cluster} follows ${state.revision}`;
    if (kind === kinds.drop) {
      this.clusters.delete(cluster);
      this.dropped.set(cluster, revision);
      return undefined;
    }
    if (kind !== kinds.put && kind !== kinds.delete) return 'a record does not belong into a segment';
    const previous = state.get(key);
    const deleted = kind === kinds.delete;
    if (deleted && previous === undefined) return `revision ${revision} deletes "${key}", which is not there`;
    const stored = deleted ? new DeletedStored(previous!, revision) : this.#stored(record, block);
    const change = { revision, key, stored, deleted, previous };
    state.apply(change, weightOfChange(change));
    return undefined;
  }

  #state(cluster: string): VisibleState {
    let state = this.clusters.get(cluster);
    if (state === undefined) {
      const base = this.dropped.get(cluster);
      state = new VisibleState(this.#options, base === undefined ? undefined : { items: [], revision: base });
      this.clusters.set(cluster, state);
      this.dropped.delete(cluster);
    }
    return state;
  }

  #stored(record: LogRecord, block: Buffer): RecordStored {
    return new RecordStored(record, { block, start: record.jsonStart, end: record.end }, this.#parsed);
  }

  /** Visits each record; a string from the visitor stops. `at`: the end of the valid part. */
  async #records(
    file: string,
    visit: (record: LogRecord, block: Buffer) => string | undefined,
  ): Promise<{ readonly at: number; readonly problem?: string }> {
    const size = await this.#disk.size(file);
    let at = FILE_HEADER_BYTES;
    let wanted = READ_BYTES;
    while (at < size) {
      // A record that was cut at the end of a block is read again: simpler than keeping the part, and cheap.
      const block = await this.#bytes(file, at, Math.min(wanted, size - at));
      wanted = READ_BYTES;
      let offset = 0;
      while (offset < block.length) {
        const record = readRecord(block, offset);
        if ('problem' in record) {
          const beyondFile = record.problem === 'short' && at + offset + record.need > size;
          if (record.problem === 'bad' || beyondFile) return { at: at + offset, problem: UNREADABLE };
          if (offset === 0) wanted = record.need;
          break;
        }
        const problem = visit(record, block);
        if (problem !== undefined) return { at: at + offset, problem };
        offset = record.end;
      }
      at += offset;
    }
    return { at };
  }

  /**
   * Offset of a valid record of a batch after `openBatch`: such a batch began only after everything before it was
   * durable.
   */
  async #laterBatch(search: { file: string; from: number; openBatch: number }): Promise<number | undefined> {
    const size = await this.#disk.size(search.file);
    for (let from = search.from; from < size; from += READ_BYTES) {
      const block = await this.#bytes(search.file, from, Math.min(READ_BYTES + LONGEST_SEARCHED, size - from));
      for (let offset = 0; offset < Math.min(READ_BYTES, block.length); offset++) {
        const record = readRecord(block, offset);
        if (!('problem' in record) && record.batch > search.openBatch) return from + offset;
      }
    }
    return undefined;
  }

  async #bytes(file: string, from: number, length: number): Promise<Buffer> {
    const bytes = await this.#disk.read(file, from, length);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

const UNREADABLE = 'a record does not match its checksum';
/** Longer records are not searched for after an invalid one. */
const LONGEST_SEARCHED = 4 * 1024 * 1024;

const damaged = (disk: Disk, file: string, at: number, what: string): LogDamaged =>
  new LogDamaged(`${file} in ${disk.place} is damaged at byte ${at}: ${what}; restore the directory from a copy`);

const missing = (disk: Disk, file: string): LogDamaged =>
  new LogDamaged(`${file} is missing from ${disk.place}; restore the directory from a copy`);
