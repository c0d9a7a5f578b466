// The static types of CEL, their compatibility, and their names in error messages.

import type { ListShape } from './value.ts';

type Simple =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'dyn'
  | 'type'
  | 'timestamp'
  | 'duration';

export type CelType =
  | { readonly kind: Simple }
  /** `shape` = how lists of an object are compared, if the schema defines it. */
  | { readonly kind: 'list'; readonly item: CelType; readonly shape?: ListShape }
  | { readonly kind: 'optional'; readonly item: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'object'; readonly name: string; readonly fields: ReadonlyMap<string, Field> }
  /** A type of Kubernetes: Quantity, URL … */
  | { readonly kind: 'opaque'; readonly name: string }
  /** A type parameter in the signature of a function: `A`. */
  | { readonly kind: 'param'; readonly name: string };

export interface Field {
  /** The JSON name; in rules it may be escaped. */
  readonly jsonName: string;
  readonly type: CelType;
}

const simple = (kind: Simple): CelType => ({ kind });
export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const NULL = simple('null');
export const DYN = simple('dyn');
export const TYPE = simple('type');
export const TIMESTAMP = simple('timestamp');
export const DURATION = simple('duration');
export const listOf = (item: CelType): CelType => ({ kind: 'list', item });
export const optionalOf = (item: CelType): CelType => ({ kind: 'optional', item });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });
export const opaque = (name: string): CelType => ({ kind: 'opaque', name });

export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.item)})`;
    case 'optional':
      return `optional_type(${typeText(type.item)})`;
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case 'object':
    case 'opaque':
      return type.name;
    case 'param':
      return type.name;
    default:
      return type.kind;
  }
}

export type Bindings = Map<string, CelType>;

/** Whether a value of `actual` is accepted as `wanted`. Binds the type parameters in `wanted`. */
export function fits(wanted: CelType, actual: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'param') {
    const bound = bindings.get(wanted.name);
    if (bound === undefined || bound.kind === 'dyn') {
      bindings.set(wanted.name, actual);
      return true;
    }
    if (fits(bound, actual, bindings)) return true;
    // `null == object` binds null first; the object's type must replace it.
    if (!fits(actual, bound, bindings)) return false;
    bindings.set(wanted.name, actual);
    return true;
  }
  if (wanted.kind === 'dyn' || actual.kind === 'dyn' || actual.kind === 'param') return true;
  if (actual.kind === 'null') return wanted.kind === 'null' || NULLABLE.has(wanted.kind);
  switch (wanted.kind) {
    case 'list':
      return actual.kind === 'list' && fits(wanted.item, actual.item, bindings);
    case 'optional':
      return actual.kind === 'optional' && fits(wanted.item, actual.item, bindings);
    case 'map':
      return (
        actual.kind === 'map' && fits(wanted.key, actual.key, bindings) && fits(wanted.value, actual.value, bindings)
      );
    case 'object':
    case 'opaque':
      return actual.kind === wanted.kind && actual.name === wanted.name;
    default:
      return wanted.kind === actual.kind;
  }
}

const NULLABLE: ReadonlySet<string> = new Set(['object', 'opaque', 'timestamp', 'duration']);

/** Replaces type parameters by their bindings; an unbound one can be anything. */
export function bound(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? DYN;
    case 'list':
      return listOf(bound(type.item, bindings));
    case 'optional':
      return optionalOf(bound(type.item, bindings));
    case 'map':
      return mapOf(bound(type.key, bindings), bound(type.value, bindings));
    default:
      return type;
  }
}

/** True if the type is completely known at compile time. */
export function isStatic(type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return false;
    case 'list':
    case 'optional':
      return isStatic(type.item);
    case 'map':
      return isStatic(type.key) && isStatic(type.value);
    default:
      return true;
  }
}

/** The common type of two values, or undefined if there is none. */
export function joined(left: CelType, right: CelType): CelType | undefined {
  const bindings: Bindings = new Map();
  const place: CelType = { kind: 'param', name: 'A' };
  if (!fits(place, left, bindings) || !fits(place, right, bindings)) return undefined;
  if (left.kind === 'dyn' || right.kind === 'dyn') return DYN;
  return bound(place, bindings);
}
