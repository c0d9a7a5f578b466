// Access to parts of values: fields, elements, and concatenation of lists.
import type { Frame } from './compiled.ts';
import type { CelType } from './type.ts';
import { CelError, mapKey, Optional, Structure, shaped, shapeOf, typeNameOf, Uint } from './value.ts';

/** Reads a field of a value with a static type; undefined if it is absent. */
export function reader(type: CelType, name: string): (frame: Frame, value: unknown) => unknown {
  const field = type.kind === 'object' ? type.fields.get(name) : undefined;
  return function read(frame, value): unknown {
    if (value instanceof Structure) {
      const known = field ?? value.fields.get(name);
      if (known === undefined || !Object.hasOwn(value.raw, known.jsonName)) return undefined;
      const raw = value.raw[known.jsonName];
      return raw === undefined ? undefined : frame.converter.valueOf(raw, known.type);
    }
    if (value instanceof Map) return value.get(name);
    if (value instanceof Optional) return value.hasValue ? read(frame, value.value) : undefined;
    throw new CelError(Array.isArray(value) ? `unsupported index type 'string' in list` : `no such key: ${name}`);
  };
}

export function element(from: unknown, at: unknown): unknown {
  if (Array.isArray(from)) {
    const index = indexOf(at);
    if (index === undefined) throw new CelError(`unsupported index type '${typeNameOf(at)}' in list`);
    if (!Number.isInteger(index) || index < 0 || index >= from.length) {
      throw new CelError(`index out of bounds: ${index}`);
    }
    return from[index];
  }
  if (from instanceof Map) {
    const key = mapKey(at);
    if (!from.has(key)) throw new CelError(`no such key: ${String(at)}`);
    return from.get(key);
  }
  throw new CelError(`no such key: ${String(at)}`);
}

function indexOf(at: unknown): number | undefined {
  if (typeof at === 'bigint') return Number(at);
  if (at instanceof Uint) return Number(at.value);
  return typeof at === 'number' ? at : undefined;
}

export function optionalElement(from: Optional, at: unknown): Optional {
  if (!from.hasValue) return Optional.none;
  if (from.value instanceof Map) {
    const key = mapKey(at);
    return from.value.has(key) ? Optional.of(from.value.get(key)) : Optional.none;
  }
  const index = indexOf(at);
  if (!Array.isArray(from.value) || index === undefined) throw new CelError('no such overload');
  return index >= 0 && index < from.value.length ? Optional.of(from.value[index]) : Optional.none;
}

/** Sets and map lists are merged without duplicates: a later item replaces an earlier one with the same key. */
export function concatenated(first: readonly unknown[], second: readonly unknown[]): unknown[] {
  const shape = shapeOf(first);
  if (shape === undefined) return [...first, ...second];
  const byKey = new Map(first.map((item) => [shape.keyOf(item), item]));
  for (const item of second) byKey.set(shape.keyOf(item), item);
  return shaped([...byKey.values()], shape);
}
