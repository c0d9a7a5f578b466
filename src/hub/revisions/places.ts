// In which snapshot each object of the latest revision is, if the next snapshots depend on it.
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { refTo } from '../../runtime/actions.ts';
import type { FullRef, Need, View } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { groupOf, type HubResourceSnapshot, partOf } from '../placement-sources.ts';
import { type Content, placesOf } from './content.ts';
import { latestMaster, needsPlaces } from './resource-snapshot.ts';
import type { Places } from './split.ts';

export interface PlacesInput {
  readonly family: PlacementFamily;
  readonly snapshots: readonly HubResourceSnapshot[];
  readonly content: Content;
  readonly limit?: number | undefined;
}

/** undefined = the next snapshots do not depend on it. */
export function observePlaces(
  view: View,
  { family, snapshots, content, limit }: PlacesInput,
): Places | Need | undefined {
  const latest = latestMaster(snapshots);
  if (latest === undefined || !needsPlaces({ snapshots, content, limit })) return undefined;
  const parts = groupOf(snapshots, latest).flatMap((each) => {
    const part = partOf(each);
    const ref: FullRef = {
      on: 'hub',
      resource: family.resourceSnapshot,
      ...refTo(family.resourceSnapshot, each),
      specOnly: true,
    };
    return part === undefined ? [] : [{ part, ref, whole: view.getFull(ref) }];
  });
  const need = parts.filter(({ whole }) => whole === undefined).map(({ ref }) => ref);
  if (need.length > 0) return { need };
  return placesOf(
    parts.map(({ part, whole }) => ({
      part,
      objects: (whole as ResourceSnapshot | null)?.spec.selectedResources ?? [],
    })),
  );
}
