// What of a binding a planner must look at again.
import { deepEqual } from '../../base/json.ts';
import { hasStarted, isReleased } from '../orders/release.ts';
import type { HubBinding } from '../placement-sources.ts';
import { judge } from './health.ts';

/** Who else holds a binding is no planner's business, nor how far its member is with what it was told, before it is done or fails. */
export const isNoNews = (a: HubBinding, b: HubBinding): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  deepEqual(a.metadata.labels, b.metadata.labels) &&
  (saysTheSame(a, b) || (isOnItsWay(a) && isOnItsWay(b) && deepEqual(startOf(a), startOf(b))));

const saysTheSame = (a: HubBinding, b: HubBinding): boolean =>
  deepEqual(a.conditions, b.conditions) && deepEqual(a.failedPlacements, b.failedPlacements);

/** Who reports it, and when, is no planner's business. */
const startOf = (binding: HubBinding) => [hasStarted(binding), isReleased(binding)];

const isOnItsWay = (binding: HubBinding): boolean => {
  const { health } = judge(binding);
  return health === 'unknown' || health === 'progressing';
};
