// The shape of a built-in object after a typed program has decoded and encoded it, which is what a real server stores:
// empty optional values are removed, values that a type always has are set (`status: {}`, `rules: null`, `replicas:
// 0`). Values of a wrong JSON type stay unchanged, so that validation reports them.
import { isObject } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { type FieldFact, jsonFields, type Special, type TypeFact } from './facts.ts';

/** Deeper values stay unchanged. Only schemas inside a CRD can be nested without limit. */
const DEEPEST = 500;

/** Changes an object of the named struct to its typed shape, in place. */
export function shapeTyped(typeName: string, object: Record<string, unknown>): void {
  shapeStruct(typeName, object, 0);
}

interface Shape {
  readonly name: string;
  readonly type: TypeFact;
  /** The value for an absent or null field; undefined = the key is removed. */
  readonly absent: (() => unknown) | undefined;
  /** A zero value is removed, too: '' 0 false [] {}. */
  readonly dropsZero: boolean;
  /** Contains values that may need the same change. */
  readonly deep: boolean;
}

const shapes: (typeName: string) => readonly Shape[] = lazyByText((typeName) =>
  jsonFields(typeName).map((field) => ({
    name: field.name,
    type: field.type,
    absent: absentValue(field),
    dropsZero: field.omitEmpty && !field.pointer && field.type.form !== 'struct' && field.type.form !== 'special',
    deep: isDeep(field.type),
  })),
);

function shapeStruct(typeName: string, object: Record<string, unknown>, depth: number): void {
  if (depth > DEEPEST) return;
  for (const shape of shapes(typeName)) {
    const value = object[shape.name];
    if (value === undefined || value === null) {
      if (shape.absent !== undefined) object[shape.name] = shape.absent();
      else if (value === null || shape.name in object) delete object[shape.name];
    } else if (shape.dropsZero && isZero(value)) delete object[shape.name];
    else if (shape.deep) object[shape.name] = shapeValue(shape.type, value, depth + 1);
  }
}

function shapeValue(type: TypeFact, value: unknown, depth: number): unknown {
  switch (type.form) {
    case 'struct':
      if (value === null) return zeroOf(type);
      if (isObject(value)) shapeStruct(type.name, value as Record<string, unknown>, depth);
      return value;
    case 'list':
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) value[i] = shapeValue(type.of, value[i], depth);
      }
      return value;
    case 'map':
      if (isObject(value)) {
        const map = value as Record<string, unknown>;
        // Only existing own keys are set, so a key such as __proto__ never sets the prototype.
        for (const key of Object.keys(map)) map[key] = shapeValue(type.of, map[key], depth);
      }
      return value;
    case 'special':
      if (value === null) return specialZero[type.special];
      return type.special.startsWith('JSONSchemaPropsOr') ? shapeSchema(type.name, value, depth) : value;
    case 'scalar':
      // Null bytes inside a list or map become an empty value.
      return value === null ? (zeroOf(type) ?? '') : value;
  }
}

/** A schema, a list of schemas, or another value that is allowed in its place. */
function shapeSchema(typeName: string, value: unknown, depth: number): unknown {
  const schema = typeName.slice(0, typeName.lastIndexOf('.') + 1).concat('JSONSchemaProps');
  for (const each of Array.isArray(value) ? value : [value]) if (isObject(each)) shapeStruct(schema, each, depth);
  return value;
}

const isZero = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' &&
    value !== null &&
    (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0));

const isDeep = (type: TypeFact): boolean =>
  type.form === 'struct' ||
  (type.form === 'special' && type.special.startsWith('JSONSchemaPropsOr')) ||
  type.form === 'list' ||
  type.form === 'map';

function absentValue(field: FieldFact): Shape['absent'] {
  const { type } = field;
  if (field.omitZero) return undefined;
  const isStruct = type.form === 'struct' || type.form === 'special';
  // In Go, omitempty has no effect on a struct; only omitzero omits an empty one.
  if (field.omitEmpty && (field.pointer || !isStruct)) return undefined;
  return field.pointer ? () => null : () => zeroOf(type);
}

function zeroOf(type: TypeFact): unknown {
  switch (type.form) {
    case 'scalar':
      return scalarZero[type.scalar];
    case 'list':
    case 'map':
      return null;
    case 'special':
      return specialZero[type.special];
    case 'struct': {
      const made: Record<string, unknown> = {};
      shapeStruct(type.name, made, 0);
      return made;
    }
  }
}

const scalarZero = { string: '', bool: false, int32: 0, int64: 0, float64: 0, bytes: null } as const;

const specialZero: Readonly<Record<Special, unknown>> = {
  Quantity: '0',
  IntOrString: 0,
  Time: null,
  MicroTime: null,
  FieldsV1: null,
  RawExtension: null,
  JSON: null,
  JSONSchemaPropsOrArray: null,
  JSONSchemaPropsOrBool: false,
  JSONSchemaPropsOrStringArray: null,
};
