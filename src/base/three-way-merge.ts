// The merge patch from a live object to its desired state, given the last applied state: desired fields are set, fields
// that are no longer desired are removed, fields of other clients stay. Lists are replaced as a whole.
import { deepEqual, isObject, type Json, type JsonObject, setField } from './json.ts';

/** `{}` if nothing differs. */
export function threeWayPatch(input: {
  readonly last: JsonObject;
  readonly wanted: JsonObject;
  readonly live: JsonObject;
}): JsonObject {
  const { last, wanted, live } = input;
  const patch: Record<string, Json> = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const present = own(live, key);
    if (isObject(value) && isObject(present)) {
      const before = own(last, key);
      const inner = threeWayPatch({
        last: (isObject(before) ? before : {}) as JsonObject,
        wanted: value as JsonObject,
        live: present as JsonObject,
      });
      if (Object.keys(inner).length > 0) setField(patch, key, inner);
    } else if (value === null ? present !== undefined : !deepEqual(value, present)) setField(patch, key, value);
  }
  for (const key of Object.keys(last)) {
    if (own(wanted, key) === undefined && own(live, key) !== undefined) setField(patch, key, null);
  }
  return patch;
}

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
