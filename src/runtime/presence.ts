// Notices that an API server answers again which gave no answer for a while, by whichever call gets through first. Then nobody who was waiting for
// it needs to wait out a back-off that grew while it was away.
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError, LostError } from '../base/errors.ts';
import type { ServerName } from './controller.ts';
import type { Deps } from './deps.ts';

export interface Presence {
  readonly servers: Deps['servers'];
  /** How often this server has come back. */
  returns(on: ServerName): number;
}

/** A server is away once this long has passed since its last answer; one that loses some calls and answers others is not. */
const AWAY_MS = 5000;

export function createPresence(
  { servers, clock }: Pick<Deps, 'servers' | 'clock'>,
  onBack: (on: ServerName) => void,
): Presence {
  const returns = new Map<ServerName, number>();
  const notice = (on: ServerName) => () => {
    returns.set(on, (returns.get(on) ?? 0) + 1);
    onBack(on);
  };
  const noticed = Object.entries(servers).map(([name, transport]) => {
    const on = name as ServerName;
    return [on, noticing(transport, clock, notice(on))];
  });
  return { servers: Object.fromEntries(noticed), returns: (on) => returns.get(on) ?? 0 };
}

function noticing(inner: Transport, clock: Clock, onBack: () => void): Transport {
  let heardAt = clock.now();
  let isLost = false;
  const heard = () => {
    const now = clock.now();
    const isBack = isLost && now - heardAt >= AWAY_MS;
    heardAt = now;
    isLost = false;
    if (isBack) onBack();
  };
  const failed = (error: unknown) => {
    if (error instanceof LostError) isLost = true;
    else if (error instanceof ApiError) heard();
  };
  return {
    // The very promises of the transport: whoever waits for them does not wait a moment longer.
    call(request, signal) {
      const answer = inner.call(request, signal);
      answer.then(heard, failed);
      return answer;
    },
    watch(request, signal) {
      const onOpen = () => {
        request.onOpen?.();
        heard();
      };
      const batches = inner.watch({ ...request, onOpen }, signal)[Symbol.asyncIterator]();
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
