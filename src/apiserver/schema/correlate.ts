// Which part of the old object a new part is compared with: by field, by map key, and in lists only by the keys of a
// map list. Indexes of other lists have no meaning, so their items have no old value.
import { canonicalJson, isObject } from '../../base/json.ts';
import type { SchemaNode } from './node.ts';

export const oldField = (old: unknown, name: string): unknown =>
  isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;

/** Finds the old item for a new one; undefined = the list does not correlate, or has no such item. */
export function oldItems(node: SchemaNode, old: unknown): ((item: unknown) => unknown) | undefined {
  if (node.listType !== 'map' || !Array.isArray(old) || old.length === 0) return undefined;
  const byKey = new Map<string, unknown>();
  for (const item of old) {
    const key = mapKeyOf(node, item);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const key = mapKeyOf(node, item);
    return key === undefined ? undefined : byKey.get(key);
  };
}

function mapKeyOf(node: SchemaNode, item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  if (node.listMapKeys.length === 1) {
    const value = item[node.listMapKeys[0] ?? ''];
    return typeof value === 'string' ? `"${value}` : canonicalJson(value);
  }
  return canonicalJson(node.listMapKeys.map((name) => item[name] ?? null));
}
