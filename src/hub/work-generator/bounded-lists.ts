// Bounds the lists of a binding's status, so that the object fits, whatever its member reports. A list is sorted, so it
// is always truncated at the same place.
import type { BindingStatus } from '../../api/binding.ts';
import { type FieldDifference, omittedDetails } from '../../api/selected-resource.ts';

const MAX_ITEMS = 100;
/**
 * Entries are complete up to the first limit, then shortened, and left out beyond the second. Three lists of that size
 * fit into 1.5 MiB.
 */
const MAX_COMPLETE_BYTES = 256 * 1024;
const MAX_LIST_BYTES = 384 * 1024;
const SHORT_MESSAGE = 256;

type Failed = NonNullable<BindingStatus['failedPlacements']>[number];
type Detailed = { readonly [key in 'observedDrifts' | 'observedDiffs']?: readonly FieldDifference[] };

export const boundedFailures = (list: readonly Failed[]): Failed[] =>
  bounded(list, (each) => {
    const { condition } = each;
    if (condition.message.length <= SHORT_MESSAGE) return each;
    return { ...each, condition: { ...condition, message: `${condition.message.slice(0, SHORT_MESSAGE)}…` } };
  });

/** A shortened entry has the first path and the number of the others. */
export const boundedDetails = <T extends Detailed>(list: readonly T[], key: keyof Detailed): T[] =>
  bounded(list, (each) => {
    const details = each[key];
    return details === undefined ? each : { ...each, [key]: omittedDetails(details) };
  });

function bounded<T>(list: readonly T[], shortened: (each: T) => T): T[] {
  const kept: T[] = [];
  let bytes = 0;
  for (const each of list.slice(0, MAX_ITEMS)) {
    let entry = each;
    let size = bytesOf(entry);
    if (bytes + size > MAX_COMPLETE_BYTES) {
      entry = shortened(each);
      size = bytesOf(entry);
    }
    if (bytes + size > MAX_LIST_BYTES) break;
    bytes += size;
    kept.push(entry);
  }
  return kept;
}

const bytesOf = (entry: unknown): number => Buffer.byteLength(JSON.stringify(entry)) + 1;
