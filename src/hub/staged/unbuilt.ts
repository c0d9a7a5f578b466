// What a run is about that is not built yet: as long as there is such a thing, nothing of it moves. A run that takes the present state is about
// what its placement selects; one that is given a revision, or has one, about what that holds.
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { identifierOf, type ResourceIdentifier } from '../../api/selected-resource.ts';
import { refTo } from '../../runtime/actions.ts';
import type { Need, See, WholeRef } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import { type NotSupported, notSupported } from '../not-supported.ts';
import { clusterOverrides, namespacedOverrides } from '../overrides/sources.ts';
import { type HubPlacement, resourceIndexOf } from '../placement-sources.ts';
import type { Selected } from '../revisions/looking.ts';
import { type HubRun, isOver, placementOfRun } from '../staged-sources.ts';

interface About {
  readonly run: HubRun;
  readonly placement: HubPlacement | undefined;
  readonly selected: Selected | undefined;
}

export function unbuiltIn(
  see: See,
  family: PlacementFamily,
  { run, placement, selected }: About,
): readonly NotSupported[] | Need {
  if (placement === undefined || isOver(run)) return [];
  const overrides = [...see.all(clusterOverrides), ...see.all(namespacedOverrides, run.metadata.namespace)];
  if (selected?.state === 'selected') {
    const { resources, envelopes } = selected.content;
    return notSupported(placement, resources, overrides, envelopes);
  }
  // Envelopes were looked for when the revision was made; only an override can come to match it later.
  const held = overrides.length === 0 ? [] : resourcesOf(see, family, run);
  return 'need' in held ? held : notSupported(placement, held, overrides);
}

/** What its revision holds; nothing if it has none yet. */
function resourcesOf(see: See, family: PlacementFamily, run: HubRun): readonly ResourceIdentifier[] | Need {
  const index = run.resourceIndex ?? run.spec.resourceSnapshotIndex ?? '';
  const refs = see
    .by(family.resourceSnapshots, 'placement', placementOfRun(run))
    .filter((each) => String(resourceIndexOf(each)) === index)
    .map(
      (each): WholeRef => ({
        on: 'hub',
        resource: family.resourceSnapshot,
        ...refTo(family.resourceSnapshot, each),
      }),
    );
  const need = refs.filter((ref) => see.whole(ref) === undefined);
  if (need.length > 0) return { need };
  return refs.flatMap((ref) =>
    ((see.whole(ref) as ResourceSnapshot | null)?.spec?.selectedResources ?? []).map(identifierOf),
  );
}
