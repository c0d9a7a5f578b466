// Which other field managers own the fields that a patch would change. Pure.
import { fieldManagers } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { byText } from '../../base/compare.ts';
import { isObject } from '../../base/json.ts';

/** `change` is a merge patch or a strategic one. */
export function contendersIn({ metadata }: KubeObject, change: object): readonly string[] {
  const entries = ((metadata.managedFields ?? []) as readonly unknown[]).filter(isObject);
  const names = entries
    .filter(({ manager, subresource }) => manager !== fieldManagers.apply && !subresource)
    .filter(({ fieldsV1 }) => ownsAny(fieldsV1, change))
    .map(({ manager }) => String(manager));
  return [...new Set(names)].toSorted(byText);
}

/** Field sets are maps with the keys `f:NAME`. A list counts as one field; its entries are not inspected. */
function ownsAny(fields: unknown, change: object): boolean {
  if (!isObject(fields)) return false;
  return Object.entries(change).some(([key, value]) => {
    const owned = Object.hasOwn(fields, `f:${key}`) ? fields[`f:${key}`] : undefined;
    if (!isObject(owned)) return false;
    const isLeaf = !isObject(value) || Object.keys(owned).every((each) => each === '.');
    return isLeaf || ownsAny(owned, value);
  });
}
