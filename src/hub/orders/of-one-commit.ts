// A placement with a source moves clusters only while its content, its options and its scheduling result are of the
// same commit. These are three objects, written one after the other: in between, new content could be sent to clusters
// that its commit excludes, or although its commit pauses the rollout.
import type { Hold } from '../../api/hold.ts';
import { annotations } from '../../api/names.ts';
import { refTo } from '../../runtime/actions.ts';
import type { PlacementFamily } from '../families.ts';
import {
  type HubPlacement,
  type HubPolicySnapshot,
  type HubResourceSnapshot,
  isScheduledNow,
} from '../placement-sources.ts';

export interface OfOneCommit {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  /** The master snapshot of the revision. */
  readonly master: HubResourceSnapshot | undefined;
  readonly policySnapshot: HubPolicySnapshot | undefined;
}

/** Why no cluster may move now; undefined = everything is of one commit, or has no commit. */
export function commitHold({ family, placement, master, policySnapshot }: OfOneCommit): Hold | undefined {
  const { source } = placement.spec;
  const wanted = placement.metadata.annotations?.[annotations.sourceHash];
  const made = master?.metadata.annotations?.[annotations.sourceHash];
  // A revision of an earlier hub version has no hash.
  if (source === undefined || wanted === undefined || made === undefined) return undefined;
  const subject = refTo(family.placement, placement);
  if (made !== wanted) {
    const next = `wait until the hub has read the repository (kubectl describe gitrepo ${source.gitRepo})`;
    return { code: 'RevisionPending', subject, on: subject, facts: { gitRepo: source.gitRepo }, next };
  }
  if (isScheduledNow(placement, policySnapshot)) return undefined;
  const facts = { message: 'the scheduler has not seen the newest commit yet' };
  return { code: 'SchedulingPending', subject, on: subject, facts, next: 'wait until the placement is scheduled' };
}
