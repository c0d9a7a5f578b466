// Fields that comparePatches leave to the member: what a write says of them. Pure.
// Guarantee: once a manifest is applied, no write changes such a field or gives up one that nobody else owns.
import { defaultOf, type Rule, ruleOf } from '../../api/builtin/three-way.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { deepEqual, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { indexOfKey } from '../../base/json-pointer.ts';
import { type Path, withPartsOf } from '../compare/ignored.ts';
import { overlaid, shapeOf } from '../compare/overlay.ts';
import { sanitised } from '../compare/sanitised.ts';
import { parsed } from './applied-part.ts';
import type { Wanted } from './wanted.ts';

export interface Ignored {
  readonly paths: readonly Path[];
  /** The manifest is applied: the member's values stay. Else they are overwritten, unless that would be a conflict. */
  readonly areLeft: boolean;
}

/** For a three-way merge: the live object as if it had the values of the manifest there. */
export function asIfApplied(
  live: KubeObject,
  { object }: Wanted,
  ignored: Ignored | undefined,
  typeName: string | undefined,
): JsonObject {
  if (ignored === undefined || !ignored.areLeft) return live as JsonObject;
  // Without our own annotations: those are always written.
  const applied = overlaid(sanitised(object) as JsonObject, live as JsonObject, typeName);
  return withPartsOf(live as JsonObject, applied, ignored.paths);
}

export interface Leaving {
  readonly live: KubeObject;
  readonly ignored: Ignored | undefined;
  readonly typeName: string | undefined;
  /** Take fields over from other managers. */
  readonly force: boolean;
  /** The sets of fields that other managers own. */
  readonly others: readonly unknown[];
}

/** For server-side apply: what others own is left out, what we own has the member's value, or it would be removed. */
export function configurationFor({ configuration }: Wanted, leaving: Leaving): JsonObject {
  const { live, ignored, typeName, force, others } = leaving;
  if (ignored === undefined) return configuration as JsonObject;
  const rule = { shape: shapeOf(typeName), mapKeys: [] };
  const how = { areLeft: ignored.areLeft, force };
  const given = ignored.paths.reduce<Json>(
    (config, path) => left({ config, live: live as unknown as Json, rule, others }, path, how) ?? config,
    configuration as unknown as Json,
  ) as JsonObject;
  const metadata = given['metadata'] as JsonObject;
  const marks = Object.entries(configuration.metadata.annotations ?? {}).filter(
    ([key]) => key === annotations.specHash || key === annotations.metadataHash,
  );
  return {
    ...given,
    metadata: {
      ...metadata,
      annotations: { ...(metadata['annotations'] as JsonObject | undefined), ...Object.fromEntries(marks) },
    },
  };
}

/** One place, in the configuration and on the member. */
interface Here {
  readonly config: Json;
  readonly live: Json | undefined;
  readonly rule: Pick<Rule, 'shape' | 'mergeKey' | 'mapKeys'>;
  /** Of each other manager: what it owns of this place. */
  readonly others: readonly unknown[];
  /** Of an entry of a list: without these fields it would be another one. */
  readonly keys?: readonly string[];
}

type How = Pick<Ignored, 'areLeft'> & Pick<Leaving, 'force'>;

/** undefined = nothing is said of it. A path to a map leaves each of its fields. */
function left(here: Here, path: Path, how: How): Json | undefined {
  const { config } = here;
  const [key, ...rest] = path;
  if (isObject(config)) {
    const fields = Object.keys(config).filter((field) => key === undefined || field === key);
    return fields.reduce((map, field) => leftField(here, map, field, rest, how), config as JsonObject);
  }
  if (key === undefined) return ofValue(here, how);
  return Array.isArray(config) ? leftEntry(here, config, key, rest, how) : config;
}

function leftField({ live, rule, others, keys = [] }: Here, map: JsonObject, field: string, rest: Path, how: How) {
  if (keys.includes(field)) return map;
  const inner: Here = {
    config: map[field] as Json,
    live: isObject(live) && Object.hasOwn(live, field) ? (live as JsonObject)[field] : undefined,
    rule: ruleOf(rule.shape, field),
    others: others.map((each) => (isObject(each) ? each[`f:${field}`] : undefined)),
  };
  const value = left(inner, rest, how);
  if (value === undefined) return Object.fromEntries(Object.entries(map).filter(([each]) => each !== field));
  return { ...map, [field]: value };
}

/** The path counts entries as the member has them; those of a keyed list may be elsewhere in the configuration. */
function leftEntry({ live, rule, others }: Here, list: readonly Json[], key: string, rest: Path, how: How): Json {
  const at = indexOfKey(key);
  const entry = Array.isArray(live) && at !== undefined ? (live[at] as Json | undefined) : undefined;
  if (entry === undefined) return list;
  const keys = rule.mapKeys.length > 0 ? rule.mapKeys : rule.mergeKey === undefined ? [] : [rule.mergeKey];
  const idOf = (each: Json) =>
    JSON.stringify(keys.map((name) => (each as JsonObject)[name] ?? defaultOf(rule.shape, name) ?? null));
  const place =
    keys.length === 0 || !isObject(entry)
      ? at
      : list.findIndex((each) => isObject(each) && idOf(each as JsonObject) === idOf(entry));
  const config = place === undefined ? undefined : list[place];
  if (config === undefined) return list;
  const owned = others.map((each) => (isObject(each) ? each[entryKey(each, entry) ?? ''] : undefined));
  const inner: Here = { config, live: entry, rule: { shape: rule.shape, mapKeys: [] }, others: owned, keys };
  const value = left(inner, rest, how);
  return value === undefined ? list : list.map((each, index) => (index === place ? value : each));
}

/** `k:{"name":"a"}` of the entry. */
const entryKey = (fields: object, entry: Json): string | undefined =>
  Object.keys(fields).find((key) => {
    if (!key.startsWith('k:') || !isObject(entry)) return false;
    const wanted = parsed(key.slice(2));
    return isObject(wanted) && Object.keys(wanted).every((name) => deepEqual(wanted[name], entry[name]));
  });

function ofValue({ config, live, others }: Here, { areLeft, force }: How): Json | undefined {
  const isOwned = others.some((each) => isObject(each) && Object.keys(each).every((key) => key === '.'));
  if (isOwned && (areLeft || !force)) return undefined;
  return areLeft ? (live ?? undefined) : config;
}
