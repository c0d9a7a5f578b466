// What the bindings of a placement mean under the policy that is valid now. The first rule that fits decides.
import type { BindingState } from '../../api/binding.ts';
import { annotations } from '../../api/names.ts';
import { by } from '../../base/compare.ts';
import { UserError } from '../../base/errors.ts';
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

/** Live bindings by cluster. Two for one cluster is nobody's decision: whatever we did about one of them would also hit the other. */
export function byCluster(bindings: readonly HubBinding[]): ReadonlyMap<string, HubBinding> {
  const found = new Map<string, HubBinding>();
  for (const binding of bindings) {
    const twin = found.get(clusterOf(binding));
    if (twin !== undefined) {
      throw new UserError(
        'TwoBindings',
        `bindings "${twin.metadata.name}" and "${binding.metadata.name}" both point at cluster "${clusterOf(binding)}"; delete one of them`,
      );
    }
    found.set(clusterOf(binding), binding);
  }
  return found;
}

/**
 * The state that an unscheduled binding goes back to.
 * Differs from KubeFleet: without the annotation it gives up on the whole placement. What was rolled out names its resources.
 */
export function stateBefore({ metadata, spec }: HubBinding): BindingState {
  const said = metadata.annotations?.[annotations.previousBindingState];
  if (said === 'Scheduled' || said === 'Bound') return said;
  return (spec.resourceSnapshotName ?? '') === '' ? 'Scheduled' : 'Bound';
}
