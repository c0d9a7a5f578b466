// Counts that may be percentages of a total (`3` or `25%`). There are three rounding rules, and each caller must choose
// the right one.
import { UserError } from './errors.ts';

export type IntOrPercent = number | string;

/** Rolling updates and disruption budgets: a percentage is rounded up, so that a small fleet can progress. */
export const countRoundedUp = (value: IntOrPercent, total: number): number => {
  const { count, share } = read(value);
  return share === undefined ? Math.max(0, count) : Math.ceil((share * total) / 100);
};

/** Stages: a percentage is rounded down, and at least one cluster is updated. */
export const countAtLeastOne = (value: IntOrPercent, total: number): number => {
  const { count, share } = read(value);
  return Math.max(1, share === undefined ? count : Math.floor((share * total) / 100));
};

/**
 * Partitions: the first value that is set counts, the default is all. A percentage is rounded down, but at least to
 * one; only the number 0 means zero. A number above the total counts as the total, a number written as a string does
 * not: the rule is Rancher Fleet's.
 */
export function partitionLimit(total: number, ...values: readonly (IntOrPercent | undefined)[]): number {
  if (total <= 0) return 1;
  const value = values.find((each) => each !== undefined) ?? '100%';
  if (typeof value === 'number' && Number.isSafeInteger(value)) return Math.min(Math.max(0, value), total);
  const text = String(value);
  if (WHOLE_POSITIVE.test(text)) return Number(text);
  if (!FLOAT_PERCENT.test(text)) throw invalidCount(value);
  const share = Math.trunc(Math.trunc(total * Number(text.slice(0, -1))) / 100);
  return Math.min(Math.max(1, share), total);
}

const WHOLE_POSITIVE = /^\+?0*[1-9]\d{0,8}$/;
const FLOAT_PERCENT = /^[+-]?(\d{1,9}\.?\d{0,9}|\.\d{1,9})%$/;

/** The number of `25%`, undefined for a plain count. */
export const percentOf = (value: IntOrPercent): number | undefined => read(value).share;

function read(value: IntOrPercent): { readonly count: number; readonly share: number | undefined } {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return { count: value, share: undefined };
  } else if (/^\d{1,9}%$/.test(value)) {
    return { count: 0, share: Number(value.slice(0, -1)) };
  }
  throw invalidCount(value);
}

const invalidCount = (value: IntOrPercent): UserError =>
  new UserError('InvalidCount', `${JSON.stringify(value)} is neither a whole number nor a percentage such as "25%"`);
