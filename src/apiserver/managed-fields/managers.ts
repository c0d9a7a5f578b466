// metadata.managedFields: which manager owns which fields. One entry per manager, operation, subresource and, for
// updates, version.

import { byNumber, byText } from '../../base/compare.ts';
import { isObject } from '../../base/json.ts';
import { EMPTY, type FieldSet, union } from './field-set.ts';
import { BadFields, decodeFields, encodeFields } from './fields-v1.ts';

export type Operation = 'Apply' | 'Update';

export interface Manager {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  /** '' = the object itself. */
  readonly subresource: string;
}

export interface Owner extends Manager {
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Field by field, because a spread would take a third of the time of every write. */
export const ownerOf = (
  { manager, operation, apiVersion, subresource }: Manager,
  time: string | undefined,
  fields: FieldSet,
): Owner => ({ manager, operation, apiVersion, subresource, time, fields });

/** By identity. */
export type Owners = ReadonlyMap<string, Owner>;

/** An applier keeps its entry when it applies another version. */
export const identityOf = ({ manager, operation, apiVersion, subresource }: Manager): string =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);

export class BadManagedFields extends Error {
  override readonly name = 'BadManagedFields';
}

/** Throws BadManagedFields. */
export function decodeOwners(entries: readonly unknown[] | undefined): Owners {
  const owners = new Map<string, Owner>();
  for (const [index, entry] of (entries ?? []).entries()) {
    const owner = decoded(entry, index);
    owners.set(identityOf(owner), owner);
  }
  return owners;
}

function decoded(entry: unknown, index: number): Owner {
  if (!isObject(entry)) throw new BadManagedFields(`entry ${index} is not an object`);
  const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new BadManagedFields('operation must be `Apply` or `Update`');
  }
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new BadManagedFields('apiVersion must not be empty');
  if (fieldsType === undefined || fieldsType === '') {
    throw new BadManagedFields(`missing fieldsType in managed fields entry ${index}`);
  }
  if (fieldsType !== 'FieldsV1') {
    throw new BadManagedFields(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  }
  try {
    return {
      manager: typeof manager === 'string' ? manager : '',
      operation,
      apiVersion,
      subresource: typeof subresource === 'string' ? subresource : '',
      time: typeof time === 'string' ? time : undefined,
      fields: fieldsV1 === undefined || fieldsV1 === null ? EMPTY : decodeFields(fieldsV1),
    };
  } catch (error) {
    throw error instanceof BadFields ? new BadManagedFields(error.message) : error;
  }
}

/** Appliers first, then by time and name, as on a real server. */
export function encodeOwners(owners: Owners): readonly unknown[] {
  return [...owners.values()]
    .sort(
      (a, b) =>
        byText(a.operation, b.operation) ||
        byNumber(secondOf(a), secondOf(b)) ||
        byText(a.manager, b.manager) ||
        byText(a.apiVersion, b.apiVersion) ||
        byText(a.subresource, b.subresource),
    )
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFields(fields),
      ...(subresource === '' ? {} : { subresource }),
    }));
}

const secondOf = ({ time }: Owner): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));

const MAX_UPDATERS = 10;
const OLD_UPDATES = 'ancient-changes';

/** Merges the oldest updates of each version into one entry while there are more than ten. */
export function capped(owners: Owners): Owners {
  if (owners.size <= MAX_UPDATERS) return owners;
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return owners;
  updaters.sort(([a, one], [b, other]) => byNumber(secondOf(one), secondOf(other)) || byText(a, b));
  const result = new Map(owners);
  const firsts = new Map<string, string>();
  let count = updaters.length;
  for (const [identity, owner] of updaters) {
    if (count <= MAX_UPDATERS) break;
    const first = firsts.get(owner.apiVersion);
    if (first === undefined) {
      firsts.set(owner.apiVersion, identity);
      continue;
    }
    const bucket: Manager = {
      manager: OLD_UPDATES,
      operation: 'Update',
      apiVersion: owner.apiVersion,
      subresource: '',
    };
    const key = identityOf(bucket);
    const into = result.get(key) ?? (result.get(first) as Owner);
    if (!result.has(key)) result.delete(first);
    result.delete(identity);
    result.set(key, { ...bucket, time: owner.time, fields: union(owner.fields, into.fields) });
    count--;
  }
  return result;
}
