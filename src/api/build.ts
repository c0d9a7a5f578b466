// The schema builder. Every value is a plain OpenAPI v3 schema in the Kubernetes dialect, which at compile time also
// carries the type of the described data. A kind is written once, so its TypeScript type, its CRD and its validation
// cannot drift apart.
import { deepFreeze } from '../base/json.ts';
import type { Column, Kind, KindVersion } from './kind.ts';
import type { KubeObject } from './object.ts';
import type { CelRule, Schema } from './schema.ts';

declare const described: unique symbol;

/** A schema together with the type of the described data. The type exists only at compile time. */
export type Typed<T> = Schema & { readonly [described]: T };
/** A field that may be absent. */
export interface Optional<T> {
  readonly optional: Typed<T>;
}
/** A field that clients may omit and readers always find, because the server sets its default. */
export interface Defaulted<T> {
  readonly defaulted: Typed<T>;
}

type Field = Typed<unknown> | Optional<unknown> | Defaulted<unknown>;
type Fields = Readonly<Record<string, Field>>;

type FieldType<F> =
  F extends Optional<infer T> ? T : F extends Defaulted<infer T> ? T : F extends Typed<infer T> ? T : never;
type OptionalKeys<F> = { [Key in keyof F]: F[Key] extends Optional<unknown> ? Key : never }[keyof F];
type Flat<T> = { [Key in keyof T]: T[Key] };
type ObjectType<F> = Flat<
  { readonly [Key in Exclude<keyof F, OptionalKeys<F>>]: FieldType<F[Key]> } & {
    readonly [Key in OptionalKeys<F>]?: FieldType<F[Key]>;
  }
>;

/** The type of the data that a schema describes, after defaulting. */
export type Infer<S> = S extends Typed<infer T> ? T : never;

/** A complete object of another kind. */
export type Embedded = KubeObject;

interface Common {
  readonly doc?: string;
  readonly rules?: readonly CelRule[];
}
interface TextOptions extends Common {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}
interface IntegerOptions extends Common {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: 'int32' | 'int64';
}
interface IntOrStringOptions extends Common {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}
interface ArrayOptions extends Common {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Makes it a list of type map: two entries with equal keys are the same entry. */
  readonly keys?: readonly string[];
  /** No two entries are equal. */
  readonly set?: true;
}
interface MapOptions extends Common {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}
interface ObjectOptions extends Common {
  /** Server-side apply replaces it as a whole. */
  readonly atomic?: true;
}

// An undefined member would become `null` in the YAML.
function typed<T>(schema: Schema, options: Common = {}): Typed<T> {
  const result: Record<string, unknown> = {};
  if (options.doc !== undefined) result['description'] = options.doc;
  for (const [key, value] of Object.entries(schema)) if (value !== undefined) result[key] = value;
  if (options.rules !== undefined && options.rules.length > 0) result['x-kubernetes-validations'] = options.rules;
  return result as unknown as Typed<T>;
}

const without = <T extends object, Key extends keyof T>(value: T, ...keys: readonly Key[]): Omit<T, Key> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as Key))) as Omit<T, Key>;

const schemaOf = (field: Field): Typed<unknown> =>
  'optional' in field ? field.optional : 'defaulted' in field ? field.defaulted : field;

export const s = {
  string: (options: TextOptions = {}): Typed<string> =>
    typed({ type: 'string', ...without(options, 'doc', 'rules') }, options),

  oneOf: <const Values extends readonly string[]>(values: Values, options: Common = {}): Typed<Values[number]> =>
    typed({ type: 'string', enum: values }, options),

  integer: (options: IntegerOptions = {}): Typed<number> =>
    typed({ type: 'integer', ...without(options, 'doc', 'rules') }, options),

  boolean: (options: Common = {}): Typed<boolean> => typed({ type: 'boolean' }, options),

  /** RFC 3339. */
  time: (doc: string): Typed<string> => typed({ type: 'string', format: 'date-time' }, { doc }),

  /** Base64. */
  bytes: (doc: string): Typed<string> => typed({ type: 'string', format: 'byte' }, { doc }),

  /** `3` or `25%`. `minimum` and `maximum` restrict only numbers, `pattern` and `maxLength` only strings. */
  intOrString: (options: IntOrStringOptions = {}): Typed<number | string> =>
    typed(
      {
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
        ...without(options, 'doc', 'rules'),
      },
      options,
    ),

  /** Any JSON value. */
  any: (options: Common = {}): Typed<unknown> => typed({ 'x-kubernetes-preserve-unknown-fields': true }, options),

  /** An object whose fields are not defined here. */
  open: (options: Common = {}): Typed<Readonly<Record<string, unknown>>> =>
    typed({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, options),

  /** A whole Kubernetes object inside another one. */
  embedded: (options: Common = {}): Typed<Embedded> =>
    typed(
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      options,
    ),

  array: <T>(items: Typed<T>, options: ArrayOptions = {}): Typed<readonly T[]> =>
    typed(
      {
        type: 'array',
        items,
        ...without(options, 'doc', 'rules', 'keys', 'set'),
        ...(options.keys === undefined
          ? options.set
            ? { 'x-kubernetes-list-type': 'set' as const }
            : {}
          : { 'x-kubernetes-list-type': 'map' as const, 'x-kubernetes-list-map-keys': options.keys }),
      },
      options,
    ),

  map: <T>(values: Typed<T>, options: MapOptions = {}): Typed<Readonly<Record<string, T>>> =>
    typed({ type: 'object', additionalProperties: values, ...without(options, 'doc', 'rules') }, options),

  object: <const F extends Fields>(fields: F, options: ObjectOptions = {}): Typed<ObjectType<F>> => {
    const required = Object.keys(fields).filter(
      (key) => !('optional' in fields[key]!) && !('defaulted' in fields[key]!),
    );
    return typed(
      {
        type: 'object',
        ...(required.length === 0 ? {} : { required }),
        properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, schemaOf(field)])),
        ...(options.atomic ? { 'x-kubernetes-map-type': 'atomic' as const } : {}),
      },
      options,
    );
  },

  optional: <T>(schema: Typed<T>): Optional<T> => ({ optional: schema }),

  defaulted: <T>(schema: Typed<T>, value: T): Defaulted<T> => ({
    defaulted: { ...schema, default: value } as Typed<T>,
  }),

  /** The same schema with another description. */
  doc: <T>(doc: string, schema: Typed<T>): Typed<T> =>
    ({ description: doc, ...without(schema as Schema, 'description') }) as unknown as Typed<T>,

  /** The same schema with additional rules. */
  ruled: <T>(schema: Typed<T>, rules: readonly CelRule[]): Typed<T> => ({
    ...schema,
    'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
  }),

  /** The same fields without rules: for immutable copies of data that was validated when it was written. */
  unruled: <T>(schema: Typed<T>): Typed<T> => withoutRules(schema) as Typed<T>,
};

function withoutRules(schema: Schema): Schema {
  const { 'x-kubernetes-validations': _rules, ...rest } = schema;
  return {
    ...rest,
    ...(rest.items === undefined ? {} : { items: withoutRules(rest.items) }),
    ...(typeof rest.additionalProperties === 'object'
      ? { additionalProperties: withoutRules(rest.additionalProperties) }
      : {}),
    ...(rest.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(rest.properties).map(([key, property]) => [key, withoutRules(property)]),
          ),
        }),
  };
}

/** A CEL rule. Users see the message when a request is rejected, so it names the next step. */
export const rule = (expression: string, message: string, at?: string): CelRule => ({
  rule: expression,
  message,
  ...(at === undefined ? {} : { fieldPath: at }),
});

// ---- kinds

/** An object as the server returns it: a kind with a required spec has one. */
export type WithSpec<Spec, Status = unknown> = KubeObject<Spec, Status> & { readonly spec: Spec };

/** The properties that the kinds of one API group share. */
export interface Group {
  readonly group: string;
  readonly categories: readonly string[];
  readonly stored: string;
}

interface Naming {
  readonly kind: string;
  readonly plural: string;
  readonly short?: string;
  readonly doc: string;
  /** Served versions, most preferred first. */
  readonly versions: readonly string[];
  /** Rules over the whole object; of the metadata they can read only `metadata.name`. */
  readonly rules?: readonly CelRule[];
  readonly columns?: readonly Column[];
  /** Names of columns that a version does not have. */
  readonly columnsAbsentIn?: Readonly<Record<string, readonly string[]>>;
}

interface Body<Spec, Status> {
  readonly spec?: Typed<Spec>;
  readonly status?: Typed<Status>;
  /** Fields beside metadata, for the few kinds without a spec. */
  readonly root?: Fields;
  /** Kinds with a status have the subresource; one kind declares it without a status field. */
  readonly statusSubresource?: true;
}

export function defineKind<Spec = unknown, Status = unknown>(
  definition: { readonly in: Group; readonly namespaced: boolean } & Naming & Body<Spec, Status>,
): Kind<Spec, Status> {
  const { in: group, kind, plural, namespaced, columns = [], columnsAbsentIn = {} } = definition;
  const body = s.object(
    {
      ...(definition.spec === undefined ? {} : { spec: definition.spec }),
      ...definition.root,
      ...(definition.status === undefined ? {} : { status: s.optional(definition.status) }),
    },
    { doc: definition.doc, rules: definition.rules },
  );
  const schema: Schema = deepFreeze({
    ...body,
    properties: { ...typeAndMetadata, ...body.properties },
  });
  // All versions share one schema value, so it is compiled once.
  const versions = definition.versions.map(
    (version): KindVersion => ({
      version,
      schema,
      columns: columns.filter((column) => !columnsAbsentIn[version]?.includes(column.name)),
    }),
  );
  return deepFreeze({
    group: group.group,
    version: group.stored,
    kind,
    plural,
    namespaced,
    schema,
    versions,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: definition.short === undefined ? [] : [definition.short],
    categories: group.categories,
    columns,
    hasStatus: definition.status !== undefined || definition.statusSubresource === true,
    doc: definition.doc,
  });
}

const typeAndMetadata: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string', description: 'Group and version of the schema this object is written in.' },
  kind: { type: 'string', description: 'The kind of this object.' },
  metadata: { type: 'object' },
};

/** The cluster-scoped and the namespaced kind of one concept: same spec, same status. */
export interface Pair<Spec, Status> {
  readonly cluster: Kind<Spec, Status>;
  readonly namespaced: Kind<Spec, Status>;
}

/** A scope defines its names and, where the scopes differ, its own body. */
type Scope<Spec, Status> = Omit<Naming, 'versions' | 'columns'> &
  Partial<Pick<Naming, 'versions' | 'columns'>> &
  Pick<Body<Spec, Status>, 'spec' | 'statusSubresource'>;

export function definePair<Spec = unknown, Status = unknown>(
  definition: {
    readonly in: Group;
    readonly versions: readonly string[];
    readonly columns?: readonly Column[];
    readonly cluster: Scope<Spec, Status>;
    readonly namespaced: Scope<Spec, Status>;
  } & Body<Spec, Status>,
): Pair<Spec, Status> {
  const { cluster, namespaced, ...shared } = definition;
  return {
    cluster: defineKind<Spec, Status>({ ...shared, namespaced: false, ...cluster }),
    namespaced: defineKind<Spec, Status>({ ...shared, namespaced: true, ...namespaced }),
  };
}
