// The schema builder. Every value is a plain OpenAPI v3 object in the dialect of Kubernetes that also carries, for the compiler only,
// the type of the data it describes. So a kind is written once and its TypeScript type, its CRD and its validation cannot drift apart.
import { deepFreeze } from '../base/json.ts';
import type { Column, Kind, KindVersion } from './kind.ts';
import type { KubeObject } from './object.ts';
import type { CelRule, Schema } from './schema.ts';

declare const described: unique symbol;

/** A schema together with the type of what it describes. The type exists at compile time only. */
export type Typed<T> = Schema & { readonly [described]: T };
/** A field that may be absent. */
export interface Optional<T> {
  readonly optional: Typed<T>;
}
/** A field that writers may leave out and readers always find, because the server fills it in. */
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

/** The type of the data that a schema describes, as a reader of the API sees it: after defaulting. */
export type Infer<S> = S extends Typed<infer T> ? T : never;

/** An object of some other kind, carried whole. */
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
  /** Makes it a list-map: entries with equal keys are one entry. */
  readonly keys?: readonly string[];
  /** No two entries are equal. */
  readonly set?: true;
}
interface MapOptions extends Common {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}
interface ObjectOptions extends Common {
  /** Replaced as a whole by server-side apply. */
  readonly atomic?: true;
}

// An undefined member would reach the YAML as `null`.
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

  /** `3` or `25%`. `minimum` and `maximum` bind numbers only, `pattern` and `maxLength` texts only. */
  intOrString: (options: IntOrStringOptions = {}): Typed<number | string> =>
    typed(
      {
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
        ...without(options, 'doc', 'rules'),
      },
      options,
    ),

  /** Any JSON at all. */
  any: (options: Common = {}): Typed<unknown> => typed({ 'x-kubernetes-preserve-unknown-fields': true }, options),

  /** An object with fields that are not ours to know. */
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

  /** The same schema under another description. */
  doc: <T>(doc: string, schema: Typed<T>): Typed<T> =>
    ({ description: doc, ...without(schema as Schema, 'description') }) as unknown as Typed<T>,

  /** The same schema with further rules. */
  ruled: <T>(schema: Typed<T>, rules: readonly CelRule[]): Typed<T> => ({
    ...schema,
    'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
  }),

  /** The same fields without any rule: for frozen copies of what was judged when it was written. */
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

/** A CEL rule. The message is what a person reads on refusal, so it says what to do. */
export const rule = (expression: string, message: string, at?: string): CelRule => ({
  rule: expression,
  message,
  ...(at === undefined ? {} : { fieldPath: at }),
});

// ---- kinds

/** An object as the server returns it: a kind with a required spec has one. */
export type WithSpec<Spec, Status = unknown> = KubeObject<Spec, Status> & { readonly spec: Spec };

/** What the kinds of one API group share. */
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
  /** Rules over the whole object, which see only `metadata.name` of the metadata. */
  readonly rules?: readonly CelRule[];
  readonly columns?: readonly Column[];
  /** Names of columns that a version does not show. */
  readonly columnsAbsentIn?: Readonly<Record<string, readonly string[]>>;
}

interface Body<Spec, Status> {
  readonly spec?: Typed<Spec>;
  readonly status?: Typed<Status>;
  /** Fields beside metadata, of the few kinds that have no spec. */
  readonly root?: Fields;
  /** Kinds with a status have the subresource; one declares it without having a field. */
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
  // One schema value for all versions: what is compiled from it is compiled once.
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

/** Two kinds that are one idea at two scopes: same spec, same status. */
export interface Pair<Spec, Status> {
  readonly cluster: Kind<Spec, Status>;
  readonly namespaced: Kind<Spec, Status>;
}

/** A scope states its names and, where the scopes truly differ, its own body. */
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
