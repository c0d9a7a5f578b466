// Whether the selection of a placement with strategy External has changes that no cluster has: they wait for a run, and
// no status reports them.
import { annotations } from '../../api/names.ts';
import type { Placement } from '../../api/placement.ts';
import { byNumber } from '../../base/compare.ts';
import { ApiError, LostError } from '../../base/errors.ts';
import { isMaster, resourceIndexOf } from '../../hub/placement-sources.ts';
import { ifRead } from '../../insight/reader.ts';
import type { WhichPlacement } from '../../insight/which-placement.ts';
import { createReader } from '../reading/readable.ts';
import { selectedNow } from '../reading/selected-now.ts';
import type { Connected } from '../server/connect.ts';

/**
 * The note about a placement whose clusters all have one revision; undefined = there are no such changes, or it is
 * unknown.
 */
export async function hubAhead(
  server: Pick<Connected, 'transport'>,
  which: WhichPlacement,
  placement: Placement,
): Promise<string | undefined> {
  const revision = placement.status?.observedResourceIndex ?? '';
  const projected = which.family.placements.project?.(placement);
  if (projected === undefined || revision === '') return undefined;
  try {
    const snapshots = (ifRead(await createReader(server, which).resourceSnapshots()) ?? []).filter(isMaster);
    const newest = snapshots.toSorted((a, b) => byNumber(resourceIndexOf(a) ?? 0, resourceIndexOf(b) ?? 0)).at(-1);
    const index = newest && resourceIndexOf(newest);
    if (newest === undefined || index === undefined) return undefined;
    const { selected, notes } = await selectedNow(server, projected);
    const isChanged =
      selected.state === 'selected' &&
      notes.length === 0 &&
      selected.content.hash !== newest.metadata.annotations?.[annotations.resourceHash];
    if (isChanged)
      return `the hub is ahead of all clusters: the selected objects have changed since revision ${index}; create a run to roll it out`;
    if (index <= Number(revision)) return undefined;
    return `the hub is ahead of all clusters: the newest revision is ${index}, and they have ${revision}; create a run to roll it out`;
  } catch (error) {
    if (error instanceof ApiError || error instanceof LostError) return undefined;
    throw error;
  }
}
