// One controller while its manager runs: what waits for it, what it looks at, and what its last passes left behind.
import type { Hold } from '../api/hold.ts';
import type { Controller, Failure, See, ServerName, Worker } from './controller.ts';
import type { Feed } from './feeds.ts';
import type { Place } from './place.ts';
import type { Queue } from './queue.ts';
import type { SeeAt } from './see.ts';
import type { Dependents } from './wholes.ts';

export interface Running {
  readonly controller: Controller | Worker;
  readonly queue: Queue;
  /** Those that it waits for. */
  readonly feeds: readonly Feed[];
  readonly see: SeeAt;
  /** For whoever asks whom a change concerns: the same for all changes of a moment. */
  view: See | undefined;
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
