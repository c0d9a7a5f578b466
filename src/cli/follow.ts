// One object over time, by a watch: as it is, then after every change. Nothing is asked again and again; a server that goes away is waited for.
import type { KubeObject } from '../api/object.ts';
import type { Target, Transport } from '../api/transport.ts';
import { type Clock, until } from '../base/clock.ts';
import { AbortError, ApiError, LostError, messageOf } from '../base/errors.ts';

export interface FollowOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told when the server cannot be reached, once until it answers again. */
  onLost?(message: string): void;
}

const WATCH_SECONDS = 300;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Ends when the signal fires, or with undefined when the object is gone. */
export async function* follow(
  transport: Transport,
  at: Target & { readonly name: string },
  { clock, signal, onLost }: FollowOptions,
): AsyncIterable<KubeObject | undefined> {
  const { name, ...collection } = at;
  let waitMs = 0;
  let seen: string | undefined;
  while (!signal.aborted) {
    try {
      const { object } = await transport.call({ verb: 'get', at }, signal);
      if (object === undefined) return;
      if (object.metadata.resourceVersion !== seen) yield object;
      seen = object.metadata.resourceVersion;
      const request = {
        at: collection,
        fields: `metadata.name=${name}`,
        timeoutSeconds: WATCH_SECONDS,
        ...(seen === undefined ? {} : { revision: seen }),
      };
      const began = clock.now();
      for await (const batch of transport.watch(request, signal)) {
        waitMs = 0;
        for (const { type, object } of batch) {
          if (type === 'BOOKMARK' || object.metadata.name !== name) continue;
          if (type === 'DELETED') return yield undefined;
          if (object.metadata.resourceVersion === seen) continue;
          seen = object.metadata.resourceVersion;
          yield object;
        }
      }
      // A watch that ends as soon as it begins would make a busy loop of this.
      waitMs = clock.now() - began < FIRST_WAIT_MS ? longer(waitMs) : 0;
    } catch (error) {
      if (error instanceof AbortError) return;
      if (error instanceof ApiError && error.code === 404) return yield undefined;
      const isForNow =
        error instanceof LostError ||
        (error instanceof ApiError && [410, 429].includes(error.code)) ||
        (error instanceof ApiError && error.code >= 500);
      if (!isForNow) throw error;
      if (waitMs === 0 && error instanceof LostError) onLost?.(messageOf(error));
      waitMs = longer(waitMs);
    }
    if (waitMs > 0) await until(clock, clock.now() + waitMs, 'follow again', signal);
  }
}

const longer = (waitMs: number): number => Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waitMs * 2));
