// Fills in what a schema defaults, in place. A null where the schema allows none counts as absent: it takes the default, or goes.
import { mutableCopy, setField } from '../../base/json.ts';
import type { SchemaNode } from './node.ts';

export function applyDefaults(value: unknown, node: SchemaNode | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const items = node.items;
    if (items === undefined) return;
    for (let at = 0; at < value.length; at++) {
      if (value[at] === null && !items.isNullable && hasDefault(items)) value[at] = mutableCopy(items.schema.default);
      applyDefaults(value[at], items);
    }
    return;
  }
  const object = value as Record<string, unknown>;
  const { properties, additional } = node;
  for (const name of Object.keys(object)) {
    const child = properties.get(name) ?? additional;
    if (child === undefined) continue;
    if (object[name] === null && !child.isNullable) {
      if (!hasDefault(child)) {
        delete object[name];
        continue;
      }
      object[name] = mutableCopy(child.schema.default);
    }
    applyDefaults(object[name], child);
  }
  for (const [name, preset] of node.defaults) {
    if (Object.hasOwn(object, name)) continue;
    const copy = mutableCopy(preset);
    setField(object, name, copy);
    applyDefaults(copy, properties.get(name));
  }
}

const hasDefault = (node: SchemaNode): boolean => node.schema.default !== undefined && node.schema.default !== null;
