// A member's agent, from the moment the hub lets it in. Until then (the member has yet to be joined, the hub's controllers have yet to give it a
// namespace) it asks quietly: that is the usual order of things, not a failure. If it lasts, an administrator has to look.
import { internalMemberCluster } from '../api/internal-member-cluster.ts';
import { memberNamespace } from '../api/names.ts';
import { until } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import type { Deps } from '../runtime/deps.ts';
import type { Manager } from '../runtime/manager.ts';
import { type AgentOptions, startAgent } from './agent-parts.ts';

export interface Agent {
  /** undefined = the hub has not let it in yet. */
  manager(): Manager | undefined;
  stop(): Promise<void>;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const LONGEST_START_MS = 10_000;
const PATIENCE_MS = 60_000;

/** Runs what makes an agent open connections, perhaps after others: a process with a thousand agents has other things to do as well. */
export type Pace = (run: () => Promise<void>) => Promise<void>;

export function runAgent(deps: Deps, options: AgentOptions, pace: Pace = (run) => run()): Agent {
  const stopping = new AbortController();
  let manager: Manager | undefined;
  const begin = async () => {
    if (stopping.signal.aborted) return;
    manager = startAgent(deps, options);
    const known = manager.synced.catch(() => {}); // stopped before
    // A slow call does not hold up the others.
    const late = until(deps.clock, deps.clock.now() + LONGEST_START_MS, 'an agent starts', stopping.signal);
    await Promise.race([known, late]);
  };
  const begun = letIn(deps, { cluster: options.cluster, pace, signal: stopping.signal }).then(() => pace(begin));
  return {
    manager: () => manager,
    async stop() {
      stopping.abort();
      await manager?.stop();
      await begun;
    },
  };
}

/** Resolves when the hub answers with anything but "forbidden": all other trouble is told by the agent itself, which does not give up. */
async function letIn(
  { clock, random, log, servers }: Deps,
  { cluster, pace, signal }: { readonly cluster: string; readonly pace: Pace; readonly signal: AbortSignal },
): Promise<void> {
  const namespace = memberNamespace(cluster);
  const at = { resource: internalMemberCluster, namespace, name: cluster };
  const since = clock.now();
  let waitMs = FIRST_WAIT_MS;
  let told: 'nothing' | 'waiting' | 'worrying' = 'nothing';
  while (!signal.aborted) {
    let refusal: string | undefined;
    await pace(async () => {
      refusal = await servers.hub?.call({ verb: 'get', at }, signal).then(() => undefined, refusalIn);
    });
    if (refusal === undefined) break;
    const waitedMs = clock.now() - since;
    const facts = {
      namespace,
      next: `on the hub, "flotilla join ${cluster}" and running hub controllers (flotilla hub) let it in`,
      // Says as whom the hub knows us: with the kubeconfig of another member it never ends.
      error: refusal,
    };
    if (told === 'nothing') {
      log.info('waiting for the hub to admit this member', facts);
      told = 'waiting';
    } else if (told === 'waiting' && waitedMs >= PATIENCE_MS) {
      log.warn('the hub does not admit this member', { ...facts, waitedSeconds: Math.round(waitedMs / 1000) });
      told = 'worrying';
    }
    await until(clock, clock.now() + waitMs * (0.5 + random.next()), 'admitted by the hub', signal);
    waitMs = Math.min(waitMs * 1.5, LONGEST_WAIT_MS);
  }
  if (told !== 'nothing' && !signal.aborted) log.info('the hub has admitted this member', { namespace });
}

const refusalIn = (error: unknown): string | undefined =>
  error instanceof ApiError && error.reason === 'Forbidden' ? messageOf(error) : undefined;
