// The part of an object that our server-side apply owns, read from managedFields: the desired state of the last apply.
// Pure.
import { fieldManagers } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepEqual, isObject, type Json, type JsonObject } from '../../base/json.ts';

export function appliedPart(live: KubeObject): JsonObject {
  const entry = ((live.metadata.managedFields ?? []) as readonly unknown[])
    .filter(isObject)
    .find(
      ({ manager, operation, subresource }) => manager === fieldManagers.apply && operation === 'Apply' && !subresource,
    );
  const part = ownedIn(live as unknown as Json, entry?.['fieldsV1']);
  return isObject(part) ? (part as JsonObject) : {};
}

/**
 * Field sets (fieldsV1) are maps: `f:NAME` for a field, `k:KEYS` and `v:VALUE` for list entries, `.` for the item
 * itself.
 */
function ownedIn(value: Json | undefined, fields: unknown): Json | undefined {
  if (value === undefined || !isObject(fields)) return undefined;
  const keys = Object.keys(fields).filter((key) => key !== '.');
  if (keys.length === 0) return value;
  if (Array.isArray(value)) return value.flatMap((each) => entryOf(each as Json, fields, keys) ?? []);
  if (!isObject(value)) return value;
  const parts = keys.flatMap((key): readonly (readonly [string, Json])[] => {
    const name = key.slice(2);
    const part =
      key.startsWith('f:') && Object.hasOwn(value, name)
        ? ownedIn((value as JsonObject)[name], fields[key])
        : undefined;
    return part === undefined ? [] : [[name, part]];
  });
  return Object.fromEntries(parts);
}

function entryOf(entry: Json, fields: object, keys: readonly string[]): readonly Json[] | undefined {
  const key = keys.find((each) => {
    const wanted = parsed(each.slice(2));
    if (each.startsWith('v:')) return deepEqual(entry, wanted);
    return (
      isObject(wanted) && isObject(entry) && Object.keys(wanted).every((name) => deepEqual(wanted[name], entry[name]))
    );
  });
  if (key === undefined) return undefined;
  const part = ownedIn(entry, (fields as Readonly<Record<string, unknown>>)[key]);
  return part === undefined ? undefined : [part];
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
