// The few kinds of failure that the rest of the program tells apart. Everything else is the network, the disk or a bug.

/** The user wrote something that cannot work. The condition says so; nothing is retried until the object changes. */
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

/** The API server said no. `reason` is the word of Kubernetes' Status (NotFound, Conflict, Invalid …). */
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

/** A call went out and no answer came: a write may or may not have happened. */
export class LostError extends Error {
  override readonly name = 'LostError';
  /** False: the server never saw it, so it has not happened. */
  readonly sent: boolean;
  constructor(message?: string, options: ErrorOptions & { readonly sent?: boolean } = {}) {
    super(message, options);
    this.sent = options.sent ?? true;
  }
}

/** An assumption of ours broke: a bug, or a foreign edit. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function invariant(holds: unknown, message: string): asserts holds {
  if (!holds) throw new InvariantError(message);
}

/** What AbortSignal users expect to be rejected with. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
