// Which revision a cluster has that does not have the newest one: its binding contains it, but the placement's status
// does not. Read only while the user waits, and once per revision: until it arrives, a cluster keeps what it has.
import { masterSnapshotName } from '../../api/names.ts';
import type { Placement } from '../../api/placement.ts';
import { LostError } from '../../base/errors.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { type Carried, progressOf } from '../../insight/progress/placement-progress.ts';
import { ifRead } from '../../insight/reader.ts';
import type { WhichPlacement } from '../../insight/which-placement.ts';
import type { Connected } from '../server/connect.ts';
import { createReader } from './readable.ts';

/** The index in the name of a master snapshot of this placement; the name contains only one. */
export function indexIn(snapshot: string, placement: string): string {
  const index = snapshot.slice(placement.length + 1, -'-snapshot'.length);
  return snapshot === masterSnapshotName(placement, Number(index)) ? index : '';
}

/** undefined = no cluster waits, or the bindings may not be read. */
export function carriedOf(
  server: Pick<Connected, 'transport'>,
  which: WhichPlacement,
): (placement: Placement) => Promise<Carried | undefined> {
  let known: { readonly revision: string; readonly carried: Carried | undefined } | undefined;
  return async (placement) => {
    if (isExternal(placement)) return undefined;
    const { clusters, revision } = progressOf(placement);
    if (!clusters.some(({ stage }) => stage === 'Waiting')) return undefined;
    if (known?.revision !== revision) {
      try {
        known = { revision, carried: await read(server, which) };
      } catch (error) {
        // A command with --watch waits until the server answers again, and then calls this again.
        if (error instanceof LostError) return undefined;
        throw error;
      }
    }
    return known.carried;
  };
}

async function read(server: Pick<Connected, 'transport'>, which: WhichPlacement): Promise<Carried | undefined> {
  const bindings = ifRead(await createReader(server, which).bindings());
  return (
    bindings &&
    new Map(
      bindings
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ spec }) => [spec.targetCluster, indexIn(spec.resourceSnapshotName, which.name)]),
    )
  );
}
