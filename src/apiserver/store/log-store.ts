// One cluster of a log. Writers see `head` (pending writes over visible ones), readers see `visible`; a write moves
// from one to the other when it is durable.
import { byText } from '../../base/compare.ts';
import { checkExpected } from './expect.ts';
import { kinds, type RecordKind, type WrittenRecord } from './record.ts';
import { type ParsedObjects, RecordStored } from './record-stored.ts';
import type { Change, Committed, Store, Stored, Write } from './store.ts';
import { checkSize, DeletedStored, jsonOf, stamped } from './stored-form.ts';
import type { VisibleState } from './visible-state.ts';

/** The log's interface for a cluster. */
export interface RecordSink {
  readonly parsed: ParsedObjects;
  /** Throws StoreUnavailable if the cluster cannot be written. */
  checkWritable(cluster: ClusterStore): void;
  record(parts: {
    readonly kind: RecordKind;
    readonly cluster: ClusterStore;
    readonly revision: number;
    readonly key: string;
    readonly json: string;
  }): WrittenRecord;
  /** Queues the record that was just written. All records of one sync share the result. */
  queue(record: WrittenRecord, cluster: ClusterStore, change: Change | undefined): Promise<void>;
}

const weightOf = (stored: Stored | undefined): number => (stored instanceof RecordStored ? stored.length : 0);
export const weightOfChange = (change: Change): number => weightOf(change.stored) + weightOf(change.previous);

const VISIBLE = Promise.resolve();

export class ClusterStore implements Store {
  readonly name: string;
  readonly #sink: RecordSink;
  readonly #pending = new Map<string, { readonly change: Change; readonly durable: Promise<void> }>();
  #state: VisibleState;
  #head: number;
  /** Never decreases, even if writes fail: a revision that a client has seen is never used for other content. */
  #assigned: number;

  constructor(name: string, state: VisibleState, sink: RecordSink) {
    this.name = name;
    this.#sink = sink;
    this.#state = state;
    this.#head = state.revision;
    this.#assigned = state.revision;
  }

  get state(): VisibleState {
    return this.#state;
  }

  get head(): number {
    return this.#head;
  }

  get visible(): number {
    return this.#state.revision;
  }

  get(key: string, at: 'visible' | 'head' = 'visible'): Stored | undefined {
    if (at === 'head') {
      const change = this.#pending.get(key)?.change;
      if (change !== undefined) return change.deleted ? undefined : change.stored;
    }
    return this.#state.get(key);
  }

  range(prefix: string, page?: { readonly after?: string; readonly limit?: number }): ReturnType<Store['range']> {
    return this.#state.range(prefix, page);
  }

  rangeAtHead(prefix: string): readonly Stored[] {
    const { items } = this.#state.range(prefix);
    const pending = [...this.#pending.values()].filter(({ change }) => change.key.startsWith(prefix));
    if (pending.length === 0) return items;
    const written = pending.filter(({ change }) => !change.deleted).map(({ change }) => change.stored);
    const untouched = items.filter(({ key }) => !this.#pending.has(key));
    return [...untouched, ...written].sort((a, b) => byText(a.key, b.key));
  }

  since(revision: number, prefix: string): ReturnType<Store['since']> {
    return this.#state.since(revision, prefix);
  }

  subscribe(prefix: string, wake: () => void): () => void {
    return this.#state.subscribe(prefix, wake);
  }

  commit(write: Write): Committed {
    this.#sink.checkWritable(this);
    const { key, value } = write;
    const previous = this.get(key, 'head');
    checkExpected(write, previous);
    const revision = this.#assigned + 1;
    let record: WrittenRecord;
    let stored: Stored;
    if (value === undefined) {
      record = this.#sink.record({ kind: kinds.delete, cluster: this, revision, key, json: '' });
      stored = new DeletedStored(previous!, revision);
    } else {
      const object = stamped(value, revision);
      const text = jsonOf(object);
      checkSize(text, write.maxBytes);
      record = this.#sink.record({ kind: kinds.put, cluster: this, revision, key, json: text });
      const json = { block: record.block, start: record.jsonStart, end: record.end };
      const kept = new RecordStored({ key, revision }, json, this.#sink.parsed);
      kept.remember(object);
      stored = kept;
    }
    const change: Change = { revision, key, stored, deleted: value === undefined, previous };
    this.#assigned = revision;
    this.#head = revision;
    const durable = this.#sink.queue(record, this, change);
    this.#pending.set(key, { change, durable });
    return { revision, stored, durable };
  }

  durable(key: string): Promise<void> {
    return this.#pending.get(key)?.durable ?? VISIBLE;
  }

  /** A revision for a record of the log itself about this cluster. */
  nextRevision(): number {
    return ++this.#assigned;
  }

  /** The change is durable, so it becomes visible. */
  show(change: Change): void {
    this.#state.apply(change, weightOfChange(change));
    if (this.#pending.get(change.key)?.change === change) this.#pending.delete(change.key);
  }

  /** Pending writes will never become durable. */
  discardPending(): void {
    this.#pending.clear();
    this.#head = this.#state.revision;
  }

  /** All data was deleted: readers see an empty cluster, and watches a compacted window. */
  becomeEmpty(state: VisibleState): void {
    const old = this.#state;
    this.#state = state;
    this.#head = state.revision;
    old.wakeAll();
  }
}
