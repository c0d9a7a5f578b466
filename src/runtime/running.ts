// One controller while its manager runs: what waits for it, what it looks at, and what its last passes left behind.
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
  /** Those that it waits for. */
  readonly informers: readonly Informer[];
  readonly viewAt: ViewAt;
  /** For callers that map a change to keys: the same for all changes of a moment. */
  view: View | undefined;
  /** What the controller remembers, by key. */
  readonly memories: Map<string, unknown>;
  readonly holds: Map<string, readonly Hold[]>;
  readonly unsettled: Map<string, Map<string, Place>>;
  readonly dependents: Dependents;
  /** When each running pass began. */
  readonly busy: Map<string, number>;
  /** What stopped the last pass over a key. */
  readonly failures: Map<string, Failure>;
  /** Keys whose last pass did not get an answer to something that it asked of these servers. */
  readonly unanswered: Map<string, ReadonlySet<ServerName>>;
  /** Woken from outside before it was ready. */
  readonly early: Set<string>;
  isReady: boolean;
  passes: number;
  depth: number;
}

/** Of a key that is reconciled: what its controller remembers of it. */
export function memoryOf({ controller, memories }: Running, key: string): unknown {
  if (controller.memory === undefined) return undefined;
  if (!memories.has(key)) memories.set(key, controller.memory());
  return memories.get(key);
}

/** The key is not the controller's any more. */
export function forget({ controller, memories }: Running, key: string): void {
  const memory = memories.get(key);
  memories.delete(key);
  controller.forget?.(key, memory);
}
