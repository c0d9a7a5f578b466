// Starts a member's agent once the hub admits it. Until then (`flotilla join` has not run yet, or the hub's controllers
// have not created its namespace) it retries without errors, because that is the normal order of events; if it lasts,
// it logs a hint for an administrator.
import { internalMemberCluster } from '../api/internal-member-cluster.ts';
import { memberNamespace } from '../api/names.ts';
import { until } from '../base/clock.ts';
import { ApiError, messageOf } from '../base/errors.ts';
import type { Deps } from '../runtime/deps.ts';
import type { Manager } from '../runtime/manager.ts';
import { type AgentOptions, startAgent } from './agent-parts.ts';

export interface Agent {
  /** undefined = the hub has not admitted it yet. */
  manager(): Manager | undefined;
  stop(): Promise<void>;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const LONGEST_START_MS = 10_000;
const PATIENCE_MS = 60_000;

/**
 * Runs the part of an agent's start that opens connections, perhaps queued behind others: a process may have a thousand
 * agents.
 */
export type Pace = (run: () => Promise<void>) => Promise<void>;

export function runAgent(deps: Deps, options: AgentOptions, pace: Pace = (run) => run()): Agent {
  const stopping = new AbortController();
  let manager: Manager | undefined;
  const begin = async () => {
    if (stopping.signal.aborted) return;
    manager = startAgent(deps, options);
    const known = manager.synced.catch(() => {}); // stopped before
    // A slow call must not block the others.
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

/**
 * Resolves once the hub answers with anything but Forbidden: all other errors are reported by the agent itself, which
 * keeps retrying.
 */
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
      // The message contains the identity that the hub sees: with the kubeconfig of another member, this never
      // succeeds.
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
