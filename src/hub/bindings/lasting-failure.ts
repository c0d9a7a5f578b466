// Whether the error of a reconcile should be reported in a condition.
import type { Failure } from '../../runtime/controller.ts';

/**
 * Errors of the network, of a busy server or of a conflict are transient; reporting them would make the condition flap.
 */
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
