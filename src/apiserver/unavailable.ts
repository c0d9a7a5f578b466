// The response when the store takes no writes. The store's own error is passed on, so that it can also be logged.
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
