// The state of one controller while its manager runs: its queue, its informers, and the results of its last reconciles.
import type { Hold } from '../api/hold.ts';
import type { AnyController, AnyWorker, Failure, ServerName, View } from './controller.ts';
import type { Dependents } from './full-objects.ts';
import type { Informer } from './informers.ts';
import type { Place } from './place.ts';
import type { Queue } from './queue.ts';
import type { ViewAt } from './view.ts';

export interface Running {
  readonly controller: AnyController | AnyWorker;
  readonly queue: Queue;
  /** The informers that must be synced before it starts. */
  readonly informers: readonly Informer[];
  readonly viewAt: ViewAt;
  /** For mapping changes to keys: shared by all changes of one moment. */
  view: View | undefined;
  /** The memory of each key. */
  readonly memories: Map<string, unknown>;
  readonly holds: Map<string, readonly Hold[]>;
  readonly unsettled: Map<string, Map<string, Place>>;
  readonly dependents: Dependents;
  /** When each running reconcile began. */
  readonly busy: Map<string, number>;
  /** Why the last reconcile of a key failed. */
  readonly failures: Map<string, Failure>;
  /** Keys whose last reconcile got no answer from these servers. */
  readonly unanswered: Map<string, ReadonlySet<ServerName>>;
  /** Keys that were woken from outside before the controller was ready. */
  readonly early: Set<string>;
  isReady: boolean;
  passes: number;
  depth: number;
}

/** The memory of a key; created on its first reconcile. */
export function memoryOf({ controller, memories }: Running, key: string): unknown {
  if (controller.memory === undefined) return undefined;
  if (!memories.has(key)) memories.set(key, controller.memory());
  return memories.get(key);
}

/** The key is not the controller's any more: drops its memory. */
export function forget({ controller, memories }: Running, key: string): void {
  const memory = memories.get(key);
  memories.delete(key);
  controller.forget?.(key, memory);
}
