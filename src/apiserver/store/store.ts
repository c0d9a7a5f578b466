// What the verbs stand on: a revisioned map of keys to objects with a window of history. Two implementations (memory, log), one
// conformance suite.
//
// A key is `<group>/<plural>/<namespace>/<name>`; core has the empty group, cluster-scoped objects the empty namespace. A prefix
// given to range, since or subscribe is '' (everything), `<group>/<plural>/` or `<group>/<plural>/<namespace>/`.
import type { KubeObject } from '../../api/object.ts';

export interface Stored {
  readonly key: string;
  readonly revision: number;
  /** Frozen; metadata.resourceVersion is `revision` as text. */
  object(): KubeObject;
  /** The same as JSON, with apiVersion, kind and metadata as its first three keys. Must not be written to. */
  bytes(): Uint8Array;
  /** About as many as there are bytes, where that is known without encoding. */
  readonly weight?: number;
}

export interface Change {
  readonly revision: number;
  readonly key: string;
  /** The stored object. For a deletion: the last object, carrying the deletion's revision. */
  readonly stored: Stored;
  readonly deleted: boolean;
  /** What stood there before, unless the change created it. */
  readonly previous: Stored | undefined;
}

export interface Write {
  readonly key: string;
  /** The revision the writer saw at `head`, or 'absent'. A mismatch throws RevisionMismatch and writes nothing. */
  readonly expect: number | 'absent';
  /** undefined deletes. The store sets metadata.resourceVersion. */
  readonly value: KubeObject | undefined;
  /** Bytes of the JSON that the object may have. A larger one throws ObjectTooLarge and writes nothing. Absent = no limit. */
  readonly maxBytes?: number;
}

export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
}

export class RevisionMismatch extends Error {
  override readonly name = 'RevisionMismatch';
}

/** The store cannot take writes (disk full, failed sync, closed). Nothing of the write will become visible. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface Committed {
  readonly revision: number;
  /** What get will return once the write is visible (for a deletion: the last object at the new revision). */
  readonly stored: Stored;
  /** Resolves when the write is durable and visible; rejects with StoreUnavailable if it will never be. */
  readonly durable: Promise<void>;
}

export interface Store {
  /** Newest assigned revision: what writers compare with. */
  readonly head: number;
  /** Newest durable revision: what readers may see, so that no client sees a write that a crash can undo. */
  readonly visible: number;
  get(key: string, at?: 'visible' | 'head'): Stored | undefined;
  /** In key order, strictly after `after`, from the visible state; `remaining` counts the matching keys beyond the page. */
  range(
    prefix: string,
    page?: { readonly after?: string; readonly limit?: number },
  ): {
    readonly items: readonly Stored[];
    readonly revision: number;
    readonly more: boolean;
    readonly remaining: number;
  };
  /** All under a prefix as writers see it, in key order: what a decision on a write may count. */
  rangeAtHead(prefix: string): readonly Stored[];
  /** Read `head`, then commit, without an await in between. */
  commit(write: Write): Committed;
  /**
   * Resolves when the object at `head` under the key is visible; rejects with StoreUnavailable if it will never be. For a writer
   * who finds that nothing is left to write: the answer must not rest on what a crash can undo.
   */
  durable(key: string): Promise<void>;
  /** Visible changes after a revision, oldest first; 'compacted' when the window no longer reaches back that far. */
  since(revision: number, prefix: string): readonly Change[] | 'compacted';
  /** Calls `wake` after visible changes under the prefix, with no payload: readers pull with since(). Returns unsubscribe. */
  subscribe(prefix: string, wake: () => void): () => void;
}

export const keyOf = (group: string, plural: string, namespace: string, name: string): string =>
  `${group}/${plural}/${namespace}/${name}`;

export const prefixOf = (group: string, plural: string, namespace?: string): string =>
  namespace === undefined || namespace === '' ? `${group}/${plural}/` : `${group}/${plural}/${namespace}/`;
