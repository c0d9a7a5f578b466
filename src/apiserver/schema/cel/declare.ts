// Converts schemas to the types of rules, and JSON to their values. Rules see only declared fields; of the metadata
// only name and generateName.
import { canonicalJson } from '../../../base/json.ts';
import type { SchemaNode } from '../node.ts';
import { durationOfText, timestampOfText } from './standard.ts';
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, type Field, INT, mapOf, STRING, TIMESTAMP } from './type.ts';
import { Duration, type ListShape, Structure, shaped, Timestamp } from './value.ts';

const types = new WeakMap<SchemaNode, { readonly type: CelType | undefined }>();
const wholeTypes = new WeakMap<SchemaNode, { readonly type: CelType | undefined }>();

/** undefined = not visible to rules. `isWhole` = a Kubernetes object with a type and metadata. */
export function declaredType(node: SchemaNode, isWhole: boolean, name = 'selfType'): CelType | undefined {
  const cache = isWhole ? wholeTypes : types;
  const known = cache.get(node);
  if (known !== undefined) return known.type;
  const type = declare(node, isWhole, name);
  cache.set(node, { type });
  return type;
}

function declare(node: SchemaNode, isWhole: boolean, name: string): CelType | undefined {
  if (node.isIntOrString) return DYN;
  const { type, format } = node.schema;
  switch (type) {
    case 'boolean':
      return BOOL;
    case 'integer':
      return INT;
    case 'number':
      return DOUBLE;
    case 'string':
      if (format === 'byte') return BYTES;
      if (format === 'duration') return DURATION;
      return format === 'date' || format === 'date-time' ? TIMESTAMP : STRING;
    case 'array': {
      const items = node.items;
      const item = items && declaredType(items, items.isEmbedded, `${name}.@idx`);
      if (item === undefined) return undefined;
      const shape = shapeOfList(node);
      return shape === undefined ? { kind: 'list', item } : { kind: 'list', item, shape };
    }
    case 'object': {
      const { additional } = node;
      if (additional !== undefined) {
        const value = declaredType(additional, additional.isEmbedded, `${name}.@elem`);
        return value && mapOf(STRING, value);
      }
      return { kind: 'object', name, fields: fieldsOf(node, isWhole, name) };
    }
    default:
      return undefined;
  }
}

const metadataType: CelType = {
  kind: 'object',
  name: 'selfType.metadata',
  fields: new Map([
    ['name', { jsonName: 'name', type: STRING }],
    ['generateName', { jsonName: 'generateName', type: STRING }],
  ]),
};

function fieldsOf(node: SchemaNode, isWhole: boolean, name: string): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [jsonName, child] of node.properties) {
    const type = declaredType(child, child.isEmbedded, `${name}.${jsonName}`);
    const escaped = escapeName(jsonName);
    if (type === undefined || escaped === undefined) continue;
    fields.set(escaped, { jsonName, type });
    // A reserved word is also allowed unescaped, because after a dot it is unambiguous.
    if (RESERVED.has(jsonName) && !fields.has(jsonName)) fields.set(jsonName, { jsonName, type });
  }
  if (isWhole) {
    fields.set('apiVersion', { jsonName: 'apiVersion', type: STRING });
    fields.set('kind', { jsonName: 'kind', type: STRING });
    fields.set('metadata', { jsonName: 'metadata', type: metadataType });
  }
  return fields;
}

const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** The name of a property in rules; undefined = it has none. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part] ?? part);
}
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

function shapeOfList(node: SchemaNode): ListShape | undefined {
  const keyText = (item: unknown): string => canonicalJson(plain(item));
  if (node.listType === 'set') return { type: 'set', keyOf: keyText };
  if (node.listType !== 'map') return undefined;
  const names = node.listMapKeys;
  return {
    type: 'map',
    keyOf: (item) =>
      canonicalJson(item instanceof Structure ? names.map((name) => item.raw[name] ?? null) : plain(item)),
  };
}

function plain(item: unknown): unknown {
  if (item instanceof Structure) return item.raw;
  if (typeof item === 'bigint') return String(item);
  if (item instanceof Duration || item instanceof Timestamp) return String(item.nanos);
  return item instanceof Uint8Array ? Buffer.from(item).toString('hex') : item;
}

/**
 * Converts JSON to CEL values. Lists and maps are converted once per evaluation, so the cost is that of reading the
 * object; fields of an object on access.
 */
export class Converter {
  readonly #made = new Map<object, unknown>();

  valueOf(raw: unknown, type: CelType): unknown {
    if (raw === null || raw === undefined) return null;
    switch (type.kind) {
      case 'int':
        return typeof raw === 'number' && Number.isInteger(raw) ? BigInt(raw) : this.#untyped(raw);
      case 'double':
        return raw;
      case 'timestamp':
        return typeof raw === 'string'
          ? timestampOfText(raw.length === 10 ? `${raw}T00:00:00Z` : raw)
          : this.#untyped(raw);
      case 'duration':
        return typeof raw === 'string' ? durationOfText(raw) : this.#untyped(raw);
      case 'bytes':
        return typeof raw === 'string' ? Buffer.from(raw, 'base64') : this.#untyped(raw);
      case 'object':
        return typeof raw === 'object' && !Array.isArray(raw)
          ? new Structure(raw as Readonly<Record<string, unknown>>, type.fields, type.name)
          : this.#untyped(raw);
      case 'list':
        return Array.isArray(raw) ? this.#list(raw, type) : this.#untyped(raw);
      case 'map':
        return typeof raw === 'object' && !Array.isArray(raw) ? this.#map(raw, type.value) : this.#untyped(raw);
      case 'dyn':
        return this.#untyped(raw);
      default:
        return typeof raw === 'object' ? this.#untyped(raw) : raw;
    }
  }

  #list(raw: readonly unknown[], type: Extract<CelType, { kind: 'list' }>): unknown {
    const known = this.#made.get(raw);
    if (known !== undefined) return known;
    const list = raw.map((item) => this.valueOf(item, type.item));
    if (type.shape !== undefined) shaped(list, type.shape);
    this.#made.set(raw, list);
    return list;
  }

  #map(raw: object, valueType: CelType): unknown {
    const known = this.#made.get(raw);
    if (known !== undefined) return known;
    const entries = Object.entries(raw);
    const map = new Map(entries.map(([key, value]) => [key, this.valueOf(value, valueType)]));
    this.#made.set(raw, map);
    return map;
  }

  /** Converts by the JSON type: for an int-or-string, or a value that does not match its schema. */
  #untyped(raw: unknown): unknown {
    if (typeof raw === 'number') return Number.isInteger(raw) ? BigInt(raw) : raw;
    if (Array.isArray(raw)) return this.#list(raw, { kind: 'list', item: DYN });
    if (typeof raw === 'object' && raw !== null) return this.#map(raw, DYN);
    return raw;
  }
}
