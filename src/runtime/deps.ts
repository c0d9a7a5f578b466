// The dependencies of a running part of Flotilla. main/ provides them in production, the simulated world in tests.
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { ServerName } from './controller.ts';
import { Fifo } from './fifo.ts';

export interface Log {
  /** Logs one line: a constant message with variable fields. */
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface Deps {
  readonly clock: Clock;
  readonly random: Random;
  readonly servers: Readonly<Partial<Record<ServerName, Transport>>>;
  /** The kinds that the servers serve; only for controllers of kinds that are not known beforehand. */
  readonly catalogues?: Readonly<Partial<Record<ServerName, LiveCatalogue>>>;
  readonly log: Log;
  /**
   * Runs a callback after everything that is ready to run, so that recent writes are being flushed to disk before they
   * are processed further. The default is a microtask, for simulated worlds in which nothing takes time.
   */
  readonly yieldToOthers?: (run: () => void) => void;
  /** Runs a callback in the next turn of the event loop. Without it, turns are not distinguished. */
  readonly nextTick?: (run: () => void) => void;
  /** Runs work that no client waits for, so that work for clients can run in between. By default it runs at once. */
  readonly spreadOverTurns?: (run: () => void) => void;
}

/**
 * For a process with a disk: recent writes start to be flushed in the first turn of the event loop and are in flight in
 * the second. Callbacks queued meanwhile run in the same turn, so that their writes share one flush.
 */
export function afterDisk(): (run: () => void) => void {
  let asked: (() => void)[] = [];
  return (run) => {
    asked.push(run);
    if (asked.length > 1) return;
    setImmediate(() => {
      const runs = asked;
      asked = [];
      setImmediate(() => {
        for (const each of runs) each();
      });
    });
  };
}

/**
 * Spreads callbacks over turns of the event loop, so that the result of a flushed write is processed after the next
 * callback, not after the last. A long queue runs several per turn, so that their writes share a flush.
 */
export function spreadOverTurns(): (run: () => void) => void {
  const line = new Fifo<() => void>();
  let isMoving = false;
  const move = () => {
    isMoving = line.size > 0;
    if (!isMoving) return;
    setImmediate(move);
    for (let count = Math.ceil(line.size * SHARE); count > 0; count--) line.shift()?.();
  };
  return (run) => {
    line.push(run);
    if (isMoving) return;
    isMoving = true;
    setImmediate(move);
  };
}

/** The share of the queue that runs in one turn. */
const SHARE = 1 / 8;

/** The scheduling of a process with a disk. */
export const diskAwareScheduling = (): Required<Pick<Deps, 'yieldToOthers' | 'spreadOverTurns' | 'nextTick'>> => ({
  yieldToOthers: afterDisk(),
  spreadOverTurns: spreadOverTurns(),
  nextTick: setImmediate,
});

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
