// The preference of versions: stable before beta before alpha, higher before lower, others last by name.
import { byText } from '../../base/compare.ts';

const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const MATURITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

export function byPreference(left: string, right: string): number {
  const [a, b] = [VERSION.exec(left), VERSION.exec(right)];
  if (a === null || b === null) return a === b ? byText(left, right) : a === null ? 1 : -1;
  const rank = (found: RegExpExecArray): readonly number[] => [
    MATURITY[found[2] ?? ''] ?? 3,
    Number(found[1]),
    Number(found[3] ?? 0),
  ];
  const [x, y] = [rank(a), rank(b)];
  for (const [at, value] of x.entries()) if (value !== y[at]) return (y[at] ?? 0) - value;
  return 0;
}
