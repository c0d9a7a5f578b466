// The pulse of an agent: on a fixed period it asks its own API server how it is, and then it is time to report.
//
// Guarantee: beats come on the period, spread a little, however long an answer takes and whatever becomes of the report. Differs from
// KubeFleet: there an error moves the next heartbeat, first to a burst and then to gaps of a quarter of an hour. And the second beat comes
// somewhere within the first period: there agents that started together report together ever after, all thousand within a few seconds.
import { type Clock, kubeTime } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Collection, Collector } from '../properties/collector.ts';

export type Health = { readonly ok: true } | { readonly ok: false; readonly cause: string };

/** Asks the member's API server whether it is ready. A rejection counts as ill, with its message as the cause. */
export type Probe = (signal: AbortSignal) => Promise<Health>;

export interface Beat {
  readonly at: number;
  readonly stamp: string;
  readonly health: Health;
  /** What the property provider told with it; absent without one. */
  readonly collection?: Collection;
}

export interface Pulse {
  /** The newest; undefined before the first answer. */
  readonly beat: Beat | undefined;
  /** Beats from now on with this period; the first one at once. Unchanged if it is the same. */
  every(seconds: number): void;
  rest(): void;
  /** Whether a stamp was given by this pulse. */
  isOwn(stamp: string): boolean;
}

export interface PulseOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe;
  /** Asked beside the probe, so that a beat waits for neither longer than for one. */
  readonly collector?: Collector;
  onBeat(): void;
  readonly signal: AbortSignal;
}

/** Of a period. */
export const JITTER = 0.05;
const LONGEST_PROBE_MS = 10_000;
/** Stamps that are remembered as ours. */
const REMEMBERED = 32;

export function createPulse({ clock, random, probe, collector, onBeat, signal }: PulseOptions): Pulse {
  let periodMs: number | undefined;
  let lastAt: number | undefined;
  let beat: Beat | undefined;
  let cancel = () => {};
  const stamps: string[] = [];
  /** Counts up with every rest and every new rhythm: an answer to a question of before is not awaited any more. */
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
