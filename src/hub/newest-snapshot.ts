// The resource snapshot that a placement's clusters should have: the master labelled latest, once its whole group is there.
import { annotations } from '../api/names.ts';
import { type HubResourceSnapshot, isLatest, isMaster, resourceIndexOf } from './placement-sources.ts';

export function newestComplete(snapshots: readonly HubResourceSnapshot[]): HubResourceSnapshot | undefined {
  const live = snapshots.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const masters = live.filter((each) => isMaster(each) && isLatest(each));
  // Two for a moment while one takes over from the other: the newer one counts.
  const master = masters.toSorted((a, b) => (resourceIndexOf(b) ?? -1) - (resourceIndexOf(a) ?? -1))[0];
  if (master === undefined) return undefined;
  const size = Number(master.metadata.annotations?.[annotations.numberOfResourceSnapshots] ?? '1');
  const index = resourceIndexOf(master);
  return live.filter((each) => resourceIndexOf(each) === index).length >= size ? master : undefined;
}
