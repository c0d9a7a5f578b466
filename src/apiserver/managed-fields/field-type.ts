// The types of a schema for server-side apply: which values are merged by field or item, and which are atomic.
import { resolveBuiltin } from '../../api/builtin/types.ts';
import type { Schema } from '../../api/schema.ts';
import { isObject } from '../../base/json.ts';

export interface FieldType {
  readonly map?: MapType;
  readonly list?: ListType;
  readonly scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
}

export interface MapType {
  readonly atomic: boolean;
  /** Declared fields. */
  field(name: string): FieldType | undefined;
  /** Type of all other keys; absent = other keys are not allowed. */
  readonly element?: () => FieldType;
  defaultOf(name: string): unknown;
}

export interface ListType {
  readonly how: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  /** The keys in the order of a step. */
  readonly sortedKeys: readonly string[];
  readonly element: () => FieldType;
}

const UNTYPED: FieldType = {
  scalar: 'untyped',
  list: { how: 'atomic', keys: [], sortedKeys: [], element: () => UNTYPED },
  map: { atomic: true, field: () => undefined, element: () => UNTYPED, defaultOf: () => undefined },
};

/** Values without a schema: maps are merged by key, lists are atomic. */
export const DEDUCED: FieldType = {
  scalar: 'untyped',
  list: { how: 'atomic', keys: [], sortedKeys: [], element: () => UNTYPED },
  map: { atomic: false, field: () => undefined, element: () => DEDUCED, defaultOf: () => undefined },
};

const SCALAR: FieldType = { scalar: 'untyped' };

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const SCALAR_REFS: ReadonlySet<string> = new Set([
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
]);
const ANY_REF = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

const known = { plain: new WeakMap<Schema, FieldType>(), open: new WeakMap<Schema, FieldType>() };
const roots = new WeakMap<Schema, FieldType>();

/** The type of whole objects of a kind: a CRD's schema may omit the metadata. */
export function objectType(schema: Schema): FieldType {
  let type = roots.get(schema);
  if (type === undefined) {
    type = withObjectMeta(typeOf(schema, false));
    roots.set(schema, type);
  }
  return type;
}

function withObjectMeta(type: FieldType): FieldType {
  const map = type.map ?? (DEDUCED.map as MapType);
  const own: Readonly<Record<string, () => FieldType>> = {
    apiVersion: () => ({ scalar: 'string' }),
    kind: () => ({ scalar: 'string' }),
    metadata: () => typeOf({ $ref: OBJECT_META }, false),
  };
  const fixed = new Map(Object.entries(own).map(([name, make]) => [name, make()]));
  return { map: { ...map, field: (name) => fixed.get(name) ?? map.field(name) } };
}

function typeOf(schema: Schema, isOpen: boolean): FieldType {
  const cache = isOpen ? known.open : known.plain;
  let type = cache.get(schema);
  if (type === undefined) {
    type = made(schema, isOpen);
    cache.set(schema, type);
  }
  return type;
}

const ZEROS: Readonly<Record<string, unknown>> = { string: '', integer: 0, boolean: false };

/** A missing required field of a built-in type counts as its zero value, so that a list entry always has its key. */
function builtinType($ref: string): FieldType {
  const schema = resolveBuiltin($ref);
  const { required = [], properties = {} } = schema;
  const type = typeOf(schema, false);
  const { map } = type;
  if (map === undefined) return type;
  const zeroOf = (name: string) => (required.includes(name) ? ZEROS[properties[name]?.type ?? ''] : undefined);
  return { ...type, map: { ...map, defaultOf: (name) => map.defaultOf(name) ?? zeroOf(name) } };
}

function made(schema: Schema, inherited: boolean): FieldType {
  const { $ref } = schema;
  if ($ref !== undefined) {
    if (SCALAR_REFS.has($ref)) return SCALAR;
    if ($ref === ANY_REF) return UNTYPED;
    const type = builtinType($ref);
    const how = schema['x-kubernetes-map-type'];
    return how === undefined || type.map === undefined
      ? type
      : { ...type, map: { ...type.map, atomic: how === 'atomic' } };
  }
  if (schema['x-kubernetes-int-or-string']) return SCALAR;
  const isOpen = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case 'object': {
      const type = { map: mapOf(schema, isOpen) };
      return schema['x-kubernetes-embedded-resource'] ? withObjectMeta(type) : type;
    }
    case 'array':
      return { list: listOf(schema, isOpen) };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped' };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case undefined:
      if (schema.oneOf !== undefined && schema.properties === undefined) return SCALAR;
      return { scalar: 'untyped', list: listOf(schema, isOpen), map: mapOf(schema, isOpen) };
  }
}

function mapOf(schema: Schema, isOpen: boolean): MapType {
  const properties = schema.properties ?? {};
  const additional = schema.additionalProperties;
  const isFree = isOpen || Object.keys(properties).length === 0;
  const element = isObject(additional)
    ? () => typeOf(additional as Schema, isOpen)
    : additional === true || (additional === undefined && isFree)
      ? () => DEDUCED
      : undefined;
  const types = new Map<string, FieldType>();
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    field(name) {
      let type = types.get(name);
      if (type === undefined && Object.hasOwn(properties, name)) {
        type = typeOf(properties[name] as Schema, isOpen);
        types.set(name, type);
      }
      return type;
    },
    defaultOf: (name) => (Object.hasOwn(properties, name) ? properties[name]?.default : undefined),
    ...(element === undefined ? {} : { element }),
  };
}

function listOf(schema: Schema, isOpen: boolean): ListType {
  const { items } = schema;
  const element = items === undefined ? () => UNTYPED : () => typeOf(items, isOpen);
  const how = schema['x-kubernetes-list-type'];
  if (how !== undefined) return listType(how, schema['x-kubernetes-list-map-keys'], element);
  if (schema['x-kubernetes-patch-strategy']?.split(',').includes('merge')) {
    const key = schema['x-kubernetes-patch-merge-key'];
    return key === undefined ? listType('set', [], element) : listType('map', [key], element);
  }
  return listType('atomic', [], element);
}

const listType = (how: ListType['how'], keys: readonly string[] = [], element: () => FieldType): ListType => ({
  how,
  keys,
  sortedKeys: keys.toSorted(),
  element,
});

// ---- values

export type Form = 'map' | 'list' | 'scalar';

/** How a value is treated: by its own form if the type allows it, otherwise by the preferred form of the type. */
export function formOf(type: FieldType, value: unknown): Form {
  if (value !== undefined && value !== null) {
    const own: Form = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';
    if (type[own] !== undefined) return own;
  }
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list';
}

export const elementOf = (type: MapType, key: string): FieldType => type.field(key) ?? type.element?.() ?? UNTYPED;

export const asMap = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  isObject(value) ? value : undefined;

export const asList = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

/** The step to an item of a set or map list. Throws if the item is invalid. */
export function stepOf(list: ListType, item: unknown): string {
  if (list.how === 'set') {
    if (isObject(item)) throw new BadItem("associative list without keys has an element that's a map type");
    if (Array.isArray(item)) throw new BadItem('not supported: associative list with lists as elements');
    if (item === null) throw new BadItem("associative list without keys has an element that's an explicit null");
    return `v:${JSON.stringify(item)}`;
  }
  if (item === null) throw new BadItem('associative list with keys may not have a null element');
  if (!isObject(item)) throw new BadItem('associative list with keys may not have non-map elements');
  const keys: Record<string, unknown> = {};
  let found = 0;
  for (const key of list.sortedKeys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.element().map?.defaultOf(key);
    if (value === undefined) continue;
    keys[key] = value;
    found++;
  }
  if (found === 0) {
    const names = list.keys.map((key) => JSON.stringify(key)).join(' ');
    throw new BadItem(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(keys)}`;
}

export class BadItem extends Error {
  override readonly name = 'BadItem';
}
