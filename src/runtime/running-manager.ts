// The state of a manager while it runs: what its controllers share.
import { messageOf } from '../base/errors.ts';
import type { ObjectCache } from './content.ts';
import type { WatchRule } from './controller.ts';
import type { Deps } from './deps.ts';
import type { Recorder } from './events.ts';
import type { Informer, Informers } from './informers.ts';
import type { RuntimeMetrics } from './metrics.ts';
import type { OnDemandWatches } from './on-demand-watches.ts';
import type { OwnWrites } from './own-writes.ts';
import type { PassOptions } from './pass.ts';
import type { Running } from './running.ts';
import type { ServerRecovery } from './server-recovery.ts';
import type { TimeSlice } from './time-slice.ts';

/** The pass that a write belongs to. */
export interface Author {
  readonly of: Running;
  readonly key: string;
}

/** Resolves when all sources are listed. */
export interface Synced {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

export interface RunningManager {
  readonly deps: Deps;
  readonly metrics: RuntimeMetrics;
  readonly slice: TimeSlice;
  readonly recovery: ServerRecovery;
  /** Reads and watches end at once when the manager stops; writes that are under way get some time. */
  readonly reading: AbortController;
  readonly writing: AbortController;
  readonly informers: Informers;
  readonly onDemand: OnDemandWatches;
  readonly contents: ObjectCache;
  readonly recorder: Recorder;
  readonly ownWrites: OwnWrites<Author>;
  readonly running: readonly Running[];
  readonly rulesOf: ReadonlyMap<Informer, readonly { readonly rule: WatchRule; readonly of: Running }[]>;
  readonly passes: PassOptions;
  readonly synced: Synced;
  /** Promises of the manager that `stop` waits for. */
  readonly owned: Set<Promise<void>>;
  /** The pass whose write is being put into a cache. Its key is not woken by it. */
  author: Author | undefined;
  /** The watch event that is being mapped to keys. */
  news: { readonly place: string; readonly revision: string | undefined } | undefined;
  isStopping: boolean;
  stopped: Promise<void> | undefined;
  cancelResync: () => void;
}

/** Makes `stop` wait for the promise; a failure of it is a bug and is logged. */
export function own({ owned, deps }: RunningManager, promise: Promise<void>): void {
  owned.add(promise);
  promise.catch((error) => deps.log.error('bug', { error: messageOf(error) })).finally(() => owned.delete(promise));
}
