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
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import type { HubBinding } from '../placement-sources.ts';
import { type Rendered, render } from './rendered.ts';

export interface DesiredWork {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  manifests(): readonly KubeObject[];
  readonly content: string;
  readonly strategy: ApplyStrategy | undefined;
}

/** Why the Works of a binding cannot be made: then none of them is written. */
export type Failed = Extract<Rendered, { readonly ok: false }>;

/** One per snapshot of the group, even of an empty one: its status is how the cluster answers. */
export function desiredWorks(
  binding: HubBinding,
  group: readonly ResourceSnapshot[],
  overrides: readonly HubOverrideSnapshot[],
): readonly DesiredWork[] | Failed {
  const rendering = { snapshots: overrides, values: binding.spec.overrideValues ?? {} };
  const desired: DesiredWork[] = [];
  for (const snapshot of group) {
    const rendered = render(snapshot, rendering);
    if (!rendered.ok) return rendered;
    desired.push(desiredWork(binding, snapshot, rendered));
  }
  return desired;
}

export const isFailed = (desired: readonly DesiredWork[] | Failed): desired is Failed => 'ok' in desired;

/** What a Work says of its origin: those that say the same are what the binding asks for. */
export const originOf = ({ spec }: HubBinding): Labels => ({
  [annotations.parentResourceSnapshotName]: spec.resourceSnapshotName,
  [annotations.parentResourceOverrideSnapshotHash]: hashOf(spec.resourceOverrideSnapshots ?? []),
  [annotations.parentClusterResourceOverrideSnapshotHash]: hashOf(spec.clusterResourceOverrideSnapshots ?? []),
});

function desiredWork(
  binding: HubBinding,
  snapshot: ResourceSnapshot,
  { content, manifests }: Extract<Rendered, { readonly ok: true }>,
): DesiredWork {
  const { metadata, spec } = binding;
  const placement = metadata.labels?.[labels.parentPlacement] ?? '';
  const base = workBaseName(placement, metadata.namespace);
  const subindex = snapshot.metadata.annotations?.[annotations.subindexOfResourceSnapshot];
  return {
    name: subindex === undefined ? masterWorkName(base) : furtherWorkName(base, Number(subindex)),
    namespace: memberNamespace(spec.targetCluster),
    labels: {
      [labels.parentBinding]: metadata.name ?? '',
      [labels.parentPlacement]: placement,
      [labels.parentResourceSnapshotIndex]: snapshot.metadata.labels?.[labels.resourceIndex] ?? '',
      ...(metadata.namespace === undefined ? {} : { [labels.parentPlacementNamespace]: metadata.namespace }),
    },
    annotations: originOf(binding),
    manifests,
    content,
    strategy: spec.applyStrategy,
  };
}

/** Others compare it: no list and an empty one are both `null`. */
const NOTHING = sha256('null');

const hashOf = (list: readonly unknown[]): string => (list.length === 0 ? NOTHING : sha256(canonicalJson(list)));
