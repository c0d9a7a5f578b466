// From what a placement's status says, and what else the caller may read, to an explanation: of the placement as a whole, or of one cluster.
import type { Placement } from '../api/placement.ts';
import { UserError } from '../base/errors.ts';
import { concluded, outdatedNote } from './answer.ts';
import type { Looking } from './evidence-chain.ts';
import { ofCluster } from './explain-cluster.ts';
import { besideExternal, isExternal } from './explain-external.ts';
import { ofPlacement } from './explain-placement.ts';
import type { Explanation } from './explanation.ts';
import { progressOf } from './placement-progress.ts';
import type { Reader } from './readable.ts';
import { NAME, titleOf, type WhichPlacement } from './which-placement.ts';

export interface Case {
  readonly which: WhichPlacement;
  readonly placement: Placement;
  readonly reader: Reader;
  readonly now: number;
}

export async function explain(of: Case, cluster?: string): Promise<Explanation> {
  if (cluster !== undefined && !NAME.test(cluster)) {
    throw new UserError('BadFlag', `"${cluster}" cannot be the name of a cluster`);
  }
  const looking: Looking = { ...of, progress: progressOf(of.placement), title: titleOf(of.which), told: new Set() };
  const found = cluster === undefined ? await ofPlacement(looking) : await ofCluster(looking, cluster);
  const isAtRest = isExternal(of.placement) && !found.isWaiting;
  return concluded(looking.title, found, [
    ...outdatedNote(looking.progress.isDeleting ? {} : looking.progress),
    ...(isAtRest ? await besideExternal(looking) : []),
    ...of.reader.unread(),
  ]);
}
