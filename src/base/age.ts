// Durations in the format of `kubectl get`: at most two units, coarser for longer durations.

const SECOND = 1000;

const two = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;

/** `7s`, `8m11s`, `3h5m`, `47h`, `5d3h`, `2y34d`. Less than -1 s is `<invalid>`. */
export function shortDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < 0) return seconds < -1 ? '<invalid>' : '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? two(years, 'y', days % 365, 'd') : `${years}y`;
}

/** The age at `nowMs`. NaN (a timestamp that did not parse) is `<invalid>`. */
export const ageText = (fromMs: number, nowMs: number): string =>
  Number.isNaN(fromMs) ? '<invalid>' : shortDuration(nowMs - fromMs);

const STAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds of an RFC 3339 timestamp, NaN for anything else. Date.parse alone accepts many other formats. */
export const stampMs = (text: string): number => (STAMP.test(text) ? Date.parse(text) : Number.NaN);
