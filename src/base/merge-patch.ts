// JSON merge patch (RFC 7386): null removes a field, objects merge, everything else replaces. Pure: unchanged parts are
// shared with the original.
import { isObject, type Json, type JsonObject, setField } from './json.ts';

/** The original with the patch merged in. */
export function mergePatch(original: Json | undefined, patch: JsonObject): Json {
  if (original === undefined || !isJsonObject(original)) return withoutNulls(patch);
  const result: Record<string, Json> = {};
  for (const key in original) {
    const value = original[key];
    // Null fields of the original stay: only nulls in the patch remove fields.
    if (value !== undefined && !Object.hasOwn(patch, key)) setField(result, key, value);
    else if (Object.hasOwn(patch, key)) place(result, key, value, patch[key]);
  }
  for (const key in patch) if (!Object.hasOwn(original, key)) place(result, key, undefined, patch[key]);
  return result;
}

function place(result: Record<string, Json>, key: string, before: Json | undefined, patch: Json | undefined): void {
  if (patch === undefined || patch === null) return;
  setField(result, key, isJsonObject(patch) ? mergePatch(before, patch) : withoutNulls(patch));
}

/** A new value has no null fields, not even inside lists, because there is nothing to remove. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const key in value) {
    const field = value[key];
    if (field !== undefined && field !== null) setField(result, key, withoutNulls(field));
  }
  return result;
}

const isJsonObject = (value: Json): value is JsonObject => isObject(value);
