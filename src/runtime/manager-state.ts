// The state of a running manager, for tests, health checks and debugging. It has sizes, so that growth can be seen.
import type { ReflectorState } from './reflector.ts';

export interface SourceState extends ReflectorState {
  readonly name: string;
  /** No controller waits for its first list. */
  readonly optional: boolean;
  readonly revision: string;
  readonly items: number;
  readonly tombstones: number;
}

export interface ControllerState {
  readonly name: string;
  /** All the sources that it watches are listed. */
  readonly ready: boolean;
  readonly waiting: number;
  readonly running: number;
  readonly failing: number;
  readonly remembered: number;
  /** The keys for which the controller itself has a memory. */
  readonly memories: number;
  /** The keys that wait for a live read after a write with a lost response. */
  readonly blocked: number;
  readonly holds: number;
  /** The full objects whose changes requeue a key. */
  readonly dependencies: number;
  readonly nextWakeAt: number | undefined;
  readonly passes: number;
  /** When the oldest running reconcile began. */
  readonly busySince: number | undefined;
}

export interface ManagerState {
  readonly sources: readonly SourceState[];
  readonly controllers: readonly ControllerState[];
  readonly contents: { readonly bytes: number; readonly entries: number; readonly inFlight: number };
  readonly events: { readonly pending: number; readonly known: number };
  readonly stopped: boolean;
}
