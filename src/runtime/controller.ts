// A controller is a function from what we saw to what we want. This file is the shape of one; the loop around it is in manager.ts.
import type { Hold } from '../api/hold.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject, ObjectRef } from '../api/object.ts';
import type { Propagation } from '../api/transport.ts';
import type { Json } from '../base/json.ts';

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
  /** What stays in memory. Absent = the whole object, for small kinds only. Must keep metadata's name, namespace, uid and resourceVersion. */
  project?(object: KubeObject): T;
  readonly indexes?: Readonly<Record<string, (item: T) => readonly string[]>>;
}

export interface Projected {
  readonly metadata: KubeObject['metadata'];
}

/** Synchronous, from read-your-writes caches. */
export interface See {
  readonly now: number;
  /** What stopped the last pass over this key; absent once a pass got through. For conditions that say why nothing happens. */
  readonly failure?: Failure;
  get<T extends Projected>(source: Source<T>, name: string, namespace?: string): T | undefined;
  /** In key order. */
  all<T extends Projected>(source: Source<T>, namespace?: string): readonly T[];
  by<T extends Projected>(source: Source<T>, index: string, value: string): readonly T[];
  /** Whether the first list of a source has come in. Only optional ones can be without. */
  isListed?<T extends Projected>(source: Source<T>): boolean;
  /** A whole object that an earlier pass asked for with Need; undefined = not fetched (ask), null = known to be absent. */
  whole(ref: WholeRef): KubeObject | null | undefined;
}

export interface Failure {
  readonly message: string;
  readonly reason: string;
}

export interface WholeRef extends ObjectRef {
  readonly on: ServerName;
  readonly resource: Resource;
}

/** "I must see these whole": the runtime gets them (deduplicated, bounded) and observes again. */
export interface Need {
  readonly need: readonly WholeRef[];
}

export interface WatchRule<T extends Projected = Projected> {
  readonly source: Source<T>;
  /** Keys to look at when this item appears, changes or goes. `old` is what the cache had. */
  toKeys(item: T, see: See, old?: T): readonly string[];
  /** The controller runs also before the first list of this source came in; what is not there yet looks absent, `see.isListed` tells. */
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
  readonly because: string;
}

export interface Controller<Observed = unknown> {
  readonly name: string;
  /** Event source (`reportingController`) of its Events. */
  readonly eventSource: string;
  // biome-ignore lint/suspicious/noExplicitAny: rules over different projections stand in one list; each is typed where it is written.
  readonly watches: readonly WatchRule<any>[];
  /** Called once at the start, for facts that no API server knows (a probe, a pulse): they call wake(key) when they change. */
  begin?(wake: (key: string) => void, signal: AbortSignal): void;
  /** undefined = not ours. */
  observe(see: See, key: string): Observed | Need | undefined;
  /** Pure. */
  decide(observed: Observed): Decision;
}

export const idle = (because: string, more: Partial<Pick<Decision, 'holds' | 'wakeAt'>> = {}): Decision => ({
  steps: [],
  holds: [],
  because,
  ...more,
});

export const isNeed = (value: unknown): value is Need =>
  typeof value === 'object' && value !== null && 'need' in value && Array.isArray((value as Need).need);
