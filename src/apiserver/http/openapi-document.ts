// The OpenAPI document of one group version: the schemas of its kinds and all types they reference, and the operations
// of each kind, from which clients learn what the server supports.
import type { Schema } from '../../api/schema.ts';
import { isServed } from '../verbs/offered.ts';
import { rootOf, subresourcesOf } from './discovery.ts';
import type { GroupVersion } from './served-groups.ts';

export interface TypeSource {
  /** The schema of a built-in type. */
  resolve(name: string): Schema;
  typeNameOf(group: string, version: string, kind: string): string | undefined;
}

type Json = Record<string, unknown>;
interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const GVK = 'x-kubernetes-group-version-kind';

export function groupDocument(of: GroupVersion, source: TypeSource): Json {
  const schemas = new SchemaCollection(source);
  const paths: Json = {};
  for (const { resource, served } of of.resources) {
    const gvk = { group: of.group, version: of.version, kind: resource.kind };
    const name = resource.custom
      ? customName(gvk)
      : (source.typeNameOf(gvk.group, gvk.version, gvk.kind) ?? customName(gvk));
    const schema = resource.custom ? withObjectFields(served.schema) : served.schema;
    schemas.addKind(name, schema, gvk);
    schemas.addList(`${name}List`, name, { ...gvk, kind: resource.listKind });

    const collection = `${rootOf(of)}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.plural}`;
    const scope = resource.namespaced ? [pathParameter('namespace')] : [];
    const may = (verb: string) => isServed(resource, verb);
    paths[collection] = {
      ...(may('list') ? { get: operation('list', gvk, LIST_PARAMETERS) } : {}),
      ...(may('create') ? { post: operation('post', gvk, WRITE_PARAMETERS, name) } : {}),
      ...(may('deletecollection') ? { delete: operation('deletecollection', gvk, LIST_PARAMETERS) } : {}),
      ...(scope.length === 0 ? {} : { parameters: scope }),
    };
    if (resource.namespaced && may('list')) {
      paths[`${rootOf(of)}/${resource.plural}`] = { get: operation('list', gvk, LIST_PARAMETERS) };
    }
    if (may('get')) {
      paths[`${collection}/{name}`] = {
        get: operation('get', gvk, [], name),
        ...(may('update') ? { put: operation('put', gvk, WRITE_PARAMETERS, name) } : {}),
        ...(may('delete') ? { delete: operation('delete', gvk, DELETE_PARAMETERS) } : {}),
        ...(may('patch') ? { patch: operation('patch', gvk, PATCH_PARAMETERS, name) } : {}),
        parameters: [pathParameter('name'), ...scope],
      };
    }
    for (const { name: word, verbs, group, version, kind } of subresourcesOf(resource, of.version)) {
      const answered = { group, version, kind };
      paths[`${collection}/{name}/${word}`] = {
        ...(verbs.includes('get') ? { get: operation('get', answered, []) } : {}),
        ...(verbs.includes('create') ? { post: operation('post', answered, WRITE_PARAMETERS) } : {}),
        ...(verbs.includes('update') ? { put: operation('put', answered, WRITE_PARAMETERS) } : {}),
        ...(verbs.includes('patch') ? { patch: operation('patch', answered, PATCH_PARAMETERS) } : {}),
        parameters: [pathParameter('name'), ...scope],
      };
    }
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Flotilla', version: '1.34' },
    paths,
    components: { schemas: schemas.all() },
  };
}

/** `dev.flotilla.v1alpha1.Thing`: the reversed group, as Kubernetes names the types of custom resources. */
export const customName = ({ group, version, kind }: Gvk): string =>
  [...group.split('.').reverse(), version, kind].join('.');

/** A CRD's schema omits the fields that all objects have. */
function withObjectFields(schema: Schema): Schema {
  return {
    ...schema,
    properties: {
      apiVersion: { type: 'string', description: 'The group and version of this object.' },
      kind: { type: 'string', description: 'The kind of this object.' },
      ...schema.properties,
      metadata: { $ref: `${META}.ObjectMeta`, description: 'Standard object metadata.' },
    },
  };
}

/** An embedded object cannot take its type from the URL. */
const requiredOfObject = ({ required = [] }: Schema): readonly string[] => [
  ...new Set(['apiVersion', 'kind', ...required]),
];

// ---- operations

const query = (name: string, type = 'string', description?: string) => ({
  name,
  in: 'query',
  ...(description === undefined ? {} : { description }),
  schema: { type, uniqueItems: true },
});

const pathParameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });

const WRITE_PARAMETERS = [
  query('dryRun', 'string', 'All = do everything but keep nothing.'),
  query('fieldManager', 'string', 'The name under which the changes are kept.'),
  query('fieldValidation', 'string', 'What becomes of unknown fields: Ignore, Warn or Strict.'),
];
const PATCH_PARAMETERS = [
  ...WRITE_PARAMETERS,
  query('force', 'boolean', 'Server-side apply takes fields from other managers.'),
];
const DELETE_PARAMETERS = [
  query('dryRun'),
  query('gracePeriodSeconds', 'integer'),
  query('orphanDependents', 'boolean'),
  query('propagationPolicy'),
];
const LIST_PARAMETERS = [
  query('allowWatchBookmarks', 'boolean'),
  query('continue'),
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
  query('resourceVersionMatch'),
  query('sendInitialEvents', 'boolean'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];

function operation(action: string, gvk: Gvk, parameters: readonly object[], schemaName?: string): Json {
  const content = schemaName && { content: { 'application/json': { schema: { $ref: pointer(schemaName) } } } };
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content && (action === 'post' || action === 'put') ? { requestBody: { ...content, required: true } } : {}),
    responses: { [action === 'post' ? '201' : '200']: { description: 'OK', ...content } },
    'x-kubernetes-action': action,
    [GVK]: gvk,
  };
}

// ---- schemas

const pointer = (name: string): string => `#/components/schemas/${name}`;

/** Collects schemas, and by their references all schemas they need. */
class SchemaCollection {
  readonly #source: TypeSource;
  readonly #schemas = new Map<string, Json>();

  constructor(source: TypeSource) {
    this.#source = source;
  }

  addKind(name: string, schema: Schema, gvk: Gvk): void {
    // If an earlier kind references it, it is already there, without the GVK extension.
    this.#schemas.set(name, {});
    this.#schemas.set(name, { ...this.#shown(schema), [GVK]: [gvk] });
  }

  addList(name: string, itemName: string, gvk: Gvk): void {
    const schema: Schema = {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        items: { type: 'array' },
        kind: { type: 'string' },
        metadata: { $ref: `${META}.ListMeta` },
      },
    };
    const shown = this.#shown(schema);
    (shown['properties'] as Json)['items'] = { type: 'array', items: { $ref: pointer(itemName) } };
    this.#schemas.set(name, { ...shown, [GVK]: [gvk] });
  }

  all(): Json {
    const names = [...this.#schemas.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, this.#schemas.get(name)]));
  }

  #refer(name: string): Json {
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {}); // types reference themselves
      this.#schemas.set(name, this.#shown(this.#source.resolve(name)));
    }
    return { $ref: pointer(name) };
  }

  /**
   * Our `$ref` is a plain name and may have other keys beside it; OpenAPI requires a pointer that is alone, or inside
   * `allOf`.
   */
  #shown(schema: Schema): Json {
    const { $ref, properties: own, items, additionalProperties, allOf, anyOf, oneOf, not, ...rest } = schema;
    const isObject = rest['x-kubernetes-embedded-resource'] === true;
    const properties = isObject ? withObjectFields(schema).properties : own;
    const each = (list: readonly Schema[]) => list.map((one) => this.#shown(one));
    const shown: Json = isObject ? { ...rest, required: requiredOfObject(schema) } : { ...rest };
    if (properties) {
      shown['properties'] = Object.fromEntries(Object.entries(properties).map(([key, of]) => [key, this.#shown(of)]));
    }
    if (items) shown['items'] = this.#shown(items);
    if (additionalProperties !== undefined) {
      shown['additionalProperties'] =
        typeof additionalProperties === 'boolean' ? additionalProperties : this.#shown(additionalProperties);
    }
    if (anyOf) shown['anyOf'] = each(anyOf);
    if (oneOf) shown['oneOf'] = each(oneOf);
    if (not) shown['not'] = this.#shown(not);
    if (allOf) shown['allOf'] = each(allOf);
    if ($ref === undefined) return shown;
    const reference = this.#refer($ref);
    if (Object.keys(shown).length === 0) return reference;
    return { ...shown, allOf: [reference, ...((shown['allOf'] as Json[] | undefined) ?? [])] };
  }
}
