// Removes the fields that a schema does not declare, in place, and returns their paths: the same traversal is used for
// pruning, warnings and strict decoding.
import { byText } from '../../base/compare.ts';
import type { SchemaNode } from './node.ts';
import { isTypeOrObjectMeta, objectMetaNode, settleMetadata } from './object-meta.ts';
import { dotted, field, index, type Path } from './path.ts';

export interface PruneOptions {
  /** A built-in kind: its schema declares apiVersion, kind and metadata. */
  readonly builtin: boolean;
}

/** Paths of unknown fields: sorted for custom kinds, in document order for built-in ones, as on a real server. */
export function pruneUnknown(
  object: Record<string, unknown>,
  node: SchemaNode,
  options: PruneOptions,
): readonly string[] {
  const unknown: string[] = [];
  pruneObject(object, node, undefined, unknown, !options.builtin);
  return options.builtin ? unknown : unknown.sort(byText);
}

function prune(value: unknown, node: SchemaNode | undefined, path: Path | undefined, unknown: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const items = node?.items;
    if (items === undefined && node?.preservesUnknown === true) return;
    for (let at = 0; at < value.length; at++) prune(value[at], items, index(path, at), unknown);
    return;
  }
  const isEmbedded = node?.isEmbedded === true;
  pruneObject(value as Record<string, unknown>, node, path, unknown, isEmbedded);
  if (isEmbedded) settleMetadata(value as Record<string, unknown>);
}

function pruneObject(
  object: Record<string, unknown>,
  node: SchemaNode | undefined,
  path: Path | undefined,
  unknown: string[],
  isWholeObject: boolean,
): void {
  for (const name of Object.keys(object)) {
    if (isWholeObject && isTypeOrObjectMeta(name)) {
      if (name === 'metadata') prune(object[name], objectMetaNode(), field(path, name), unknown);
      continue;
    }
    const child = node?.properties.get(name) ?? node?.additional;
    if (child !== undefined) {
      prune(object[name], child, field(path, name), unknown);
    } else if (node?.schema.additionalProperties === true && !node.preservesUnknown) {
      prune(object[name], undefined, field(path, name), unknown);
    } else if (node === undefined || !node.preservesUnknown) {
      unknown.push(dotted(field(path, name)));
      delete object[name];
    }
  }
}
