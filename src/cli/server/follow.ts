// Follows objects with a watch: their present state, then every change. Never polls; if the server becomes unreachable,
// it waits.
import type { KubeObject } from '../../api/object.ts';
import type { Target, Transport, WatchEvent } from '../../api/transport.ts';
import { type Clock, until } from '../../base/clock.ts';
import { AbortError, ApiError, LostError, messageOf } from '../../base/errors.ts';

export interface FollowOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once when the server becomes unreachable, until it answers again. */
  onLost?(message: string): void;
}

const WATCH_SECONDS = 300;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Follows one object. Ends when the signal fires, or with undefined when the object is deleted. */
export async function* follow(
  transport: Transport,
  at: Target & { readonly name: string },
  options: FollowOptions,
): AsyncIterable<KubeObject | undefined> {
  const { name, ...collection } = at;
  let seen: string | undefined;
  yield* persistently<KubeObject | undefined>(options, async function* (heard) {
    try {
      const { object } = await transport.call({ verb: 'get', at }, options.signal);
      if (object === undefined) return 'over';
      if (object.metadata.resourceVersion !== seen) yield object;
      seen = object.metadata.resourceVersion;
      const request = {
        at: collection,
        fields: `metadata.name=${name}`,
        timeoutSeconds: WATCH_SECONDS,
        revision: seen,
      };
      for await (const batch of heard(transport.watch(request, options.signal))) {
        for (const { type, object } of batch) {
          if (type === 'BOOKMARK' || object.metadata.name !== name) continue;
          if (type === 'DELETED') {
            yield undefined;
            return 'over';
          }
          if (object.metadata.resourceVersion === seen) continue;
          seen = object.metadata.resourceVersion;
          yield object;
        }
      }
      return 'ended';
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
      yield undefined;
      return 'over';
    }
  });
}

/**
 * Follows objects, optionally by labels; existing ones come first. Ends when the signal fires, or with an error if
 * watching is forbidden.
 */
export async function* followLabelled(
  transport: Transport,
  { at, labels }: { readonly at: Target; readonly labels?: string },
  options: FollowOptions,
): AsyncIterable<readonly WatchEvent[]> {
  try {
    yield* persistently<readonly WatchEvent[]>(options, async function* (heard) {
      const request = { at, timeoutSeconds: WATCH_SECONDS, labels };
      yield* heard(transport.watch(request, options.signal));
      return 'ended';
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Records that a watch has sent something. */
type Hear = (watch: AsyncIterable<readonly WatchEvent[]>) => AsyncIterable<readonly WatchEvent[]>;

/** Retries with increasing pauses while the server does not answer. */
async function* persistently<T>(
  { clock, signal, onLost }: FollowOptions,
  attempt: (heard: Hear) => AsyncGenerator<T, 'ended' | 'over'>,
): AsyncGenerator<T, void> {
  let waitMs = 0;
  let began = clock.now();
  const heard: Hear = async function* (watch) {
    began = clock.now();
    for await (const batch of watch) {
      waitMs = 0;
      yield batch;
    }
  };
  while (!signal.aborted) {
    try {
      if ((yield* attempt(heard)) === 'over') return;
      // A watch that ends as soon as it begins must not cause a busy loop.
      waitMs = clock.now() - began < FIRST_WAIT_MS ? longer(waitMs) : 0;
    } catch (error) {
      if (error instanceof AbortError) return;
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
