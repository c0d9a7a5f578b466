// The pulse of an agent: it probes its own API server periodically, and each answer is due for a report.
//
// Guarantee: beats keep their period, with some jitter, however long an answer takes and whether or not the report
// succeeds.
// Differs from KubeFleet: there an error shifts the next heartbeat, first into a burst and then into gaps of a quarter
// of an hour. The second beat comes at a random time within the first period; in KubeFleet a thousand agents that start
// together report within the same few seconds forever.
import { type Clock, kubeTime } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Collection, Collector } from '../properties/collector.ts';

export type Health = { readonly ok: true } | { readonly ok: false; readonly cause: string };

/** Probes whether the member's API server is ready. A rejection counts as unhealthy, with its message as the cause. */
export type Probe = (signal: AbortSignal) => Promise<Health>;

export interface Beat {
  readonly at: number;
  readonly stamp: string;
  readonly health: Health;
  /** The result of the property provider; absent without a provider. */
  readonly collection?: Collection;
}

export interface Pulse {
  /** The newest beat; undefined before the first answer. */
  readonly beat: Beat | undefined;
  /** Starts beats with this period, the first one immediately. The same period again changes nothing. */
  every(seconds: number): void;
  rest(): void;
  /** Whether this pulse created the stamp. */
  isOwn(stamp: string): boolean;
}

export interface PulseOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe;
  /** Runs in parallel with the probe, so that a beat takes only as long as the slower one. */
  readonly collector?: Collector;
  onBeat(): void;
  readonly signal: AbortSignal;
}

/** Fraction of a period. */
export const JITTER = 0.05;
const LONGEST_PROBE_MS = 10_000;
/** How many of our own stamps are remembered. */
const REMEMBERED = 32;

export function createPulse({ clock, random, probe, collector, onBeat, signal }: PulseOptions): Pulse {
  let periodMs: number | undefined;
  let lastAt: number | undefined;
  let beat: Beat | undefined;
  let cancel = () => {};
  const stamps: string[] = [];
  /** Incremented by every rest and every new period: answers to earlier probes are ignored. */
  let round = 0;

  signal.addEventListener('abort', () => rest(), { once: true });

  function rest(): void {
    cancel();
    cancel = () => {};
    periodMs = undefined;
    round++;
  }

  function arm(period: number, from: number, spread = 1 - JITTER + 2 * JITTER * random.next()): void {
    cancel();
    cancel = clock.at(Math.max(clock.now(), from + period * spread), 'heartbeat', () => tick(period));
  }

  function tick(period: number, spread?: number): void {
    lastAt = clock.now();
    arm(period, lastAt, spread);
    void ask(period);
  }

  async function ask(period: number): Promise<void> {
    const asked = round;
    const maxMs = Math.min(LONGEST_PROBE_MS, period / 2);
    const [health, collection] = await Promise.all([probeWithin(maxMs), collector?.collect(maxMs)]);
    if (asked !== round || signal.aborted) return;
    const at = clock.now();
    beat = { at, stamp: kubeTime(at), health, ...(collection === undefined ? {} : { collection }) };
    stamps.push(beat.stamp);
    if (stamps.length > REMEMBERED) stamps.shift();
    onBeat();
  }

  async function probeWithin(maxMs: number): Promise<Health> {
    const giveUp = new AbortController();
    const onAbort = () => giveUp.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let expire = () => {};
    const tooLate = new Promise<Health>((resolve) => {
      expire = clock.at(clock.now() + maxMs, 'probe timeout', () => {
        giveUp.abort();
        resolve({ ok: false, cause: `the API server of the member gave no answer within ${maxMs / 1000} s` });
      });
    });
    try {
      return await Promise.race([probe(giveUp.signal), tooLate]);
    } catch (error) {
      return { ok: false, cause: messageOf(error) };
    } finally {
      expire();
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    get beat() {
      return beat;
    },
    every(seconds) {
      const period = seconds * 1000;
      if (signal.aborted || period === periodMs) return;
      const isFirst = periodMs === undefined;
      periodMs = period;
      if (isFirst || lastAt === undefined) tick(period, random.next());
      else arm(period, lastAt);
    },
    rest,
    isOwn: (stamp) => stamps.includes(stamp),
  };
}
