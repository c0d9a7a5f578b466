// Which kinds a server serves, kept up to date. Implemented over an in-process server (apiserver/) and over discovery (client/).
import type { Resource } from './kind.ts';

export interface LiveCatalogue {
  /** undefined = the server serves no such kind, as far as is known. */
  byKind(apiVersion: string, kind: string): Resource | undefined;
  /** Every kind that can be listed and watched, in the version that the server prefers; ordered by group, then plural. */
  readonly preferred: readonly Resource[];
  /**
   * Group versions, as in `apiVersion`, that are served, but their API server does not answer, so their kinds are unknown: that
   * byKind and preferred have none of them proves nothing. Absent = there are none.
   */
  readonly unknown?: readonly string[];
  /** Called after a change. Returns how to stop it. */
  subscribe(wake: () => void): () => void;
  /** Asks the server again, once for all concurrent callers; when it rejects, what was known stays. */
  refresh(): Promise<void>;
}
