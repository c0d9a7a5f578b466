// The lowest layer of protobuf: tags, varints, lengths, skipping. Every step is checked against the end of its message;
// invalid bytes throw a 400.
import { badRequest } from '../../api/status.ts';
import type { ApiError } from '../../base/errors.ts';

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

export const malformed = (why: string): ApiError => badRequest(`the body is not a valid protobuf message: ${why}`);

const CUT_OFF = 'it ends in the middle of a value';

/** Reads forward through one body. A step with several results stores them in fields, to avoid allocations. */
export class WireReader {
  readonly #bytes: Buffer;
  /** The position of the next step. */
  at = 0;
  /** Set by tag(). */
  number = 0;
  wireType = 0;
  /** Set by varint(): the lower and the upper 32 bits, unsigned. */
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** Reads the field number and wire type of the next field. */
  tag(end: number): void {
    this.varint(end);
    if (this.high !== 0) throw malformed('a field number is out of range');
    this.number = this.low >>> 3;
    this.wireType = this.low & 7;
    if (this.number === 0) throw malformed('a field number is zero');
  }

  varint(end: number): void {
    let low = 0;
    let high = 0;
    for (let count = 0; count < 10; count++) {
      if (this.at >= end) throw malformed(CUT_OFF);
      const byte = this.#bytes[this.at++] ?? 0;
      const seven = byte & 0x7f;
      const shift = count * 7;
      if (shift < 28) low |= seven << shift;
      else if (shift === 28) {
        low |= seven << 28;
        high |= seven >>> 4;
      } else if (shift < 63) high |= seven << (shift - 32);
      else {
        if (seven > 1) break;
        high |= seven << 31;
      }
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw malformed('a number has more than 64 bits');
  }

  /** Reads a length and returns the end of the value. */
  stop(end: number): number {
    this.varint(end);
    if (this.high !== 0 || this.low > end - this.at) throw malformed(CUT_OFF);
    return this.at + this.low;
  }

  int32(end: number): number {
    this.varint(end);
    return this.low | 0;
  }

  /** Exact up to 2^53, as all JSON numbers here. */
  int64(end: number): number {
    this.varint(end);
    return (this.high | 0) * 2 ** 32 + this.low;
  }

  double(end: number): number {
    if (end - this.at < 8) throw malformed(CUT_OFF);
    const value = this.#bytes.readDoubleLE(this.at);
    this.at += 8;
    if (!Number.isFinite(value)) throw malformed('a number is not finite');
    return value;
  }

  /** Bytes that are not UTF-8 become U+FFFD, as in the JSON of a real server. */
  text(stop: number): string {
    const text = this.#bytes.toString('utf8', this.at, stop);
    this.at = stop;
    return text;
  }

  base64(stop: number): string {
    const text = this.#bytes.toString('base64', this.at, stop);
    this.at = stop;
    return text;
  }

  /** Skips the value of an unknown field. */
  skip(end: number): void {
    switch (this.wireType) {
      case VARINT:
        this.varint(end);
        return;
      case FIXED64:
        this.#jump(8, end);
        return;
      case LENGTH:
        this.at = this.stop(end);
        return;
      case FIXED32:
        this.#jump(4, end);
        return;
      default:
        throw malformed(`field ${this.number} has wire type ${this.wireType}, which nobody uses`);
    }
  }

  #jump(bytes: number, end: number): void {
    if (end - this.at < bytes) throw malformed(CUT_OFF);
    this.at += bytes;
  }
}
