// Decides whether a change of a binding concerns the planners.
import { deepEqual } from '../../base/json.ts';
import { hasStarted, isReleased } from '../orders/release.ts';
import type { HubBinding } from '../placement-sources.ts';
import { judge } from './health.ts';

/**
 * True if planners can ignore the change: finalizers do not matter to them, nor does the progress of the member before
 * it is done or fails.
 */
export const isNoNews = (a: HubBinding, b: HubBinding): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  deepEqual(a.metadata.labels, b.metadata.labels) &&
  (saysTheSame(a, b) || (isOnItsWay(a) && isOnItsWay(b) && deepEqual(startOf(a), startOf(b))));

const saysTheSame = (a: HubBinding, b: HubBinding): boolean =>
  deepEqual(a.conditions, b.conditions) && deepEqual(a.failedPlacements, b.failedPlacements);

/** The reporter and the time of the condition do not matter to planners. */
const startOf = (binding: HubBinding) => [hasStarted(binding), isReleased(binding)];

const isOnItsWay = (binding: HubBinding): boolean => {
  const { health } = judge(binding);
  return health === 'unknown' || health === 'progressing';
};
