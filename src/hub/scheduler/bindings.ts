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

export const byCluster = (bindings: readonly HubBinding[]): ReadonlyMap<string, HubBinding> =>
  new Map(bindings.map((binding) => [clusterOf(binding), binding]));

/**
 * Two live bindings for one cluster are nobody's decision, but two hubs that both believe to lead can make them: the name of a successor
 * depends on whether its predecessor was still seen. Those that were never rolled out are the twins. If two were, whatever we did about
 * one would also hit the other, and a person must look.
 */
export function parted(sorted: Sorted): { readonly sorted: Sorted; readonly twins: readonly HubBinding[] } {
  const first = new Map<string, HubBinding>();
  const twins = new Set<HubBinding>();
  const { bound, scheduled, obsolete } = sorted;
  for (const binding of [...bound, ...obsolete.filter(isRolledOut), ...scheduled, ...obsolete]) {
    const other = first.get(clusterOf(binding));
    if (other === undefined) first.set(clusterOf(binding), binding);
    else if (other !== binding && !isRolledOut(binding)) twins.add(binding);
    else if (other !== binding) {
      throw new UserError(
        'TwoBindings',
        `bindings "${other.metadata.name}" and "${binding.metadata.name}" both point at cluster "${clusterOf(binding)}"; delete one of them`,
      );
    }
  }
  if (twins.size === 0) return { sorted, twins: [] };
  const single = (bindings: readonly HubBinding[]) => bindings.filter((binding) => !twins.has(binding));
  return {
    sorted: { ...sorted, bound: single(bound), scheduled: single(scheduled), obsolete: single(obsolete) },
    twins: [...twins],
  };
}

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
