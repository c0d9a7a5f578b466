// Kubernetes' quantities: `500m`, `1.5Gi`, `1e3`. Exact: an integer number of billionths, the finest precision of a
// quantity.

/** The valid suffixes; `1Q` matches the grammar in the server's message, but is not a quantity. */
export const quantityPattern = /^[+-]?(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;

const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?([A-Za-z]*)([+-]?\d*)$/;
const NANO = 1_000_000_000n;
const SUFFIXES: ReadonlyMap<string, readonly [numerator: bigint, denominator: bigint]> = new Map([
  ['', [1n, 1n]],
  ['n', [1n, 1_000_000_000n]],
  ['u', [1n, 1_000_000n]],
  ['m', [1n, 1_000n]],
  ['k', [10n ** 3n, 1n]],
  ['M', [10n ** 6n, 1n]],
  ['G', [10n ** 9n, 1n]],
  ['T', [10n ** 12n, 1n]],
  ['P', [10n ** 15n, 1n]],
  ['E', [10n ** 18n, 1n]],
  ['Ki', [2n ** 10n, 1n]],
  ['Mi', [2n ** 20n, 1n]],
  ['Gi', [2n ** 30n, 1n]],
  ['Ti', [2n ** 40n, 1n]],
  ['Pi', [2n ** 50n, 1n]],
  ['Ei', [2n ** 60n, 1n]],
]);

/** Billionths, rounded up as on a real server; undefined = not a quantity. */
export function parseQuantity(text: string): bigint | undefined {
  if (text.length > 100 || !quantityPattern.test(text)) return undefined;
  const found = PARTS.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = '', exponent = ''] = found;
  let [numerator, denominator] = [1n, 1n];
  if (exponent !== '' && /^[eE]$/.test(suffix)) {
    const power = Number(exponent);
    if (Math.abs(power) > 400) return power > 0 ? undefined : 0n;
    if (power >= 0) numerator = 10n ** BigInt(power);
    else denominator = 10n ** BigInt(-power);
  } else {
    const scale = SUFFIXES.get(suffix);
    if (scale === undefined || exponent !== '') return undefined;
    [numerator, denominator] = scale;
  }
  const digits = BigInt(`${whole}${fraction}` || '0');
  const top = digits * numerator * NANO;
  const bottom = denominator * 10n ** BigInt(fraction.length);
  // Finer values are rounded away from zero, so that a nonzero value never becomes 0.
  const nanos = (top + bottom - 1n) / bottom;
  return sign === '-' ? -nanos : nanos;
}

export const isWholeQuantity = (nanos: bigint): boolean => nanos % NANO === 0n;

export const wholeOfQuantity = (nanos: bigint): bigint => nanos / NANO;

export const quantityOfWhole = (value: bigint): bigint => value * NANO;

export const approximateQuantity = (nanos: bigint): number =>
  Number(nanos / NANO) + Number(nanos % NANO) / Number(NANO);
