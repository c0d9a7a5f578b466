// The interface below the verbs: a revisioned map of keys to objects with a window of history. Two implementations
// (memory, log), one conformance suite.
//
// A key is `<group>/<plural>/<namespace>/<name>`; core has the empty group, cluster-scoped objects the empty namespace.
// A prefix for range, since or subscribe is '' (everything), `<group>/<plural>/` or `<group>/<plural>/<namespace>/`.
import type { KubeObject } from '../../api/object.ts';

export interface Stored {
  readonly key: string;
  readonly revision: number;
  /** Frozen; metadata.resourceVersion is `revision` as text. */
  object(): KubeObject;
  /** The same as JSON, with apiVersion, kind and metadata as its first three keys. Read-only. */
  bytes(): Uint8Array;
  /** The approximate number of bytes, if known without encoding. */
  readonly weight?: number;
}

export interface Change {
  readonly revision: number;
  readonly key: string;
  /** The stored object. For a deletion: the last object, carrying the deletion's revision. */
  readonly stored: Stored;
  readonly deleted: boolean;
  /** The previous object, unless the change created it. */
  readonly previous: Stored | undefined;
}

export interface Write {
  readonly key: string;
  /** The revision that the writer saw at `head`, or 'absent'. A mismatch throws RevisionMismatch and writes nothing. */
  readonly expect: number | 'absent';
  /** undefined deletes. The store sets metadata.resourceVersion. */
  readonly value: KubeObject | undefined;
  /**
   * The maximum size of the object's JSON. A larger one throws ObjectTooLarge and writes nothing. Absent = no limit.
   */
  readonly maxBytes?: number;
}

export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
}

export class RevisionMismatch extends Error {
  override readonly name = 'RevisionMismatch';
}

/** The store accepts no writes (disk full, failed sync, closed). Nothing of the write will become visible. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface Committed {
  readonly revision: number;
  /** The result of get once the write is visible (for a deletion: the last object at the new revision). */
  readonly stored: Stored;
  /** Resolves when the write is durable and visible; rejects with StoreUnavailable if it never will be. */
  readonly durable: Promise<void>;
}

export interface Store {
  /** The newest assigned revision, which writers compare with. */
  readonly head: number;
  /** The newest durable revision, which readers see, so that no client sees a write that a crash can undo. */
  readonly visible: number;
  get(key: string, at?: 'visible' | 'head'): Stored | undefined;
  /**
   * Sorted by key, strictly after `after`, from the visible state; `remaining` counts the matching keys after the page.
   */
  range(
    prefix: string,
    page?: { readonly after?: string; readonly limit?: number },
  ): {
    readonly items: readonly Stored[];
    readonly revision: number;
    readonly more: boolean;
    readonly remaining: number;
  };
  /** All objects under a prefix as writers see them, sorted by key: for decisions about a write. */
  rangeAtHead(prefix: string): readonly Stored[];
  /** Read `head`, then commit, without an await in between. */
  commit(write: Write): Committed;
  /**
   * Resolves when the object at `head` under the key is visible; rejects with StoreUnavailable if it never will be. For
   * a writer that has nothing to write: its response must not depend on a write that a crash can undo.
   */
  durable(key: string): Promise<void>;
  /** Visible changes after a revision, oldest first; 'compacted' if the window does not reach back that far. */
  since(revision: number, prefix: string): readonly Change[] | 'compacted';
  /**
   * Calls `wake` without arguments after visible changes under the prefix: readers pull with since(). Returns
   * unsubscribe.
   */
  subscribe(prefix: string, wake: () => void): () => void;
}

export const keyOf = (group: string, plural: string, namespace: string, name: string): string =>
  `${group}/${plural}/${namespace}/${name}`;

export const prefixOf = (group: string, plural: string, namespace?: string): string =>
  namespace === undefined || namespace === '' ? `${group}/${plural}/` : `${group}/${plural}/${namespace}/`;
