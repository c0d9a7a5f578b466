// The two scopes as data: which kinds belong together. Controllers take a family instead of checking whether a
// namespace is empty.
import { approvalRequest } from '../api/approval-request.ts';
import { binding } from '../api/binding.ts';
import { disruptionBudget } from '../api/disruption-budget.ts';
import { eviction } from '../api/eviction.ts';
import type { Resource } from '../api/kind.ts';
import { eventSources } from '../api/names.ts';
import { placement } from '../api/placement.ts';
import { clusterResourcePlacementStatus } from '../api/placement-status.ts';
import { policySnapshot } from '../api/policy-snapshot.ts';
import { resourceSnapshot } from '../api/resource-snapshot.ts';
import { stagedUpdateRun } from '../api/staged-update-run.ts';
import { stagedUpdateStrategy } from '../api/staged-update-strategy.ts';
import type { Source } from '../runtime/controller.ts';
import {
  bindingSource,
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  type HubResourceSnapshot,
  placementSource,
  policySnapshotSource,
  resourceSnapshotSource,
} from './placement-sources.ts';
import {
  approvalRequestSource,
  type HubApprovalRequest,
  type HubRun,
  type HubStrategy,
  runSource,
  strategySource,
} from './staged-sources.ts';
import { type HubStatusMirror, statusMirrorSource } from './status-mirror-source.ts';

export interface PlacementFamily {
  readonly placement: Resource;
  readonly binding: Resource;
  readonly policySnapshot: Resource;
  readonly resourceSnapshot: Resource;
  readonly run: Resource;
  readonly strategy: Resource;
  readonly approvalRequest: Resource;
  /** Only for cluster-scoped placements. */
  readonly eviction?: Resource;
  readonly disruptionBudget?: Resource;
  /** Copies of the status inside namespaces; only for cluster-scoped placements. */
  readonly statusMirrors?: Source<HubStatusMirror>;
  /** The source of Events about placements. */
  readonly eventSource: string;
  /** The source of Events about runs. */
  readonly runEventSource: string;
  readonly placements: Source<HubPlacement>;
  readonly bindings: Source<HubBinding>;
  readonly policySnapshots: Source<HubPolicySnapshot>;
  readonly resourceSnapshots: Source<HubResourceSnapshot>;
  readonly runs: Source<HubRun>;
  readonly strategies: Source<HubStrategy>;
  readonly approvalRequests: Source<HubApprovalRequest>;
}

const family = (scope: 'cluster' | 'namespaced', eventSource: string, runEventSource: string): PlacementFamily => ({
  placement: placement[scope],
  binding: binding[scope],
  policySnapshot: policySnapshot[scope],
  resourceSnapshot: resourceSnapshot[scope],
  run: stagedUpdateRun[scope],
  strategy: stagedUpdateStrategy[scope],
  approvalRequest: approvalRequest[scope],
  eventSource,
  runEventSource,
  placements: placementSource(placement[scope]),
  bindings: bindingSource(binding[scope]),
  policySnapshots: policySnapshotSource(policySnapshot[scope]),
  resourceSnapshots: resourceSnapshotSource(resourceSnapshot[scope]),
  runs: runSource(stagedUpdateRun[scope]),
  strategies: strategySource(stagedUpdateStrategy[scope]),
  approvalRequests: approvalRequestSource(approvalRequest[scope]),
});

export const clusterFamily: PlacementFamily = {
  ...family('cluster', eventSources.clusterPlacement, eventSources.clusterRun),
  eviction,
  disruptionBudget,
  statusMirrors: statusMirrorSource(clusterResourcePlacementStatus),
};
export const namespacedFamily = family('namespaced', eventSources.namespacedPlacement, eventSources.namespacedRun);
export const families: readonly PlacementFamily[] = [clusterFamily, namespacedFamily];
