// Which fields of an object may differ from its manifest: comparePatches of the apply strategy. Pure.
// A path counts list entries as the live object has them, as the paths of reported drifts do.
import type { ComparePatch } from '../../api/compare-patch.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject, type Json, type JsonObject, setField } from '../../base/json.ts';
import { indexOfKey, parsePointer } from '../../base/json-pointer.ts';
import { createLru } from '../../base/lru.ts';
import { compilePattern, type Pattern } from '../../base/regexp/pattern.ts';

export type Path = readonly string[];
export type ComparePatches = readonly ComparePatch[] | undefined;

type Named = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

const NONE: readonly Path[] = [];

/** The fields that are not compared. */
export function ignoredPaths(patches: ComparePatches, object: Named): readonly Path[] {
  if (patches === undefined || patches.length === 0) return NONE;
  return patches
    .filter((patch) => isFor(patch, object) && isEmptyOr(patch.name, object.metadata.name))
    .flatMap(({ jsonPointers = [], operations = [] }) => [
      ...jsonPointers,
      ...operations.flatMap(({ op, path }) => (op === 'remove' && path !== undefined ? [path] : [])),
    ])
    .flatMap((pointer) => comparedPaths(parsePointer(pointer) ?? []));
}

/** Whether the object may be missing. As in Rancher Fleet only this takes a name for a regular expression. */
export const mayBeMissing = (patches: ComparePatches, object: Named): boolean =>
  (patches ?? []).some(
    (patch) =>
      (patch.operations ?? []).some(({ op }) => op === 'ignore') &&
      isFor(patch, object) &&
      (isEmptyOr(patch.name, object.metadata.name) || patternOf(patch.name ?? '').test(object.metadata.name ?? '')),
  );

const isEmptyOr = (wanted: string | undefined, value: string | undefined): boolean =>
  wanted === undefined || wanted === '' || wanted === value;

const isFor = ({ apiVersion, kind, namespace }: ComparePatch, object: Named): boolean =>
  isEmptyOr(apiVersion, object.apiVersion) &&
  isEmptyOr(kind, object.kind) &&
  isEmptyOr(namespace, object.metadata.namespace);

const patterns = createLru<string, Pattern>(256);

function patternOf(name: string): Pattern {
  const known = patterns.get(name) ?? compilePattern(name);
  patterns.set(name, known);
  return known;
}

/** Of metadata only labels and annotations are compared, and a Secret's stringData stands in its data. */
function comparedPaths([first, second, ...rest]: Path): readonly Path[] {
  if (first === undefined || NOT_COMPARED.includes(first)) return NONE;
  const more = second === undefined ? [] : [second, ...rest];
  if (first === 'stringData') return [['data', ...more]];
  if (first !== 'metadata') return [[first, ...more]];
  if (second === undefined) return OF_METADATA.map((each) => [first, each]);
  return OF_METADATA.includes(second) ? [[first, ...more]] : NONE;
}

const NOT_COMPARED: readonly string[] = ['apiVersion', 'kind', 'status'];
const OF_METADATA: readonly string[] = ['labels', 'annotations'];

/** The object with the values that another one has at these paths; without a value where the other has none. */
export const withPartsOf = (object: JsonObject, other: JsonObject, paths: readonly Path[]): JsonObject =>
  paths.reduce<JsonObject>((all, path) => (copied(all, other, path) ?? {}) as JsonObject, object);

function copied(target: Json | undefined, source: Json | undefined, [key, ...rest]: Path): Json | undefined {
  if (key === undefined) return source;
  if (Array.isArray(target) && Array.isArray(source)) return copiedEntry(target, source, key, rest);
  if (!(isMap(target) || target === undefined) || !(isMap(source) || source === undefined)) return target;
  const value = copied(own(target, key), own(source, key), rest);
  if (value === undefined && (target === undefined || !Object.hasOwn(target, key))) return target;
  const { [key]: _old, ...others } = target ?? {};
  // A map that held nothing else goes with its last field, unless the other object has it.
  if (value === undefined) return source === undefined && Object.keys(others).length === 0 ? undefined : others;
  const result = { ...others };
  setField(result, key, value);
  return result;
}

function copiedEntry(target: readonly Json[], source: readonly Json[], key: string, rest: Path): Json {
  // The path of an entry that only the member has.
  if (key === '-') return rest.length === 0 ? [...target, ...source.slice(target.length)] : target;
  const at = indexOfKey(key) ?? Number.POSITIVE_INFINITY;
  if (at > target.length) return target;
  const value = copied(target[at], source[at], rest);
  return [...target.slice(0, at), ...(value === undefined ? [] : [value]), ...target.slice(at + 1)];
}

const isMap = (value: Json | undefined): value is JsonObject => isObject(value);

const own = (object: JsonObject | undefined, key: string): Json | undefined => {
  const value = object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
};
