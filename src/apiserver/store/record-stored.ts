// An object of the log store: kept as the JSON bytes of its record, parsed on access.
import type { KubeObject } from '../../api/object.ts';
import { deepFreeze } from '../../base/json.ts';
import type { Stored } from './store.ts';

export class RecordStored implements Stored {
  readonly key: string;
  readonly revision: number;
  readonly #parsed: ParsedObjects;
  #block: Buffer;
  #start: number;
  #end: number;
  #object: KubeObject | undefined;

  constructor(
    at: { readonly key: string; readonly revision: number },
    json: { readonly block: Buffer; readonly start: number; readonly end: number },
    parsed: ParsedObjects,
  ) {
    this.key = at.key;
    this.revision = at.revision;
    this.#parsed = parsed;
    this.#block = json.block;
    this.#start = json.start;
    this.#end = json.end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  get weight(): number {
    return this.length;
  }

  object(): KubeObject {
    if (this.#object === undefined) {
      this.remember(deepFreeze(JSON.parse(this.#block.toString('utf8', this.#start, this.#end)) as KubeObject));
      this.#parsed.count++;
    }
    return this.#object!;
  }

  bytes(): Uint8Array {
    return this.#block.subarray(this.#start, this.#end);
  }

  /** Caches the object that the bytes were encoded from, as long as there is space. */
  remember(object: KubeObject): void {
    this.#object = object;
    this.#parsed.keep(this);
  }

  forget(): void {
    this.#object = undefined;
  }

  /** The same bytes are now in another block, so the old block can be freed. */
  moveTo(block: Buffer, start: number): void {
    this.#end = start + this.length;
    this.#start = start;
    this.#block = block;
  }
}

/**
 * Cache of the objects parsed or written last, limited by bytes of JSON: the bytes are kept permanently, the parsed
 * form temporarily.
 */
export class ParsedObjects {
  readonly #maxBytes: number;
  #queue: RecordStored[] = [];
  #start = 0;
  #bytes = 0;
  /** How often JSON was parsed. */
  count = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  keep(stored: RecordStored): void {
    this.#queue.push(stored);
    this.#bytes += stored.length;
    while (this.#bytes > this.#maxBytes && this.#queue.length - this.#start > 1) {
      const oldest = this.#queue[this.#start++]!;
      oldest.forget();
      this.#bytes -= oldest.length;
    }
    if (this.#start > 1024 && this.#start * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#start);
      this.#start = 0;
    }
  }
}
