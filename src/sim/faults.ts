// Which faults happen, and how often. A world gets the fate of every call, every watch batch, every clock and every
// disk here.
//
// Each seed has its own mixture: some faults never, some often. Runs with one dominating fault find bugs that an even
// mixture hides. After `endsAt` there are no faults: everything broken must heal.

import { expired, internalError, modified, tooManyRequests } from '../api/status.ts';
import type { Request, Target, WatchEvent, WatchRequest } from '../api/transport.ts';
import { ApiError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { DiskFate } from './server.ts';

export type Fate =
  | 'deliver'
  | { readonly delayMs: number }
  | { readonly refuse: ApiError }
  | 'lose-request'
  | 'lose-reply'
  /** The connection breaks: the caller gets no response to any of its calls in flight. */
  | 'lose-all'
  | 'crash-before'
  | 'crash-after'
  /** A list that allows it returns an older state. */
  | 'rewind';

export type WatchFate =
  | 'deliver'
  | { readonly delayMs: number }
  | 'cut'
  | 'gone-410'
  /** Earlier events are sent again, as by a stale server. */
  | 'rewind'
  /** The connection is dead without an error. */
  | 'silence';

/** A fault of an actor or a server between two steps. */
export type Mishap =
  | { readonly crash: string; readonly downMs: number }
  | { readonly partition: string; readonly from: string; readonly forMs: number };

export interface Crowd {
  readonly actors: readonly { readonly name: string; readonly servers: readonly string[] }[];
  readonly servers: readonly string[];
}

export interface Faults {
  /** `besides`: the number of other writes in flight on the same connection. */
  call(who: string, request: Request, now: number, besides?: number): Fate;
  watch(who: string, request: WatchRequest, batch: readonly WatchEvent[], now: number): WatchFate;
  mishap(crowd: Crowd, now: number): Mishap | undefined;
  /** How long a client that does not check a dead connection fails to notice it. */
  readonly silenceMs: number;
  /** The duration of other faults: until a lost call fails, until a crashed actor restarts, and the like. */
  waitMs(): number;
  /** Whether a request that was in flight when its sender crashed still arrives. */
  outlives(who: string): boolean;
  clockSkewMs(who: string): number;
  disk(who: string): DiskFate;
}

export const callFaults = [
  'delay',
  'refuse-429',
  'refuse-500',
  'refuse-503',
  'conflict',
  'lose-request',
  'lose-reply',
  'lose-all',
  'crash-before',
  'crash-after',
] as const;
export const watchFaults = ['delay', 'cut', 'gone-410', 'rewind', 'silence'] as const;
const mishaps = ['crash', 'server-crash', 'partition'] as const;

type CallFault = (typeof callFaults)[number];
type WatchFault = (typeof watchFaults)[number];
export interface Rates {
  /** Per write; reads have no crashes and no conflicts, and other faults half as often. */
  readonly call: Readonly<Record<CallFault, number>>;
  /** Per list that may come from a cache. */
  readonly staleList: number;
  /** Per batch. */
  readonly watch: Readonly<Record<WatchFault, number>>;
  /** Per step of the world. */
  readonly step: Readonly<Record<(typeof mishaps)[number], number>>;
  readonly silenceMs: number;
  /** Per request in flight when its sender crashes. */
  readonly outlive: number;
  readonly clockSkewMs: number;
}

export const usualRates: Rates = {
  call: {
    delay: 0.05,
    'refuse-429': 0.01,
    'refuse-500': 0.01,
    'refuse-503': 0.01,
    conflict: 0.02,
    'lose-request': 0.02,
    'lose-reply': 0.03,
    'lose-all': 0.01,
    'crash-before': 0.01,
    'crash-after': 0.01,
  },
  staleList: 0.2,
  watch: { delay: 0.1, cut: 0.03, 'gone-410': 0.02, rewind: 0.05, silence: 0.01 },
  step: { crash: 0.002, 'server-crash': 0.0005, partition: 0.001 },
  silenceMs: Number.POSITIVE_INFINITY,
  outlive: 0.5,
  clockSkewMs: 30_000,
};

/** No faults; the seed still determines the order of events. */
export const noFaults: Faults = {
  call: () => 'deliver',
  watch: () => 'deliver',
  mishap: () => undefined,
  silenceMs: Number.POSITIVE_INFINITY,
  waitMs: () => 0,
  outlives: () => false,
  clockSkewMs: () => 0,
  disk: () => 'kept',
};

/** How many calls of each kind count as the first ones, and how often they fail in a world that is hard on them. */
const FIRSTS = 4;
const HIT_FIRSTS = { write: 0.4, batch: 0.2 };
/**
 * A connection breaks more often the more is in flight on it; otherwise several writes of one step would rarely be lost
 * together.
 */
const CROWDED = 4;
const MAX_CROWDED = 12;

export interface FaultOptions {
  readonly random: Random;
  /** No faults before this time. */
  readonly startsAt?: number;
  readonly endsAt: number;
  readonly rates?: Rates;
}

/** Faults in a mixture that the random stream determines. */
export function randomFaults({ random, startsAt = 0, endsAt, rates = usualRates }: FaultOptions): Faults {
  const isCalm = (now: number): boolean => now < startsAt || now >= endsAt;
  const mixed = mixtureOf(rates, random);
  const hit = (rate: number): boolean => rate > 0 && random.next() < rate;
  const span = (): number => {
    const size = random.next();
    const max = size < 0.5 ? 100 : size < 0.9 ? 5_000 : 60_000;
    return Math.ceil(random.next() * max);
  };
  // Some worlds are hard on rare calls: otherwise a call made twice per world would rarely meet every fault.
  const isHardOnFirsts = random.next() < 0.5;
  const done = new Map<string, number>();
  const isFirst = (what: string, { resource, subresource }: Target): boolean => {
    const row = `${what} ${resource.kind} ${subresource ?? ''}`;
    const times = (done.get(row) ?? 0) + 1;
    done.set(row, times);
    return times <= FIRSTS;
  };
  const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(random.next() * items.length)];
  return {
    call(_who, request, now, besides = 0) {
      if (isCalm(now)) return 'deliver';
      if (request.verb === 'list' && request.revision !== undefined && hit(mixed.staleList)) return 'rewind';
      const isWrite = request.verb !== 'get' && request.verb !== 'list';
      if (isWrite && isFirst(request.verb, request.at) && isHardOnFirsts && hit(HIT_FIRSTS.write)) {
        const possible = callFaults.filter((fault) => canHit(request.verb, fault) && rates.call[fault] > 0);
        return fateOf(one(possible) as CallFault, request, span);
      }
      // One random number decides, because the rates add up to less than one.
      let thrown = random.next();
      for (const fault of callFaults) {
        if (!canHit(request.verb, fault)) continue;
        const often = fault === 'lose-all' ? Math.min(1 + besides * CROWDED, MAX_CROWDED) : 1;
        const rate = mixed.call[fault] * (isWrite ? often : 0.5);
        if (thrown < rate) return fateOf(fault, request, span);
        thrown -= rate;
      }
      return 'deliver';
    },
    watch(_who, request, _batch, now) {
      if (isCalm(now)) return 'deliver';
      // Objects that rarely change cause few watch batches, most of them after the faults have ended.
      if (isFirst('watch', request.at) && isHardOnFirsts && hit(HIT_FIRSTS.batch)) {
        // Faults that the scenario excludes are not used here either.
        const fault = one(watchFaults.filter((each) => rates.watch[each] > 0)) as WatchFault;
        return fault === 'delay' ? { delayMs: span() } : fault;
      }
      let thrown = random.next();
      for (const fault of watchFaults) {
        if (thrown < mixed.watch[fault]) return fault === 'delay' ? { delayMs: span() } : fault;
        thrown -= mixed.watch[fault];
      }
      return 'deliver';
    },
    mishap({ actors, servers }, now) {
      if (isCalm(now)) return undefined;
      if (hit(mixed.step.crash)) {
        const actor = one(actors);
        if (actor) return { crash: actor.name, downMs: span() };
      }
      if (hit(mixed.step['server-crash'])) {
        const server = one(servers);
        if (server) return { crash: server, downMs: span() };
      }
      if (hit(mixed.step.partition)) {
        const actor = one(actors);
        const from = one(actor?.servers ?? []);
        if (actor && from) return { partition: actor.name, from, forMs: span() * 5 };
      }
      return undefined;
    },
    silenceMs: rates.silenceMs,
    waitMs: () => (random.next() < 0.5 ? 0 : span()),
    outlives: () => random.next() < mixed.outlive,
    clockSkewMs: () => Math.round((random.next() * 2 - 1) * mixed.clockSkewMs),
    disk: () => (random.next() < 0.5 ? 'kept' : 'torn'),
  };
}

/** Which faults a call of this verb can have; a server does not answer a create with a conflict. */
export const canHit = (verb: string, fault: CallFault): boolean =>
  verb === 'get' || verb === 'list'
    ? !fault.startsWith('crash') && fault !== 'conflict'
    : verb !== 'create' || fault !== 'conflict';

/** The columns of a matrix that apply to a row. */
export const faultsOf = (row: string): readonly string[] => {
  const verb = row.split(' ')[0] ?? '';
  if (verb === 'actor') return ['crash', 'partition', 'skew'];
  if (verb === 'server') return ['crash-kept', 'crash-torn'];
  return verb === 'watch' ? watchFaults : callFaults.filter((fault) => canHit(verb, fault));
};

/** The column of a fate. */
export function nameOf(fate: Fate | WatchFate): string {
  if (typeof fate === 'string') return fate;
  if ('delayMs' in fate) return 'delay';
  return fate.refuse.code === 409 ? 'conflict' : `refuse-${fate.refuse.code}`;
}

function fateOf(fault: CallFault, request: Request, span: () => number): Fate {
  switch (fault) {
    case 'delay':
      return { delayMs: span() };
    case 'refuse-429':
      return {
        refuse: tooManyRequests('the server has received too many requests and has asked us to try again later', 1),
      };
    case 'refuse-500':
      return { refuse: internalError('a simulated fault') };
    case 'refuse-503':
      return {
        refuse: new ApiError(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
      };
    case 'conflict':
      return { refuse: modified(request.at.resource, request.at.name ?? '') };
    default:
      return fault;
  }
}

/** The error of a watch whose revision is too old. */
export const goneError = (): ApiError => expired('too old resource version: a simulated fault');

function mixtureOf(rates: Rates, random: Random): Rates {
  const factor = (): number => {
    const size = random.next();
    return size < 0.3 ? 0 : size < 0.8 ? 1 : 4;
  };
  const mixed = <Name extends string>(each: Readonly<Record<Name, number>>): Record<Name, number> =>
    Object.fromEntries(Object.entries<number>(each).map(([name, rate]) => [name, rate * factor()])) as Record<
      Name,
      number
    >;
  return {
    call: mixed(rates.call),
    staleList: rates.staleList * factor(),
    watch: mixed(rates.watch),
    step: mixed(rates.step),
    silenceMs: rates.silenceMs,
    outlive: rates.outlive,
    clockSkewMs: random.next() < 0.5 ? 0 : rates.clockSkewMs,
  };
}
