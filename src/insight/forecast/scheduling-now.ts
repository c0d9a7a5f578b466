// The scheduler's own cycle, run by the caller over what the caller may read: which plugin refuses a cluster, and by which
// score it loses. Pure, and nothing is written.
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import { annotations } from '../../api/names.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { type SchedulingGroup, withGroups } from '../../hub/groups/terms.ts';
import type { HubPolicySnapshot } from '../../hub/placement-sources.ts';
import { type CycleInput, cycle, type Outcome } from '../../hub/scheduler/cycle.ts';

/** What a policy decides about a cluster. */
export type Standing =
  | { readonly is: 'picked' | 'kept' | 'removed'; readonly decision: ClusterDecision }
  | { readonly is: 'outscored'; readonly decision: ClusterDecision }
  | { readonly is: 'refused'; readonly decision: ClusterDecision; readonly plugin: string }
  | { readonly is: 'not a member'; readonly decision: ClusterDecision };

export interface Scheduling {
  /** Those that get it or have it first, then the others, best first. */
  readonly standings: readonly Standing[];
  readonly wanted: number;
  readonly found: number;
  readonly remarks: readonly string[];
}

export type SchedulingInput = Omit<CycleInput, 'explainsAll' | 'plugins'> & {
  /** Those that the policy names are among them. */
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
    // A binding of an earlier policy that is taken over stays where it is.
    ...picks.map(({ decision, obsolete }) => ({
      is: obsolete === undefined ? ('picked' as const) : ('kept' as const),
      decision,
    })),
    ...kept.map(({ spec }) => ({ is: 'kept' as const, decision: spec.clusterDecision })),
    ...unschedule.map(({ spec }) => ({ is: 'removed' as const, decision: spec.clusterDecision })),
    ...[...explained]
      // A cluster that has it may have stopped matching: that takes nothing away.
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

/** The cluster with the lowest score among those that are picked: the one that an outscored cluster would have to beat. */
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

/** As the Scheduled condition words them. */
export const scoresOf = ({ clusterScore }: ClusterDecision): string =>
  `affinity score: ${clusterScore?.affinityScore ?? 0}, topology spread score: ${clusterScore?.priorityScore ?? 0}`;

/** N of PickN, as the snapshot has it. */
export function numberIn({ metadata }: HubPolicySnapshot): number {
  const number = Number(metadata.annotations?.[annotations.numberOfClusters]);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
