// Schemas of Kubernetes' own types, created from the facts on first use, frozen and cached. Names are those of the
// OpenAPI documents (`io.k8s.api.core.v1.PodSpec`); a `$ref` is such a name without a prefix, and keys beside it count
// as well. Only defaults that Kubernetes declares are here; for zero values see typed-shape.ts.
import { deepFreeze } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import type { Schema } from '../schema.ts';
import { type FieldFact, jsonFields, type Special, structFact, type TypeFact, typeFact } from './facts.ts';

/** The schema of a type. Throws if there is no such type: names come from our own tables, never from a request. */
export const builtinSchema: (typeName: string) => Schema = lazyByText((typeName) => {
  const fact = typeFact(typeName);
  if (fact === undefined) throw new Error(`no built-in type ${typeName}`);
  return deepFreeze(fact.form === 'struct' ? structSchema(fact.name) : schemaOf(fact, 'whole'));
});

/** Resolves a `$ref` of a built-in schema. */
export const resolveBuiltin = (ref: string): Schema => builtinSchema(ref);

/** The schema of a kind. Throws if it is not built in: check `typeNameOf` first if that is possible. */
export function kindSchema(group: string, version: string, kind: string): Schema {
  const name = typeNameOf(group, version, kind);
  if (name === undefined) throw new Error(`no built-in kind ${kind} in ${group}/${version}`);
  return builtinSchema(name);
}

/** The package with the types of a group; the version is the package's last segment. */
const packageOfGroup: ReadonlyMap<string, string> = new Map([
  ['', 'io.k8s.api.core'],
  ['admissionregistration.k8s.io', 'io.k8s.api.admissionregistration'],
  ['apiextensions.k8s.io', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions'],
  ['apiregistration.k8s.io', 'io.k8s.kube-aggregator.pkg.apis.apiregistration'],
  ['apps', 'io.k8s.api.apps'],
  ['authentication.k8s.io', 'io.k8s.api.authentication'],
  ['authorization.k8s.io', 'io.k8s.api.authorization'],
  ['autoscaling', 'io.k8s.api.autoscaling'],
  ['batch', 'io.k8s.api.batch'],
  ['certificates.k8s.io', 'io.k8s.api.certificates'],
  ['coordination.k8s.io', 'io.k8s.api.coordination'],
  ['discovery.k8s.io', 'io.k8s.api.discovery'],
  ['events.k8s.io', 'io.k8s.api.events'],
  ['flowcontrol.apiserver.k8s.io', 'io.k8s.api.flowcontrol'],
  ['networking.k8s.io', 'io.k8s.api.networking'],
  ['node.k8s.io', 'io.k8s.api.node'],
  ['policy', 'io.k8s.api.policy'],
  ['rbac.authorization.k8s.io', 'io.k8s.api.rbac'],
  ['resource.k8s.io', 'io.k8s.api.resource'],
  ['scheduling.k8s.io', 'io.k8s.api.scheduling'],
  ['storage.k8s.io', 'io.k8s.api.storage'],
]);

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Kinds that every group serves under its own name: a DeleteOptions may have apiVersion `apps/v1` as well as `v1`. */
const kindsOfAllGroups: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
]);

/** The name of a kind's type, or undefined if it is not built in. Safe for strings from a request. */
export function typeNameOf(group: string, version: string, kind: string): string | undefined {
  if (kindsOfAllGroups.has(kind)) return `${META}.${kind}`;
  if (group === '' && version === 'v1' && kind === 'Status') return `${META}.Status`;
  const pack = packageOfGroup.get(group);
  if (pack === undefined) return undefined;
  const name = `${pack}.${version}.${kind}`;
  const fact = typeFact(name);
  if (fact?.form !== 'struct') return undefined;
  // Parts of kinds have no apiVersion and are not kinds: `PodSpec` must not count as one.
  return structFact(name).fields.some((field) => field.inline && field.number === 0) ? name : undefined;
}

function structSchema(name: string): Schema {
  const fields = jsonFields(name);
  if (fields.length === 0) return { type: 'object' };
  const properties: Record<string, Schema> = {};
  for (const field of fields) properties[field.name] = fieldSchema(field);
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(structFact(name).atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  };
}

function fieldSchema(field: FieldFact): Schema {
  return {
    ...schemaOf(field.type, 'reference'),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.listType === undefined ? {} : { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.mapType === undefined ? {} : { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': field.patchStrategy }),
    ...(field.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
  };
}

function schemaOf(type: TypeFact, special: 'whole' | 'reference'): Schema {
  switch (type.form) {
    case 'scalar':
      return type.values === undefined ? scalarSchemas[type.scalar] : { type: 'string', enum: type.values };
    case 'list':
      return { type: 'array', items: schemaOf(type.of, 'reference') };
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(type.of, 'reference') };
    case 'struct':
      return { $ref: type.name };
    case 'special':
      return special === 'whole' ? specialSchemas[type.special] : { $ref: type.name };
  }
}

const scalarSchemas = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
} as const satisfies Record<string, Schema>;

const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };
const anyObject: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const moment: Schema = { type: 'string', format: 'date-time' };

const specialSchemas: Readonly<Record<Special, Schema>> = {
  Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  IntOrString: {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
  Time: moment,
  MicroTime: moment,
  FieldsV1: anyObject,
  RawExtension: anyObject,
  JSON: anything,
  JSONSchemaPropsOrArray: anything,
  JSONSchemaPropsOrBool: anything,
  JSONSchemaPropsOrStringArray: anything,
};
