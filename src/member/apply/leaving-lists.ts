// A patch writes some lists as a whole: those of custom objects, and atomic ones. Where comparePatches leave a part of
// such a list to the member, the patch has to contain the member's value of that part. Pure.
import { defaultOf, type Rule, ruleOf } from '../../api/builtin/three-way.ts';
import { deepEqual, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { indexOfKey } from '../../base/json-pointer.ts';
import { type Path, withPartsOf } from '../compare/ignored.ts';
import { shapeOf } from '../compare/overlay.ts';
import type { Ignored } from './leaving.ts';

type Shape = Rule['shape'];

/** The patch with the member's values at the ignored paths, without lists that then are as on the member. */
export const withListsOf = (
  patch: JsonObject,
  live: JsonObject,
  ignored: Ignored | undefined,
  typeName: string | undefined,
): JsonObject =>
  ignored?.areLeft
    ? ignored.paths.reduce<JsonObject>((all, path) => inMap(all, live, path, shapeOf(typeName)), patch)
    : patch;

function inMap(patch: JsonObject, live: JsonObject, path: Path, shape: Shape): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined || !Object.hasOwn(patch, key) || !Object.hasOwn(live, key)) return patch;
  const [ours, theirs] = [patch[key] as Json, live[key] as Json];
  const { [key]: _old, ...others } = patch;
  const rule = ruleOf(shape, key);
  if (isWhole(ours, rule)) {
    if (!isAligned(ours, theirs, rest)) return patch;
    const left = withPartsOf(patch, live, [path]);
    return deepEqual(left[key], theirs) ? others : left;
  }
  if (Array.isArray(ours))
    return Array.isArray(theirs) ? { ...patch, [key]: inEntries(ours, theirs, rest, rule) } : patch;
  if (!isObject(ours) || !isObject(theirs)) return patch;
  const inner = inMap(ours as JsonObject, theirs as JsonObject, rest, rule.shape);
  return Object.keys(inner).length === 0 && Object.keys(ours).length > 0 ? others : { ...patch, [key]: inner };
}

const isWhole = (value: Json, { merges, replaces }: Rule): boolean =>
  Array.isArray(value) ? !merges : isObject(value) && replaces;

/** Other clients may have inserted entries: then an index means another entry on the member. */
function isAligned(ours: Json | undefined, theirs: Json | undefined, [key, ...rest]: Path): boolean {
  if (key === undefined) return true;
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const at = indexOfKey(key);
    if (at === undefined || at >= ours.length) return true;
    return ours.length === theirs.length && isAligned(ours[at], theirs[at], rest);
  }
  if (!isObject(ours) || !isObject(theirs)) return true;
  return isAligned((ours as JsonObject)[key], (theirs as JsonObject)[key], rest);
}

/** A list that merges: the patch contains only some entries, each with its key. */
function inEntries(patch: readonly Json[], live: readonly Json[], [key, ...rest]: Path, rule: Rule): Json {
  const entry = live[indexOfKey(key ?? '') ?? -1];
  const keys = rule.mapKeys.length > 0 ? rule.mapKeys : rule.mergeKey === undefined ? [] : [rule.mergeKey];
  if (!isObject(entry) || keys.length === 0) return patch as Json;
  const idOf = (each: JsonObject) =>
    JSON.stringify(keys.map((name) => each[name] ?? defaultOf(rule.shape, name) ?? null));
  const isReplaced = patch.some((each) => isObject(each) && (each as JsonObject)['$patch'] === 'replace');
  return patch.map((each) => {
    if (!isObject(each) || Object.hasOwn(each, '$patch') || idOf(each as JsonObject) !== idOf(entry as JsonObject))
      return each;
    return isReplaced
      ? withPartsOf(each as JsonObject, entry as JsonObject, rest.length === 0 ? [] : [rest])
      : inMap(each as JsonObject, entry as JsonObject, rest, rule.shape);
  });
}
