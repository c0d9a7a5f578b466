// Housekeeping of one cluster: the controllers of a real cluster that an API server cannot do without. One subscription
// to the store serves all loops. Start reading with loop.ts.
import type { Cluster } from '../cluster.ts';
import { clusterRoleAggregation } from './cluster-role-aggregation.ts';
import { garbageCollector } from './garbage-collector.ts';
import { type Housekeeping, runLoops } from './loop.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import type { Remove } from './objects.ts';
import { rootCa } from './root-ca.ts';
import { serviceAccounts } from './service-accounts.ts';
import { tokenSecrets } from './token-secrets.ts';
import { volumeProtection } from './volume-protection.ts';

export interface HousekeepingOptions {
  /** The verb DELETE. */
  readonly remove: Remove;
  onError(error: unknown, what: string): void;
}

export function startHousekeeping(cluster: Cluster, { remove, onError }: HousekeepingOptions): Housekeeping {
  const loops = [
    serviceAccounts(cluster),
    rootCa(cluster),
    clusterRoleAggregation(cluster),
    tokenSecrets(cluster, remove),
    garbageCollector(cluster, remove),
    volumeProtection(cluster),
    namespaceLifecycle(cluster, remove),
  ];
  return runLoops(cluster, loops, onError);
}
