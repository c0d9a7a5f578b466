// What a pass remembers of each object until the next one, so that a change of one object costs a look at that one and not at all of them. It is
// a saving, never a source of truth: an agent that restarts knows nothing of it and comes to the same end.
import type { Random } from '../../base/random.ts';
import { backOffMs } from '../../runtime/back-off.ts';
import type { Outcome } from './outcome.ts';

export interface Remembered {
  readonly outcome: Outcome;
  /** What it was found from: the wish, how the live object stood, who we are. */
  readonly basis: string;
  /** Only for what failed: what else could make a difference. */
  readonly surroundings: string;
  readonly wish: string;
  /**
   * What we would still change, and what the object has of what the wish speaks of. Of what is applied: as the server left it; absent if nothing
   * was left to do. Of a refusal: the write that was refused, if it was one to a live object.
   */
  readonly print?: string;
  /** In a row, without success. */
  readonly failures: number;
  /** Reads in a row that the server had no time for; the outcome before them is kept. */
  readonly hiccups?: number;
  /** Absent = this wish was never applied, as far as we know. */
  readonly feud?: Feud;
  /** It is not as wanted, and nothing is done about that until `notBefore`, as long as this is the order. */
  readonly restsFor?: number;
  /** When it is looked at again; if it failed, not before. */
  readonly notBefore?: number;
}

/**
 * How long another client has been undoing what we write. It is kept apart from the reads in between: a refusal or a
 * transient error does not end it.
 */
export interface Feud {
  /** Applied again, although the desired state was the same: another client wants something else. */
  readonly fights: number;
  /** When it was applied last. */
  readonly appliedAt: number;
  /** For which order that was, see `One`. */
  readonly order: number;
  /** Not written again before, unless there is a new order. */
  readonly restUntil: number;
}

/** By identity. One per Work. */
export type Memory = Map<string, Remembered>;

const FAILURES = { firstMs: 2_000, maxMs: 900_000 };
const FIGHTS = { firstMs: 5_000, maxMs: 900_000 };
/** So many transient errors, about half a minute of them, are not reported: the heartbeat reports that the server is unhealthy. */
export const MAX_TRANSIENT_ERRORS = 4;
/** A peace this long ends the counting. */
export const PEACE_MS = 1_800_000;

export const failureDelayMs = (failures: number, random: Random): number => backOffMs(FAILURES, failures, random);
export const fightDelayMs = (fights: number, random: Random): number => backOffMs(FIGHTS, fights, random);
