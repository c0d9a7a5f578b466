// Classifies the bindings of a placement under the present policy. The first rule that matches decides.
import type { BindingState } from '../../api/binding.ts';
import { annotations } from '../../api/names.ts';
import { by, byNumber, byText } from '../../base/compare.ts';
import type { HubBinding } from '../placement-sources.ts';

export interface Sorted {
  /** Being deleted; a successor may exist at the same time. */
  readonly deleting: readonly HubBinding[];
  /** Unscheduled, but not deleted: if their cluster is picked again, they are reused. */
  readonly unscheduled: readonly HubBinding[];
  /** Their cluster has left the fleet, or is leaving. */
  readonly dangling: readonly HubBinding[];
  /** From an earlier policy. */
  readonly obsolete: readonly HubBinding[];
  readonly scheduled: readonly HubBinding[];
  readonly bound: readonly HubBinding[];
}

export type BindingClass = keyof Sorted;

export const clusterOf = (binding: HubBinding): string => binding.spec.targetCluster;
const byName = by((binding: HubBinding) => binding.metadata.name ?? '');

export interface SortingInput {
  readonly bindings: readonly HubBinding[];
  /** Name of the current policy snapshot. */
  readonly snapshot: string;
  /** Whether the cluster is in the fleet and not leaving. */
  isMember(cluster: string): boolean;
}

export function sortBindings({ bindings, snapshot, isMember }: SortingInput): Sorted {
  const sorted: Record<BindingClass, HubBinding[]> = {
    deleting: [],
    unscheduled: [],
    dangling: [],
    obsolete: [],
    scheduled: [],
    bound: [],
  };
  for (const binding of bindings.toSorted(byName)) sorted[classOf(binding, snapshot, isMember)].push(binding);
  return sorted;
}

function classOf(
  { metadata, spec }: HubBinding,
  snapshot: string,
  isMember: (cluster: string) => boolean,
): BindingClass {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  if (spec.state === 'Unscheduled') return 'unscheduled';
  if (!isMember(spec.targetCluster)) return 'dangling';
  if (spec.schedulingPolicySnapshotName !== snapshot) return 'obsolete';
  return spec.state === 'Bound' ? 'bound' : 'scheduled';
}

export const byCluster = (bindings: readonly HubBinding[]): ReadonlyMap<string, HubBinding> =>
  new Map(bindings.map((binding) => [clusterOf(binding), binding]));

/** A rolled-out duplicate, and the binding that is kept for the cluster. */
export interface Duplicate {
  readonly binding: HubBinding;
  readonly survivor: HubBinding;
}

export interface Parted {
  /** With one live binding per cluster. */
  readonly sorted: Sorted;
  readonly unusedDuplicates: readonly HubBinding[];
  readonly duplicates: readonly Duplicate[];
}

/**
 * A scheduler never creates two live bindings for one cluster, but two hubs that both believe to lead can: the name of
 * a successor depends on whether its predecessor was still cached. Unused duplicates are deleted; rolled-out ones all
 * own the same Work, so the survivor keeps it and the others must be deleted without it.
 */
export function parted(sorted: Sorted): Parted {
  const { bound, scheduled, obsolete } = sorted;
  const beside = new Map<string, HubBinding[]>();
  for (const binding of new Set([...bound, ...obsolete.filter(isRolledOut), ...scheduled, ...obsolete])) {
    const others = beside.get(clusterOf(binding));
    if (others === undefined) beside.set(clusterOf(binding), [binding]);
    else others.push(binding);
  }
  const unusedDuplicates: HubBinding[] = [];
  const duplicates: Duplicate[] = [];
  for (const all of beside.values()) {
    const survivor = all.filter(isRolledOut).toSorted(furthest)[0] ?? all[0];
    for (const binding of all) {
      if (survivor === undefined || binding === survivor) continue;
      if (isRolledOut(binding)) duplicates.push({ binding, survivor });
      else unusedDuplicates.push(binding);
    }
  }
  if (unusedDuplicates.length + duplicates.length === 0) return { sorted, unusedDuplicates, duplicates };
  const gone = new Set([...unusedDuplicates, ...duplicates.map(({ binding }) => binding)]);
  const single = (bindings: readonly HubBinding[]) => bindings.filter((binding) => !gone.has(binding));
  return {
    sorted: { ...sorted, bound: single(bound), scheduled: single(scheduled), obsolete: single(obsolete) },
    unusedDuplicates,
    duplicates,
  };
}

/** The newest revision, so that no cluster goes back; then the oldest binding. Every hub picks the same survivor. */
const furthest = (a: HubBinding, b: HubBinding): number =>
  byNumber(revisionOf(b), revisionOf(a)) ||
  byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  byText(a.metadata.uid ?? '', b.metadata.uid ?? '');

const revisionOf = ({ spec }: HubBinding): number =>
  Number(/-(\d+)-snapshot$/.exec(spec.resourceSnapshotName ?? '')?.[1] ?? -1);

const isRolledOut = ({ spec }: HubBinding): boolean =>
  spec.state === 'Bound' || (spec.resourceSnapshotName ?? '') !== '';

/**
 * The state to which an unscheduled binding returns. Differs from KubeFleet: without the annotation it fails the whole
 * placement. A binding that was rolled out has a resourceSnapshotName.
 */
export function stateBefore({ metadata, spec }: HubBinding): BindingState {
  const said = metadata.annotations?.[annotations.previousBindingState];
  if (said === 'Scheduled' || said === 'Bound') return said;
  return (spec.resourceSnapshotName ?? '') === '' ? 'Scheduled' : 'Bound';
}
