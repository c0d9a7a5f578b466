// How often the status of a placement is written: it changes with every cluster, more often than it is read.
import type { Rule } from '../../runtime/due.ts';

export const STATUS_INTERVAL_MS = 100;

/**
 * The minimum time between two writes grows with the number of clusters: the status of 1,000 clusters is written once a
 * second, because more writes would cost more than they are worth. There is no upper limit, because the cost has none.
 */
export const STATUS_WRITES: Rule = { gapMs: STATUS_INTERVAL_MS, itemsPerMs: 1 };
