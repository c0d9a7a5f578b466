// The patch from a live object to its desired state, given the last applied state: desired fields are set, fields that
// are no longer desired are removed, fields of other clients stay. For built-in types it is a strategic merge patch
// that takes list keys from the facts; for all other kinds it is a JSON merge patch.
//
// Guarantee: the patch is `{}` once the live object has all desired fields, none that is no longer desired, and in
// atomic lists only desired entries; also where the server stores them differently (quantities, empty values that a
// typed server drops, defaults in entries of built-in types: `filled-in.ts`). Defaults in a list of any other kind
// cannot be distinguished from changes of a client, and count as a difference; applying then shows the agent that the
// write changes nothing.
import { deepEqual, isObject, type Json, type JsonObject, setField } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { type FieldFact, jsonFields, type TypeFact } from './facts.ts';
import { filledIn } from './filled-in.ts';

export interface ThreeWay {
  readonly last: JsonObject;
  readonly wanted: JsonObject;
  readonly live: JsonObject;
}

/** `typeName` as in `typeNameOf`; undefined = not built in. Null counts as absent everywhere. */
export const threeWayDifference = (sides: ThreeWay, typeName: string | undefined): JsonObject =>
  typeName === undefined
    ? ofFields(sides, CUSTOM, 'merge')
    : ofFields(sides, { form: 'struct', name: typeName }, 'strategic');

type Mode = 'strategic' | 'merge';
type Fields = Record<string, Json>;
type List = readonly Json[];

/** A custom object: only the type of its metadata is known. */
export const CUSTOM = 'custom';
export type Shape = TypeFact | typeof CUSTOM | undefined;

export interface Rule {
  readonly shape: Shape;
  readonly merges: boolean;
  readonly replaces: boolean;
  readonly retainsKeys: boolean;
  readonly mergeKey?: string;
  /** Identify entries where the merge key does not. */
  readonly mapKeys: readonly string[];
  /** A typed server does not store an empty value. */
  readonly dropsZero: boolean;
  /** For a typed server an empty value and an absent one are equal. */
  readonly emptyIsAbsent: boolean;
}

const PLAIN: Rule = {
  shape: undefined,
  merges: false,
  replaces: false,
  retainsKeys: false,
  mapKeys: [],
  dropsZero: false,
  emptyIsAbsent: false,
};

const METADATA: Rule = {
  ...PLAIN,
  shape: { form: 'struct', name: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
};

function ofFields({ last, wanted, live }: ThreeWay, shape: Shape, mode: Mode): JsonObject {
  const patch: Fields = {};
  for (const key of Object.keys(wanted)) {
    const value = own(wanted, key);
    if (value === undefined) continue;
    field(patch, key, { last: own(last, key), wanted: value, live: own(live, key) }, ruleOf(shape, key), mode);
  }
  for (const key of Object.keys(last)) {
    if (own(last, key) === undefined || own(wanted, key) !== undefined) continue;
    gone(patch, key, own(last, key) as Json, own(live, key), ruleOf(shape, key), mode);
  }
  return patch;
}

interface Values {
  readonly last: Json | undefined;
  readonly wanted: Json;
  readonly live: Json | undefined;
}

/** Adds to `patch` the change of one desired field. */
function field(patch: Fields, key: string, { last, wanted, live }: Values, rule: Rule, mode: Mode): void {
  if (live === undefined) {
    if (!(rule.dropsZero && isZero(wanted))) setField(patch, key, withoutNulls(wanted));
  } else if (isMap(wanted) && isMap(live)) {
    if (rule.replaces) {
      if (!deepEqual(wanted, live)) setField(patch, key, withoutNulls(wanted));
      return;
    }
    const inner = ofFields({ last: isMap(last) ? last : {}, wanted, live }, rule.shape, mode);
    if (Object.keys(inner).length > 0)
      setField(patch, key, mode === 'strategic' ? retaining(inner, wanted, rule) : inner);
  } else if (isList(wanted) && isList(live)) {
    list(patch, key, { last: isList(last) ? last : [], wanted, live }, rule, mode);
  } else if (!isSame(wanted, live, rule.shape)) setField(patch, key, withoutNulls(wanted));
}

/**
 * Removes a field that is no longer desired. In maps and merged lists only our own entries are removed, because others
 * may belong to other clients.
 */
function gone(patch: Fields, key: string, last: Json, live: Json | undefined, rule: Rule, mode: Mode): void {
  if (live === undefined) return;
  const isPlainMap = typeof rule.shape === 'object' && rule.shape.form === 'map';
  if (isPlainMap && isMap(last) && isMap(live)) {
    const inner = ofFields({ last, wanted: {}, live }, rule.shape, mode);
    if (Object.keys(inner).length > 0) setField(patch, key, inner);
  } else if (rule.merges && isList(last) && isList(live)) {
    list(patch, key, { last, wanted: [], live }, rule, mode);
  } else setField(patch, key, null);
}

/** In a union, fields that are not desired must be removed, even if the server set them. */
const retaining = (inner: JsonObject, wanted: JsonObject, rule: Rule): JsonObject =>
  rule.retainsKeys
    ? { ...inner, $retainKeys: Object.keys(wanted).filter((key) => own(wanted, key) !== undefined) }
    : inner;

// ---- lists

interface Lists {
  readonly last: List;
  readonly wanted: List;
  readonly live: List;
}

function list(patch: Fields, key: string, lists: Lists, rule: Rule, mode: Mode): void {
  const { wanted, live } = lists;
  if (!rule.merges) {
    if (!amountsTo(wanted, live, rule.shape)) setField(patch, key, withoutNulls(wanted));
  } else if (rule.mergeKey === undefined) scalars(patch, key, lists, mode);
  else if (isKeyed(wanted, rule.mergeKey) && isKeyed(live, rule.mergeKey)) {
    entries(patch, key, lists as KeyedLists, { ...rule, mergeKey: rule.mergeKey });
  } else whole(patch, key, lists, rule);
}

/** A list of type set. */
function scalars(patch: Fields, key: string, { last, wanted, live }: Lists, mode: Mode): void {
  const missing = wanted.filter((item) => !live.includes(item));
  const surplus = last.filter((item) => !wanted.includes(item) && live.includes(item));
  if (mode === 'merge') {
    if (missing.length + surplus.length > 0)
      setField(patch, key, [...live.filter((item) => !surplus.includes(item)), ...missing]);
    return;
  }
  if (missing.length > 0) setField(patch, key, missing);
  if (surplus.length > 0) patch[`$deleteFromPrimitiveList/${key}`] = surplus;
}

interface KeyedLists {
  readonly last: readonly JsonObject[];
  readonly wanted: readonly JsonObject[];
  readonly live: readonly JsonObject[];
}

type KeyedRule = Rule & { readonly mergeKey: string };

function entries(patch: Fields, key: string, { last, wanted, live }: KeyedLists, rule: KeyedRule): void {
  const { mergeKey } = rule;
  const byKey = (items: readonly JsonObject[]) =>
    new Map(items.filter((item) => isMap(item)).map((item) => [own(item, mergeKey), item]));
  const [before, now, there] = [byKey(last), byKey(wanted), byKey(live)];
  const changes: JsonObject[] = [];
  let isNew = false;
  for (const item of wanted) {
    const id = own(item, mergeKey) as Json;
    const match = there.get(id);
    if (match === undefined) {
      isNew = true;
      changes.push(withoutNulls(item) as JsonObject);
      continue;
    }
    const inner = ofFields({ last: before.get(id) ?? {}, wanted: item, live: match }, rule.shape, 'strategic');
    if (Object.keys(inner).length > 0) changes.push({ ...retaining(inner, item, rule), [mergeKey]: id });
  }
  for (const id of before.keys()) {
    if (id !== undefined && !now.has(id) && there.has(id)) changes.push({ $patch: 'delete', [mergeKey]: id });
  }
  const order = [...now.keys()];
  const present = [...there.keys()].filter((id) => now.has(id));
  const isMoved = order.filter((id) => there.has(id)).some((id, index) => id !== present[index]);
  if (isNew || isMoved) patch[`$setElementOrder/${key}`] = order.map((id) => ({ [mergeKey]: id as Json }));
  if (changes.length > 0) setField(patch, key, changes);
}

/**
 * Entries with equal merge keys (port 53 twice, TCP and UDP): the patch replaces the whole list, including the entries
 * of other clients.
 */
function whole(patch: Fields, key: string, { last, wanted, live }: Lists, rule: Rule): void {
  const ids = rule.mapKeys.length > 0 ? rule.mapKeys : [rule.mergeKey ?? ''];
  const idOf = (item: Json) =>
    isMap(item) ? JSON.stringify(ids.map((id) => own(item, id) ?? defaultOf(rule.shape, id) ?? null)) : String(item);
  const byId = (items: List) => {
    const groups = new Map<string, Json[]>();
    for (const item of items) groups.set(idOf(item), [...(groups.get(idOf(item)) ?? []), item]);
    return groups;
  };
  const [before, now, there] = [byId(last), byId(wanted), byId(live)];
  // If even the ids are equal, entries are matched by position: the first desired with the first live one, the second
  // with the second.
  const ours = wanted.map((item) => {
    const id = idOf(item);
    const place = now.get(id)?.indexOf(item) ?? 0;
    return laidOver(there.get(id)?.[place], item, before.get(id)?.[place]);
  });
  const others = live.filter((item) => !now.has(idOf(item)) && !before.has(idOf(item)));
  const result = [...ours, ...others];
  if (!amountsTo(result, live, rule.shape)) setField(patch, key, [{ $patch: 'replace' }, ...result]);
}

function laidOver(live: Json | undefined, wanted: Json, last: Json | undefined): Json {
  if (!isMap(live) || !isMap(wanted)) return withoutNulls(wanted);
  const dropped = (key: string) => isMap(last) && own(last, key) !== undefined && own(wanted, key) === undefined;
  const kept = Object.entries(live).filter(([key]) => !dropped(key));
  return { ...Object.fromEntries(kept), ...(withoutNulls(wanted) as JsonObject) };
}

export const isKeyed = (items: List, mergeKey: string): items is readonly JsonObject[] => {
  const seen = new Set<Json>();
  return items.every((item) => {
    const id = isMap(item) ? own(item, mergeKey) : undefined;
    if (id === undefined || isMap(id) || isList(id) || seen.has(id)) return false;
    seen.add(id);
    return true;
  });
};

// ---- comparing

/** Whether the live value is the desired one as a server stores it, entry by entry, without any addition. */
export function amountsTo(wanted: Json, live: Json, shape: Shape): boolean {
  if (isList(wanted) && isList(live)) {
    return wanted.length === live.length && wanted.every((item, index) => amountsTo(item, live[index] as Json, shape));
  }
  if (!isMap(wanted) || !isMap(live)) return isSame(wanted, live, shape);
  const [mine, theirs] = [full(wanted, shape), full(live, shape)];
  const keys = Object.keys(mine);
  return (
    keys.length === Object.keys(theirs).length &&
    keys.every((key) => {
      const [value, present] = [own(mine, key), own(theirs, key)];
      return value !== undefined && present !== undefined && amountsTo(value, present, ruleOf(shape, key).shape);
    })
  );
}

/** Without empty values, with the defaults that the server fills in. */
function full(value: JsonObject, shape: Shape): JsonObject {
  const said: Fields = {};
  for (const key of Object.keys(value)) {
    const inner = own(value, key);
    if (inner === undefined || (ruleOf(shape, key).emptyIsAbsent && isZero(inner))) continue;
    setField(said, key, inner);
  }
  return typeof shape === 'object' && shape.form === 'struct' ? filledIn(shape.name, said) : said;
}

export function isSame(a: Json, b: Json, shape: Shape): boolean {
  if (a === b) return true;
  if (typeof shape === 'object' && shape.form === 'special' && shape.special === 'Quantity') {
    const [left, right] = [quantity(a), quantity(b)];
    return left !== undefined && left === right;
  }
  return deepEqual(a, b);
}

const quantity = (value: Json): bigint | undefined =>
  typeof value === 'string' || typeof value === 'number' ? parseQuantity(value)?.nano : undefined;

/** One side is absent, and the other one is empty, which is equal for a typed server. */
export const emptyIsEqual = (rule: Rule, a: Json | undefined, b: Json | undefined): boolean =>
  rule.emptyIsAbsent && (a === undefined || b === undefined) && isZero(a ?? b ?? '');

export const isZero = (value: Json): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  (isList(value) && value.length === 0) ||
  (isMap(value) && Object.keys(value).length === 0);

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const result: Fields = {};
  for (const key of Object.keys(value)) {
    const inner = own(value, key);
    if (inner !== undefined) setField(result, key, withoutNulls(inner));
  }
  return result;
}

// ---- rules from the facts

const rulesOf: (typeName: string) => ReadonlyMap<string, Rule> = lazyByText(
  (typeName) => new Map(jsonFields(typeName).map((fact) => [fact.name, ruleFrom(fact)])),
);

function ruleFrom(fact: FieldFact): Rule {
  const strategies = fact.patchStrategy?.split(',') ?? [];
  return {
    // The rule of a list describes its entries.
    shape: fact.type.form === 'list' ? fact.type.of : fact.type,
    merges: strategies.includes('merge'),
    replaces: strategies.includes('replace'),
    retainsKeys: strategies.includes('retainKeys'),
    ...(fact.patchMergeKey === undefined ? {} : { mergeKey: fact.patchMergeKey }),
    mapKeys: fact.listMapKeys ?? [],
    dropsZero: fact.omitEmpty && !fact.pointer && fact.type.form !== 'struct' && fact.type.form !== 'special',
    emptyIsAbsent: !fact.pointer,
  };
}

export function ruleOf(shape: Shape, key: string): Rule {
  if (shape === undefined) return PLAIN;
  if (shape === CUSTOM) return key === 'metadata' ? METADATA : PLAIN;
  if (shape.form === 'struct') return rulesOf(shape.name).get(key) ?? PLAIN;
  return shape.form === 'map' ? { ...PLAIN, shape: shape.of.form === 'list' ? shape.of.of : shape.of } : PLAIN;
}

export const defaultOf = (shape: Shape, key: string): Json | undefined =>
  typeof shape === 'object' && shape.form === 'struct'
    ? (jsonFields(shape.name).find(({ name }) => name === key)?.default as Json | undefined)
    : undefined;

const own = (object: JsonObject, key: string): Json | undefined => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
};

const isMap = (value: Json | undefined): value is JsonObject => isObject(value);
const isList = (value: Json | undefined): value is List => Array.isArray(value);
