// Runs a part only while this process is the leader. A new term starts only after the previous one has ended, so that
// this process never runs two parts at once.
import { hostname } from 'node:os';
import type { Transport } from '../api/transport.ts';
import { type Clock, wallClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import type { Log } from '../runtime/deps.ts';
import { type Leader, startLeader } from '../runtime/leader.ts';
import type { Manager } from '../runtime/manager.ts';

export interface Leading {
  manager(): Manager | undefined;
  readonly leader: Leader;
  stop(): Promise<void>;
}

export interface LeadingOptions {
  readonly transport: Transport;
  readonly log: Log;
  readonly namespace: string;
  readonly lease: string;
  readonly clock?: Clock;
  /**
   * Called before each term, and retried until it succeeds: after a long time as a standby, earlier results may be
   * outdated.
   */
  prepare?(): Promise<void>;
  start(mayWrite: () => boolean): Manager;
}

const RETRY_MS = 1000;

export function runWhileLeading(options: LeadingOptions): Leading {
  const { transport, log, namespace, lease, clock = wallClock, start } = options;
  let turn = 0;
  let isOver = false;
  let manager: Manager | undefined;
  /** All terms so far, one after the other. */
  let ended = Promise.resolve();

  const begin = async (own: number) => {
    await ended;
    for (let isReady = false; turn === own && !isReady; ) {
      isReady = await prepared();
      if (!isReady) await new Promise<void>((resolve) => void clock.at(clock.now() + RETRY_MS, 'prepare', resolve));
    }
    if (turn === own) manager = start(() => turn === own && leader.mayWrite());
  };
  const prepared = async () => {
    try {
      await options.prepare?.();
      return true;
    } catch (error) {
      log.warn('cannot begin yet', { error: messageOf(error) });
      return false;
    }
  };
  const end = () => {
    turn++;
    const former = manager;
    manager = undefined;
    const stopped = former?.stop().catch((error) => log.error('did not stop cleanly', { error: messageOf(error) }));
    ended = Promise.all([ended, stopped]).then(() => {});
  };
  const leader: Leader = startLeader(
    { clock, random: systemRandom, transport, log },
    {
      namespace,
      name: lease,
      identity: `${hostname()}_${process.pid}_${systemRandom.uuid()}`,
      onChange: (isLeading) => {
        end();
        if (isLeading && !isOver) void begin(turn);
      },
    },
  );
  return {
    leader,
    manager: () => manager,
    async stop() {
      isOver = true;
      end();
      await ended;
      await leader.stop();
    },
  };
}
