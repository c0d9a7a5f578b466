// Durations in Go's format: `1h30m`, `-1.5s`, `300ms`. In whole nanoseconds.

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const LONGEST = 2n ** 63n - 1n;

/** Nanoseconds, or undefined if the string is not a duration or exceeds 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const signed = /^([-+]?)(.+)$/s.exec(text);
  if (signed === null) return undefined;
  const [, sign, rest = ''] = signed;
  if (rest === '0') return 0n;
  let total = 0n;
  let at = 0;
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/uy;
  while (at < rest.length) {
    part.lastIndex = at;
    const found = part.exec(rest);
    if (found === null) return undefined;
    const [all, whole = '', fraction = '', unit = ''] = found;
    if (whole === '' && fraction === '') return undefined;
    const size = UNITS[unit] ?? 0n;
    total += BigInt(whole === '' ? '0' : whole) * size;
    // Eighteen digits are finer than a nanosecond of the largest unit; more would only cost time.
    const digits = fraction.slice(0, 18);
    if (digits !== '') total += (BigInt(digits) * size) / 10n ** BigInt(digits.length);
    if (total > LONGEST) return undefined;
    at += all.length;
  }
  return sign === '-' ? -total : total;
}

/** The shortest form: `1h0m0s`, `1.5s`, `2ms`, `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
