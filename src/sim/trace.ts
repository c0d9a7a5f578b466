// What happened, line by line: all of it in a hash, the end of it in words. Two runs are the same run when their hashes are equal.
import { createHash } from 'node:crypto';

export interface TraceOptions {
  /** How many of the last lines can be shown. */
  readonly keep?: number;
  /** Hears every line, for a replay that prints them all. */
  readonly onLine?: (line: string) => void;
}

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #keep: number;
  readonly #onLine: ((line: string) => void) | undefined;
  #last: (string | (() => string))[] = [];

  constructor(options: TraceOptions) {
    this.#keep = options.keep ?? 60;
    this.#onLine = options.onLine;
  }

  /** Something that decides what comes next. */
  line(text: string): void {
    this.#hash.update(text).update('\n');
    this.#note(text);
  }

  /** Something that helps to understand and is put into words only when it is read. */
  remark(text: () => string): void {
    this.#note(text);
  }

  hash(): string {
    return this.#hash.copy().digest('hex');
  }

  last(): readonly string[] {
    return this.#last.slice(-this.#keep).map(spelled);
  }

  #note(text: string | (() => string)): void {
    this.#onLine?.(spelled(text));
    this.#last.push(text);
    if (this.#last.length > 2 * this.#keep) this.#last = this.#last.slice(-this.#keep);
  }
}

const spelled = (text: string | (() => string)): string => (typeof text === 'string' ? text : text());
