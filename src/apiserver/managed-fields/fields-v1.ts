// Field sets as FieldsV1, the format of metadata.managedFields.
import { deepFreeze, isObject } from '../../base/json.ts';
import { type FieldNode, type FieldSet, sortedSteps } from './field-set.ts';
import { noSteps, type Shape } from './shape.ts';

export type FieldsV1 = Readonly<Record<string, unknown>>;

const SELF = '.';
/** The most common value in FieldsV1. */
const NOTHING: FieldsV1 = Object.freeze({});

/** Caches for both forms of a set, as long as one of them is in use. */
const encodings = new WeakMap<FieldSet, FieldsV1>();
const decodings = new WeakMap<FieldsV1, FieldSet>();

/** The result is frozen. */
export function encodeFields(set: FieldSet): FieldsV1 {
  let fields = encodings.get(set);
  if (fields === undefined) {
    fields = deepFreeze(encoded(set, false));
    encodings.set(set, fields);
    decodings.set(fields, set);
  }
  return fields;
}

/** `member`: includes the path above the set. */
function encoded(set: FieldSet, member: boolean): FieldsV1 {
  if (set.size === 0) return NOTHING;
  const result: Record<string, unknown> = member ? { [SELF]: NOTHING } : {};
  for (const step of sortedSteps(set)) {
    const node = set.get(step) as FieldNode;
    result[step] = encoded(node.children, node.member);
  }
  return result;
}

export class BadFields extends Error {
  override readonly name = 'BadFields';
}

/** Throws BadFields. */
export function decodeFields(fields: unknown): FieldSet {
  const known = isObject(fields) ? decodings.get(fields) : undefined;
  if (known !== undefined) return known;
  const set = decoded(fields);
  // An object from a client is mutable, so it must not be a cache key.
  if (Object.isFrozen(fields)) decodings.set(fields as FieldsV1, set);
  return set;
}

function decoded(fields: unknown): FieldSet {
  if (!isObject(fields)) throw new BadFields('fieldsV1 must be an object');
  return shapeOf(fields).set;
}

function shapeOf(fields: FieldsV1): Shape {
  let shape = noSteps();
  for (const [step, below] of Object.entries(fields)) {
    if (step === SELF) continue;
    if (!/^[fkvi]:/.test(step)) throw new BadFields(`unknown path element ${JSON.stringify(step)}`);
    if (!isObject(below)) throw new BadFields(`${JSON.stringify(step)} must be an object`);
    const children = shapeOf(below);
    shape = shape.with(step, children.node(children.isEmpty || SELF in below));
  }
  return shape;
}
