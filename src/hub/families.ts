// The two scopes as data: which kinds belong together. Controllers take a family; nothing asks whether a namespace is empty.
import { binding } from '../api/binding.ts';
import type { Resource } from '../api/kind.ts';
import { eventSources } from '../api/names.ts';
import { placement } from '../api/placement.ts';
import { policySnapshot } from '../api/policy-snapshot.ts';
import { resourceSnapshot } from '../api/resource-snapshot.ts';
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

export interface PlacementFamily {
  readonly placement: Resource;
  readonly binding: Resource;
  readonly policySnapshot: Resource;
  readonly resourceSnapshot: Resource;
  /** Of Events on placements. */
  readonly eventSource: string;
  readonly placements: Source<HubPlacement>;
  readonly bindings: Source<HubBinding>;
  readonly policySnapshots: Source<HubPolicySnapshot>;
  readonly resourceSnapshots: Source<HubResourceSnapshot>;
}

const family = (scope: 'cluster' | 'namespaced', eventSource: string): PlacementFamily => ({
  placement: placement[scope],
  binding: binding[scope],
  policySnapshot: policySnapshot[scope],
  resourceSnapshot: resourceSnapshot[scope],
  eventSource,
  placements: placementSource(placement[scope]),
  bindings: bindingSource(binding[scope]),
  policySnapshots: policySnapshotSource(policySnapshot[scope]),
  resourceSnapshots: resourceSnapshotSource(resourceSnapshot[scope]),
});

export const clusterFamily = family('cluster', eventSources.clusterPlacement);
export const namespacedFamily = family('namespaced', eventSources.namespacedPlacement);
export const families: readonly PlacementFamily[] = [clusterFamily, namespacedFamily];
