// The standard functions of CEL: arithmetic, comparison, conversion, time.
import { parseDuration } from '../value/duration.ts';
import { type Declaration, fn, method } from './overload.ts';
import {
  CelError,
  Duration,
  durationText,
  isLess,
  Optional,
  Timestamp,
  TypeName,
  timestampText,
  typeNameOf,
  Uint,
} from './value.ts';

const LEAST_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

function int(value: bigint): bigint {
  if (value < LEAST_INT || value > MAX_INT) throw new CelError('integer overflow');
  return value;
}

const duration = (nanos: bigint): Duration => {
  if (nanos < LEAST_INT || nanos > MAX_INT) throw new CelError('duration overflow');
  return new Duration(nanos);
};

function divisor<T extends bigint>(value: T, what: 'division' | 'modulus'): T {
  if (value === 0n) throw new CelError(`${what} by zero`);
  return value;
}

const lengths = (left: { readonly length: number }, right: { readonly length: number }): number =>
  left.length + right.length;

const arithmetic: readonly Declaration[] = [
  fn('_+_', ['int', 'int'], 'int', (a: bigint, b: bigint) => int(a + b)),
  fn('_+_', ['uint', 'uint'], 'uint', (a: Uint, b: Uint) => new Uint(a.value + b.value)),
  fn('_+_', ['double', 'double'], 'double', (a: number, b: number) => a + b),
  fn('_+_', ['string', 'string'], 'string', (a: string, b: string) => a + b),
  fn('_+_', ['bytes', 'bytes'], 'bytes', (a: Uint8Array, b: Uint8Array) => Buffer.concat([a, b])),
  fn('_+_', ['duration', 'duration'], 'duration', (a: Duration, b: Duration) => duration(a.nanos + b.nanos)),
  fn('_+_', ['timestamp', 'duration'], 'timestamp', (a: Timestamp, b: Duration) => a.plus(b.nanos)),
  fn('_+_', ['duration', 'timestamp'], 'timestamp', (a: Duration, b: Timestamp) => b.plus(a.nanos)),
  fn('_-_', ['int', 'int'], 'int', (a: bigint, b: bigint) => int(a - b)),
  fn('_-_', ['uint', 'uint'], 'uint', (a: Uint, b: Uint) => new Uint(a.value - b.value)),
  fn('_-_', ['double', 'double'], 'double', (a: number, b: number) => a - b),
  fn('_-_', ['duration', 'duration'], 'duration', (a: Duration, b: Duration) => duration(a.nanos - b.nanos)),
  fn('_-_', ['timestamp', 'duration'], 'timestamp', (a: Timestamp, b: Duration) => a.plus(-b.nanos)),
  fn('_-_', ['timestamp', 'timestamp'], 'duration', (a: Timestamp, b: Timestamp) => duration(a.nanos - b.nanos)),
  fn('_*_', ['int', 'int'], 'int', (a: bigint, b: bigint) => int(a * b)),
  fn('_*_', ['uint', 'uint'], 'uint', (a: Uint, b: Uint) => new Uint(a.value * b.value)),
  fn('_*_', ['double', 'double'], 'double', (a: number, b: number) => a * b),
  fn('_/_', ['int', 'int'], 'int', (a: bigint, b: bigint) => int(a / divisor(b, 'division'))),
  fn('_/_', ['uint', 'uint'], 'uint', (a: Uint, b: Uint) => new Uint(a.value / divisor(b.value, 'division'))),
  fn('_/_', ['double', 'double'], 'double', (a: number, b: number) => a / b),
  fn('_%_', ['int', 'int'], 'int', (a: bigint, b: bigint) => a % divisor(b, 'modulus')),
  fn('_%_', ['uint', 'uint'], 'uint', (a: Uint, b: Uint) => new Uint(a.value % divisor(b.value, 'modulus'))),
  fn('-_', ['int'], 'int', (a: bigint) => int(-a)),
  fn('-_', ['double'], 'double', (a: number) => -a),
  fn('!_', ['bool'], 'bool', (a: boolean) => !a),
];

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const numbers = ['int', 'uint', 'double'];
const pairs = [
  ...ordered.map((type) => [type, type] as const),
  ...numbers.flatMap((left) => numbers.filter((right) => right !== left).map((right) => [left, right] as const)),
];
const comparison: readonly Declaration[] = pairs.flatMap(([left, right]) => [
  fn('_<_', [left, right], 'bool', isLess),
  fn('_<=_', [left, right], 'bool', (a: unknown, b: unknown) => isLessOrEqual(a, b)),
  fn('_>_', [left, right], 'bool', (a: unknown, b: unknown) => isLess(b, a)),
  fn('_>=_', [left, right], 'bool', (a: unknown, b: unknown) => isLessOrEqual(b, a)),
]);

// NaN is neither less nor equal, so `<=` is not the negation of `>`.
const isLessOrEqual = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' || typeof b === 'number' ? (numberOf(a) ?? 0) <= (numberOf(b) ?? 0) : !isLess(b, a);

const numberOf = (value: unknown): number | bigint | undefined =>
  value instanceof Uint ? value.value : (value as number | bigint);

const conversion: readonly Declaration[] = [
  fn('dyn', ['A'], 'dyn', (value: unknown) => value),
  fn('type', ['A'], 'type', (value: unknown) => new TypeName(typeNameOf(value))),
  fn('bool', ['bool'], 'bool', (value: boolean) => value),
  fn('bool', ['string'], 'bool', boolOf),
  fn('int', ['int'], 'int', (value: bigint) => value),
  fn('int', ['uint'], 'int', ({ value }: Uint) => int(value)),
  fn('int', ['double'], 'int', intOfDouble),
  fn('int', ['string'], 'int', intOfText),
  fn('int', ['timestamp'], 'int', ({ nanos }: Timestamp) => floorSeconds(nanos)),
  fn('int', ['duration'], 'int', ({ nanos }: Duration) => nanos),
  fn('uint', ['uint'], 'uint', (value: Uint) => value),
  fn('uint', ['int'], 'uint', (value: bigint) => new Uint(value)),
  fn('uint', ['double'], 'uint', (value: number) => {
    if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) throw new CelError('unsigned integer overflow');
    return new Uint(BigInt(Math.trunc(value)));
  }),
  fn('uint', ['string'], 'uint', (value: string) => {
    if (!/^\d+$/.test(value)) throw unconvertible('uint');
    return new Uint(BigInt(value));
  }),
  fn('double', ['double'], 'double', (value: number) => value),
  fn('double', ['int'], 'double', (value: bigint) => Number(value)),
  fn('double', ['uint'], 'double', ({ value }: Uint) => Number(value)),
  fn('double', ['string'], 'double', doubleOfText),
  fn('string', ['string'], 'string', (value: string) => value),
  fn('string', ['bool'], 'string', (value: boolean) => String(value)),
  fn('string', ['int'], 'string', (value: bigint) => String(value)),
  fn('string', ['uint'], 'string', ({ value }: Uint) => String(value)),
  fn('string', ['double'], 'string', doubleText),
  fn('string', ['bytes'], 'string', textOfBytes),
  fn('string', ['timestamp'], 'string', timestampText),
  fn('string', ['duration'], 'string', durationText),
  fn('bytes', ['bytes'], 'bytes', (value: Uint8Array) => value),
  fn('bytes', ['string'], 'bytes', (value: string) => Buffer.from(value)),
  fn('timestamp', ['timestamp'], 'timestamp', (value: Timestamp) => value),
  fn('timestamp', ['string'], 'timestamp', timestampOfText),
  fn('timestamp', ['int'], 'timestamp', (value: bigint) => new Timestamp(value * 1_000_000_000n)),
  fn('duration', ['duration'], 'duration', (value: Duration) => value),
  fn('duration', ['string'], 'duration', durationOfText),
  fn('duration', ['int'], 'duration', (value: bigint) => duration(value)),
];

function boolOf(value: string): boolean {
  if (/^(1|t|true|TRUE|True)$/.test(value)) return true;
  if (/^(0|f|false|FALSE|False)$/.test(value)) return false;
  throw unconvertible('bool');
}

function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

const unconvertible = (to: string): CelError => new CelError(`type conversion error from 'string' to '${to}'`);

function intOfText(value: string): bigint {
  const parsed = /^[-+]?\d{1,20}$/.test(value) ? BigInt(value.replace(/^\+/, '')) : undefined;
  if (parsed === undefined || parsed < LEAST_INT || parsed > MAX_INT) throw unconvertible('int');
  return parsed;
}

function doubleOfText(value: string): number {
  if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(value)) return Number(value);
  if (/^[-+]?inf(inity)?$/i.test(value)) return value.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(value)) return Number.NaN;
  throw unconvertible('double');
}

/** As Go prints a float64 with %g: the exponent has a sign and two digits, and is used from 21 digits on. */
export function doubleText(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  return text.replace(/e([-+])(\d)$/, 'e$10$2').replace(/^(-?)0\.0000(0*)([1-9]\d*)$/, smallExponent);
}

function smallExponent(_all: string, sign: string, zeros: string, digits: string): string {
  const exponent = String(zeros.length + 5).padStart(2, '0');
  return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e-${exponent}`;
}

function textOfBytes(value: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const STAMP = /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[-+]\d{2}:\d{2})$/;

export function timestampOfText(text: string): Timestamp {
  const found = STAMP.exec(text);
  const ms = found === null ? Number.NaN : Date.parse(`${found[1]}${found[3]}`.toUpperCase());
  if (found === null || Number.isNaN(ms)) throw unconvertible('google.protobuf.Timestamp');
  const fraction = BigInt((found[2] ?? '').slice(0, 9).padEnd(9, '0'));
  return new Timestamp(BigInt(ms) * 1_000_000n + fraction, offsetOf(found[3] ?? ''));
}

/** Minutes east of UTC. */
function offsetOf(zone: string): number {
  const found = /^([-+])(\d{2}):(\d{2})$/.exec(zone);
  if (found === null) return 0;
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return found[1] === '-' ? -minutes : minutes;
}

export function durationOfText(text: string): Duration {
  const nanos = parseDuration(text);
  if (nanos === undefined) throw unconvertible('google.protobuf.Duration');
  return new Duration(nanos);
}

const floorSeconds = (nanos: bigint): bigint => {
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return (nanos - rest) / 1_000_000_000n;
};

const text: readonly Declaration[] = [
  fn('size', ['string'], 'int', (value: string) => characters(value)),
  fn('size', ['bytes'], 'int', (value: Uint8Array) => BigInt(value.length)),
  fn('size', ['list(A)'], 'int', (value: readonly unknown[]) => BigInt(value.length)),
  fn('size', ['map(A, B)'], 'int', (value: ReadonlyMap<unknown, unknown>) => BigInt(value.size)),
  method('string', 'size', [], 'int', (value: string) => characters(value)),
  method('bytes', 'size', [], 'int', (value: Uint8Array) => BigInt(value.length)),
  method('list(A)', 'size', [], 'int', (value: readonly unknown[]) => BigInt(value.length)),
  method('map(A, B)', 'size', [], 'int', (value: ReadonlyMap<unknown, unknown>) => BigInt(value.size)),
  method('string', 'startsWith', ['string'], 'bool', (value: string, other: string) => value.startsWith(other)),
  method('string', 'endsWith', ['string'], 'bool', (value: string, other: string) => value.endsWith(other)),
  method('string', 'contains', ['string'], 'bool', (value: string, other: string) => value.includes(other), lengths),
];

function characters(value: string): bigint {
  let count = 0n;
  for (const _ of value) count++;
  return count;
}

// ---- time

type Part = 'year' | 'month' | 'day' | 'weekday' | 'hour' | 'minute' | 'second';

/** The local time in a zone, as a Date whose UTC fields contain it. */
function wallTime({ nanos }: Timestamp, zone: string): Date {
  const ms = Number(floorSeconds(nanos)) * 1000;
  const offset = /^([-+]?)(\d{2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(ms + (offset[1] === '-' ? -minutes : minutes) * 60_000);
  }
  if (zone === 'UTC' || zone === '') return new Date(ms);
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }).formatToParts(new Date(ms));
    const get = (part: Part): number => Number(parts.find(({ type }) => type === part)?.value ?? 0);
    return new Date(Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second')));
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

const dayOfYear = (date: Date): number =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000);

const calendar: readonly (readonly [string, (date: Date) => number])[] = [
  ['getFullYear', (date) => date.getUTCFullYear()],
  ['getMonth', (date) => date.getUTCMonth()],
  ['getDate', (date) => date.getUTCDate()],
  ['getDayOfMonth', (date) => date.getUTCDate() - 1],
  ['getDayOfWeek', (date) => date.getUTCDay()],
  ['getDayOfYear', dayOfYear],
  ['getHours', (date) => date.getUTCHours()],
  ['getMinutes', (date) => date.getUTCMinutes()],
  ['getSeconds', (date) => date.getUTCSeconds()],
];

const milliseconds = ({ nanos }: Timestamp): bigint =>
  (((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n) / 1_000_000n;

const time: readonly Declaration[] = [
  ...calendar.flatMap(([name, get]) => [
    method('timestamp', name, [], 'int', (value: Timestamp) => BigInt(get(wallTime(value, 'UTC')))),
    method('timestamp', name, ['string'], 'int', (value: Timestamp, zone: string) =>
      BigInt(get(wallTime(value, zone))),
    ),
  ]),
  method('timestamp', 'getMilliseconds', [], 'int', milliseconds),
  method('timestamp', 'getMilliseconds', ['string'], 'int', milliseconds),
  method('duration', 'getHours', [], 'int', ({ nanos }: Duration) => nanos / 3_600_000_000_000n),
  method('duration', 'getMinutes', [], 'int', ({ nanos }: Duration) => nanos / 60_000_000_000n),
  method('duration', 'getSeconds', [], 'int', ({ nanos }: Duration) => nanos / 1_000_000_000n),
  method('duration', 'getMilliseconds', [], 'int', ({ nanos }: Duration) => nanos / 1_000_000n),
];

// ---- optionals

const optional: readonly Declaration[] = [
  fn('optional.none', [], 'optional(A)', () => Optional.none),
  fn('optional.of', ['A'], 'optional(A)', (value: unknown) => Optional.of(value)),
  fn('optional.ofNonZeroValue', ['A'], 'optional(A)', (value: unknown) =>
    isZero(value) ? Optional.none : Optional.of(value),
  ),
  method('optional(A)', 'hasValue', [], 'bool', (value: Optional) => value.hasValue),
  method('optional(A)', 'value', [], 'A', (value: Optional) => {
    if (!value.hasValue) throw new CelError('optional.none() dereference');
    return value.value;
  }),
];

const isZero = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  value === 0n ||
  (value instanceof Uint && value.value === 0n) ||
  (Array.isArray(value) && value.length === 0) ||
  (value instanceof Map && value.size === 0) ||
  (value instanceof Uint8Array && value.length === 0) ||
  (value instanceof Duration && value.nanos === 0n);

export const standardFunctions: readonly Declaration[] = [
  ...arithmetic,
  ...comparison,
  ...conversion,
  ...text,
  ...time,
  ...optional,
];
