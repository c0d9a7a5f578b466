// The shape that an object of a built-in type has after a typed program has read and written it, which is what a real server
// stores: empty optional values are gone, values that a type always has are there (`status: {}`, `rules: null`, `replicas: 0`).
// It changes nothing that it does not understand: a value of the wrong JSON type stays for the validation to find.
import { isObject } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { type FieldFact, jsonFields, type Special, type TypeFact } from './facts.ts';

/** Deeper values stay as they are. Only schemas inside a CRD can be nested at will. */
const DEEPEST = 500;

/** Gives an object of the named struct its typed shape, in place. */
export function shapeTyped(typeName: string, object: Record<string, unknown>): void {
  shapeStruct(typeName, object, 0);
}

interface Shape {
  readonly name: string;
  readonly type: TypeFact;
  /** What an absent or null value becomes; undefined = the key goes. */
  readonly absent: (() => unknown) | undefined;
  /** A zero value of these goes as well: '' 0 false [] {}. */
  readonly dropsZero: boolean;
  /** Has something inside that may need the same treatment. */
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
        // Own keys only: setting one again never means the prototype, whatever its name.
        for (const key of Object.keys(map)) map[key] = shapeValue(type.of, map[key], depth);
      }
      return value;
    case 'special':
      if (value === null) return specialZero[type.special];
      return type.special.startsWith('JSONSchemaPropsOr') ? shapeSchema(type.name, value, depth) : value;
    case 'scalar':
      // Bytes inside of a list or map are there, if only as none.
      return value === null ? (zeroOf(type) ?? '') : value;
  }
}

/** A schema, a list of them, or something else that may stand in a schema's place. */
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
  // Go leaves an empty struct out only if told so by omitzero: omitempty does nothing for it.
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
