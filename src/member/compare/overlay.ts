// The live object with the manifest laid over it: what the member would have if the manifest were applied. Pure.
// Differs from KubeFleet: computed from facts about Kubernetes' types, not by a dry run on the member, so a comparison
// costs no request. List entries keep the index that they have in the live object, so a path means the same on both
// sides.
import {
  amountsTo,
  CUSTOM,
  defaultOf,
  isKeyed,
  isSame,
  isZero,
  type Rule,
  ruleOf,
  type Shape,
} from '../../api/builtin/three-way.ts';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';

type List = readonly Json[];

/** `typeName` as in `typeNameOf`; undefined = not built in. */
export const overlaid = (manifest: JsonObject, live: JsonObject, typeName: string | undefined): JsonObject =>
  fields(manifest, live, shapeOf(typeName));

export const shapeOf = (typeName: string | undefined): Shape =>
  typeName === undefined ? CUSTOM : { form: 'struct', name: typeName };

function fields(wanted: JsonObject, live: JsonObject, shape: Shape): JsonObject {
  const result: Record<string, Json | undefined> = { ...live };
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined || value === null || key === '__proto__') continue;
    const laid = field(value, Object.hasOwn(live, key) ? (live[key] ?? null) : null, ruleOf(shape, key));
    if (laid !== undefined) result[key] = laid;
  }
  return result as JsonObject;
}

function field(wanted: Json, live: Json, rule: Rule): Json | undefined {
  if (live === null) return rule.dropsZero && isZero(wanted) ? undefined : wanted;
  if (isMap(wanted) && isMap(live)) {
    if (rule.replaces) return wanted;
    const laid = fields(wanted, live, rule.shape);
    return rule.retainsKeys && !amountsTo(laid, live, rule.shape) ? wanted : laid;
  }
  if (isList(wanted) && isList(live)) return list(wanted, live, rule);
  return isSame(wanted, live, rule.shape) ? live : wanted;
}

function list(wanted: List, live: List, rule: Rule): Json {
  if (!rule.merges) return atomic(wanted, live, rule.shape);
  if (rule.mergeKey === undefined) return [...live, ...wanted.filter((item) => !live.includes(item))];
  const { mergeKey } = rule;
  const isPlain = isKeyed(wanted, mergeKey) && isKeyed(live, mergeKey);
  return byId(wanted, live, rule, isPlain || rule.mapKeys.length === 0 ? [mergeKey] : rule.mapKeys);
}

function byId(wanted: List, live: List, rule: Rule, keys: readonly string[]): Json {
  const idOf = (item: Json): string =>
    isMap(item)
      ? JSON.stringify(keys.map((key) => item[key] ?? defaultOf(rule.shape, key) ?? null))
      : JSON.stringify(item);
  const open = [...wanted];
  const laid = live.map((item) => {
    const at = open.findIndex((each) => idOf(each) === idOf(item));
    const [match] = at < 0 ? [] : open.splice(at, 1);
    return isMap(match) && isMap(item) ? fields(match, item, rule.shape) : item;
  });
  return [...laid, ...open];
}

/**
 * In a list of unknown type the server may have filled in fields of entries, so only the fields that the manifest sets
 * count.
 */
function atomic(wanted: List, live: List, shape: Shape): Json {
  if (amountsTo(wanted, live, shape)) return live;
  if (shape !== undefined || wanted.length !== live.length) return wanted;
  return wanted.map((item, at) => {
    const other = live[at] as Json;
    if (isMap(item) && isMap(other)) return fields(item, other, undefined);
    return isList(item) && isList(other) ? atomic(item, other, undefined) : item;
  });
}

const isMap = (value: Json | undefined): value is JsonObject => isObject(value);
const isList = (value: Json): value is List => Array.isArray(value);
