// The interface of a controller: a function from observed state to actions. manager.ts runs the loop around it.
import type { Hold } from '../api/hold.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject, ObjectRef } from '../api/object.ts';
import type { Answer, Propagation, Request } from '../api/transport.ts';
import type { Json } from '../base/json.ts';
import type { JsonOperation } from '../base/json-patch.ts';
import type { Wait } from './due.ts';

/** The API server to use: a hub controller has one, a member agent has two. */
export type ServerName = 'hub' | 'member';

/**
 * What a cache keeps of one resource. Defined once per program (hub/sources.ts, member/sources.ts) and shared by every
 * controller that reads the resource, so that there is one watch, one projection and one set of indexes.
 */
export interface Source<T extends Projected = Projected> {
  readonly on: ServerName;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly labels?: string;
  readonly fields?: string;
  /** 'metadata' watches PartialObjectMetadata only. */
  readonly view?: 'object' | 'metadata';
  /**
   * Its controllers read most objects in full after every change, so the watch brings full objects and no extra gets
   * are needed. Lists bring only metadata, so the projection must not keep more than that.
   */
  readonly isReadWhole?: true;
  /**
   * Returns what stays in memory; absent = the whole object, for small kinds only. The result must keep the name,
   * namespace, uid and resourceVersion of the metadata. `old` is the present projection: unchanged parts may be reused,
   * but must not change the result.
   */
  project?(object: KubeObject, old?: T): T;
  readonly indexes?: Readonly<Record<string, (item: T) => readonly string[]>>;
  /** For heartbeats: the runtime records, by its own clock, since when the stamp has had its value (`view.since`). */
  stamp?(item: T): string | undefined;
}

export interface Projected {
  readonly metadata: KubeObject['metadata'];
}

/** What a controller can read, synchronously, from caches that include its own writes. */
export interface View {
  readonly now: number;
  /**
   * Why the last reconcile of this key failed; absent once a reconcile succeeds. For conditions that report why there
   * is no progress.
   */
  readonly failure?: Failure;
  get<T extends Projected>(source: Source<T>, name: string, namespace?: string): T | undefined;
  /** Sorted by key. */
  all<T extends Projected>(source: Source<T>, namespace?: string): readonly T[];
  by<T extends Projected>(source: Source<T>, index: string, value: string): readonly T[];
  /** How often this server became reachable again. A request that failed before that may succeed now. */
  returns?(on: ServerName): number;
  /**
   * When this item got its present stamp, by our own clock; only for sources with stamps. A restarted process counts
   * from its first list.
   */
  since?<T extends Projected>(source: Source<T>, name: string, namespace?: string): number | undefined;
  /** Whether the first list of a source is complete. Only optional sources can be unlisted during a reconcile. */
  isListed?<T extends Projected>(source: Source<T>): boolean;
  /**
   * A full object that an earlier attempt requested with Need; undefined = not fetched (request it), null = does not
   * exist.
   */
  getFull(ref: FullRef): KubeObject | null | undefined;
  /**
   * The error if this reconcile requested an object with `mayBeRefused` and lacks the permission to read it. The read
   * is retried after a back-off.
   */
  refusal?(ref: FullRef): Failure | undefined;
  /**
   * The cached items of a collection that is watched on demand (Need.watch), sorted by key; undefined = not listed yet.
   * A change requeues the key if it touches the part that was read. The watch ends some time after the last key has
   * stopped reading it.
   */
  listOnDemand<T extends Projected>(source: Source<T>, part?: Part): readonly T[] | undefined;
  /** Why the first list of an on-demand collection fails; undefined = no error, or already listed. */
  listError<T extends Projected>(source: Source<T>): Failure | undefined;
  /** Whether this reconcile has made a live read of a part of a collection (Need.ask). */
  isRefreshed?<T extends Projected>(source: Source<T>, part: AskedPart): boolean;
  /**
   * The keys that the live read returned (Need.ask): a stale cache still has deleted objects. undefined = no live read
   * in this reconcile.
   */
  answered?<T extends Projected>(source: Source<T>, part: AskedPart): ReadonlySet<string> | undefined;
}

/** A part of a collection: one namespace, or one object. */
export interface Part {
  readonly namespace?: string;
  readonly name?: string;
}

/** The part of a collection to read live. */
export interface AskedPart extends Part {
  /** A label selector: only matching objects are listed. */
  readonly labels?: string;
}

export interface Failure {
  readonly message: string;
  readonly reason: string;
  /** The resource of the object whose write failed; absent = the failure was not a write. */
  readonly resource?: Resource;
}

export interface FullRef extends ObjectRef {
  readonly on: ServerName;
  readonly resource: Resource;
  /**
   * Read live in every reconcile, whatever the caches contain. For a step that relies on the absence of an object: a
   * stale cache does not have objects that others have just created.
   */
  readonly live?: true;
  /**
   * Without the permission to read the object, the reconcile continues and can report that (`view.refusal`). After one
   * refusal no more objects are read, so the controller must not request it again in the same reconcile.
   */
  readonly mayBeRefused?: true;
  /**
   * Only the spec is used: other changes do not requeue the key or refetch the object. Only for kinds that count
   * generations, and whose watch keeps them.
   */
  readonly specOnly?: true;
}

/**
 * Returned if data is missing: the runtime fetches the objects, starts the watches, and calls `observe` again once all
 * of it is there.
 */
export interface Need {
  readonly need: readonly FullRef[];
  /**
   * Sources created at run time: two with equal server, resource, namespace, labels, fields and view share one watch,
   * and must have the same projection.
   */
  // biome-ignore lint/suspicious/noExplicitAny: sources with different projections stand in one list.
  readonly watch?: readonly Source<any>[];
  /** Parts of collections to read live, because their watches may be stale; the results are folded into the caches. */
  readonly ask?: readonly Asked[];
}

export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly source: Source<any>;
  readonly part: AskedPart;
}

// biome-ignore lint/suspicious/noExplicitAny: rules of controllers with different memories stand in one list.
export interface WatchRule<T extends Projected = Projected, Memory = any> {
  readonly source: Source<T>;
  /** The keys to requeue if this item is added, changed or deleted. `old` is the item that the cache had before. */
  toKeys(item: T, view: View, old?: T): readonly string[];
  /** Keeps only the keys whose memory matches. */
  onlyIf?(memory: Memory): boolean;
  /**
   * Called with the memory of each of these keys, even if the key is not requeued because the event shows its own
   * write.
   */
  note?(memory: Memory, item: T, old?: T): void;
  /** How long the requeue may wait; absent = not at all. */
  readonly wait?: Wait<Memory>;
  /** The change affects only status: other changes go first, but for little more than a second. */
  readonly as?: 'report';
  /**
   * The controller starts without waiting for the first list of this source. Until then its objects look absent; check
   * `view.isListed`.
   */
  readonly optional?: true;
}

/** The precondition of a write. */
export interface Seen {
  readonly on: ServerName;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type Action = { readonly because: string } & (
  | { readonly do: 'create'; readonly on: ServerName; readonly resource: Resource; readonly object: KubeObject }
  | { readonly do: 'patch'; readonly of: Seen; readonly merge: Json; readonly subresource?: 'status' }
  /** For values that contain null, and for changes to a part of a list. */
  | {
      readonly do: 'json-patch';
      readonly of: Seen;
      readonly operations: readonly JsonOperation[];
      readonly subresource?: 'status';
    }
  | { readonly do: 'delete'; readonly of: Seen; readonly propagation?: Propagation }
  | {
      readonly do: 'event';
      readonly on: ServerName;
      readonly about: ObjectRef & { readonly apiVersion: string };
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
    }
);

/**
 * Steps run one after the other. The actions of one step must concern different objects: they run concurrently, with a
 * limit, in any order. A crash after all earlier steps and any subset of the current one must be safe.
 */
export interface Decision {
  readonly steps: readonly (readonly Action[])[];
  readonly holds: readonly Hold[];
  readonly wakeAt?: number;
  /**
   * There is a status to write that no client waits for: the key runs again at this time and writes it together with
   * later changes, unless the steps fail.
   */
  readonly coalesceUntil?: number;
  /**
   * When to run again after the steps: `at once` = there is more to do; `later` = only at the times given above, or
   * when another client changes something. Absent = soon, after other keys have run.
   */
  readonly again?: 'at once' | 'later';
  readonly because: string;
}

/** The memory of each key. */
export type Memories<Memory> = ReadonlyMap<string, Memory>;

/** Common to controllers and workers. `Memory` is what is kept for a key from one reconcile to the next. */
interface Reconciles<Memory> {
  readonly name: string;
  /** Reported as `reportingController` in its Events. */
  readonly eventSource: string;
  // biome-ignore lint/suspicious/noExplicitAny: rules over different projections stand in one list; each is typed where it is written.
  readonly watches: readonly WatchRule<any, Memory>[];
  /**
   * Creates the memory of a key for its first reconcile. It saves work or counts time, and is never a source of truth:
   * the runtime drops it once the key is not ours any more, and a restarted process starts without it.
   */
  memory?(): Memory;
  /** The key is not ours any more: the controller drops its own caches and metrics of the key. */
  forget?(key: string, memory: Memory): void;
  /**
   * Called once at the start, for facts that do not come from an API server (a probe, a timer): it calls wake(key) when
   * they change.
   */
  begin?(wake: (key: string) => void, signal: AbortSignal, memories: Memories<Memory>): void;
}

export interface Controller<Observed = unknown, Memory = void> extends Reconciles<Memory> {
  /** undefined = the key is not ours. */
  observe(view: View, key: string, memory: Memory): Observed | Need | undefined;
  /** Pure, except for the memory. */
  decide(observed: Observed, memory: Memory): Decision;
}

/**
 * A reconciler that makes its own API calls, because its parts must not block each other: a manifest that fails must
 * not stop the others. Keys, requeues, one reconcile per key at a time and error handling are the same as for a
 * controller.
 */
export interface Worker<Memory = void> extends Reconciles<Memory> {
  /** Reconciles a key; undefined = the key is not ours. */
  work(view: View, key: string, client: WorkerClient, memory: Memory): Promise<WorkResult | Need | undefined>;
}

export interface WorkerClient {
  /**
   * Calls one of the servers and folds the response into the caches. A write throws FencedError if this process must
   * not write any more; after a LostError the object is read live before the next reconcile of this key.
   */
  call(on: ServerName, request: Request): Promise<Answer>;
  record(event: Omit<Extract<Action, { do: 'event' }>, 'because' | 'do'>): void;
  readonly signal: AbortSignal;
}

/** The result of a worker's reconcile. */
export interface WorkResult {
  readonly holds: readonly Hold[];
  readonly wakeAt?: number;
  readonly because: string;
}

export const idle = (because: string, more: Partial<Pick<Decision, 'holds' | 'wakeAt'>> = {}): Decision => ({
  steps: [],
  holds: [],
  because,
  ...more,
});

/** A controller with any observed type and any memory. */
// biome-ignore lint/suspicious/noExplicitAny: each is typed where it is written.
export type AnyController = Controller<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyWorker = Worker<any>;

export const isWorker = (controller: AnyController | AnyWorker): controller is AnyWorker => 'work' in controller;

export const isNeed = (value: unknown): value is Need =>
  typeof value === 'object' && value !== null && 'need' in value && Array.isArray((value as Need).need);
