// The run-time values of CEL. Strings, booleans, null and doubles are those of JavaScript, an int is a bigint, a list
// an array, a map a Map, bytes a Uint8Array; the others have a class here.
import type { Budget } from './budget.ts';
import type { Field } from './type.ts';

/** An expression could not be evaluated. Logical operators may recover from it, but never from BudgetExceeded. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    if (value < 0n || value > 2n ** 64n - 1n) throw new CelError('unsigned integer overflow');
    this.value = value;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Timestamp {
  readonly nanos: bigint;
  /** The time zone of the source text, kept for output. */
  readonly offsetMinutes: number;
  constructor(nanos: bigint, offsetMinutes = 0) {
    if (nanos < EARLIEST || nanos > LATEST) throw new CelError('timestamp overflow');
    this.nanos = nanos;
    this.offsetMinutes = offsetMinutes;
  }
  plus(nanos: bigint): Timestamp {
    return new Timestamp(this.nanos + nanos, this.offsetMinutes);
  }
}

// Years 1 to 9999.
const EARLIEST = -62_135_596_800n * 1_000_000_000n;
const LATEST = 253_402_300_800n * 1_000_000_000n - 1n;

export class TypeName {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class Optional {
  readonly value: unknown;
  readonly hasValue: boolean;
  private constructor(hasValue: boolean, value: unknown) {
    this.hasValue = hasValue;
    this.value = value;
  }
  static readonly none = new Optional(false, undefined);
  static of(value: unknown): Optional {
    return new Optional(true, value);
  }
}

/** An object with declared fields: the original JSON, converted field by field on access. */
export class Structure {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly fields: ReadonlyMap<string, Field>;
  readonly typeName: string;
  constructor(raw: Readonly<Record<string, unknown>>, fields: ReadonlyMap<string, Field>, typeName: string) {
    this.raw = raw;
    this.fields = fields;
    this.typeName = typeName;
  }
}

/** A value of a type of Kubernetes. `equals` is called only with values of the same class. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: this): boolean;
}

/** How a list of an object is compared: a set by its items, a map list by its keys. */
export interface ListShape {
  readonly type: 'set' | 'map';
  readonly keyOf: (item: unknown) => string;
}
const SHAPE = Symbol('list shape');

export function shaped(list: unknown[], shape: ListShape): unknown[] {
  Object.defineProperty(list, SHAPE, { value: shape });
  return list;
}

export const shapeOf = (list: unknown): ListShape | undefined =>
  (list as { readonly [SHAPE]?: ListShape } | null)?.[SHAPE];

/** The name of a value's type, as in `type()` and run-time errors. */
export function typeNameOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
  }
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'map';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeName) return 'type';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof Structure || value instanceof Opaque) return value.typeName;
  return 'unknown';
}

/** Comparing large values is expensive, so it is charged to the budget of the evaluation. */
export function equals(left: unknown, right: unknown, budget?: Budget): boolean {
  if (left === right) return true;
  const leftNumber = numeric(left);
  if (leftNumber !== undefined) {
    const rightNumber = numeric(right);
    // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number of the same size are equal in CEL, and only `==` says so
    return rightNumber !== undefined && leftNumber == rightNumber;
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && listsEqual(left, right, budget);
  if (left instanceof Map) return right instanceof Map && mapsEqual(left, right, budget);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left.constructor !== right.constructor) return false;
  if (left instanceof Structure) return jsonEqual(left.raw, (right as Structure).raw, budget);
  if (left instanceof Duration) return left.nanos === (right as Duration).nanos;
  if (left instanceof Timestamp) return left.nanos === (right as Timestamp).nanos;
  if (left instanceof TypeName) return left.text === (right as TypeName).text;
  if (left instanceof Optional) {
    const other = right as Optional;
    return left.hasValue === other.hasValue && (!left.hasValue || equals(left.value, other.value, budget));
  }
  return left instanceof Opaque && left.equals(right as typeof left);
}

function listsEqual(left: readonly unknown[], right: readonly unknown[], budget: Budget | undefined): boolean {
  if (left.length !== right.length) return false;
  budget?.spend(left.length);
  const shape = shapeOf(left) ?? shapeOf(right);
  if (shape === undefined) return left.every((item, at) => equals(item, right[at], budget));
  const byKey = new Map(right.map((item) => [shape.keyOf(item), item]));
  return left.every((item) => {
    const key = shape.keyOf(item);
    return byKey.has(key) && equals(item, byKey.get(key), budget);
  });
}

function mapsEqual(
  left: ReadonlyMap<unknown, unknown>,
  right: ReadonlyMap<unknown, unknown>,
  budget: Budget | undefined,
): boolean {
  if (left.size !== right.size) return false;
  budget?.spend(left.size);
  for (const [key, value] of left) if (!right.has(key) || !equals(value, right.get(key), budget)) return false;
  return true;
}

function jsonEqual(left: unknown, right: unknown, budget: Budget | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    budget?.spend(left.length);
    return left.every((item, at) => jsonEqual(item, right[at], budget));
  }
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  budget?.spend(names.length);
  return names.every(
    (name) =>
      Object.hasOwn(right, name) &&
      jsonEqual((left as Record<string, unknown>)[name], (right as Record<string, unknown>)[name], budget),
  );
}

/** A number of any of the three types, comparable with the others. */
export const numeric = (value: unknown): bigint | number | undefined =>
  typeof value === 'bigint' || typeof value === 'number' ? value : value instanceof Uint ? value.value : undefined;

/** Map keys that are equal in CEL must be the same key of a Map. */
export const mapKey = (value: unknown): unknown => {
  if (value instanceof Uint) return value.value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
};

/** Less than, for two values of the same ordered type, or two numbers. */
export function isLess(left: unknown, right: unknown): boolean {
  const leftNumber = numeric(left);
  const rightNumber = numeric(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber < rightNumber;
  if (typeof left === 'string' && typeof right === 'string') return textOrder(left, right) < 0;
  if (typeof left === 'boolean' && typeof right === 'boolean') return !left && right;
  if (left instanceof Duration && right instanceof Duration) return left.nanos < right.nanos;
  if (left instanceof Timestamp && right instanceof Timestamp) return left.nanos < right.nanos;
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right) < 0;
  throw new CelError('no such overload');
}

/** Compares strings by their UTF-8 bytes; UTF-16 order differs for characters beyond U+FFFF. */
export function textOrder(left: string, right: string): number {
  if (left === right) return 0;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

export function timestampText({ nanos, offsetMinutes }: Timestamp): string {
  const fraction = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = Number((nanos - fraction) / 1_000_000_000n) + offsetMinutes * 60;
  const head = new Date(seconds * 1000).toISOString().slice(0, 19);
  const tail = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}`;
  if (offsetMinutes === 0) return `${head}${tail}Z`;
  const size = Math.abs(offsetMinutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${head}${tail}${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

export const durationText = ({ nanos }: Duration): string => {
  // CEL prints durations only in seconds, unlike Go.
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`;
};
