// Exponential back-off with a maximum and with jitter, so that keys that failed together do not retry together.
import type { Random } from '../base/random.ts';

export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** `failures` counts from 1. The result is between half and all of the full wait. */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number, random: Random): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.ceil(full * (0.5 + random.next() / 2));
}
