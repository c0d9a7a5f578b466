// The cached projections of placements and the objects derived from them. The status of a thousand clusters and the
// manifests of a snapshot are left out, and read in full when a decision needs them (Need).
import type { Binding, BindingSpec } from '../api/binding.ts';
import type { Condition } from '../api/conditions.ts';
import type { Resource } from '../api/kind.ts';
import { annotations, labels, SYSTEM_NAMESPACE } from '../api/names.ts';
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { Placement, PlacementSpec } from '../api/placement.ts';
import type { PolicySnapshot } from '../api/policy-snapshot.ts';
import type { RolloutState } from '../api/rollout-state.ts';
import { keyOf } from '../runtime/cache.ts';
import type { Source } from '../runtime/controller.ts';
import { shared } from './bindings/binding-sentences.ts';
import { type KeptLists, keptLists } from './bindings/kept-lists.ts';
import { only } from './only.ts';

/** The key of the placement of an object: `name`, or `namespace/name`. */
export const placementKeyOf = ({ metadata }: { readonly metadata: ObjectMeta }): string =>
  keyOf(metadata.namespace, metadata.labels?.[labels.parentPlacement] ?? '');

export const isMarked = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.labels?.[labels.parentPlacement] !== undefined;

const byPlacement = (item: { readonly metadata: ObjectMeta }): readonly string[] =>
  isMarked(item) ? [placementKeyOf(item)] : [];

// ---- placements

export interface HubPlacement {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
  /** The conditions of the placement itself; those of its clusters are only in the full object. */
  readonly conditions: readonly Condition[];
  readonly observedResourceIndex: string;
  /** Only for placements with a source, whose GitRepo aggregates them. */
  readonly rollout?: Omit<RolloutState, 'partitions'>;
  /** It was deleted with `--cascade=orphan`. Garbage collection soon removes that finalizer, so this is remembered. */
  readonly isOrphaned?: true;
}

const ORPHAN = 'orphan';

/** In the index `dependsOn`: a dependency that names no placement. No object can have this name. */
export const ANY_PLACEMENT = '*';

/**
 * Indexes: `gitRepo` (namespace and name of the GitRepo in its source), `dependsOn` (keys of placements, or
 * ANY_PLACEMENT).
 */
export const placementSource = (resource: Resource): Source<HubPlacement> => ({
  on: 'hub',
  resource,
  project(object, old) {
    const { metadata, spec, status } = object as Placement;
    const wasOrphaned = old?.isOrphaned === true && old.metadata.uid === metadata.uid;
    return {
      metadata: only(
        metadata,
        'generation',
        'creationTimestamp',
        'deletionTimestamp',
        'finalizers',
        'labels',
        'annotations',
      ),
      spec: spec as PlacementSpec,
      conditions: status?.conditions ?? [],
      observedResourceIndex: status?.observedResourceIndex ?? '',
      ...(spec?.source === undefined || status?.rollout === undefined ? {} : { rollout: counted(status.rollout) }),
      ...(wasOrphaned || metadata.finalizers?.includes(ORPHAN) ? { isOrphaned: true as const } : {}),
    };
  },
  indexes: {
    gitRepo: ({ metadata, spec }) =>
      spec?.source === undefined ? [] : [keyOf(metadata.namespace ?? SYSTEM_NAMESPACE, spec.source.gitRepo)],
    dependsOn: ({ metadata, spec }) => [
      ...new Set((spec?.dependsOn ?? []).map(({ name = '' }) => keyOf(metadata.namespace, name || ANY_PLACEMENT))),
    ],
  },
});

const counted = ({ partitions: _listed, ...counts }: RolloutState): Omit<RolloutState, 'partitions'> => counts;

// ---- bindings

export interface HubBinding extends KeptLists {
  readonly metadata: ObjectMeta;
  readonly spec: BindingSpec;
  readonly conditions: readonly Condition[];
}

/**
 * Indexes: `placement` (its key), `cluster` (the name of the MemberCluster), `override` (keys of the referenced
 * override snapshots).
 */
export const bindingSource = (resource: Resource): Source<HubBinding> => ({
  on: 'hub',
  resource,
  project(object) {
    const { metadata, spec, status } = object as Binding;
    return {
      metadata: only(
        metadata,
        'generation',
        'creationTimestamp',
        'deletionTimestamp',
        'finalizers',
        'labels',
        'annotations',
      ),
      spec: spec as BindingSpec,
      conditions: (status?.conditions ?? []).map(shared),
      ...keptLists(status ?? {}),
    };
  },
  indexes: {
    placement: byPlacement,
    cluster: ({ spec }) => [spec.targetCluster],
    override: ({ spec: { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] } }) => [
      ...wide,
      ...narrow.map(({ namespace, name }) => keyOf(namespace, name)),
    ],
    // Bindings without the placement label: their policy snapshot still identifies the placement.
    unmarked: (item) =>
      isMarked(item) ? [] : [keyOf(item.metadata.namespace, item.spec.schedulingPolicySnapshotName)],
  },
});

// ---- snapshots

export interface HubPolicySnapshot {
  readonly metadata: ObjectMeta;
  readonly spec: NonNullable<PolicySnapshot['spec']>;
  /** Snapshots that are not the latest have no decisions here, because no controller reads them. */
  readonly status?: PolicySnapshot['status'];
}

/** Index: `placement`. */
export const policySnapshotSource = (resource: Resource): Source<HubPolicySnapshot> => ({
  on: 'hub',
  resource,
  project(object) {
    const { metadata, spec, status } = object as PolicySnapshot;
    const isLatest = metadata.labels?.[labels.isLatestSnapshot] === 'true';
    return {
      metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'labels', 'annotations'),
      spec: spec as NonNullable<PolicySnapshot['spec']>,
      ...(isLatest && status !== undefined ? { status } : {}),
    };
  },
  indexes: { placement: byPlacement },
});

/** The scheduler has processed the present generation of the placement. */
export const isScheduledNow = (
  { metadata }: Pick<HubPlacement, 'metadata'>,
  policySnapshot: HubPolicySnapshot | undefined,
): boolean => (policySnapshot?.status?.observedCRPGeneration ?? 0) >= (metadata.generation ?? 0);

/** Without content: request that with Need. */
export interface HubResourceSnapshot {
  readonly metadata: ObjectMeta;
}

/** Index: `placement`. */
export const resourceSnapshotSource = (resource: Resource): Source<HubResourceSnapshot> => ({
  on: 'hub',
  resource,
  view: 'metadata',
  project: ({ metadata }: KubeObject) => ({
    metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'labels', 'annotations'),
  }),
  indexes: { placement: byPlacement },
});

/** Only the master of a group has the hash annotation. */
export const isMaster = ({ metadata }: HubResourceSnapshot): boolean =>
  metadata.annotations?.[annotations.resourceHash] !== undefined;

export const isLatest = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.labels?.[labels.isLatestSnapshot] === 'true';

/** How many snapshots the group of this master has. */
export const groupSizeOf = ({ metadata }: HubResourceSnapshot): number =>
  Math.max(1, indexIn(metadata.annotations?.[annotations.numberOfResourceSnapshots]) ?? 1);

/** The number of its part of the group: 0 is the master. undefined = neither a master nor numbered. */
export function partOf(snapshot: HubResourceSnapshot): number | undefined {
  if (isMaster(snapshot)) return 0;
  const subindex = indexIn(snapshot.metadata.annotations?.[annotations.subindexOfResourceSnapshot]);
  return subindex === undefined ? undefined : subindex + 1;
}

/** All snapshots of a revision in order; those without a number come last. */
export function groupOf<T extends HubResourceSnapshot>(
  snapshots: readonly T[],
  master: HubResourceSnapshot,
): readonly T[] {
  const index = resourceIndexOf(master);
  return snapshots
    .filter((each) => resourceIndexOf(each) === index && each.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (partOf(a) ?? Number.MAX_SAFE_INTEGER) - (partOf(b) ?? Number.MAX_SAFE_INTEGER));
}

/** The parts of the group that do not exist (yet). */
export function missingParts(
  snapshots: readonly HubResourceSnapshot[],
  master: HubResourceSnapshot,
): readonly number[] {
  const there = new Set(groupOf(snapshots, master).map(partOf));
  return Array.from({ length: groupSizeOf(master) }, (_, part) => part).filter((part) => !there.has(part));
}

/** undefined = there is no number. */
export const resourceIndexOf = ({ metadata }: HubResourceSnapshot): number | undefined =>
  indexIn(metadata.labels?.[labels.resourceIndex]);
export const policyIndexOf = ({ metadata }: { readonly metadata: ObjectMeta }): number | undefined =>
  indexIn(metadata.labels?.[labels.policyIndex]);

const indexIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
