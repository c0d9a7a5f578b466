// The owners of a Scale, which are those of one field of the object behind it, and what a change of them makes of the object's owners. As on a real
// server an update that owned the field with others of the object loses it to an entry of its own, which has no time.
import { difference, type FieldSet, has, isEmpty, setOf } from './field-set.ts';
import { identityOf, type Owner, type Owners } from './managers.ts';

export const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS = ['f:spec', 'f:replicas'];
const ONLY_REPLICAS: FieldSet = setOf(REPLICAS);

export interface ScaledField {
  /** Steps to the number of replicas in the object. */
  readonly path: readonly string[];
  /** In which versions of the object it is there. */
  isVersion(apiVersion: string): boolean;
}

export function ownersOfScale(owners: Owners, { path, isVersion }: ScaledField): Owners {
  const result = new Map<string, Owner>();
  for (const owner of owners.values()) {
    if (!isVersion(owner.apiVersion) || !has(owner.fields, path)) continue;
    const scaled: Owner = { ...owner, apiVersion: SCALE_VERSION, fields: ONLY_REPLICAS };
    result.set(identityOf(scaled), scaled);
  }
  return result;
}

/** The owners of the object, in the version of the request, once those of its Scale are `scaled`. */
export function ownersWithScale(owners: Owners, scaled: Owners, field: ScaledField, apiVersion: string): Owners {
  const replicas = setOf(field.path);
  const others = new Map(scaled);
  const result = new Map<string, Owner>();
  for (const [identity, owner] of owners) {
    if (!field.isVersion(owner.apiVersion)) continue;
    if (!has(owner.fields, field.path) || others.delete(identity)) result.set(identity, owner);
    else {
      const fields = difference(owner.fields, replicas);
      if (!isEmpty(fields)) result.set(identity, { ...owner, fields });
    }
  }
  for (const [identity, owner] of others) {
    if (!has(owner.fields, REPLICAS)) continue;
    result.set(identity, { ...owner, apiVersion, time: owners.get(identity)?.time, fields: replicas });
  }
  return result;
}
