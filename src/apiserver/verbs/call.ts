// The input of every verb: object, caller and options. HTTP and the direct transport both call the verbs, after
// authentication and authorization.
import type { User } from '../../api/object.ts';
import type { ServedResource, ServedVersion } from '../registry.ts';
import type { Stored } from '../store/store.ts';

export interface At {
  readonly resource: ServedResource;
  readonly version: ServedVersion;
  /** '' = cluster scope, or all namespaces for list and watch. */
  readonly namespace: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface Caller {
  readonly user: User;
  readonly manager: string;
  /** A create records field owners. Absent in process, where nothing reads them. */
  readonly tracksFields?: boolean;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Fields that the body contains twice, as paths; the last value counts. */
  readonly repeatedFields?: readonly string[];
  /** A text for the user, sent as a Warning header. */
  warn(text: string): void;
}

/** The result of a write, in the storage version. That of a dry run is not stored and has revision 0 or the old one. */
export interface Written {
  readonly stored: Stored;
  readonly created: boolean;
}

export interface Selection {
  /** A label selector as in the query. */
  readonly labels?: string;
  readonly fields?: string;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly revision?: string;
  readonly revisionMatch?: string;
}

export interface Listed {
  readonly items: readonly Stored[];
  readonly revision: number;
  readonly continue?: string;
  readonly remaining?: number;
}

export interface WatchOptions extends Selection {
  readonly revision?: string;
  readonly revisionMatch?: string;
  readonly bookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
}

export interface DeleteOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly graceSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** One event of a watch before it is encoded. `stored` is in the storage version. */
export interface FeedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Absent for bookmarks. */
  readonly stored?: Stored;
  readonly revision: number;
  /** The BOOKMARK after the initial events of sendInitialEvents. */
  readonly initialEventsEnd?: true;
}

/** A watch with a pull interface: nothing is queued for it. */
export interface WatchFeed {
  /**
   * All events since the last pull, oldest first; never waits. Throws ApiError 410 if the window has been compacted.
   */
  pull(): readonly FeedEvent[];
  /** The revision up to which pull has returned everything: for bookmarks. */
  readonly revision: number;
  /** Called when a pull may return events. Returns unsubscribe. */
  onWake(wake: () => void): () => void;
}
