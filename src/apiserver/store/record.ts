// The byte format of the log. A file is a header and records; a record has a checksum over its whole content.
//
//   header  "FLOTILLA" · u16 format · u8 type (1 segment, 2 snapshot) · u8 0 · u32 first batch · u32 crc of the rest
//   record  u32 crc of the rest · u32 length of cluster + key + JSON · u32 batch · f64 revision · u16 key length ·
//           u8 cluster length · u8 kind · cluster · key · JSON                                 (all little endian)
//
// All records of one sync form a batch, which ends with a seal. A batch is written only after the previous one was
// synced, so everything before the last seal is durable, and a crash can tear only what follows it.
import { crc32 } from 'node:zlib';

export const FORMAT = 1;
export const FILE_HEADER_BYTES = 20;
export const RECORD_HEADER_BYTES = 24;

export const kinds = { put: 1, delete: 2, cluster: 3, end: 4, seal: 5, drop: 6 } as const;
export type RecordKind = (typeof kinds)[keyof typeof kinds];

export type FileType = 'segment' | 'snapshot';

const MAGIC = Buffer.from('FLOTILLA');
const typeNumbers: Readonly<Record<FileType, number>> = { segment: 1, snapshot: 2 };

export function fileHeader(type: FileType, firstBatch: number): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(FORMAT, 8);
  header.writeUInt8(typeNumbers[type], 10);
  header.writeUInt32LE(firstBatch, 12);
  header.writeUInt32LE(crc32(header.subarray(0, 16)), 16);
  return header;
}

export type HeaderVerdict =
  | { readonly ok: true; readonly firstBatch: number }
  | { readonly ok: false; readonly newerFormat?: number };

export function checkHeader(bytes: Buffer, type: FileType): HeaderVerdict {
  if (bytes.length < FILE_HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return { ok: false };
  const format = bytes.readUInt16LE(8);
  if (format > FORMAT) return { ok: false, newerFormat: format };
  const whole = crc32(bytes.subarray(0, 16)) === bytes.readUInt32LE(16);
  if (!whole || format !== FORMAT || bytes.readUInt8(10) !== typeNumbers[type]) return { ok: false };
  return { ok: true, firstBatch: bytes.readUInt32LE(12) };
}

export interface LogRecord {
  readonly kind: RecordKind;
  readonly batch: number;
  readonly revision: number;
  readonly cluster: string;
  readonly key: string;
  /** Where the JSON begins in the buffer, and where the record ends. */
  readonly jsonStart: number;
  readonly end: number;
}

/** `need`: bytes from the start of the record; 'short' = the buffer ends before. */
export type ReadResult = LogRecord | { readonly problem: 'short'; readonly need: number } | { readonly problem: 'bad' };

export function readRecord(buffer: Buffer, at: number): ReadResult {
  const left = buffer.length - at;
  if (left < RECORD_HEADER_BYTES) return { problem: 'short', need: RECORD_HEADER_BYTES };
  const length = buffer.readUInt32LE(at + 4);
  const keyLength = buffer.readUInt16LE(at + 20);
  const clusterLength = buffer[at + 22]!;
  const kind = buffer[at + 23]!;
  if (kind < kinds.put || kind > kinds.drop || keyLength + clusterLength > length) return { problem: 'bad' };
  const need = RECORD_HEADER_BYTES + length;
  if (left < need) return { problem: 'short', need };
  const end = at + need;
  if (crc32(buffer.subarray(at + 4, end)) !== buffer.readUInt32LE(at)) return { problem: 'bad' };
  const keyStart = at + RECORD_HEADER_BYTES + clusterLength;
  return {
    kind: kind as RecordKind,
    batch: buffer.readUInt32LE(at + 8),
    revision: buffer.readDoubleLE(at + 12),
    cluster: buffer.toString('utf8', at + RECORD_HEADER_BYTES, keyStart),
    key: buffer.toString('utf8', keyStart, keyStart + keyLength),
    jsonStart: keyStart + keyLength,
    end,
  };
}

/** Part of a block. Written bytes of a block never change, so spans can be stored and shared. */
export interface Span {
  readonly block: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Records to be written to a file. They are adjacent in their block, so most of them form one span. */
export class Stretches {
  readonly #spans: Span[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(record: Span): void {
    const last = this.#spans.at(-1);
    if (last !== undefined && last.block === record.block && last.end === record.start) {
      this.#spans[this.#spans.length - 1] = { block: last.block, start: last.start, end: record.end };
    } else this.#spans.push(record);
    this.#bytes += record.end - record.start;
  }

  /** Passes on all spans, and is empty afterwards. */
  drain(to: (bytes: Uint8Array) => void): void {
    for (const { block, start, end } of this.#spans.splice(0)) to(block.subarray(start, end));
    this.#bytes = 0;
  }
}

export interface RecordParts {
  readonly kind: RecordKind;
  readonly batch: number;
  readonly revision: number;
  readonly cluster: string;
  readonly key: string;
  readonly json: string | Uint8Array;
}

export interface WrittenRecord extends Span {
  readonly jsonStart: number;
}

const LONGEST_KEY = 0xffff;
const LONGEST_CLUSTER = 0xff;

/** Writes records into blocks. The log and the memory of the store share these bytes: nothing is copied. */
export class RecordWriter {
  readonly #blockBytes: number;
  #block = Buffer.alloc(0);
  #used = 0;

  constructor(blockBytes: number) {
    this.#blockBytes = blockBytes;
  }

  write({ kind, batch, revision, cluster, key, json }: RecordParts): WrittenRecord {
    // At most three bytes per UTF-16 unit: if even that fits, the exact length is not needed.
    const jsonWorst = typeof json === 'string' ? json.length * 3 : json.length;
    const worst = RECORD_HEADER_BYTES + (cluster.length + key.length) * 3 + jsonWorst;
    if (worst > this.#block.length - this.#used) this.#makeRoom(cluster, key, json);

    const block = this.#block;
    const start = this.#used;
    const keyStart = start + RECORD_HEADER_BYTES + block.write(cluster, start + RECORD_HEADER_BYTES);
    const jsonStart = keyStart + block.write(key, keyStart);
    let end = jsonStart;
    if (typeof json === 'string') end += block.write(json, jsonStart);
    else {
      block.set(json, jsonStart);
      end += json.length;
    }
    const clusterLength = keyStart - start - RECORD_HEADER_BYTES;
    const keyLength = jsonStart - keyStart;
    if (keyLength > LONGEST_KEY || clusterLength > LONGEST_CLUSTER) {
      throw new RangeError('the key or the name of the cluster is too long to be stored');
    }
    block.writeUInt32LE(end - start - RECORD_HEADER_BYTES, start + 4);
    block.writeUInt32LE(batch, start + 8);
    block.writeDoubleLE(revision, start + 12);
    block.writeUInt16LE(keyLength, start + 20);
    block[start + 22] = clusterLength;
    block[start + 23] = kind;
    block.writeUInt32LE(crc32(block.subarray(start + 4, end)), start);
    this.#used = end;
    return { block, start, end, jsonStart };
  }

  #makeRoom(cluster: string, key: string, json: string | Uint8Array): void {
    const exact = RECORD_HEADER_BYTES + Buffer.byteLength(cluster) + Buffer.byteLength(key) + Buffer.byteLength(json);
    if (exact <= this.#block.length - this.#used) return;
    this.#block = Buffer.allocUnsafeSlow(Math.max(this.#blockBytes, exact));
    this.#used = 0;
  }
}
