// `'%s has %d'.format([a, b])`: CEL's printf, with the special cases of cel-go: doubles inside lists have six digits,
// %e prints `1.500000×10⁰³` regardless of the precision.
import { doubleText } from './standard.ts';
import {
  CelError,
  Duration,
  durationText,
  Timestamp,
  TypeName,
  textOrder,
  timestampText,
  typeNameOf,
  Uint,
} from './value.ts';

const CLAUSE = /%(?:%|(?:\.(\d+))?(.)|$)/gsu;

export function formatText(pattern: string, args: readonly unknown[]): string {
  let used = 0;
  return pattern.replace(CLAUSE, (all, precision: string | undefined, verb: string | undefined) => {
    if (all === '%%') return '%';
    if (verb === undefined) throw new CelError('unexpected end of string');
    if (used >= args.length) throw new CelError(`index ${used} out of range`);
    return formatOne(verb, args[used++], precision === undefined ? 6 : Math.min(100, Number(precision)));
  });
}

function formatOne(verb: string, value: unknown, precision: number): string {
  const integer = typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;
  const refuse = (clause: string, allowed: string): never => {
    throw new CelError(
      `error during formatting: ${clause} clause can only be used on ${allowed}, was given ${typeNameOf(value)}`,
    );
  };
  switch (verb) {
    case 's':
      return outerText(value) ?? refuse('string', STRING_ALLOWS);
    case 'd':
      return integer === undefined ? refuse('decimal', 'integers') : String(integer);
    case 'f':
      return typeof value === 'number' ? fixed(value, precision) : refuse('fixed-point', 'doubles');
    case 'e':
      return typeof value === 'number' ? scientific(value) : refuse('scientific', 'doubles');
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integer === undefined ? refuse('binary', 'integers and bools') : integer.toString(2);
    case 'o':
      return integer === undefined ? refuse('octal', 'integers') : integer.toString(8);
    case 'x':
    case 'X': {
      const bytes = typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : undefined;
      const hex = bytes === undefined ? integer?.toString(16) : Buffer.from(bytes).toString('hex');
      if (hex === undefined) return refuse('hex', 'integers, byte buffers, and strings');
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

const STRING_ALLOWS = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';

const fixed = (value: number, precision: number): string =>
  Number.isFinite(value) ? value.toFixed(precision) : Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞';

function scientific(value: number): string {
  if (!Number.isFinite(value)) return fixed(value, 0);
  const [digits = '', exponent = ''] = value.toExponential(6).split('e');
  const size = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '');
  return `${digits}×10${exponent.startsWith('-') ? '⁻' : ''}${size}`;
}

/** A single value, as %s prints it; undefined = it has no text. */
function outerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  return innerText(value);
}

/** A value inside a list or map: strings are quoted. */
function innerText(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return fixed(value, 6);
  if (value === null) return 'null';
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`;
  if (value instanceof Timestamp) return `timestamp("${timestampText(value)}")`;
  if (value instanceof Duration) return `duration("${durationText(value)}")`;
  if (value instanceof TypeName) return value.text;
  if (Array.isArray(value)) return allTexts(value, (texts) => `[${texts.join(', ')}]`);
  if (!(value instanceof Map)) return undefined;
  const entries = [...value].map(([key, item]) => [innerText(key), innerText(item)] as const);
  entries.sort(([a], [b]) => textOrder(a ?? '', b ?? ''));
  return allTexts(
    entries,
    (texts) => `{${texts.join(', ')}}`,
    ([key, item]) => (item === undefined ? undefined : `${key}:${item}`),
  );
}

function allTexts<T>(
  values: readonly T[],
  join: (texts: readonly string[]) => string,
  textOf: (value: T) => string | undefined = innerText,
): string | undefined {
  const texts = values.map(textOf);
  return texts.includes(undefined) ? undefined : join(texts as string[]);
}
