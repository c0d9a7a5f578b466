// The report of a GitRepo's placement, as far as it is about the newest commit. Pure.
import { annotations } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { placementConditionType } from '../../api/placement.ts';
import type { PlacementFamily } from '../families.ts';
import { type HubPlacement, type HubResourceSnapshot, resourceIndexOf } from '../placement-sources.ts';
import type { Content } from '../revisions/content.ts';
import { hashOf } from '../revisions/resource-snapshot.ts';

export type CommitContent = Pick<Content, 'hash' | 'sourceHash'>;

export interface UpToNow {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  /** The newest revision. */
  readonly newest: HubResourceSnapshot | undefined;
  /** The content of the commit; undefined = not read since the hub started, or unreadable. */
  readonly content: CommitContent | undefined;
}

/** Until the placement has a revision of the commit and reports on it, its clusters count as out of sync. */
export function upToNow(input: UpToNow): HubPlacement {
  const { placement } = input;
  const { rollout } = placement;
  if (rollout === undefined || (isMade(input) && (rollout.state !== 'Ready' || isReported(input)))) return placement;
  const { ready, outOfSync, desiredReady } = rollout;
  const former = desiredReady === 0 ? 'Pending' : 'OutOfSync';
  const state = rollout.state === 'Ready' || rollout.state === 'NotReady' ? former : rollout.state;
  return {
    ...placement,
    rollout: { ...rollout, state, ready: 0, outOfSync: outOfSync + ready, readyClusters: `0/${desiredReady}` },
  };
}

export const sourceHashOf = ({ metadata }: HubPlacement | HubResourceSnapshot): string | undefined =>
  metadata.annotations?.[annotations.sourceHash];

/** The revision, the placement and the commit have the same content and options. */
function isMade({ placement, newest, content }: UpToNow): boolean {
  if (newest === undefined || sourceHashOf(newest) !== sourceHashOf(placement)) return false;
  return content === undefined || (hashOf(newest) === content.hash && sourceHashOf(newest) === content.sourceHash);
}

/** The status is about this revision, and about the clusters that the repository asks for now. */
function isReported({ family, placement, newest }: UpToNow): boolean {
  const { metadata, conditions, observedResourceIndex } = placement;
  const scheduled = conditionOf(conditions, placementConditionType(family.placement, 'Scheduled'));
  return (
    scheduled?.observedGeneration === metadata.generation &&
    scheduled?.status !== 'Unknown' &&
    observedResourceIndex === String(newest && resourceIndexOf(newest))
  );
}
