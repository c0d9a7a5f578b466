// An API server that throttles requests (429) makes everything slow, but nothing fails: the client retries by itself.
// So the log explains from time to time why it is slow and what to do, and a counter counts each refusal.
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { ApiError } from '../base/errors.ts';
import type { Log } from '../runtime/deps.ts';

const NAME = 'flotilla_throttled_requests_total';
const TOLD_AGAIN_AFTER_MS = 60_000;

export interface ThrottlingOptions {
  readonly server: 'hub' | 'member';
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** To be called with each refusal. */
export function tellThrottling({ server, clock, log, metrics }: ThrottlingOptions): (refusal: ApiError) => void {
  const refused =
    (metrics.getSingleMetric(NAME) as Counter<'server'> | undefined) ??
    new Counter({
      name: NAME,
      help: 'Requests that an API server refused because it received too many; they are sent again later.',
      labelNames: ['server'],
      registers: [metrics],
    });
  let toldAt = Number.NEGATIVE_INFINITY;
  let sinceThen = 0;
  return ({ message }) => {
    if (message.includes(NOT_SERVED_YET)) return;
    refused.inc({ server });
    sinceThen++;
    if (clock.now() - toldAt < TOLD_AGAIN_AFTER_MS) return;
    log.warn('the API server is throttling', { server, refused: sinceThen, error: message, next: REMEDY });
    toldAt = clock.now();
    sinceThen = 0;
  };
}

/** A kind that was just defined briefly returns the same code: that is not throttling. */
const NOT_SERVED_YET = 'storage is (re)initializing';

const REMEDY =
  'requests are sent again later, one after the other; if this persists, create a FlowSchema there that assigns this identity to a PriorityLevelConfiguration with more shares';
