// Resource quantities (`500m`, `1536Mi`, `1e3`), exact: an integer number of billionths, never a float. Finer values
// are rounded away from zero, as in Kubernetes, so that a nonzero request never becomes 0.
import { UserError } from './errors.ts';

export interface Quantity {
  /** The value in billionths. */
  readonly nano: bigint;
  /** The family of suffixes for parsing and printing. */
  readonly format: 'decimal' | 'binary' | 'exponent';
}

const NANO = 1_000_000_000n;
const LARGEST_BINARY = (2n ** 63n - 1n) * NANO;
// Kubernetes accepts any exponent; ours is limited, so that `1e999999999` cannot exhaust the memory.
const LARGEST_EXPONENT = 100;
const LONGEST_TEXT = 256;

const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
const REFUSAL = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

interface Parsed extends Quantity {
  readonly canonical: string;
}

/** The quantity of a string or JSON number, or undefined. */
export function parseQuantity(value: string | number): Quantity | undefined {
  const parsed = parse(String(value));
  return typeof parsed === 'string' ? undefined : parsed;
}

export const isQuantity = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && parseQuantity(value) !== undefined;

/** Why a string is not a quantity, as Kubernetes reports it, or undefined. */
export function quantityError(value: string): string | undefined {
  const parsed = parse(value);
  return typeof parsed === 'string' ? parsed : undefined;
}

/** The canonical form: `0.5` is stored as `500m`, `1024Ki` as `1Mi`. Throws UserError if it is not a quantity. */
export function canonicalQuantity(value: string | number): string {
  const parsed = parse(String(value));
  if (typeof parsed === 'string') throw new UserError('InvalidQuantity', parsed);
  return parsed.canonical;
}

export const compareQuantities = (a: Quantity, b: Quantity): number => (a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0);

/** The sum, in the suffix family of the first one; 0 has no family. */
export const addQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano + b.nano,
  format: a.nano === 0n ? b.format : a.format,
});

/** Without a fraction, with the largest suffix that is exact. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const small = nano > -1024n * NANO && nano < 1024n * NANO;
  if (format === 'binary' && !small && nano % NANO === 0n) return withSuffix(nano / NANO, 1024n, 0, BINARY_SUFFIXES);
  const { digits, steps } = divided(nano, 1000n);
  const exponent = steps * 3 - 9;
  const suffix = DECIMAL_SUFFIXES[steps];
  if (format !== 'exponent' && suffix !== undefined) return `${digits}${suffix}`;
  if (format !== 'exponent') return withSuffix(nano, 1000n, 0, DECIMAL_SUFFIXES);
  return exponent === 0 ? `${digits}` : `${digits}e${exponent}`;
}

function withSuffix(value: bigint, base: bigint, from: number, suffixes: readonly string[]): string {
  const { digits, steps } = divided(value, base, suffixes.length - 1 - from);
  return `${digits}${suffixes[from + steps]}`;
}

function divided(value: bigint, base: bigint, max = 1000): { readonly digits: bigint; readonly steps: number } {
  let digits = value;
  let steps = 0;
  while (steps < max && digits % base === 0n) {
    digits /= base;
    steps++;
  }
  return { digits, steps };
}

/** The quantity, or the error. */
function parse(text: string): Parsed | string {
  const match = text.length > LONGEST_TEXT ? null : FORM.exec(text);
  if (match === null) return REFUSAL;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return REFUSAL;
  const scale = scaleOf(suffix);
  if (scale === undefined) return "unable to parse quantity's suffix";

  const digits = BigInt(whole + fraction);
  const magnitude = scaled(digits << BigInt(scale.shift), scale.exponent - fraction.length);
  const capped = scale.format === 'binary' && magnitude > LARGEST_BINARY ? LARGEST_BINARY : magnitude;
  const quantity: Quantity = { nano: sign === '-' ? -capped : capped, format: scale.format };
  return { ...quantity, canonical: staysAsWritten(whole, fraction, scale) ? text : formatQuantity(quantity) };
}

interface Scale {
  readonly format: Quantity['format'];
  /** Power of ten. */
  readonly exponent: number;
  /** Power of two. */
  readonly shift: number;
}

function scaleOf(suffix: string): Scale | undefined {
  const exponent = Object.hasOwn(DECIMAL, suffix) ? DECIMAL[suffix] : undefined;
  if (exponent !== undefined) return { format: 'decimal', exponent, shift: 0 };
  const shift = Object.hasOwn(BINARY, suffix) ? BINARY[suffix] : undefined;
  if (shift !== undefined) return { format: 'binary', exponent: 0, shift };
  if (!/^[eE][-+]?\d+$/.test(suffix)) return undefined;
  const power = Number(suffix.slice(1));
  return Math.abs(power) > LARGEST_EXPONENT ? undefined : { format: 'exponent', exponent: power, shift: 0 };
}

/** digits * 10^exponent in billionths, rounded away from zero. */
function scaled(digits: bigint, exponent: number): bigint {
  const power = exponent + 9;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

/** Kubernetes keeps a text that looks canonical, even `1.500`; the stored text must then be the same. */
function staysAsWritten(whole: string, fraction: string, { format, exponent, shift }: Scale): boolean {
  const stripped = whole.replace(/^0+/, '') || '0';
  if (format === 'binary') {
    const roomLeft = 15 - stripped.length - Math.trunc((shift * 3) / 10) - 1;
    return fraction === '' && roomLeft >= 0 && (BigInt(stripped) & 7n) !== 0n;
  }
  const digits = stripped + fraction;
  const power = exponent - fraction.length;
  return digits.length <= 18 && power >= -9 && power % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}
