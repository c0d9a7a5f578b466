// Durations in Go's format (`1h30m0s`, `250ms`): that of metav1.Duration and of command-line flags.

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const LONGEST_MS = 2 ** 63 / 1e6;

/** Milliseconds, or undefined if the text is not a duration or too long. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 64) return undefined;
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.slice(start) === '0') return 0;
  if (text.length === start) return undefined;
  let total = 0;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  part.lastIndex = start;
  while (part.lastIndex < text.length) {
    const found = part.exec(text);
    if (found === null) return undefined;
    total += Number(found[1]) * (UNITS[found[2] ?? ''] ?? Number.NaN);
  }
  if (total > LONGEST_MS) return undefined;
  return negative ? -total : total;
}

/** The shortest text that Go prints: `0s`, `1.5s`, `2m0s`, `26h0m0s`. Millisecond precision. */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const whole = Math.round(Math.abs(ms));
  if (whole === 0) return '0s';
  if (whole < 1000) return `${sign}${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
