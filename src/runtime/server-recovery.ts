// Detects that an unreachable API server answers again, by whichever call succeeds first. Keys that failed because of
// the outage are then retried at once, instead of after a back-off that grew meanwhile.
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError, LostError } from '../base/errors.ts';
import type { ServerName } from './controller.ts';
import type { Deps } from './deps.ts';
import { isNoAnswer } from './outcome.ts';

export interface ServerRecovery {
  readonly servers: Deps['servers'];
  /** How often this server became reachable again. */
  returns(on: ServerName): number;
  /** The server that did not answer in this error; undefined = every server answered. */
  silentIn(error: unknown): ServerName | undefined;
}

/**
 * A server counts as unreachable if this much time passed between the first lost call and the next response. One that
 * loses only some calls does not.
 */
const AWAY_MS = 5000;

export function createServerRecovery(
  { servers, clock }: Pick<Deps, 'servers' | 'clock'>,
  onBack: (on: ServerName) => void,
): ServerRecovery {
  const returns = new Map<ServerName, number>();
  const silent = new WeakMap<object, ServerName>();
  const noticed = Object.entries(servers).map(([name, transport]) => {
    const on = name as ServerName;
    const hears: Hears = {
      back() {
        returns.set(on, (returns.get(on) ?? 0) + 1);
        onBack(on);
      },
      nothing: (error) => void silent.set(error, on),
    };
    return [on, noticing(transport, clock, hears)];
  });
  return {
    servers: Object.fromEntries(noticed),
    returns: (on) => returns.get(on) ?? 0,
    silentIn: (error) => (error instanceof Error ? silent.get(error) : undefined),
  };
}

interface Hears {
  back(): void;
  nothing(error: Error): void;
}

function noticing(inner: Transport, clock: Clock, hears: Hears): Transport {
  let lostAt: number | undefined;
  const heard = () => {
    const isBack = lostAt !== undefined && clock.now() - lostAt >= AWAY_MS;
    lostAt = undefined;
    if (isBack) hears.back();
  };
  const failed = (error: unknown) => {
    if (isNoAnswer(error)) hears.nothing(error as Error);
    // A proxy may refuse one kind of call for good: that shows neither an outage nor a recovery.
    if (error instanceof LostError) lostAt ??= clock.now();
    else if (error instanceof ApiError && !isNoAnswer(error)) heard();
  };
  return {
    // Returns the original promise, so that the caller does not wait a microtask longer.
    call(request, signal) {
      const answer = inner.call(request, signal);
      answer.then(heard, failed);
      return answer;
    },
    watch(request, signal, onOpen) {
      const opened = () => {
        onOpen?.();
        heard();
      };
      const batches = inner.watch(request, signal, opened)[Symbol.asyncIterator]();
      const next = () => {
        const batch = batches.next();
        batch.then(({ done }) => done || heard(), failed);
        return batch;
      };
      const end = () => batches.return?.() ?? Promise.resolve({ done: true as const, value: undefined });
      return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
    },
  };
}
