// Plain JSON data. Values that cross our interfaces are frozen JSON: no class instances, no functions.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json | undefined };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Freezes a value and everything in it. Returns the same value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}

/**
 * Whether two JSON values are equal; the order of keys does not matter, and a key with the value undefined is absent.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => deepEqual(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!deepEqual(left[key], ownValue(right, key))) return false;
  for (const key in right) if (right[key] !== undefined && ownValue(left, key) === undefined) return false;
  return true;
}

/** Data may have a key `constructor` or `toString`; inherited values do not count. */
const ownValue = (object: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** A mutable copy of JSON data. */
export function mutableCopy<T>(value: T): Mutable<T> {
  if (typeof value !== 'object' || value === null) return value as Mutable<T>;
  if (Array.isArray(value)) return value.map(mutableCopy) as Mutable<T>;
  const copy: Record<string, unknown> = {};
  for (const key in value) setField(copy, key, mutableCopy(value[key]));
  return copy as Mutable<T>;
}

/** Sets a field with a key from data. An assignment to `__proto__` would change the prototype. */
export function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The same type without readonly. */
export type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;

/** JSON text with sorted keys and no white space: equal data gives equal text, so it can be hashed. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}
