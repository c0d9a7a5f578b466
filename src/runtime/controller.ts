// A controller is a function from what we saw to what we want. This file is the shape of one; the loop around it is in manager.ts.
import type { Hold } from '../api/hold.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject, ObjectRef } from '../api/object.ts';
import type { Answer, Propagation, Request } from '../api/transport.ts';
import type { Json } from '../base/json.ts';
import type { JsonOperation } from '../base/json-patch.ts';
import type { Wait } from './due.ts';

/** Which API server: a hub controller has one, a member agent two. */
export type ServerName = 'hub' | 'member';

/**
 * What a cache keeps of one resource, defined once per program (hub/sources.ts, member/sources.ts) and named by every controller that
 * reads it: one watch, one projection, its indexes.
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
   * Its watchers read most of its objects in full after every change: the watch brings them so, and they need not be read separately. Lists
   * bring only metadata, and more must not be in the projection.
   */
  readonly isReadWhole?: true;
  /**
   * What stays in memory. Absent = the whole object, for small kinds only. Must keep metadata's name, namespace, uid and resourceVersion. `old`
   * is what was in memory until now: what cannot have changed since need not be computed again. It does not change the result.
   */
  project?(object: KubeObject, old?: T): T;
  readonly indexes?: Readonly<Record<string, (item: T) => readonly string[]>>;
  /** A heartbeat: the runtime notes by its own clock since when it has been what it is (`view.since`). */
  stamp?(item: T): string | undefined;
}

export interface Projected {
  readonly metadata: KubeObject['metadata'];
}

/** Synchronous, from read-your-writes caches. */
export interface View {
  readonly now: number;
  /** What stopped the last pass over this key; absent once a pass got through. For conditions that say why nothing happens. */
  readonly failure?: Failure;
  get<T extends Projected>(source: Source<T>, name: string, namespace?: string): T | undefined;
  /** In key order. */
  all<T extends Projected>(source: Source<T>, namespace?: string): readonly T[];
  by<T extends Projected>(source: Source<T>, index: string, value: string): readonly T[];
  /** How often this server has come back after it had given no answer for a while: what failed before that may succeed now. */
  returns?(on: ServerName): number;
  /** Of a source with stamps: since when this item has had its stamp, by our own clock. A restarted program counts from its first list. */
  since?<T extends Projected>(source: Source<T>, name: string, namespace?: string): number | undefined;
  /** Whether the first list of a source has come in. Only optional ones can be without. */
  isListed?<T extends Projected>(source: Source<T>): boolean;
  /** A whole object that an earlier pass asked for with Need; undefined = not fetched (ask), null = known to be absent. */
  getFull(ref: FullRef): KubeObject | null | undefined;
  /** The server's word if this pass asked for an object with `mayBeRefused` and has no right to read it; it is tried again after a back-off. */
  refusal?(ref: FullRef): Failure | undefined;
  /**
   * What is known of a collection that is watched on demand (Need.watch), in key order; undefined = not listed yet. A change wakes the key
   * if it touches the part that was read. The watch ends some time after the last key has stopped reading.
   */
  listOnDemand<T extends Projected>(source: Source<T>, part?: Part): readonly T[] | undefined;
  /** Why the first list of a collection on demand does not come in; undefined = no trouble, or already listed. */
  listError<T extends Projected>(source: Source<T>): Failure | undefined;
  /** Whether this pass has asked the server for a part of a collection (Need.ask). */
  isRefreshed?<T extends Projected>(source: Source<T>, part: AskedPart): boolean;
  /** Keys of what the server answered (Need.ask): a stale cache still has what was deleted. undefined = this pass has not asked. */
  answered?<T extends Projected>(source: Source<T>, part: AskedPart): ReadonlySet<string> | undefined;
}

/** A part of a collection: one namespace, or one object. */
export interface Part {
  readonly namespace?: string;
  readonly name?: string;
}

/** A part that the server is asked for. */
export interface AskedPart extends Part {
  /** A label selector: only those that match. */
  readonly labels?: string;
}

export interface Failure {
  readonly message: string;
  readonly reason: string;
  /** Of the object whose write failed; absent = it was no write. */
  readonly resource?: Resource;
}

export interface FullRef extends ObjectRef {
  readonly on: ServerName;
  readonly resource: Resource;
  /**
   * Ask the server in every pass, whatever the caches say. For a step that rests on something not being there: a watch that is behind
   * does not know yet what others have made.
   */
  readonly live?: true;
  /**
   * Without the right to read it the pass continues, to report that: `view.refusal` has it. One refusal ends the asking, and a controller that sets this must not
   * ask again in the same pass.
   */
  readonly mayBeRefused?: true;
  /**
   * Only its spec is read: other changes of it wake no key, and are no reason to get it again. Only for kinds that count
   * generations, and whose watch keeps them.
   */
  readonly specOnly?: true;
}

/** "I must see these": the runtime gets the objects, begins to watch the collections, and observes again when all of it is there. */
export interface Need {
  readonly need: readonly FullRef[];
  /** Sources made on the way: two with equal server, resource, namespace, labels, fields and view are one, and must project alike. */
  // biome-ignore lint/suspicious/noExplicitAny: sources with different projections stand in one list.
  readonly watch?: readonly Source<any>[];
  /** Parts of collections that the server is asked for now, since their watch may be behind; what it says is folded in. */
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
  /** Keys to look at when this item appears, changes or goes. `old` is what the cache had. */
  toKeys(item: T, view: View, old?: T): readonly string[];
  /** Of these keys, those of which this is remembered. */
  onlyIf?(memory: Memory): boolean;
  /** Called for what is remembered of each of these keys, also if the key is not woken because the news are its own write. */
  note?(memory: Memory, item: T, old?: T): void;
  /** When it is early enough to look at the key because of this; absent = at once. */
  readonly wait?: Wait<Memory>;
  /** What becomes of it is only reported: changes go first, but not for much longer than a second. */
  readonly as?: 'report';
  /** The controller runs also before the first list of this source came in; what is not there yet looks absent, `view.isListed` tells. */
  readonly optional?: true;
}

/** What a write is conditional on. */
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
  /** By JSON patch: for values in which null means null, and for lists that change in part. */
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
 * Steps run one after the other; the actions of one step touch different objects and run side by side, bounded, in any order. All earlier
 * steps plus any subset of the current one must be a safe place to die.
 */
export interface Decision {
  readonly steps: readonly (readonly Action[])[];
  readonly holds: readonly Hold[];
  readonly wakeAt?: number;
  /** There is something to write that nothing waits for: then it is, with what comes until then, unless the steps fail. */
  readonly coalesceUntil?: number;
  /**
   * When to run again once the steps are done: `at once` = more is to be done; `later` = not before these moments, unless another client does
   * something. Absent = soon, after what others have to do.
   */
  readonly again?: 'at once' | 'later';
  readonly because: string;
}

/** What is remembered, by key. */
export type Memories<Memory> = ReadonlyMap<string, Memory>;

/** What controllers and workers have in common. `Memory`: what is remembered of a key from one reconcile to the next. */
interface Reconciles<Memory> {
  readonly name: string;
  /** Event source (`reportingController`) of its Events. */
  readonly eventSource: string;
  // biome-ignore lint/suspicious/noExplicitAny: rules over different projections stand in one list; each is typed where it is written.
  readonly watches: readonly WatchRule<any, Memory>[];
  /**
   * What is remembered of a key at first. It saves work or counts time, and is never a source of truth: the runtime creates it for the first
   * reconcile of a key, and drops it when the key is not ours any more. A restarted program begins without it.
   */
  memory?(): Memory;
  /** The key is not ours any more: caches and metrics that are no memory of the runtime drop it, too. */
  forget?(key: string, memory: Memory): void;
  /** Called once at the start, for facts that no API server knows (a probe, a pulse): they call wake(key) when they change. */
  begin?(wake: (key: string) => void, signal: AbortSignal, memories: Memories<Memory>): void;
}

export interface Controller<Observed = unknown, Memory = void> extends Reconciles<Memory> {
  /** undefined = not ours. */
  observe(view: View, key: string, memory: Memory): Observed | Need | undefined;
  /** Pure, but for what it remembers. */
  decide(observed: Observed, memory: Memory): Decision;
}

/**
 * For work whose parts must not stop each other (a manifest that fails is no reason to leave the others): it makes its own calls. Everything
 * else is as with a controller: keys, wake-ups, one pass per key at a time, the error table for what it throws.
 */
export interface Worker<Memory = void> extends Reconciles<Memory> {
  /** One pass over a key; undefined = not ours. */
  work(view: View, key: string, client: WorkerClient, memory: Memory): Promise<WorkResult | Need | undefined>;
}

export interface WorkerClient {
  /**
   * A call on one of the servers. A write is refused with FencedError when none may be issued any more; what an answer brings is folded into
   * the caches; after a LostError the object is looked at before the next pass over this key.
   */
  call(on: ServerName, request: Request): Promise<Answer>;
  record(event: Omit<Extract<Action, { do: 'event' }>, 'because' | 'do'>): void;
  readonly signal: AbortSignal;
}

/** How a pass of a worker ended. */
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

/** Whatever it observes and remembers. */
// biome-ignore lint/suspicious/noExplicitAny: each is typed where it is written.
export type AnyController = Controller<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyWorker = Worker<any>;

export const isWorker = (controller: AnyController | AnyWorker): controller is AnyWorker => 'work' in controller;

export const isNeed = (value: unknown): value is Need =>
  typeof value === 'object' && value !== null && 'need' in value && Array.isArray((value as Need).need);
