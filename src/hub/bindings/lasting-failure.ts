// Whether what stopped a pass is worth a condition that says so.
import type { Failure } from '../../runtime/controller.ts';

/** Trouble of the network, of a busy server or between two writers passes by itself; saying so would only make the condition flap. */
const PASSING: ReadonlySet<string> = new Set([
  'Conflict',
  'AlreadyExists',
  'NotFound',
  'TooManyRequests',
  'ServiceUnavailable',
  'Timeout',
  'ServerTimeout',
  'InternalError',
  'throttled',
  'other',
]);
export const isLasting = ({ reason }: Failure): boolean => !PASSING.has(reason);
