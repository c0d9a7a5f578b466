// Explains a placement as a whole, or one cluster of it, from its status and whatever else the caller may read.

import type { Placement } from '../../api/placement.ts';
import { UserError } from '../../base/errors.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { progressOf } from '../progress/placement-progress.ts';
import { ifRead, type Reader } from '../reader.ts';
import { NAME, titleOf, type WhichPlacement } from '../which-placement.ts';
import { adviceFor } from './advice.ts';
import { type Answer, concluded, outdatedNote } from './answer.ts';
import { changedAgainNotes } from './changed-again.ts';
import { bindingsOf, type Looking } from './evidence-chain.ts';
import { ofCluster } from './explain-cluster.ts';
import { besideExternal } from './explain-external.ts';
import { ofPlacement } from './explain-placement.ts';
import type { Explanation } from './explanation.ts';

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
  const { nothing } = looking.progress;
  const led = nothing === undefined ? found : selectsNothing(looking.title, nothing, found);
  const told = [...looking.told].map((key) => key.replace(/^MemberCluster /, ''));
  const about = cluster === undefined ? undefined : [cluster, ...told];
  const advice = led.isWaiting && !looking.progress.isDeleting ? adviceFor(of.placement, about) : [];
  const beside = isAtRest ? await besideExternal(looking) : [];
  await readWorks(looking, cluster);
  return concluded(looking.title, led, {
    advice,
    notes: [
      ...outdatedNote(looking.progress.isDeleting ? {} : looking.progress),
      ...beside,
      ...changedAgainNotes(of.reader.worksRead()),
      ...of.reader.unread(),
    ],
  });
}

/** In a small fleet all clusters are read, for further notes. */
const MAX_CLUSTERS_READ = 10;

async function readWorks(looking: Looking, cluster: string | undefined): Promise<void> {
  const { reader } = looking;
  const all = cluster === undefined ? (ifRead(await reader.bindings()) ?? []) : await bindingsOf(looking, cluster);
  if (cluster !== undefined || all.length <= MAX_CLUSTERS_READ) for (const each of all) await reader.worksOf(each);
}

/** An empty selection comes first, whatever else there is to report, because no cluster gets anything. */
function selectsNothing(title: string, nothing: string, { sentence, isWaiting, causes, next, notes }: Answer): Answer {
  return {
    sentence: `${title} selects nothing: ${nothing}`,
    isWaiting: true,
    causes: isWaiting ? [{ sentence, evidence: [] }, ...causes] : causes,
    next: ['correct the resourceSelectors of the placement, or create on the hub what they ask for', ...next],
    notes: [
      'a revision without objects is available at once, so maxUnavailable does not slow its rollout down',
      ...notes,
    ],
  };
}
