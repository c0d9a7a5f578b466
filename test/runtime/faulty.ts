// A Transport between a client and a server that do not get on: everything that a network and a busy API server can do, by dice.
import { expired, internalError, modified, tooManyRequests } from '../../src/api/status.ts';
import type { Answer, Request, Transport, WatchEvent, WatchRequest } from '../../src/api/transport.ts';
import { AbortError, LostError } from '../../src/base/errors.ts';
import type { Random } from '../../src/base/random.ts';

export interface Faulty extends Transport {
  /** Share of calls and batches that something happens to. */
  rate: number;
  /** What has happened, by name. */
  readonly happened: Map<string, number>;
}

const CALL_FAULTS = ['lose-request', 'lose-reply', 'refuse', 'throttle', 'conflict', 'delay'] as const;
const WATCH_FAULTS = ['cut', 'lost', 'gone', 'again', 'silence', 'delay'] as const;

export function faulty(inner: Transport, dice: Random): Faulty {
  const happened = new Map<string, number>();
  const pick = <F extends string>(faults: readonly F[]): F | undefined => {
    if (dice.next() >= self.rate) return undefined;
    const fault = faults[Math.floor(dice.next() * faults.length)] as F;
    happened.set(fault, (happened.get(fault) ?? 0) + 1);
    return fault;
  };

  async function call(request: Request, signal?: AbortSignal): Promise<Answer> {
    const isWrite = request.verb !== 'get' && request.verb !== 'list';
    switch (pick(CALL_FAULTS)) {
      case 'lose-request':
        throw new LostError('the request was lost');
      case 'lose-reply':
        await inner.call(request, signal).catch(() => {});
        throw new LostError('the answer was lost');
      case 'refuse':
        throw internalError('by dice');
      case 'throttle':
        throw tooManyRequests('by dice', 1);
      case 'conflict':
        if (isWrite && request.verb !== 'create') throw modified(request.at.resource, request.at.name ?? '');
        break;
      case 'delay': {
        const answer = await inner.call(request, signal);
        await loopTurns(1 + Math.floor(dice.next() * 4));
        return answer;
      }
    }
    return inner.call(request, signal);
  }

  async function* watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<readonly WatchEvent[]> {
    const told: WatchEvent[] = [];
    const fault = pick(WATCH_FAULTS);
    if (fault === 'gone') throw expired('by dice');
    if (fault === 'lost') throw new LostError('no watch today');
    for await (const batch of inner.watch(request, signal)) {
      switch (pick(WATCH_FAULTS)) {
        case 'cut':
          return;
        case 'lost':
          throw new LostError('the watch was cut');
        case 'gone':
          throw expired('by dice');
        case 'again':
          if (told.length > 0) yield told.slice(Math.floor(dice.next() * told.length));
          break;
        case 'silence':
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          return;
        case 'delay':
          await loopTurns(1 + Math.floor(dice.next() * 6));
          break;
      }
      told.push(...batch);
      yield batch;
    }
  }

  const self: Faulty = { rate: 0, happened, call, watch };
  return self;
}

async function loopTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** As a crashed process leaves it: calls under way may still land, but nobody hears an answer any more. */
export function mortal(inner: Transport): { readonly transport: Transport; kill(): void } {
  const death = new AbortController();
  const never = new Promise<never>(() => {});
  return {
    kill: () => death.abort(),
    transport: {
      async call(request, signal) {
        if (death.signal.aborted) return never;
        const answer = await inner.call(request, signal).catch((error: unknown) => {
          if (death.signal.aborted) return never;
          throw error;
        });
        return death.signal.aborted ? never : answer;
      },
      async *watch(request, signal) {
        if (death.signal.aborted) throw new AbortError('dead');
        const stop = new AbortController();
        signal.addEventListener('abort', () => stop.abort(), { once: true });
        death.signal.addEventListener('abort', () => stop.abort(), { once: true });
        for await (const batch of inner.watch(request, stop.signal)) {
          if (death.signal.aborted) break;
          yield batch;
        }
        if (death.signal.aborted) await never;
      },
    },
  };
}
