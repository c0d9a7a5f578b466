// diff and ignore of a fleet.yaml: fields that may differ on the clusters, conditions that do not count (spec 09 §8). Pure.
import {
  COMPARE_OPERATIONS,
  type ComparePatch,
  MAX_COMPARE_PATCHES,
  MAX_POINTER,
  PART_POINTER,
} from '../../api/compare-patch.ts';
import {
  type IgnoredCondition,
  MAX_CONDITION_FIELDS,
  MAX_CONDITION_VALUE,
  MAX_IGNORED_CONDITIONS,
} from '../../api/ignored-condition.ts';
import { isObject } from '../../base/json.ts';
import { compilePattern } from '../../base/regexp/pattern.ts';
import { type Fields, isTextMap, type Place, type Say } from './fleet-fields.ts';

type Operation = NonNullable<ComparePatch['operations']>[number];

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** undefined = there are none. */
export function comparePatchesIn(
  value: unknown,
  place: Place,
  refuse: Say,
  warn: Say,
): readonly ComparePatch[] | undefined {
  if (!isObject(value)) {
    refuse(place, 'a map is expected');
    return undefined;
  }
  const { comparePatches, ...others } = value;
  for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
  if (!isSet(comparePatches)) return undefined;
  const here = [...place, 'comparePatches'];
  const patches = listIn(comparePatches, here, refuse).map((fields, at) =>
    comparePatchIn(fields, [...here, at], refuse, warn),
  );
  return patches.length === 0 ? undefined : patches;
}

function listIn(value: unknown, place: Place, refuse: Say): readonly Fields[] {
  if (Array.isArray(value) && value.length <= MAX_COMPARE_PATCHES && value.every(isObject)) return value;
  refuse(place, `a list of at most ${MAX_COMPARE_PATCHES} maps is expected`);
  return [];
}

const TEXTS = { apiVersion: 317, kind: 63, namespace: 63, name: 253 } as const;
type Text = keyof typeof TEXTS;
const isText = (key: string): key is Text => Object.hasOwn(TEXTS, key);

function comparePatchIn(fields: Fields, place: Place, refuse: Say, warn: Say): ComparePatch {
  const patch: { -readonly [Key in keyof ComparePatch]: ComparePatch[Key] } = {};
  for (const [key, value] of Object.entries(fields)) {
    if (!isSet(value)) continue;
    const here = [...place, key];
    if (isText(key)) {
      if (typeof value === 'string' && value.length <= TEXTS[key]) patch[key] = value;
      else refuse(here, `a text of at most ${TEXTS[key]} characters is expected`);
    } else if (key === 'jsonPointers') {
      if (Array.isArray(value) && value.length <= MAX_COMPARE_PATCHES)
        patch.jsonPointers = value.flatMap((each: unknown, at) => pointerIn(each, [...here, at], refuse) ?? []);
      else refuse(here, `a list of at most ${MAX_COMPARE_PATCHES} JSON pointers is expected`);
    } else if (key === 'operations') {
      patch.operations = listIn(value, here, refuse).flatMap(
        (each, at) => operationIn(each, [...here, at], refuse, warn) ?? [],
      );
    } else warn(here, 'this key is unknown');
  }
  const expression = patch.operations?.some(({ op }) => op === 'ignore') ? compilePattern(patch.name ?? '') : undefined;
  if (expression?.error !== undefined)
    refuse([...place, 'name'], `a name or a regular expression is expected (${expression.error})`);
  return patch;
}

function operationIn(fields: Fields, place: Place, refuse: Say, warn: Say): Operation | undefined {
  const { op, path, value, ...others } = fields;
  for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
  if (isSet(value)) warn([...place, 'value'], 'it has no effect');
  if (op === 'ignore') return { op };
  if (op !== 'remove') {
    // Rancher Fleet knows more of them: the difference is reported, and the bundle still rolls out.
    warn([...place, 'op'], `it has no effect; ${COMPARE_OPERATIONS.join(' or ')} is expected`);
    return undefined;
  }
  const pointer = pointerIn(path, [...place, 'path'], refuse);
  return pointer === undefined ? undefined : { op, path: pointer };
}

const POINTER = new RegExp(PART_POINTER);

function pointerIn(value: unknown, place: Place, refuse: Say): string | undefined {
  if (typeof value === 'string' && value.length <= MAX_POINTER && POINTER.test(value)) return value;
  refuse(place, 'a JSON pointer such as /spec/replicas is expected');
  return undefined;
}

// ---- ignore

/** undefined = there are none. */
export function ignoredConditionsIn(
  value: unknown,
  place: Place,
  refuse: Say,
  warn: Say,
): readonly IgnoredCondition[] | undefined {
  if (!isObject(value)) {
    refuse(place, 'a map is expected');
    return undefined;
  }
  const { conditions, ...others } = value;
  for (const other of Object.keys(others)) warn([...place, other], 'this key is unknown');
  if (!isSet(conditions)) return undefined;
  const here = [...place, 'conditions'];
  if (!Array.isArray(conditions) || conditions.length > MAX_IGNORED_CONDITIONS) {
    refuse(here, `a list of at most ${MAX_IGNORED_CONDITIONS} conditions is expected`);
    return undefined;
  }
  const found = conditions.flatMap((each: unknown, at) => {
    if (isCondition(each)) return [each];
    refuse([...here, at], 'fields of a condition are expected, each a text, such as { type: Ready, status: "False" }');
    return [];
  });
  return found.length === 0 ? undefined : found;
}

function isCondition(value: unknown): value is IgnoredCondition {
  if (!isTextMap(value)) return false;
  const texts = Object.values(value);
  return (
    texts.length > 0 &&
    texts.length <= MAX_CONDITION_FIELDS &&
    texts.every((text) => text.length <= MAX_CONDITION_VALUE)
  );
}
