// The kinds of failure that the program distinguishes. All others are the network, the disk or a bug.

/** A user wrote something invalid. The condition reports it; nothing is retried until the object changes. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The API server rejected a request. `reason` is that of Kubernetes' Status (NotFound, Conflict, Invalid …). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  constructor(code: number, reason: string, message: string, details?: StatusDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** A call was sent and got no response: a write may or may not have happened. */
export class LostError extends Error {
  override readonly name = 'LostError';
  /** False: the server never received it, so it has not happened. */
  readonly sent: boolean;
  constructor(message?: string, options: ErrorOptions & { readonly sent?: boolean } = {}) {
    super(message, options);
    this.sent = options.sent ?? true;
  }
}

/** An internal assumption is violated: a bug, or a foreign edit. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function invariant(holds: unknown, message: string): asserts holds {
  if (!holds) throw new InvariantError(message);
}

/** The rejection that users of AbortSignal expect. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
