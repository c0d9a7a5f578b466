// The error of a typed decoder for a value of the wrong type. Servers decode built-in kinds into Go types, so the
// messages name the innermost struct, the path without list indexes, and the expected Go type.
//
// A type with its own decoder (a quantity, a time) stops decoding where it fails, so its error takes precedence.
import type { SchemaNode } from './node.ts';
import { isTypeOrObjectMeta, objectMetaNode } from './object-meta.ts';
import { type Reading, readBytes, readTime, selfReading } from './self-reading.ts';

interface Decoding {
  first: string | undefined;
  fatal: string | undefined;
}

const DEEPEST = 1_000;

/** A built-in kind; the name of its schema is its Go type. */
export function builtinDecodeError(
  object: Readonly<Record<string, unknown>>,
  node: SchemaNode,
  kind: string,
): string | undefined {
  const decoding: Decoding = { first: undefined, fatal: undefined };
  decodeStruct(object, node, node.typeName === undefined ? kind : lastWord(node.typeName), [], decoding);
  return decoding.fatal ?? decoding.first;
}

/** A custom kind: only the metadata of the object and of embedded objects is typed. */
export function customDecodeError(object: Readonly<Record<string, unknown>>, node: SchemaNode): string | undefined {
  const own = metadataError(object['metadata']);
  return own ?? (node.holdsEmbedded ? embeddedError(object, node, '') : undefined);
}

function metadataError(metadata: unknown): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (typeof metadata !== 'object' || Array.isArray(metadata)) {
    return `json: cannot unmarshal ${jsonWord(metadata)} into Go value of type v1.ObjectMeta`;
  }
  const decoding: Decoding = { first: undefined, fatal: undefined };
  decodeStruct(metadata as Readonly<Record<string, unknown>>, objectMetaNode(), 'ObjectMeta', [], decoding);
  return decoding.fatal ?? decoding.first;
}

function embeddedError(value: unknown, node: SchemaNode | undefined, path: string): string | undefined {
  if (node === undefined || typeof value !== 'object' || value === null || !node.holdsEmbedded) return undefined;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const error = embeddedError(item, node.items, `${path}[${at}]`);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  for (const [name, child] of Object.entries(value)) {
    const known = node.properties.get(name);
    const childPath = known === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    if (node.isEmbedded && isTypeOrObjectMeta(name)) {
      const at = path === '' ? name : `${path}.${name}`;
      if (name === 'metadata') {
        const error = metadataError(child);
        if (error !== undefined) return `${at}: Invalid value: ${JSON.stringify(child)}: ${error}`;
      } else if (typeof child !== 'string') {
        return `${at}: Invalid value: ${JSON.stringify(child)}: must be a string`;
      }
      continue;
    }
    const error = embeddedError(child, known ?? node.additional, childPath);
    if (error !== undefined) return error;
  }
  return undefined;
}

function decodeStruct(
  object: Readonly<Record<string, unknown>>,
  node: SchemaNode,
  structName: string,
  trail: string[],
  decoding: Decoding,
): void {
  if (trail.length > DEEPEST) {
    decoding.fatal ??= 'exceeded max depth';
    return;
  }
  const { properties } = node;
  for (const name in object) {
    const child = properties.get(name);
    const value = object[name];
    if (child === undefined || value === undefined || value === null || !Object.hasOwn(object, name)) continue;
    trail.push(name);
    decodeValue(value, child, structName, trail, decoding);
    trail.pop();
    if (decoding.fatal !== undefined) return;
  }
}

function decodeValue(value: unknown, node: SchemaNode, structName: string, trail: string[], decoding: Decoding): void {
  if (value === null || value === undefined) return;
  const say = (reading: Reading): void => {
    if (reading === undefined) return;
    if ('ends' in reading) {
      decoding.fatal ??= reading.ends;
      return;
    }
    const word = reading.isNumber === true ? `number ${value}` : jsonWord(value);
    const where = `${structName}.${trail.join('.')}`;
    decoding.first ??= `json: cannot unmarshal ${word} into Go struct field ${where} of type ${reading.wanted}`;
  };
  const reader = node.typeName === undefined ? undefined : selfReading.get(lastWord(node.typeName));
  if (reader !== undefined) {
    say(reader(value));
    return;
  }
  switch (node.schema.type) {
    case 'array':
      if (!Array.isArray(value)) {
        say({ wanted: goTypeOf(node) });
        return;
      }
      for (const item of value) {
        if (node.items !== undefined) decodeValue(item, node.items, structName, trail, decoding);
        if (decoding.fatal !== undefined) return;
      }
      return;
    case 'object':
      if (node.preservesUnknown) return;
      if (typeof value !== 'object' || Array.isArray(value)) {
        say({ wanted: goTypeOf(node) });
      } else if (node.typeName !== undefined) {
        decodeStruct(value as Readonly<Record<string, unknown>>, node, lastWord(node.typeName), trail, decoding);
      } else if (node.additional !== undefined) {
        for (const item of Object.values(value)) {
          decodeValue(item, node.additional, structName, trail, decoding);
          if (decoding.fatal !== undefined) return;
        }
      }
      return;
    default:
      say(readScalar(value, node));
  }
}

function readScalar(value: unknown, node: SchemaNode): Reading {
  const { type, format } = node.schema;
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : { wanted: 'bool' };
    case 'integer': {
      const wanted = goTypeOf(node);
      if (typeof value !== 'number') return { wanted };
      const fits = Number.isInteger(value) && Math.abs(value) < (wanted === 'int64' ? 2 ** 63 : 2 ** 31);
      return fits ? undefined : { wanted, isNumber: true };
    }
    case 'number':
      return typeof value === 'number' ? undefined : { wanted: 'float64' };
    case 'string':
      if (format === 'date-time') return readTime(value, false);
      if (typeof value !== 'string') return { wanted: goTypeOf(node) };
      return format === 'byte' ? readBytes(value) : undefined;
    default:
      return undefined;
  }
}

/** The JSON type of a value, as in Go. */
function jsonWord(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const lastWord = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

function goTypeOf(node: SchemaNode): string {
  if (node.typeName !== undefined) {
    const words = node.typeName.split('.');
    return words.length === 1 ? `v1.${words[0]}` : words.slice(-2).join('.');
  }
  const { type, format } = node.schema;
  switch (type) {
    case 'array':
      return `[]${node.items === undefined ? 'interface {}' : goTypeOf(node.items)}`;
    case 'object':
      return `map[string]${node.additional === undefined ? 'interface {}' : goTypeOf(node.additional)}`;
    case 'boolean':
      return 'bool';
    case 'integer':
      return format === 'int64' ? 'int64' : 'int32';
    case 'number':
      return 'float64';
    default:
      return format === 'byte' ? '[]uint8' : 'string';
  }
}
