// What every verb is told: where, who and how. HTTP and the direct transport both end here, after authentication and authorization.
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
  /** A create gives its object owners of fields. Absent in process, where no one asks who wrote what. */
  readonly tracksFields?: boolean;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Fields that the body named twice, as paths; the last of each counted. */
  readonly repeatedFields?: readonly string[];
  /** Text for people, sent as a Warning header. */
  warn(text: string): void;
}

/** What a write left behind, in the stored version. A dry run's is not in the store and has revision 0 or the old one. */
export interface Written {
  readonly stored: Stored;
  readonly created: boolean;
}

export interface Selection {
  /** Text of a label selector, as in the query. */
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

/** One event of a watch, before it is put into words. `stored` is in the stored version. */
export interface FeedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Absent for bookmarks. */
  readonly stored?: Stored;
  readonly revision: number;
  /** BOOKMARK after the initial events of sendInitialEvents. */
  readonly initialEventsEnd?: true;
}

/** A watch that is pulled: nothing is queued for it. */
export interface WatchFeed {
  /** All that happened since the last pull, oldest first; never waits. Throws ApiError 410 when the window has moved past. */
  pull(): readonly FeedEvent[];
  /** The revision up to which pull has told everything: for bookmarks. */
  readonly revision: number;
  /** Called when a pull may bring something. Returns unsubscribe. */
  onWake(wake: () => void): () => void;
}
