// Required terms that name a ClusterGroup. Before a scheduling run, the name is replaced by the selector of the group,
// so that everything that reads labels of terms (plugins, requeues) works for groups too. A name that remains matches
// no cluster.
import type { GroupSelectorTerm } from '../../api/cluster-selector.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { LabelSelector } from '../../base/selector.ts';
import type { HubPolicySnapshot } from '../placement-sources.ts';

export interface SchedulingGroup {
  readonly name: string;
  readonly selector: LabelSelector | undefined;
}

const termsOf = (policy: PlacementPolicy): readonly Term[] =>
  policy.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];

export const groupsNamedIn = (policy: PlacementPolicy | undefined): readonly string[] =>
  policy === undefined
    ? []
    : termsOf(policy).flatMap(({ clusterGroup = '' }) => (clusterGroup === '' ? [] : [clusterGroup]));

export const usesGroups = (policy: PlacementPolicy | undefined): boolean => groupsNamedIn(policy).length > 0;

/** The same policy if it names no group. */
export function withGroups(policy: PlacementPolicy, groups: readonly SchedulingGroup[]): PlacementPolicy {
  if (!usesGroups(policy)) return policy;
  const { affinity, ...others } = policy;
  const { clusterAffinity } = affinity ?? {};
  const clusterSelectorTerms = termsOf(policy).map((term) => resolved(term, groups));
  return {
    ...others,
    affinity: {
      ...affinity,
      clusterAffinity: {
        ...clusterAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms },
      },
    },
  };
}

/** The snapshot with the group names in its policy replaced by selectors. */
export function snapshotWithGroups<T extends HubPolicySnapshot>(snapshot: T, groups: readonly SchedulingGroup[]): T {
  const { policy } = snapshot.spec;
  if (policy === undefined || !usesGroups(policy)) return snapshot;
  return { ...snapshot, spec: { ...snapshot.spec, policy: withGroups(policy, groups) } };
}

type Term = GroupSelectorTerm;

type TermSelector = NonNullable<Term['labelSelector']>;

function resolved(term: Term, groups: readonly SchedulingGroup[]): Term {
  const { clusterGroup = '', labelSelector, ...others } = term;
  if (clusterGroup === '') return term;
  // A group without a selector contains no clusters.
  const selector = groups.find(({ name }) => name === clusterGroup)?.selector;
  return selector === undefined ? term : { ...others, labelSelector: both(labelSelector, selector) };
}

/** As expressions: both may require different values of one label, and then no cluster matches. */
const both = (a: LabelSelector | undefined, b: LabelSelector): TermSelector => ({
  // The operators of both have passed the same schema.
  matchExpressions: [...expressionsOf(a ?? {}), ...expressionsOf(b)] as TermSelector['matchExpressions'] & object,
});

const expressionsOf = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector) => [
  ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
  ...matchExpressions,
];
