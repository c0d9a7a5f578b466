// The name of a new binding. It is fixed before the write, so that a retry after a lost response gets AlreadyExists
// instead of creating a duplicate; and it is free, because it is derived from the predecessor, which still exists under
// another name.
import { bindingName } from '../../api/names.ts';
import { byText } from '../../base/compare.ts';
import { invariant } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';

export interface Naming {
  readonly placement: HubPlacement;
  readonly cluster: string;
  /** The bindings of the cluster that are being deleted. */
  readonly deleting: readonly HubBinding[];
  isUsed(name: string): boolean;
}

export function newBindingName({ placement, cluster, deleting, isUsed }: Naming): string {
  const predecessors = deleting.toSorted(newest).map((binding) => binding.metadata.uid ?? '');
  // Times are whole seconds, so of two predecessors the older one may look newest, and its successor's name may be the
  // other's.
  const free = [...predecessors, ...(predecessors.length === 0 ? [''] : [])]
    .map((predecessor) => successorName(placement, cluster, predecessor))
    .find((candidate) => !isUsed(candidate));
  invariant(
    free !== undefined,
    `no name is left for a binding of "${placement.metadata.name}" to cluster "${cluster}"`,
  );
  return free;
}

/** The name while a binding with this uid is still being deleted; for the first binding the uid is empty. */
export function successorName({ metadata }: HubPlacement, cluster: string, predecessorUid: string): string {
  const { name = '', uid = '' } = metadata;
  return bindingName(asLabel(name, 26), asLabel(cluster, 27), suffixOf(uid, cluster, predecessorUid));
}

const suffixOf = (placementUid: string, cluster: string, predecessorUid: string): string =>
  sha256(`${placementUid}/${cluster}/${predecessorUid}`).slice(0, 8);

const newest = ({ metadata: a }: HubBinding, { metadata: b }: HubBinding): number =>
  byText(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || byText(b.uid ?? '', a.uid ?? '');

/**
 * Binding names are also used as label values. Differs from KubeFleet: there a placement with a dot in its name is
 * never scheduled.
 */
const asLabel = (name: string, max: number): string => name.slice(0, max).replaceAll(/[^a-z0-9-]/g, '-');
