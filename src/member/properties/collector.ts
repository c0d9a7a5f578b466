// Runs a property provider beside the heartbeat: starts it without waiting, calls it on every beat, and never lets it
// delay or stop a beat.
//
// Differs from KubeFleet: a provider that fails to start is restarted with back-off; a call that is skipped because too
// many are outstanding does not count as outstanding itself; names and values that the hub would reject are left out
// and reported.

import type { Finding } from '../../api/next-condition.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { backOffMs } from '../../runtime/back-off.ts';
import { checked } from './checked.ts';
import type { Collected, PropertyProvider, ProviderContext } from './provider.ts';

export interface Collection {
  /** The provider's current result; absent = see `isKept`. */
  readonly collected?: Collected;
  /** The provider runs and did not answer, so the last report stays. Otherwise the agent's own values count. */
  readonly isKept: boolean;
  readonly findings: readonly Finding[];
}

export interface Collector {
  /** Never rejects, and answers within `maxMs`. */
  collect(maxMs: number): Promise<Collection>;
}

export interface CollectorOptions extends Omit<ProviderContext, 'signal'> {
  readonly provider: PropertyProvider;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

export const START_MS = 10_000;
export const COLLECT_MS = 10_000;
const MAX_OUTSTANDING = 3;
const RESTART = { firstMs: 10_000, maxMs: 600_000 };
const MAX_NAMED = 5;

const STARTED = 'ClusterPropertyProviderStarted';
const COLLECTED = 'ClusterPropertyCollectionSucceeded';

type Start = { readonly is: 'starting' | 'started' } | { readonly is: 'failed'; readonly finding: Finding };

export function createCollector(options: CollectorOptions): Collector {
  const { provider, clock, random, signal, ...context } = options;
  let start: Start = { is: 'starting' };
  let failures = 0;
  let outstanding = 0;
  /** Kept while a later call is skipped or late. */
  let own: readonly Finding[] = [];

  const failed = (reason: 'TimedOut' | 'FailedToStart', message: string): void => {
    start = { is: 'failed', finding: { type: STARTED, status: 'False', reason, message } };
    failures += 1;
    const cancel = clock.at(
      clock.now() + backOffMs(RESTART, failures, random),
      'property provider',
      () => void begin(),
    );
    signal.addEventListener('abort', cancel, { once: true });
  };

  async function begin(): Promise<void> {
    if (signal.aborted) return;
    const end = await within(START_MS, async () => void (await provider.start?.({ ...context, signal })));
    if (signal.aborted) return;
    if (end === 'late') failed('TimedOut', `the property provider did not start within ${START_MS / 1000} s`);
    else if ('error' in end) failed('FailedToStart', messageOf(end.error));
    else {
      failures = 0;
      start = { is: 'started' };
    }
  }

  async function within<T>(
    maxMs: number,
    run: (signal: AbortSignal) => Promise<T> | T,
  ): Promise<'late' | { readonly error: unknown } | { readonly value: T }> {
    const giveUp = new AbortController();
    let expire = () => {};
    const late = new Promise<'late'>((resolve) => {
      expire = clock.at(clock.now() + maxMs, 'property provider', () => {
        giveUp.abort();
        resolve('late');
      });
    });
    const answer = (async () => run(AbortSignal.any([signal, giveUp.signal])))().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      expire();
    }
  }

  const missed = (reason: 'TimedOut' | 'TooManyCalls', message: string): Collection => ({
    isKept: true,
    findings: [ready, { type: COLLECTED, status: 'False', reason, message }, ...own],
  });

  void begin();
  return {
    async collect(maxMs) {
      if (start.is === 'starting') return { isKept: false, findings: [] };
      if (start.is === 'failed') return { isKept: false, findings: [start.finding] };
      if (outstanding >= MAX_OUTSTANDING) {
        return missed('TooManyCalls', `${outstanding} calls of the property provider have not returned`);
      }
      const limit = Math.min(COLLECT_MS, maxMs);
      outstanding += 1;
      const end = await within(limit, async (giveUp) => {
        try {
          return await provider.collect(giveUp);
        } finally {
          // A call that timed out is outstanding until it returns.
          outstanding -= 1;
        }
      });
      if (end === 'late') return missed('TimedOut', `the property provider gave no answer within ${limit / 1000} s`);
      if ('error' in end) return missed('TimedOut', `the property provider failed: ${messageOf(end.error)}`);
      const { collected, refused } = checked(end.value);
      const message = refused.length === 0 ? '' : `left out: ${named(refused)}`;
      own = (collected.conditions ?? []).map((each) => ({ ...each, message: each.message ?? '' }));
      return {
        collected,
        isKept: false,
        findings: [ready, { type: COLLECTED, status: 'True', reason: 'PropertiesCollected', message }, ...own],
      };
    },
  };
}

const ready: Finding = { type: STARTED, status: 'True', reason: 'Started', message: '' };

const named = (names: readonly string[]): string => {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`.slice(0, 512);
};
