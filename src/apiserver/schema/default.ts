// Sets the defaults of a schema, in place. A null where the schema allows none counts as absent: it gets the default,
// or is removed.
import { mutableCopy, setField } from '../../base/json.ts';
import type { SchemaNode } from './node.ts';

/**
 * What happens to a null without a default. A real server removes it while decoding a body; an applied configuration is
 * not decoded that way.
 */
export type Nulls = 'delete' | 'keep';

export function applyDefaults(value: unknown, node: SchemaNode | undefined, nulls: Nulls = 'delete'): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const items = node.items;
    if (items === undefined) return;
    for (let at = 0; at < value.length; at++) {
      if (value[at] === null && !items.isNullable && hasDefault(items)) value[at] = mutableCopy(items.schema.default);
      applyDefaults(value[at], items, nulls);
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
        if (nulls === 'delete') delete object[name];
        continue;
      }
      object[name] = mutableCopy(child.schema.default);
    }
    applyDefaults(object[name], child, nulls);
  }
  for (const [name, preset] of node.defaults) {
    if (Object.hasOwn(object, name)) continue;
    const copy = mutableCopy(preset);
    setField(object, name, copy);
    applyDefaults(copy, properties.get(name));
  }
}

const hasDefault = (node: SchemaNode): boolean => node.schema.default !== undefined && node.schema.default !== null;
