// How often the status of a placement is written: it changes with every cluster, faster than it is read.
import type { Rule } from '../../runtime/due.ts';

export const STATUS_INTERVAL_MS = 100;

/**
 * At most one write in this time. A status of 1,000 clusters is written once a second, because its writes would cost more than what they report.
 * There is no maximum, because computing it has none.
 */
export const STATUS_WRITES: Rule = { gapMs: STATUS_INTERVAL_MS, itemsPerMs: 1 };
