// How the runtime handles each class of failure, as one table.
import { AbortError, ApiError, InvariantError, LostError, UserError } from '../base/errors.ts';
import type { Next } from './due.ts';

export type FailureClass =
  | 'user'
  | 'conflict'
  | 'exists'
  | 'missing'
  | 'throttled'
  | 'refused'
  | 'lost'
  | 'invariant'
  | 'fenced'
  | 'stopped'
  | 'other';

export interface Outcome {
  readonly next: Next['next'];
  /** Live read of the object that the failed action concerned: `now`, or `first` = before anything else is decided. */
  readonly look?: 'now' | 'first';
  /** The other actions of the step would fail for the same reason. */
  readonly endsStep: boolean;
  readonly level: 'info' | 'warn' | 'error';
  /**
   * The next reconcile sees the failure (`view.failure`), so that a condition can report it. Transient conflicts are
   * left out.
   */
  readonly isWorthTelling?: true;
}

export const OUTCOMES: Readonly<Record<FailureClass, Outcome>> = {
  /** The condition reports it; the object must change. */
  user: { next: 'done', endsStep: false, level: 'info', isWorthTelling: true },
  /** Another client changed the object: read it and decide again. */
  conflict: { next: 'retry', look: 'now', endsStep: false, level: 'info' },
  exists: { next: 'retry', look: 'now', endsStep: false, level: 'info' },
  missing: { next: 'retry', look: 'now', endsStep: false, level: 'info' },
  throttled: { next: 'back-off', endsStep: true, level: 'warn', isWorthTelling: true },
  refused: { next: 'back-off', endsStep: false, level: 'warn', isWorthTelling: true },
  /** The write may have happened: nothing is decided for this key before the object was read. */
  lost: { next: 'retry', look: 'first', endsStep: true, level: 'warn' },
  invariant: { next: 'slow-back-off', endsStep: true, level: 'error', isWorthTelling: true },
  /** Not the leader any more, or not for long enough to finish a write. */
  fenced: { next: 'back-off', endsStep: true, level: 'info' },
  stopped: { next: 'done', endsStep: true, level: 'info' },
  other: { next: 'back-off', endsStep: true, level: 'warn', isWorthTelling: true },
};

/** Thrown in place of a write that must not be sent any more. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

const BY_REASON: Readonly<Record<string, FailureClass>> = {
  Conflict: 'conflict',
  AlreadyExists: 'exists',
  NotFound: 'missing',
  TooManyRequests: 'throttled',
  ServiceUnavailable: 'throttled',
};

export function classOf(error: unknown): FailureClass {
  if (error instanceof UserError) return 'user';
  if (error instanceof ApiError) return BY_REASON[error.reason] ?? 'refused';
  if (error instanceof LostError) return 'lost';
  if (error instanceof InvariantError) return 'invariant';
  if (error instanceof FencedError) return 'fenced';
  if (error instanceof AbortError) return 'stopped';
  return 'other';
}

/** A failed read leaves nothing unknown, so a lost response is treated like any other network error. */
export function classOfRead(error: unknown): FailureClass {
  const found = classOf(error);
  return found === 'lost' ? 'other' : found;
}

const GATEWAY_CODES: readonly number[] = [502, 503, 504];

/** The server itself did not answer: there was no response, or only one from a proxy in front of it. */
export const isNoAnswer = (error: unknown): boolean =>
  error instanceof LostError || (error instanceof ApiError && GATEWAY_CODES.includes(error.code));

/** The Retry-After of the server, in ms. */
export const retryAfterMs = (error: unknown): number =>
  error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;

const PATIENCE: readonly Next['next'][] = ['done', 'continue', 'retry', 'back-off', 'slow-back-off'];

/**
 * Of several failures the longest wait wins: a server that asked for a delay must not be called early because of a
 * conflict elsewhere.
 */
export const longestWait = (nexts: readonly Next['next'][]): Next['next'] =>
  PATIENCE[Math.max(0, ...nexts.map((next) => PATIENCE.indexOf(next)))] as Next['next'];
