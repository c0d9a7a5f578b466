// What the bindings of a placement mean under the policy that is valid now. The first rule that fits decides.
import type { BindingState } from '../../api/binding.ts';
import { annotations } from '../../api/names.ts';
import { by, byNumber, byText } from '../../base/compare.ts';
import type { HubBinding } from '../placement-sources.ts';

export interface Sorted {
  /** On their way out; a successor may stand beside them. */
  readonly deleting: readonly HubBinding[];
  /** Given up, but still there: picking their cluster again takes them back. */
  readonly unscheduled: readonly HubBinding[];
  /** Their cluster has left, or leaves. */
  readonly dangling: readonly HubBinding[];
  /** Of an earlier policy. */
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
  /** Whether the cluster is in the fleet and stays there. */
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

/** A binding that was rolled out, and the one that was as well and has the orders from now on. */
export interface Duplicate {
  readonly binding: HubBinding;
  readonly survivor: HubBinding;
}

export interface Parted {
  /** With one live binding for each cluster. */
  readonly sorted: Sorted;
  readonly unusedDuplicates: readonly HubBinding[];
  readonly duplicates: readonly Duplicate[];
}

/**
 * Two live bindings for one cluster are no decision of a scheduler, but two hubs that both believe to lead can create them: the name of a successor
 * depends on whether its predecessor was still seen. Those that were never rolled out are unused and are deleted. Of those that were,
 * all order the same Work; one keeps it, and the others must go without taking it along.
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

/** The newest revision, so that nothing goes back; then the oldest binding. All readers of the same bindings find the same one. */
const furthest = (a: HubBinding, b: HubBinding): number =>
  byNumber(revisionOf(b), revisionOf(a)) ||
  byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  byText(a.metadata.uid ?? '', b.metadata.uid ?? '');

const revisionOf = ({ spec }: HubBinding): number =>
  Number(/-(\d+)-snapshot$/.exec(spec.resourceSnapshotName ?? '')?.[1] ?? -1);

const isRolledOut = ({ spec }: HubBinding): boolean =>
  spec.state === 'Bound' || (spec.resourceSnapshotName ?? '') !== '';

/**
 * The state that an unscheduled binding goes back to.
 * Differs from KubeFleet: without the annotation it gives up on the whole placement. What was rolled out names its resources.
 */
export function stateBefore({ metadata, spec }: HubBinding): BindingState {
  const said = metadata.annotations?.[annotations.previousBindingState];
  if (said === 'Scheduled' || said === 'Bound') return said;
  return (spec.resourceSnapshotName ?? '') === '' ? 'Scheduled' : 'Bound';
}
