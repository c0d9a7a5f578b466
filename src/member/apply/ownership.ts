// Who owns an object. Guarantee: an object with another owner is not overwritten, taken over or deleted.
import { appliedWork } from '../../api/applied-work.ts';
import { apiVersionOf, type KubeObject, type OwnerReference } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';

/** A reference to an AppliedWork: both kind and apiVersion match. */
export const namesAppliedWork = ({ apiVersion, kind }: OwnerReference): boolean =>
  kind === appliedWork.kind && apiVersion === apiVersionOf(appliedWork.group, appliedWork.version);

export const isSameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;

export const ownersOf = (live: Pick<KubeObject, 'metadata'>): readonly OwnerReference[] =>
  live.metadata.ownerReferences ?? [];

export interface Owners {
  readonly isOurs: boolean;
  /** Owners except us and AppliedWorks that no longer exist. */
  readonly others: readonly OwnerReference[];
  /** The desired owners: with us, without orphaned references. */
  readonly wanted: readonly OwnerReference[];
  readonly isAsWanted: boolean;
}

/** `isOrphaned` is true for references to AppliedWorks whose Work no longer exists on the hub. */
export function ownersAround(
  live: KubeObject,
  owner: OwnerReference,
  isOrphaned: (reference: OwnerReference) => boolean,
): Owners {
  const all = ownersOf(live);
  const isOurs = all.some((each) => isSameOwner(each, owner));
  const others = all.filter((each) => !isSameOwner(each, owner) && !(namesAppliedWork(each) && isOrphaned(each)));
  const wanted = isOurs
    ? all
        .filter((each) => isSameOwner(each, owner) || others.includes(each))
        .map((each) => (isSameOwner(each, owner) ? { ...each, ...owner } : each))
    : [...others, owner];
  return { isOurs, others, wanted, isAsWanted: deepEqual(all, wanted) };
}

export const nameOwners = (owners: readonly OwnerReference[]): string =>
  owners.map(({ kind, name }) => `${kind} "${name}"`).join(', ');
