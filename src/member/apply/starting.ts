// Why an applied workload does not start, from the status of its newest Pods.
import type { Resource } from '../../api/kind.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import { amongNewest, type TroubledPod, worstOf } from '../availability/trouble.ts';
import { isWaitedFor } from '../availability/verdict.ts';
import type { Outcome } from './outcome.ts';

const REPLICA_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};
const REVISION = 'deployment.kubernetes.io/revision';

export async function withTrouble(
  client: WorkerClient,
  outcome: Outcome,
  troubledPods: (namespace: string) => readonly TroubledPod[],
): Promise<Outcome> {
  const { verdict, identifier } = outcome;
  const { namespace } = identifier;
  if (!isWaitedFor(verdict) || verdict.pods === undefined || namespace === undefined) return outcome;
  const { pods } = verdict;
  const found = amongNewest(troubledPods(namespace), pods);
  const owners = new Set(found.flatMap(({ owner }) => (owner?.kind === 'ReplicaSet' ? [owner.name] : [])));
  const newest = pods.revision === undefined ? owners : await ofRevision(client, namespace, owners, pods.revision);
  // Pods of an earlier template may remain for a while, but only failures of the newest ones count.
  const worst = worstOf(found.filter(({ owner }) => pods.revision === undefined || newest.has(owner?.name ?? '')));
  if (worst === undefined) return outcome;
  const { code, message } = worst;
  return { ...outcome, verdict: { ...verdict, trouble: { code, message } } };
}

async function ofRevision(
  client: WorkerClient,
  namespace: string,
  names: ReadonlySet<string>,
  revision: string,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of names) {
    try {
      const { object } = await client.call('member', { verb: 'get', at: { resource: REPLICA_SETS, namespace, name } });
      if (object?.metadata.annotations?.[REVISION] === revision) found.add(name);
    } catch (error) {
      // If the read fails, the cause stays unknown; the outcome itself does not depend on it.
      if (!(error instanceof ApiError || error instanceof LostError)) throw error;
    }
  }
  return found;
}
