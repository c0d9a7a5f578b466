// The resource snapshot that the clusters of a placement should have: the master labeled as latest, once its group is
// complete.
import { type HubResourceSnapshot, isLatest, isMaster, missingParts, resourceIndexOf } from '../placement-sources.ts';

export function newestComplete(snapshots: readonly HubResourceSnapshot[]): HubResourceSnapshot | undefined {
  const live = snapshots.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const masters = live.filter((each) => isMaster(each) && isLatest(each));
  // There may be two while one replaces the other: the newer one counts.
  const master = masters.toSorted((a, b) => (resourceIndexOf(b) ?? -1) - (resourceIndexOf(a) ?? -1))[0];
  if (master === undefined) return undefined;
  return missingParts(live, master).length === 0 ? master : undefined;
}
