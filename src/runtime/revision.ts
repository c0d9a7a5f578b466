// Which of two states of one server is the newer one. A resourceVersion is a decimal number without leading zeros that may be longer than
// a double holds, so it is compared as text: the longer is the newer.
import { byText } from '../base/compare.ts';

/** Negative when `a` is older than `b`. The empty text is older than everything. */
export const byRevision = (a: string, b: string): number => a.length - b.length || byText(a, b);

export const newerOf = (a: string, b: string): string => (byRevision(a, b) < 0 ? b : a);
