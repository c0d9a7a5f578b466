// The error if the store accepts no writes. It carries the store's own error, so that it can be logged.
import { ApiError } from '../base/errors.ts';
import type { StoreUnavailable } from './store/store.ts';

export const unavailable = (cause: StoreUnavailable): ApiError =>
  new ApiError(
    503,
    'ServiceUnavailable',
    `the store cannot take writes: ${cause.message}`,
    { retryAfterSeconds: 1 },
    { cause },
  );
