// Strategic merge patch: a merge patch that takes list keys from the schema. Entries of such lists merge by key;
// `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are directives. Pure: unchanged parts
// are shared with the original. Errors have the codes and messages of Kubernetes 1.34, including the 500s for malformed
// patches.
import type { Schema } from '../../api/schema.ts';
import { badRequest } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type Json, type JsonObject, setField } from '../../base/json.ts';
import { withoutNulls } from '../../base/merge-patch.ts';
import { goText, jsonKind } from './json-kind.ts';

import { interleaved, orderedBy } from './strategic-order.ts';

/** Resolves a `$ref` of a built-in schema. */
export type Resolve = (ref: string) => Schema;

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ORDER = '$setElementOrder';
const DELETE_FROM = '$deleteFromPrimitiveList';

type Fields = Record<string, Json>;
type List = readonly Json[];

/** The original with the patch merged in, guided by the kind's schema. */
export function applyStrategicPatch(original: Json, patch: Json, schema: Schema, resolve: Resolve): Json {
  if (patch === null) return original;
  if (!isMap(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
  }
  return new Merging(resolve).maps(isMap(original) ? original : {}, patch, schema);
}

const broken = (message: string): ApiError => new ApiError(500, '', message);

const noMergeKey = (item: JsonObject, key: string): ApiError =>
  broken(`map: ${goText(item)} does not contain declared merge key: ${key}`);

const unknownDirective = (directive: Json | undefined, patch: JsonObject): ApiError =>
  broken(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);

const isMap = (value: Json | undefined): value is JsonObject => isObject(value);

const isList = (value: Json | undefined): value is List => Array.isArray(value);

interface MergedList {
  readonly entries: List;
  /** The previous positions of entries, for sorting. */
  readonly places: List;
}

/** The merge rule of one field. */
interface Rule {
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | '';
  readonly mergeKey: string;
}

class Merging {
  readonly #resolve: Resolve;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  maps(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
    const directive = patch[DIRECTIVE];
    if (directive === 'replace') return withoutNulls(without(patch, DIRECTIVE)) as JsonObject;
    if (directive === 'delete') return {};
    if (directive !== undefined) throw unknownDirective(directive, patch);

    const result = retained(original, patch);
    // Lists with an order come first, because it also applies to the patch of the same list.
    const done = new Set<string>();
    for (const key in patch) {
      if (!key.startsWith(ORDER)) continue;
      const field = fieldAfter(key, ORDER, 'invalid patch format of setElementOrder list');
      if (this.#ordered(result, field, patch[key], patch[field], schema)) done.add(field);
    }
    for (const key in patch) {
      const value = patch[key];
      if (key === RETAIN_KEYS || key.startsWith(ORDER) || done.has(key) || value === undefined) continue;
      if (key.startsWith(DELETE_FROM)) {
        const field = fieldAfter(key, DELETE_FROM, 'invalid patch format of primitive list');
        const before = result[field];
        if (isList(before) && isList(value)) result[field] = before.filter((item) => !value.includes(item));
      } else if (value === null) {
        delete result[key];
      } else {
        this.#field(result, key, value, schema);
      }
    }
    return result;
  }

  #field(result: Fields, key: string, value: Json, schema: Schema): void {
    const before = Object.hasOwn(result, key) ? result[key] : undefined;
    if (isMap(before) && isMap(value)) {
      const rule = this.#rule(schema, key);
      set(result, key, rule.strategy === 'replace' ? withoutNulls(value) : this.maps(before, value, rule.schema));
    } else if (isList(before) && isList(value)) {
      set(result, key, this.#lists(before, value, this.#rule(schema, key)).entries);
    } else {
      const fresh = cleaned(value);
      if (fresh === undefined) delete result[key];
      else set(result, key, fresh);
    }
  }

  #lists(original: List, patch: List, rule: Rule): MergedList {
    if (rule.strategy !== 'merge') return { entries: withoutNulls(patch) as List, places: original };
    if (original.length === 0 && patch.length === 0) return { entries: original, places: original };
    if (elementKind(original, patch) !== 'object') {
      const both = [...new Set([...original, ...patch])];
      return { entries: arranged(both, patch, original, ''), places: original };
    }
    if (rule.mergeKey === '') throw broken('cannot merge lists without merge key for struct');
    return this.#entries(original as readonly JsonObject[], patch as readonly JsonObject[], rule);
  }

  #entries(original: readonly JsonObject[], patch: readonly JsonObject[], rule: Rule): MergedList {
    const { mergeKey } = rule;
    const { kept, additions, replaces } = carriedOut(original, patch, mergeKey);
    if (replaces) {
      const fresh = withoutNulls(additions) as List;
      return { entries: arranged(fresh, [], fresh, mergeKey), places: original };
    }
    const result = [...kept];
    const placeOf = new Map<Json | undefined, number>();
    for (let i = kept.length - 1; i >= 0; i--) placeOf.set(kept[i]?.[mergeKey], i);
    for (const entry of additions) {
      if (!Object.hasOwn(entry, mergeKey)) throw noMergeKey(entry, mergeKey);
      const place = placeOf.get(entry[mergeKey]);
      if (place === undefined) {
        placeOf.set(entry[mergeKey], result.length);
        result.push((cleaned(entry) ?? {}) as JsonObject);
      } else {
        result[place] = this.maps(result[place] as JsonObject, entry, rule.schema);
      }
    }
    return {
      entries: arranged(result, additions, kept, mergeKey),
      // On a real server new entries take the positions of deleted ones, and `$setElementOrder` sees them there.
      // Without this a renamed container would get another position than there.
      places: result.slice(0, original.length),
    };
  }

  /** Merges a list with `$setElementOrder`. False if there is no list to sort. */
  #ordered(result: Fields, field: string, order: Json | undefined, patch: Json | undefined, schema: Schema): boolean {
    if (!isList(order)) throw wrongType(order);
    const original = Object.hasOwn(result, field) ? result[field] : undefined;
    if (original !== undefined && !isList(original)) throw wrongType(original);
    if (patch !== undefined && !isList(patch)) throw wrongType(patch);
    const rule = this.#rule(schema, field);
    if (patch !== undefined) checkOrder(patch, order, rule.mergeKey);
    if (original === undefined && patch === undefined) return false;
    const { entries, places } =
      patch === undefined
        ? { entries: original as List, places: original as List }
        : original === undefined
          ? { entries: (cleaned(patch) ?? []) as List, places: [] }
          : this.#lists(original, patch, rule);
    set(result, field, arranged(entries, order, places, rule.mergeKey));
    return true;
  }

  #rule(schema: Schema, key: string): Rule {
    const whole = this.#resolved(schema);
    const properties = whole.properties;
    const field =
      properties !== undefined && Object.hasOwn(properties, key)
        ? properties[key]
        : typeof whole.additionalProperties === 'object'
          ? whole.additionalProperties
          : undefined;
    if (field === undefined) return { schema: {}, strategy: '', mergeKey: '' };
    const strategies = field['x-kubernetes-patch-strategy']?.split(',') ?? [];
    const resolved = this.#resolved(field);
    return {
      schema: resolved.items ?? resolved,
      strategy: strategies.includes('merge') ? 'merge' : strategies.includes('replace') ? 'replace' : '',
      mergeKey: field['x-kubernetes-patch-merge-key'] ?? '',
    };
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#resolved(this.#resolve(schema.$ref));
  }
}

/**
 * Executes the directives among the entries of a patch (`$patch: delete`, `$patch: replace`); the other entries are
 * merged.
 */
function carriedOut(original: readonly JsonObject[], patch: readonly JsonObject[], mergeKey: string) {
  let kept = original;
  let replaces = false;
  const additions: JsonObject[] = [];
  for (const entry of patch) {
    const directive = entry[DIRECTIVE];
    if (directive === undefined) additions.push(entry);
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw broken('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete') throw unknownDirective(directive, entry);
    else {
      if (!Object.hasOwn(entry, mergeKey)) throw noMergeKey(entry, mergeKey);
      kept = kept.filter((item) => item[mergeKey] !== entry[mergeKey]);
    }
  }
  return { kept, additions, replaces };
}

/** The fields of the original that `$retainKeys` leaves, in a new map. */
function retained(original: JsonObject, patch: JsonObject): Fields {
  const keep = patch[RETAIN_KEYS];
  const result: Fields = {};
  if (keep === undefined) {
    for (const key in original) set(result, key, original[key]);
    return result;
  }
  const refusal = () => badRequest('invalid patch format of retainKeys');
  if (!isList(keep)) throw refusal();
  for (const key in patch) {
    const isDirective = key === RETAIN_KEYS || key.startsWith(DELETE_FROM) || key.startsWith(ORDER);
    if (!isDirective && patch[key] !== null && !keep.includes(key)) throw refusal();
  }
  for (const key in original) if (keep.includes(key)) set(result, key, original[key]);
  return result;
}

function set(fields: Fields, key: string, value: Json | undefined): void {
  if (value !== undefined) setField(fields, key, value);
}

function without(fields: JsonObject, unwanted: string): JsonObject {
  const { [unwanted]: _, ...rest } = fields;
  return rest;
}

function fieldAfter(key: string, prefix: string, refusal: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(refusal);
  return key.slice(prefix.length + 1);
}

/** A new value without nulls and without entries that are only directives. undefined = it is a directive itself. */
function cleaned(value: Json): Json | undefined {
  if (isList(value)) {
    return value.map(cleaned).filter((item) => item !== undefined);
  }
  if (!isMap(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const result: Fields = {};
  for (const key in value) {
    const field = value[key];
    if (field !== undefined && field !== null) set(result, key, cleaned(field));
  }
  return result;
}

function wrongType(value: Json | undefined): ApiError {
  const names: Readonly<Record<string, string>> = {
    string: 'string',
    number: 'int64',
    boolean: 'bool',
    object: 'map[string]interface {}',
  };
  const received = value === null || value === undefined ? '%!s(<nil>)' : names[typeof value];
  return broken(`expected a []interface {}, but received a ${received}`);
}

/** All entries of both lists must be of one type. */
function elementKind(original: List, patch: List): string {
  const kinds = new Set<string>();
  for (const item of original) kinds.add(jsonKind(item));
  for (const item of patch) kinds.add(jsonKind(item));
  const [kind = ''] = kinds;
  if (kind === 'array')
    throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
  if (kinds.size > 1 || kind === 'null')
    throw broken(`list element types are not identical: ${goText([original, patch])}`);
  return kind;
}

const keyOf = (item: Json | undefined, mergeKey: string): Json | undefined =>
  mergeKey === '' ? item : isMap(item) ? item[mergeKey] : undefined;

/** The entries of the patch must appear in `$setElementOrder` in the same order. */
function checkOrder(patch: List, order: List, mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  let next = 0;
  for (const entry of patch) {
    if (isMap(entry) && Object.hasOwn(entry, DIRECTIVE)) continue;
    if (isMap(entry) && mergeKey !== '' && !Object.hasOwn(entry, mergeKey)) throw noMergeKey(entry, mergeKey);
    while (next < order.length && keyOf(order[next], mergeKey) !== keyOf(entry, mergeKey)) next++;
    if (next++ >= order.length) {
      throw broken(`The order in patch list:\n${goText(patch)}\n doesn't match ${ORDER} list:\n${goText(order)}\n`);
    }
  }
}

/** Entries named by `order` follow it; the others keep their order and, as far as possible, their positions. */
function arranged(entries: List, order: List, before: List, mergeKey: string): List {
  const key = (item: Json) => {
    if (mergeKey !== '' && isMap(item) && !Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    return keyOf(item, mergeKey);
  };
  const named = new Set(order.map(key));
  const ours = entries.filter((item) => named.has(key(item)));
  const others = entries.filter((item) => !named.has(key(item)));
  const places = new Map<Json | undefined, number>();
  for (let i = before.length - 1; i >= 0; i--) places.set(key(before[i] as Json), i);
  return interleaved({
    ours: orderedBy(ours, order.map(key), key),
    others: orderedBy(others, before.map(key), key),
    placeOf: (item) => places.get(key(item)),
  });
}
