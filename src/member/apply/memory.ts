// Per-object memory of the previous reconcile, so that a change of one object costs a read of that object and not of
// all. It is only an optimization: an agent that restarts without it reaches the same state.
import type { Random } from '../../base/random.ts';
import { backOffMs } from '../../runtime/back-off.ts';
import type { Outcome } from './outcome.ts';

export interface Remembered {
  readonly outcome: Outcome;
  /** The input of the outcome: desired hash, state of the live object, owner and strategy. */
  readonly basis: string;
  /** Only for failures: other state that may change the result. */
  readonly context: string;
  readonly desiredHash: string;
  /**
   * Fingerprint of the remaining difference and of the fields of the live object that the manifest sets. After an
   * apply: as the server stored it; absent if no difference is left. After a refusal: of the rejected write to a live
   * object.
   */
  readonly fingerprint?: string;
  /** Consecutive failures. */
  readonly failures: number;
  /** Consecutive reads that failed because the server was busy; the previous outcome is kept. */
  readonly transientErrors?: number;
  /** Absent = this manifest was not applied before, as far as the agent knows. */
  readonly contention?: Contention;
  /** The object differs, and nothing is written until `notBefore`, as long as this is the generation of the Work. */
  readonly backingOffFor?: number;
  /** When the object is checked again; after a failure, not earlier. */
  readonly notBefore?: number;
}

/**
 * How often another client undid our writes. Kept across the reads in between: a refusal or a transient error does not
 * reset it.
 */
export interface Contention {
  /** How often it was applied again although the desired state was the same. */
  readonly reapplies: number;
  /** Time of the last apply. */
  readonly appliedAt: number;
  /** The generation of the Work of that apply, see `One`. */
  readonly order: number;
  /** No write before this time, unless the Work has a new generation. */
  readonly backOffUntil: number;
}

/** By identity. One per Work. */
export type Memory = Map<string, Remembered>;

const FAILURES = { firstMs: 2_000, maxMs: 900_000 };
const REAPPLIES = { firstMs: 5_000, maxMs: 900_000 };
/**
 * Up to this many transient errors, about half a minute, are not reported: the heartbeat already reports that the
 * server is unhealthy.
 */
export const MAX_TRANSIENT_ERRORS = 4;
/** The count restarts after this long without a foreign change. */
export const CONTENTION_RESET_MS = 1_800_000;

export const failureDelayMs = (failures: number, random: Random): number => backOffMs(FAILURES, failures, random);
export const reapplyDelayMs = (reapplies: number, random: Random): number => backOffMs(REAPPLIES, reapplies, random);
