// A member's agent, from the moment the hub lets it in. Until then (the member has yet to be joined, the hub's controllers have yet to give it a
// namespace) it asks quietly: that is the usual order of things, not a failure. If it lasts, somebody has to look.
import { internalMemberCluster } from '../api/internal-member-cluster.ts';
import { memberNamespace } from '../api/names.ts';
import { until } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import type { Deps } from '../runtime/deps.ts';
import type { Manager } from '../runtime/manager.ts';
import { type AgentOptions, startAgent } from './parts.ts';

export interface Agent {
  /** undefined = the hub has not let it in yet. */
  manager(): Manager | undefined;
  stop(): Promise<void>;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const PATIENCE_MS = 60_000;

export function runAgent(deps: Deps, options: AgentOptions): Agent {
  const stopping = new AbortController();
  let manager: Manager | undefined;
  const begun = letIn(deps, options.cluster, stopping.signal).then(() => {
    if (!stopping.signal.aborted) manager = startAgent(deps, options);
  });
  return {
    manager: () => manager,
    async stop() {
      stopping.abort();
      await begun;
      await manager?.stop();
    },
  };
}

/** Resolves when the hub answers with anything but "forbidden": all other trouble is told by the agent itself, which does not give up. */
async function letIn({ clock, random, log, servers }: Deps, cluster: string, signal: AbortSignal): Promise<void> {
  const namespace = memberNamespace(cluster);
  const at = { resource: internalMemberCluster, namespace, name: cluster };
  const since = clock.now();
  let waitMs = FIRST_WAIT_MS;
  let told: 'nothing' | 'waiting' | 'worrying' = 'nothing';
  while (!signal.aborted) {
    const refusal = await servers.hub?.call({ verb: 'get', at }, signal).then(() => undefined, refusalIn);
    if (refusal === undefined) break;
    const waitedMs = clock.now() - since;
    const facts = {
      namespace,
      next: `on the hub, "flotilla join ${cluster}" and running hub controllers (flotilla hub) let it in`,
    };
    if (told === 'nothing') {
      log.info('waits until the hub lets this member in', facts);
      told = 'waiting';
    } else if (told === 'waiting' && waitedMs >= PATIENCE_MS) {
      log.warn('the hub does not let this member in', {
        ...facts,
        waitedSeconds: Math.round(waitedMs / 1000),
        error: refusal,
      });
      told = 'worrying';
    }
    await until(clock, clock.now() + waitMs * (0.5 + random.next()), 'the hub lets us in', signal);
    waitMs = Math.min(waitMs * 1.5, LONGEST_WAIT_MS);
  }
  if (told !== 'nothing' && !signal.aborted) log.info('the hub has let this member in', { namespace });
}

const refusalIn = (error: unknown): string | undefined =>
  error instanceof ApiError && error.reason === 'Forbidden' ? messageOf(error) : undefined;
