// The kinds that a server serves, kept up to date. Implemented over an in-process server (apiserver/) and over
// discovery (client/).
import type { Resource } from './kind.ts';

export interface LiveCatalogue {
  /** undefined = the server does not serve the kind, as far as is known. */
  byKind(apiVersion: string, kind: string): Resource | undefined;
  /** Every kind that can be listed and watched, in the server's preferred version; sorted by group, then plural. */
  readonly preferred: readonly Resource[];
  /**
   * Group versions, as in `apiVersion`, whose API server does not respond: their kinds may exist although byKind and
   * preferred have none of them. Absent = there are none.
   */
  readonly unknown?: readonly string[];
  /** Called after a change. Returns a function that unsubscribes. */
  subscribe(wake: () => void): () => void;
  /** Runs discovery again, once for all concurrent callers; if it rejects, the known kinds stay. */
  refresh(): Promise<void>;
}
