// The owners of a Scale are those of one field of its object; a change of them changes the object's owners. As on a
// real server, a manager that updated the field together with others gets a separate entry for it, without a time.
import { difference, type FieldSet, has, isEmpty, setOf } from './field-set.ts';
import { identityOf, type Owner, type Owners } from './managers.ts';

export const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS = ['f:spec', 'f:replicas'];
const ONLY_REPLICAS: FieldSet = setOf(REPLICAS);

export interface ScaledField {
  /** Steps to the number of replicas in the object. */
  readonly path: readonly string[];
  /** Whether that version of the object has it. */
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

/** The owners of the object, in the version of the request, if the owners of its Scale are `scaled`. */
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
