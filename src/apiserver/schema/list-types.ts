// Sets must not contain an item twice, map lists not a key. Each duplicate is reported once, at its second occurrence.
import type { FieldCause } from '../../api/kind.ts';
import { duplicate, invalidValue } from '../../api/status.ts';
import { canonicalJson, isObject } from '../../base/json.ts';
import type { SchemaNode } from './node.ts';
import { bracketed, field, index, key, type Path } from './path.ts';

export function validateListTypes(value: unknown, node: SchemaNode): readonly FieldCause[] {
  if (!node.holdsListType) return [];
  const causes: FieldCause[] = [];
  walk(value, node, undefined, causes);
  return causes;
}

function walk(value: unknown, node: SchemaNode | undefined, path: Path | undefined, causes: FieldCause[]): void {
  if (node === undefined || typeof value !== 'object' || value === null || !node.holdsListType) return;
  if (Array.isArray(value)) {
    if (node.listType === 'set') checkSet(value, path, causes);
    if (node.listType === 'map') checkMap(value, node, path, causes);
    const items = node.items;
    if (items?.holdsListType) for (let at = 0; at < value.length; at++) walk(value[at], items, index(path, at), causes);
    return;
  }
  const { properties, additional } = node;
  for (const [name, child] of Object.entries(value)) {
    const known = properties.get(name);
    if (!(known ?? additional)?.holdsListType) continue;
    if (known !== undefined) walk(child, known, field(path, name), causes);
    else walk(child, additional, key(path, name), causes);
  }
}

function checkSet(list: readonly unknown[], path: Path | undefined, causes: FieldCause[]): void {
  for (const at of repeated(list)) causes.push(duplicate(bracketed(index(path, at)), list[at]));
}

function checkMap(list: readonly unknown[], node: SchemaNode, path: Path | undefined, causes: FieldCause[]): void {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    const why = 'must be an object for an array of list-type map';
    causes.push(invalidValue(bracketed(index(path, wrong)), list[wrong], why));
    return;
  }
  if (isDistinct(list, node.listMapKeys)) return;
  const keys = list.map((item) => {
    const parts: Record<string, unknown> = {};
    if (isObject(item)) {
      for (const name of node.listMapKeys) if (item[name] !== undefined) parts[name] = item[name];
    }
    return parts;
  });
  for (const at of repeated(keys)) causes.push(duplicate(bracketed(index(path, at)), keys[at]));
}

/** Fast path for the usual case: one string key, all different. */
function isDistinct(list: readonly unknown[], [name, ...others]: readonly string[]): boolean {
  if (name === undefined || others.length > 0) return false;
  const seen = new Set<unknown>();
  for (const item of list) {
    const key = isObject(item) ? item[name] : undefined;
    if (typeof key !== 'string' || seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

function repeated(values: readonly unknown[]): readonly number[] {
  if (values.length < 2) return [];
  const times = new Map<string, number>();
  const indices: number[] = [];
  for (const [at, value] of values.entries()) {
    const text = typeof value === 'string' ? `"${value}` : canonicalJson(value);
    const seen = times.get(text) ?? 0;
    if (seen === 1) indices.push(at);
    times.set(text, seen + 1);
  }
  return indices;
}
