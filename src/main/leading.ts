// Runs a part only while this process leads: two replicas, one that acts.
import { hostname } from 'node:os';
import type { Transport } from '../api/transport.ts';
import { wallClock } from '../base/clock.ts';
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
  start(mayWrite: () => boolean): Manager;
}

export function runWhileLeading({ transport, log, namespace, lease, start }: LeadingOptions): Leading {
  let manager: Manager | undefined;
  const leader: Leader = startLeader(
    { clock: wallClock, random: systemRandom, transport, log },
    {
      namespace,
      name: lease,
      identity: `${hostname()}_${process.pid}_${systemRandom.uuid()}`,
      onChange(isLeading) {
        log.info(isLeading ? 'leading' : 'no longer leading', { lease });
        const former = manager;
        manager = isLeading ? start(() => leader.mayWrite()) : undefined;
        void former?.stop();
      },
    },
  );
  return {
    leader,
    manager: () => manager,
    async stop() {
      await manager?.stop();
      await leader.stop();
    },
  };
}
