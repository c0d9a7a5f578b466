// Compares two resourceVersions of one server. They are decimal numbers without leading zeros that may exceed a double,
// so they are compared as text: the longer one is newer.
import { byText } from '../base/compare.ts';

/** Negative if `a` is older than `b`. The empty text is older than everything. */
export const byRevision = (a: string, b: string): number => a.length - b.length || byText(a, b);

export const newerOf = (a: string, b: string): string => (byRevision(a, b) < 0 ? b : a);
