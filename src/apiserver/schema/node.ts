// A schema prepared for traversal: references resolved, properties in a Map (so that `constructor` and `__proto__` are
// ordinary names), children created on demand, because some built-in types contain themselves.
//
// Guarantee: one node per schema value and process, however many clusters use it.
import type { Schema } from '../../api/schema.ts';
import { compilePattern, type Pattern } from '../../base/regexp/pattern.ts';
import { formatCheck } from './formats.ts';

export type Resolve = (ref: string) => Schema;

export class SchemaNode {
  readonly schema: Schema;
  /** The name of the type, if a reference led here. */
  readonly typeName: string | undefined;
  readonly preservesUnknown: boolean;
  readonly isEmbedded: boolean;
  readonly isIntOrString: boolean;
  readonly isNullable: boolean;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listMapKeys: readonly string[];
  /** The name of the schema's type in error messages. */
  readonly typeText: string;
  /** The check of the schema's format; undefined = no format, or an unknown one. */
  readonly checkFormat: ((text: string) => boolean) | undefined;
  /** It has allOf, anyOf, oneOf or not. */
  readonly hasLogic: boolean;
  readonly #resolve: Resolve | undefined;
  #properties: ReadonlyMap<string, SchemaNode> | undefined;
  #additional: SchemaNode | null | undefined;
  #items: SchemaNode | null | undefined;
  #defaults: readonly (readonly [string, unknown])[] | undefined;
  #holdsListType: boolean | undefined;
  #holdsEmbedded: boolean | undefined;
  #allOf: readonly SchemaNode[] | undefined;
  #anyOf: readonly SchemaNode[] | undefined;
  #oneOf: readonly SchemaNode[] | undefined;
  #pattern: Pattern | undefined;

  constructor(schema: Schema, typeName: string | undefined, resolve: Resolve | undefined) {
    this.schema = schema;
    this.typeName = typeName;
    this.#resolve = resolve;
    this.preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
    this.isIntOrString = schema['x-kubernetes-int-or-string'] === true;
    this.isNullable = schema.nullable === true;
    this.listType = schema['x-kubernetes-list-type'] ?? 'atomic';
    this.listMapKeys = schema['x-kubernetes-list-map-keys'] ?? [];
    this.typeText = this.isIntOrString ? 'integer,string' : (schema.type ?? '');
    this.checkFormat = formatCheck(schema.format);
    this.hasLogic = (schema.allOf ?? schema.anyOf ?? schema.oneOf ?? schema.not) !== undefined;
  }

  get allOf(): readonly SchemaNode[] {
    this.#allOf ??= (this.schema.allOf ?? []).map((schema) => nodeOf(schema, this.#resolve));
    return this.#allOf;
  }

  get anyOf(): readonly SchemaNode[] {
    this.#anyOf ??= (this.schema.anyOf ?? []).map((schema) => nodeOf(schema, this.#resolve));
    return this.#anyOf;
  }

  get oneOf(): readonly SchemaNode[] {
    this.#oneOf ??= (this.schema.oneOf ?? []).map((schema) => nodeOf(schema, this.#resolve));
    return this.#oneOf;
  }

  get not(): SchemaNode | undefined {
    return this.schema.not === undefined ? undefined : nodeOf(this.schema.not, this.#resolve);
  }

  /** The compiled pattern of the schema; undefined = none. */
  get pattern(): Pattern | undefined {
    if (this.schema.pattern === undefined || this.schema.pattern === '') return undefined;
    this.#pattern ??= compilePattern(this.schema.pattern);
    return this.#pattern;
  }

  get properties(): ReadonlyMap<string, SchemaNode> {
    if (this.#properties === undefined) {
      const properties = new Map<string, SchemaNode>();
      for (const [name, schema] of Object.entries(this.schema.properties ?? {})) {
        properties.set(name, nodeOf(schema, this.#resolve));
      }
      this.#properties = properties;
    }
    return this.#properties;
  }

  /** The schema of the values of a map; undefined if other keys are not allowed, or have no schema. */
  get additional(): SchemaNode | undefined {
    if (this.#additional === undefined) {
      const schema = this.schema.additionalProperties;
      this.#additional = typeof schema === 'object' ? nodeOf(schema, this.#resolve) : null;
    }
    return this.#additional ?? undefined;
  }

  get items(): SchemaNode | undefined {
    if (this.#items === undefined) {
      this.#items = this.schema.items === undefined ? null : nodeOf(this.schema.items, this.#resolve);
    }
    return this.#items ?? undefined;
  }

  /** The properties with a default, and the defaults. */
  get defaults(): readonly (readonly [string, unknown])[] {
    if (this.#defaults === undefined) {
      const defaults: [string, unknown][] = [];
      for (const [name, node] of this.properties) {
        if (node.schema.default !== undefined && node.schema.default !== null)
          defaults.push([name, node.schema.default]);
      }
      this.#defaults = defaults;
    }
    return this.#defaults;
  }

  /** A list here or below is a set or a map list. */
  get holdsListType(): boolean {
    this.#holdsListType ??= this.#reaches((node) => node.listType !== 'atomic');
    return this.#holdsListType;
  }

  /** An object here or below is a complete Kubernetes object. */
  get holdsEmbedded(): boolean {
    this.#holdsEmbedded ??= this.#reaches((node) => node.isEmbedded);
    return this.#holdsEmbedded;
  }

  #reaches(is: (node: SchemaNode) => boolean): boolean {
    const seen = new Set<SchemaNode>();
    const open: SchemaNode[] = [this];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      if (is(node)) return true;
      open.push(...node.properties.values());
      if (node.additional !== undefined) open.push(node.additional);
      if (node.items !== undefined) open.push(node.items);
    }
    return false;
  }
}

const nodes = new WeakMap<Schema, SchemaNode>();

export function nodeOf(schema: Schema, resolve: Resolve | undefined): SchemaNode {
  const known = nodes.get(schema);
  if (known !== undefined) return known;
  let node: SchemaNode;
  if (schema.$ref !== undefined && resolve !== undefined) {
    const target = resolve(schema.$ref);
    const { $ref: _, ...beside } = schema;
    // A reference alone is the type itself; keys beside it take precedence.
    const merged = Object.keys(beside).every((name) => name === 'description') ? target : { ...target, ...beside };
    node = new SchemaNode(merged, schema.$ref, resolve);
  } else {
    node = new SchemaNode(schema, undefined, resolve);
  }
  nodes.set(schema, node);
  return node;
}
