// What the runtime does about each kind of failure, as data and in one place.
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
  /** What to do with the object that the failed action touched: get it now, or before anything else is decided. */
  readonly look?: 'now' | 'first';
  /** The other actions of the step would meet the same. */
  readonly endsStep: boolean;
  readonly level: 'info' | 'warn' | 'error';
  /** The controller is told in its next pass, so that a condition can say why nothing happens. Passing collisions are not worth it. */
  readonly isWorthTelling?: true;
}

export const OUTCOMES: Readonly<Record<FailureClass, Outcome>> = {
  /** The condition says it; the object must change. */
  user: { next: 'rest', endsStep: false, level: 'info', isWorthTelling: true },
  /** Another client was faster: read what it did and decide again. */
  conflict: { next: 'again', look: 'now', endsStep: false, level: 'info' },
  exists: { next: 'again', look: 'now', endsStep: false, level: 'info' },
  missing: { next: 'again', look: 'now', endsStep: false, level: 'info' },
  throttled: { next: 'back-off', endsStep: true, level: 'warn', isWorthTelling: true },
  refused: { next: 'back-off', endsStep: false, level: 'warn', isWorthTelling: true },
  /** It may have happened. Nothing is decided about this key before the object was seen. */
  lost: { next: 'again', look: 'first', endsStep: true, level: 'warn' },
  invariant: { next: 'slowly', endsStep: true, level: 'error', isWorthTelling: true },
  /** We are no longer the leader, or not for long enough to finish a write. */
  fenced: { next: 'back-off', endsStep: true, level: 'info' },
  stopped: { next: 'rest', endsStep: true, level: 'info' },
  other: { next: 'back-off', endsStep: true, level: 'warn', isWorthTelling: true },
};

/** Thrown in place of a write that must not be issued any more. */
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

/** Of a failed read nothing is unknown afterwards: a lost answer is the network's fault like any other. */
export function classOfRead(error: unknown): FailureClass {
  const found = classOf(error);
  return found === 'lost' ? 'other' : found;
}

const GATEWAY_CODES: readonly number[] = [502, 503, 504];

/** The server itself has not answered: there was no answer, or one of a proxy before it. */
export const isNoAnswer = (error: unknown): boolean =>
  error instanceof LostError || (error instanceof ApiError && GATEWAY_CODES.includes(error.code));

/** Seconds that the server asked us to stay away, in ms. */
export const retryAfterMs = (error: unknown): number =>
  error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0;

const PATIENCE: readonly Next['next'][] = ['rest', 'more', 'again', 'back-off', 'slowly'];

/** Of several failures the most patient one decides: who was told to stay away must not return because of another's conflict. */
export const longestWait = (nexts: readonly Next['next'][]): Next['next'] =>
  PATIENCE[Math.max(0, ...nexts.map((next) => PATIENCE.indexOf(next)))] as Next['next'];
