// The Works that a binding asks for, from the resource snapshots it names. Pure.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import {
  annotations,
  furtherWorkName,
  labels,
  masterWorkName,
  memberNamespace,
  workBaseName,
} from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import type { HubBinding } from '../placement-sources.ts';
import { contentOf } from '../work-source.ts';

export interface DesiredWork {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly manifests: readonly KubeObject[];
  readonly content: string;
  readonly strategy: ApplyStrategy | undefined;
}

/** One per snapshot of the group, even of an empty one: its status is how the cluster answers. */
export function desiredWorks(binding: HubBinding, group: readonly ResourceSnapshot[]): readonly DesiredWork[] {
  const { metadata, spec } = binding;
  const placement = metadata.labels?.[labels.parentPlacement] ?? '';
  const base = workBaseName(placement, metadata.namespace);
  const { clusterResourceOverrideSnapshots = [], resourceOverrideSnapshots = [] } = spec;
  return group.map((snapshot) => {
    const subindex = snapshot.metadata.annotations?.[annotations.subindexOfResourceSnapshot];
    const manifests = snapshot.spec.selectedResources;
    return {
      name: subindex === undefined ? masterWorkName(base) : furtherWorkName(base, Number(subindex)),
      namespace: memberNamespace(spec.targetCluster),
      labels: {
        [labels.parentBinding]: metadata.name ?? '',
        [labels.parentPlacement]: placement,
        [labels.parentResourceSnapshotIndex]: snapshot.metadata.labels?.[labels.resourceIndex] ?? '',
        ...(metadata.namespace === undefined ? {} : { [labels.parentPlacementNamespace]: metadata.namespace }),
      },
      annotations: {
        [annotations.parentResourceSnapshotName]: spec.resourceSnapshotName,
        [annotations.parentResourceOverrideSnapshotHash]: hashOf(resourceOverrideSnapshots),
        [annotations.parentClusterResourceOverrideSnapshotHash]: hashOf(clusterResourceOverrideSnapshots),
      },
      manifests,
      content: contentOf(manifests),
      strategy: spec.applyStrategy,
    };
  });
}

/** Others compare it: no list and an empty one are both `null`. */
const NOTHING = sha256('null');

const hashOf = (list: readonly unknown[]): string => (list.length === 0 ? NOTHING : sha256(canonicalJson(list)));
