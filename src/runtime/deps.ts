// What a running part of Flotilla is given from outside: in production by main/, in a simulated world by the world.
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { ServerName } from './controller.ts';
import { Fifo } from './fifo.ts';

export interface Log {
  /** One line: a constant message and variable fields. */
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface Deps {
  readonly clock: Clock;
  readonly random: Random;
  readonly servers: Readonly<Partial<Record<ServerName, Transport>>>;
  /** Which kinds the servers serve; only for controllers that deal with kinds they do not know beforehand. */
  readonly catalogues?: Readonly<Partial<Record<ServerName, LiveCatalogue>>>;
  readonly log: Log;
  /**
   * Runs something after all that is ready to run, so that what was just written is on its way to the disk before anybody looks at it again.
   * Where nothing takes time, as in a simulated world, a microtask, unless told.
   */
  readonly yieldToOthers?: (run: () => void) => void;
  /** Runs something in the next turn of the event loop. If time does not advance while something runs, turns do not differ. */
  readonly nextTick?: (run: () => void) => void;
  /** Runs what no client waits for, so that what a client waits for can come in between. At once by default. */
  readonly spreadOverTurns?: (run: () => void) => void;
}

/**
 * For a process with a disk: in the first turn what was written sets out for it, in the second it is on its way. Those who asked about the same
 * time go on in the same turn, so that what they write goes to the disk together; who came last of them waits one turn less.
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
 * One in each turn of the event loop. A write that has reached the disk meanwhile is heard of after the next of them, not after the last. Of many
 * several go together, and so do their own writes.
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

/** Of a long line, in one turn. */
const SHARE = 1 / 8;

/** For a process with a disk. */
export const diskAwareScheduling = (): Required<Pick<Deps, 'yieldToOthers' | 'spreadOverTurns' | 'nextTick'>> => ({
  yieldToOthers: afterDisk(),
  spreadOverTurns: spreadOverTurns(),
  nextTick: setImmediate,
});

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
