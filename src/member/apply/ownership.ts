// Whose an object is. Guarantee: nothing is overwritten, adopted or deleted that has another owner.
import { appliedWork } from '../../api/applied-work.ts';
import { apiVersionOf, type KubeObject, type OwnerReference } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';

/** A reference to an AppliedWork of ours: kind and apiVersion both. */
export const namesAppliedWork = ({ apiVersion, kind }: OwnerReference): boolean =>
  kind === appliedWork.kind && apiVersion === apiVersionOf(appliedWork.group, appliedWork.version);

export const isSameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;

export const ownersOf = (live: Pick<KubeObject, 'metadata'>): readonly OwnerReference[] =>
  live.metadata.ownerReferences ?? [];

export interface Owners {
  readonly isOurs: boolean;
  /** Neither we nor AppliedWorks without an owner. */
  readonly others: readonly OwnerReference[];
  /** As it is to be: with us, without orphaned ones. */
  readonly wanted: readonly OwnerReference[];
  readonly isAsWanted: boolean;
}

/** `isOrphaned` tells of references to AppliedWorks whose Work is gone from the hub. */
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
