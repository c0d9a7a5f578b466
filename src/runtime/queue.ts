// Keys that must be looked at. Guarantees: a key that was added is run after it was added (adding while it runs makes it run again); never
// two runs of one key at a time; changes come before reports and reports before the resync, and none of them starves (lines.ts); a key that
// fails waits longer each time; the loop gets its turn.
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { type BackOff, backOffMs } from './back-off.ts';
import { createDeadlines } from './deadlines.ts';
import { createLines, type WorkClass } from './lines.ts';
import type { Pace } from './pace.ts';

/**
 * What a run asks for: `rest` = nothing; `more` = it changed something and must look again; `again` = it met somebody else's change and has
 * seen it now; `back-off` and `slowly` = it failed. The first few `more` and `again` in a row follow at once; then they wait as if failed.
 */
export interface Next {
  readonly next: 'rest' | 'more' | 'again' | 'back-off' | 'slowly';
  readonly notBefore?: number;
  /** Others do not go first. */
  readonly atOnce?: true;
}

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: Pace;
  readonly workers: number;
  /** Never rejects. */
  run(key: string): Promise<Next>;
  /** A key that has just run lets the others go first. */
  readonly yieldToOthers?: (run: () => void) => void;
  readonly backOff?: BackOff;
  readonly slowly?: BackOff;
}

export interface Queue {
  readonly waiting: number;
  readonly running: number;
  /** Keys that failed and wait to be tried again. */
  readonly failing: number;
  /** All keys of which anything is remembered. */
  readonly remembered: number;
  readonly nextWakeAt: number | undefined;
  add(key: string, as: WorkClass): void;
  /** Runs then, with all that comes until then, or before if something else asks for it. */
  addBy(key: string, epochMs: number, as: Gathered): void;
  /** Replaces what an earlier decision asked for; undefined = no wake-up. `lookedAt`: what time it was for the decision. */
  wakeAt(key: string, epochMs: number | undefined, lookedAt?: number): void;
  /** What stood in its way is gone: it runs now, and its failures so far are forgotten. */
  retryNow(key: string): void;
  /** Starts nothing any more; resolves when what runs is done. */
  stop(): Promise<void>;
}

/** What may wait for a moment. */
export type Gathered = 'fresh' | 'report';

interface Entry {
  readonly key: string;
  /** In line as these. The first place that comes up counts. */
  readonly queued: Set<WorkClass>;
  /** Counts runs: a place in line from before a run is void. */
  run: number;
  running: boolean;
  /** Added while running. */
  readonly dirty: Set<WorkClass>;
  /** Added while running, as what may wait until then. */
  readonly by: Map<Gathered, number>;
  failures: number;
  /** `more` and `again` in a row. */
  hurries: number;
  /** Until then not even news make a run: it failed too often for that. */
  quietUntil: number;
  /** News have come since the last run: the next one may look again at once, however many hurries there were. */
  hasNews: boolean;
}

const BACK_OFF: BackOff = { firstMs: 200, maxMs: 60_000 };
const SLOWLY: BackOff = { firstMs: 30_000, maxMs: 600_000 };
const MOST_HURRIES = 16;
/** From this many failures in a row on, news wait a moment too: they may be echoes of our own failing attempts. */
const FAILURES_BEFORE_QUIET = 4;
const QUIET_MS = 1000;

export function createQueue(options: QueueOptions): Queue {
  const { clock, random, pace, workers, backOff = BACK_OFF, slowly = SLOWLY, yieldToOthers = queueMicrotask } = options;
  const entries = new Map<string, Entry>();
  const lines = createLines<{ readonly entry: Entry; readonly run: number }>(
    clock,
    ({ entry, run }) => entry.run === run,
  );
  const retries = createDeadlines(clock, `${options.name} retry`, (key) => due(key));
  const wakes = createDeadlines(clock, `${options.name} wake`, (key) => due(key));
  /** Of a name of their own: nothing is waited for there, only what comes within a moment is looked at together. */
  const gatherings = {
    fresh: createDeadlines(clock, 'coalesce', (key) => due(key)),
    report: createDeadlines(clock, 'coalesce', (key) => due(key, 'report')),
  };
  let waiting = 0;
  let running = 0;
  let isPumping = false;
  let isStopped = false;
  let onDrained: (() => void) | undefined;

  function due(key: string, as: WorkClass = 'fresh'): void {
    enqueue(entryOf(key), as);
  }

  function entryOf(key: string): Entry {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = {
        key,
        queued: new Set(),
        run: 0,
        running: false,
        dirty: new Set(),
        by: new Map(),
        failures: 0,
        hurries: 0,
        quietUntil: 0,
        hasNews: false,
      };
      entries.set(key, entry);
    }
    return entry;
  }

  function enqueue(entry: Entry, as: WorkClass, inLine: (stand: () => void) => void = (stand) => stand()): void {
    if (isStopped) return;
    if (entry.running) {
      entry.dirty.add(as);
      return;
    }
    if (entry.queued.has(as) || (as === 'resync' && entry.queued.size > 0)) return;
    if (entry.queued.size === 0) waiting++;
    entry.queued.add(as);
    retries.clear(entry.key);
    const place = { entry, run: entry.run };
    inLine(() => {
      if (isStopped) return;
      lines.push(place, as);
      pumpSoon();
    });
  }

  // After the running code, so that a burst of events is one run per key.
  function pumpSoon(): void {
    if (isPumping) return;
    isPumping = true;
    queueMicrotask(pump);
  }

  function pump(): void {
    isPumping = false;
    while (!isStopped && running < workers && waiting > 0) {
      if (!pace.mayGoOn()) {
        isPumping = true;
        pace.later(pump);
        return;
      }
      const entry = lines.take()?.entry;
      if (entry === undefined) break;
      entry.queued.clear();
      entry.run++;
      entry.running = true;
      // Whatever has gathered is seen by this run.
      for (const deadlines of Object.values(gatherings)) deadlines.clear(entry.key);
      waiting--;
      running++;
      void start(entry);
    }
  }

  async function start(entry: Entry): Promise<void> {
    const next = await options.run(entry.key);
    entry.running = false;
    running--;
    if (isStopped) {
      if (running === 0) onDrained?.();
      return;
    }
    follow(entry, next);
    for (const as of entry.dirty) enter(entry, as);
    entry.dirty.clear();
    // Only now: what the run asked for has taken the place of whatever was there before.
    for (const [as, epochMs] of entry.by) gather(entry.key, epochMs, as);
    entry.by.clear();
    forget(entry);
    pumpSoon();
  }

  function follow(entry: Entry, { next, notBefore = 0, atOnce }: Next): void {
    const now = clock.now();
    const { hasNews } = entry;
    entry.hasNews = false;
    if (next === 'rest') {
      entry.failures = 0;
      entry.hurries = 0;
      entry.quietUntil = 0;
      return;
    }
    if (next === 'more') entry.failures = 0;
    const isHurry = next === 'more' || next === 'again';
    if (isHurry && (++entry.hurries <= MOST_HURRIES || hasNews) && notBefore <= now) {
      if (entry.hurries > MOST_HURRIES) entry.quietUntil = now + QUIET_MS;
      enqueue(entry, 'fresh', atOnce ? undefined : yieldToOthers);
      return;
    }
    entry.failures++;
    const waitMs = backOffMs(
      next === 'slowly' ? slowly : backOff,
      Math.max(entry.failures, entry.hurries - MOST_HURRIES),
      random,
    );
    const at = Math.max(now + waitMs, notBefore);
    retries.set(entry.key, at);
    if (entry.failures >= FAILURES_BEFORE_QUIET || entry.hurries > MOST_HURRIES) {
      entry.quietUntil = Math.min(at, now + QUIET_MS);
    }
  }

  /** News about a key that may have failed before. */
  function enter(entry: Entry, as: WorkClass): void {
    // Without this, a key whose every run follows news would never be seen to rest, and never get out of the quiet.
    if (!entry.running && entry.queued.size === 0) entry.hasNews ||= as !== 'resync';
    if (!entry.running && entry.quietUntil > clock.now()) {
      const at = retries.at(entry.key);
      if (as !== 'resync' && (at === undefined || at > entry.quietUntil)) retries.set(entry.key, entry.quietUntil);
      return;
    }
    // A resync knows nothing that the retry would not see.
    if (as === 'resync' && retries.at(entry.key) !== undefined) return;
    enqueue(entry, as);
  }

  /** News, too, which a key that fails too often does not run for at once. */
  function gather(key: string, epochMs: number, as: Gathered): void {
    const quietUntil = entries.get(key)?.quietUntil ?? 0;
    const isQuiet = quietUntil > epochMs;
    const deadlines = isQuiet ? wakes : gatherings[as];
    const at = isQuiet ? quietUntil : epochMs;
    const asked = deadlines.at(key);
    if (asked === undefined || asked > at) deadlines.set(key, at);
  }

  function forget(entry: Entry): void {
    if (entry.running || entry.queued.size > 0 || entry.failures > 0 || entry.hurries > 0) return;
    entries.delete(entry.key);
  }

  return {
    get waiting() {
      return waiting;
    },
    get running() {
      return running;
    },
    get failing() {
      return retries.size;
    },
    get remembered() {
      return entries.size + wakes.size + gatherings.fresh.size + gatherings.report.size;
    },
    get nextWakeAt() {
      const moments = [wakes, ...Object.values(gatherings)].flatMap(({ earliest }) => earliest ?? []);
      return moments.length === 0 ? undefined : Math.min(...moments);
    },
    add(key, as) {
      if (!isStopped) enter(entryOf(key), as);
    },
    addBy(key, epochMs, as) {
      if (isStopped) return;
      const entry = entries.get(key);
      if (!entry?.running) return gather(key, epochMs, as);
      entry.by.set(as, Math.min(entry.by.get(as) ?? Number.POSITIVE_INFINITY, epochMs));
    },
    wakeAt(key, epochMs, lookedAt) {
      if (isStopped) return;
      const now = clock.now();
      // A moment that had passed when it was asked for would turn the key into a loop; one that passed since is due.
      const isAsked = epochMs !== undefined && epochMs > (lookedAt ?? now);
      if (epochMs === undefined) wakes.clear(key);
      else wakes.set(key, isAsked ? Math.max(epochMs, now) : now + QUIET_MS);
    },
    retryNow(key) {
      if (isStopped) return;
      const entry = entryOf(key);
      entry.failures = 0;
      entry.hurries = 0;
      entry.quietUntil = 0;
      enqueue(entry, 'fresh');
    },
    stop() {
      isStopped = true;
      retries.stop();
      wakes.stop();
      for (const deadlines of Object.values(gatherings)) deadlines.stop();
      lines.clear();
      waiting = 0;
      return running === 0 ? Promise.resolve() : new Promise((resolve) => (onDrained = resolve));
    },
  };
}
