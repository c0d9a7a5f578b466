// The only interface to an API server. Implemented by apiserver/direct.ts (in process) and client/http.ts (the wire),
// wrapped by the simulation's fault layer. All data that crosses it is frozen and plain.
import type { Json } from '../base/json.ts';
import type { Resource } from './kind.ts';
import type { KubeList, KubeObject } from './object.ts';

export type View = 'object' | 'metadata' | 'table';
export type SubresourceName = 'status' | 'scale' | 'token' | 'binding' | 'eviction' | 'finalize';

export interface Target {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: SubresourceName;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export type Request =
  | { readonly verb: 'get'; readonly at: Target; readonly view?: View }
  | {
      readonly verb: 'list';
      readonly at: Target;
      readonly view?: View;
      readonly labels?: string;
      readonly fields?: string;
      readonly limit?: number;
      readonly continue?: string;
      readonly revision?: string;
    }
  | {
      readonly verb: 'create' | 'update';
      readonly at: Target;
      readonly object: KubeObject;
      readonly manager: string;
      readonly dryRun?: true;
    }
  | {
      readonly verb: 'patch';
      readonly at: Target;
      readonly patch: { readonly type: PatchType; readonly body: Json; readonly force?: boolean };
      readonly manager: string;
      readonly dryRun?: true;
    }
  | {
      readonly verb: 'delete';
      readonly at: Target;
      readonly uid?: string;
      readonly revision?: string;
      readonly propagation?: Propagation;
      readonly graceSeconds?: number;
      readonly dryRun?: true;
    };

export interface WatchRequest {
  readonly at: Target;
  readonly view?: View;
  readonly labels?: string;
  readonly fields?: string;
  /** Events after this revision; absent = the current objects first, as ADDED. */
  readonly revision?: string;
  readonly bookmarks?: boolean;
  readonly timeoutSeconds?: number;
}

/**
 * An object for single-object verbs, a list for `list` (one Table object if requested); `warnings` come from the
 * server, for display. A deletion returns the remaining object while finalizers or a grace period keep it, and no
 * object once it is deleted.
 */
export interface Answer {
  readonly object?: KubeObject;
  readonly list?: KubeList;
  readonly warnings: readonly string[];
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubeObject;
}

export interface Transport {
  /** Rejects only with ApiError, LostError or AbortError. */
  call(request: Request, signal?: AbortSignal): Promise<Answer>;
  /**
   * Yields batches: one await per burst, not per event. Ends when the server ends it or the signal fires; throws
   * ApiError (410: too old) or LostError. `onOpen`: the server has accepted the watch, even if the first event comes
   * much later; not every transport calls it.
   */
  watch(request: WatchRequest, signal: AbortSignal, onOpen?: () => void): AsyncIterable<readonly WatchEvent[]>;
}
