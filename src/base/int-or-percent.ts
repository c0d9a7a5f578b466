// Counts that may be written as a share of a total (`3` or `25%`). Three rules of rounding exist and must not be mixed up: each caller
// names the one it means.
import { UserError } from './errors.ts';

export type IntOrPercent = number | string;

/** Rolling updates and disruption budgets: a share rounds up, so that a small fleet can move at all. */
export const countRoundedUp = (value: IntOrPercent, total: number): number => {
  const { count, share } = read(value);
  return share === undefined ? Math.max(0, count) : Math.ceil((share * total) / 100);
};

/** Stages: a share rounds down, and at least one cluster moves. */
export const countAtLeastOne = (value: IntOrPercent, total: number): number => {
  const { count, share } = read(value);
  return Math.max(1, share === undefined ? count : Math.floor((share * total) / 100));
};

/** Partitions: a share rounds down to at least one, but a plain 0 means zero. */
export const countAtLeastOneOfShare = (value: IntOrPercent, total: number): number => {
  const { count, share } = read(value);
  return share === undefined ? Math.max(0, count) : Math.max(1, Math.floor((share * total) / 100));
};

/** The number before the sign of `25%`, undefined for a plain count. */
export const percentOf = (value: IntOrPercent): number | undefined => read(value).share;

function read(value: IntOrPercent): { readonly count: number; readonly share: number | undefined } {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return { count: value, share: undefined };
  } else if (/^\d{1,9}%$/.test(value)) {
    return { count: 0, share: Number(value.slice(0, -1)) };
  }
  throw new UserError(
    'InvalidCount',
    `${JSON.stringify(value)} is neither a whole number nor a percentage such as "25%"`,
  );
}
