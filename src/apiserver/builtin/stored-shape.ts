// The form in which a real server stores the values of built-in kinds: the output of a typed program (see
// api/builtin/typed-shape), quantities in canonical form, times in UTC. Equal objects then have equal JSON, which drift
// detection and "nothing changed" depend on.
import { jsonFields, type TypeFact } from '../../api/builtin/facts.ts';
import { shapeTyped } from '../../api/builtin/typed-shape.ts';
import { kubeMicroTime, kubeTime } from '../../base/clock.ts';
import { isObject, setField } from '../../base/json.ts';
import { lazyByText } from '../../base/lazy.ts';
import { canonicalQuantity, isQuantity } from '../../base/quantity.ts';
import type { Draft } from '../registry.ts';

type Rewrite = (value: unknown) => unknown;

/**
 * Converts a draft to its stored shape. `fill` runs in between: an empty value counts as absent, so it must be removed
 * before.
 */
export function storeShaped(typeName: string, draft: Draft, fill: (draft: Draft) => void): void {
  shapeTyped(typeName, draft as Record<string, unknown>);
  fill(draft);
  shapeTyped(typeName, draft as Record<string, unknown>);
  for (const [field, rewrite] of rewritesOf(typeName)) {
    // The server sets metadata itself.
    if (field === 'metadata') continue;
    const value = (draft as Record<string, unknown>)[field];
    if (value !== undefined && value !== null) (draft as Record<string, unknown>)[field] = rewrite(value);
  }
}

/** The fields of a struct that contain, at any depth, values with several spellings. */
const rewritesOf: (typeName: string) => ReadonlyMap<string, Rewrite> = lazyByText((typeName) => {
  const rewrites = new Map<string, Rewrite>();
  for (const field of jsonFields(typeName)) {
    const rewrite = rewriteOf(field.type);
    if (rewrite !== undefined) rewrites.set(field.name, rewrite);
  }
  return rewrites;
});

function rewriteOf(type: TypeFact): Rewrite | undefined {
  switch (type.form) {
    case 'scalar':
      return undefined;
    case 'special':
      return type.special === 'Quantity'
        ? (value) => (isQuantity(value) ? canonicalQuantity(value as string | number) : value)
        : type.special === 'Time'
          ? moment(kubeTime)
          : type.special === 'MicroTime'
            ? moment(kubeMicroTime)
            : undefined;
    case 'list': {
      const each = rewriteOf(type.of);
      return each && ((value) => (Array.isArray(value) ? value.map(each) : value));
    }
    case 'map': {
      const each = rewriteOf(type.of);
      return each && ((value) => mapValues(value, each));
    }
    case 'struct': {
      if (!holdsSpellings(type.name)) return undefined;
      return (value) => {
        if (!isObject(value)) return value;
        const object = value as Record<string, unknown>;
        for (const [field, rewrite] of rewritesOf(type.name)) {
          const inner = object[field];
          if (inner !== undefined && inner !== null) object[field] = rewrite(inner);
        }
        return object;
      };
    }
  }
}

/** Whether a struct contains, at any depth, a quantity or a time. */
const holdsSpellings: (typeName: string) => boolean = lazyByText((typeName) => holds(typeName, new Set()));

function holds(typeName: string, seen: Set<string>): boolean {
  if (seen.has(typeName)) return false;
  seen.add(typeName);
  return jsonFields(typeName).some((field) => {
    let { type } = field;
    while (type.form === 'list' || type.form === 'map') type = type.of;
    if (type.form === 'special') return ['Quantity', 'Time', 'MicroTime'].includes(type.special);
    return type.form === 'struct' && holds(type.name, seen);
  });
}

function mapValues(value: unknown, each: Rewrite): unknown {
  if (!isObject(value)) return value;
  const map = value as Record<string, unknown>;
  for (const key of Object.keys(map)) setField(map, key, each(map[key]));
  return map;
}

const moment =
  (print: (epochMs: number) => string): Rewrite =>
  (value) => {
    // More than millisecond precision is kept unchanged: nothing here needs it, and our clock never produces it.
    if (typeof value !== 'string' || /\.\d{4,}Z$/.test(value)) return value;
    const epochMs = Date.parse(value);
    return Number.isNaN(epochMs) ? value : print(epochMs);
  };
