// What can be asked of a running manager: for tests, health and people. Sizes are here so that growth can be seen.
import type { ReflectorState } from './reflector.ts';

export interface SourceState extends ReflectorState {
  readonly name: string;
  /** No key waits for its first list. */
  readonly optional: boolean;
  readonly revision: string;
  readonly items: number;
  readonly tombstones: number;
}

export interface ControllerState {
  readonly name: string;
  /** All that it watches is known. */
  readonly ready: boolean;
  readonly waiting: number;
  readonly running: number;
  readonly failing: number;
  readonly remembered: number;
  /** Keys of which the controller itself remembers something. */
  readonly memories: number;
  /** Keys that may not be decided before a lost write was looked up. */
  readonly blocked: number;
  readonly holds: number;
  /** Whole objects whose changes a key waits for. */
  readonly dependencies: number;
  readonly nextWakeAt: number | undefined;
  readonly passes: number;
  /** When the oldest pass that still runs began. */
  readonly busySince: number | undefined;
}

export interface ManagerState {
  readonly sources: readonly SourceState[];
  readonly controllers: readonly ControllerState[];
  readonly contents: { readonly bytes: number; readonly entries: number; readonly inFlight: number };
  readonly events: { readonly pending: number; readonly known: number };
  readonly stopped: boolean;
}
