// The events of a run, line by line: a hash of all, and the last ones as text. Equal hashes mean equal runs.
import { createHash } from 'node:crypto';

export interface TraceOptions {
  /** How many of the last lines are kept. */
  readonly keep?: number;
  /** Called with every line, for a replay that prints all. */
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

  /** A line that affects the run, so it is part of the hash. */
  line(text: string): void {
    this.#hash.update(text).update('\n');
    this.#note(text);
  }

  /** A line for understanding, formatted only when it is read. */
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
