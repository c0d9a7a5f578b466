// Runs the scheduler's own cycle on what the caller may read: which plugin rejects a cluster, or by which score it
// loses. Pure; nothing is written.
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import { annotations } from '../../api/names.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { type SchedulingGroup, withGroups } from '../../hub/groups/terms.ts';
import type { HubPolicySnapshot } from '../../hub/placement-sources.ts';
import { type CycleInput, cycle, type Outcome } from '../../hub/scheduler/cycle.ts';

/** The result of a policy for one cluster. */
export type Standing =
  | { readonly is: 'picked' | 'kept' | 'removed'; readonly decision: ClusterDecision }
  | { readonly is: 'outscored'; readonly decision: ClusterDecision }
  | { readonly is: 'refused'; readonly decision: ClusterDecision; readonly plugin: string }
  | { readonly is: 'not a member'; readonly decision: ClusterDecision };

export interface Scheduling {
  /** Clusters with the placement first, then the others, best first. */
  readonly standings: readonly Standing[];
  readonly wanted: number;
  readonly found: number;
  readonly remarks: readonly string[];
}

export type SchedulingInput = Omit<CycleInput, 'explainsAll' | 'plugins'> & {
  /** Must include the groups that the policy names. */
  readonly groups: readonly SchedulingGroup[];
};

export function scheduleNow({ groups, ...input }: SchedulingInput): Scheduling {
  const members = input.members.toSorted((a, b) => byText(a.metadata.name ?? '', b.metadata.name ?? ''));
  const policy = input.policy && withGroups(input.policy, groups);
  const outcome = cycle({ ...input, policy, members, explainsAll: true });
  const { wanted, found, remarks } = outcome;
  return { standings: standingsOf(outcome), wanted, found, remarks };
}

function standingsOf({ picks, kept, unschedule, explained = [] }: Outcome): readonly Standing[] {
  const has = new Set(kept.map(({ spec }) => spec.targetCluster));
  const removed = new Set(unschedule.map(({ spec }) => spec.targetCluster));
  return [
    // A reused binding of an earlier policy stays where it is.
    ...picks.map(({ decision, obsolete }) => ({
      is: obsolete === undefined ? ('picked' as const) : ('kept' as const),
      decision,
    })),
    ...kept.map(({ spec }) => ({ is: 'kept' as const, decision: spec.clusterDecision })),
    ...unschedule.map(({ spec }) => ({ is: 'removed' as const, decision: spec.clusterDecision })),
    ...[...explained]
      // A cluster that stopped matching keeps its placement.
      .filter(({ decision }) => !has.has(decision.clusterName) && !removed.has(decision.clusterName))
      .map(({ decision, plugin }): Standing => {
        if (plugin !== undefined) return { is: 'refused', decision, plugin };
        return { is: decision.clusterScore === undefined ? 'not a member' : 'outscored', decision };
      }),
  ];
}

export function standingIn({ standings }: Scheduling, cluster: string): Standing | undefined {
  return standings.find(({ decision }) => decision.clusterName === cluster);
}

/** The picked cluster with the lowest score, which an outscored cluster would have to beat. */
export function lowestPicked({ standings }: Scheduling): ClusterDecision | undefined {
  return standings
    .filter(({ is }) => is === 'picked' || is === 'kept')
    .map(({ decision }) => decision)
    .filter(({ clusterScore }) => clusterScore !== undefined)
    .toSorted(
      (a, b) =>
        byNumber(a.clusterScore?.priorityScore ?? 0, b.clusterScore?.priorityScore ?? 0) ||
        byNumber(a.clusterScore?.affinityScore ?? 0, b.clusterScore?.affinityScore ?? 0) ||
        byText(a.clusterName, b.clusterName),
    )[0];
}

/** In the wording of the Scheduled condition. */
export const scoresOf = ({ clusterScore }: ClusterDecision): string =>
  `affinity score: ${clusterScore?.affinityScore ?? 0}, topology spread score: ${clusterScore?.priorityScore ?? 0}`;

/** N of PickN, from the annotation of the snapshot. */
export function numberIn({ metadata }: HubPolicySnapshot): number {
  const number = Number(metadata.annotations?.[annotations.numberOfClusters]);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
