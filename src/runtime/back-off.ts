// How long to wait before trying again: doubling, with a limit, and spread so that many who failed together do not return together.
import type { Random } from '../base/random.ts';

export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** `failures` counts from 1. Between half of the full wait and all of it. */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number, random: Random): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.ceil(full * (0.5 + random.next() / 2));
}
