// From the targets of a GitRepo to the policy of its placements: a cluster is picked when one target matches it. Pure.
import type { GitProblem, GitTarget } from '../../api/git-repo.ts';
import { labels } from '../../api/names.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import { compileLabelSelector, type LabelSelector } from '../../base/selector.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';

export type Targeted =
  | { readonly policy: NonNullable<PlacementSpec['policy']>; readonly warnings: readonly GitProblem[] }
  /** No cluster can be picked: a placement without a criterion would go everywhere. */
  | { readonly problem: GitProblem };

export const DEFAULT_GROUP = 'default';
const MAX_TERMS = 10;

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}
/** All requirements hold; none = every cluster. */
type Term = readonly Requirement[];

/** `groups`: undefined = they cannot be read. */
export function policyOf(
  targets: readonly GitTarget[] | undefined,
  groups: readonly ClusterGroupFacts[] | undefined,
): Targeted {
  const asked = targets === undefined || targets.length === 0 ? [{ clusterGroup: DEFAULT_GROUP }] : targets;
  const terms = asked.flatMap((target) => termsOf(target, groups ?? []));
  const names = terms.filter(isName).flatMap(([{ values = [] }]) => values);
  const others = terms.filter((term) => !isName(term));
  if (others.some((term) => term.length === 0)) return { policy: { placementType: 'PickAll' }, warnings: [] };
  const all: readonly Term[] = [...others, ...(names.length === 0 ? [] : [nameTerm([...new Set(names)])])];
  if (all.length === 0) {
    const isDefault = asked !== targets;
    const message = isDefault
      ? `the GitRepo has no targets, and ClusterGroup "${DEFAULT_GROUP}" does not exist: set spec.targets`
      : 'no target can match a cluster: each needs clusterName, clusterSelector, or a ClusterGroup that exists';
    return { problem: { reason: 'NoTargets', message } };
  }
  if (all.length > MAX_TERMS) {
    const message = `the targets make ${all.length} terms of a policy, at most ${MAX_TERMS} are possible`;
    return { problem: { reason: 'TooManyTargets', message } };
  }
  const clusterSelectorTerms = all.map((requirements) => ({
    labelSelector: { matchExpressions: requirements.map((each) => ({ ...each })) },
  }));
  return {
    policy: {
      placementType: 'PickAll',
      affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms } } },
    },
    warnings: [],
  };
}

const nameTerm = (values: readonly string[]): Term => [{ key: labels.memberName, operator: 'In', values }];

/** It names clusters and asks nothing else. */
const isName = (term: Term): term is readonly [Requirement] =>
  term.length === 1 && term[0]?.key === labels.memberName && term[0].operator === 'In';

/** A target by a selector of groups is one term per group. */
function termsOf(target: GitTarget, groups: readonly ClusterGroupFacts[]): readonly Term[] {
  const { clusterName = '', clusterSelector, clusterGroup = '', clusterGroupSelector } = target;
  const isGiven = clusterName !== '' || clusterSelector !== undefined;
  const byGroup = clusterGroup !== '' || clusterGroupSelector !== undefined;
  if (!isGiven && !byGroup) return [];
  const own: Term = [
    ...(clusterName === '' ? [] : nameTerm([clusterName])),
    ...(clusterSelector === undefined ? [] : requirementsOf(clusterSelector)),
  ];
  if (!byGroup) return [own];
  const matching = groups.filter(
    (group) =>
      (clusterGroup === '' || group.name === clusterGroup) &&
      (clusterGroupSelector === undefined || compileLabelSelector(clusterGroupSelector).matches(group.labels)),
  );
  // A group without a selector is empty.
  return matching.flatMap(({ selector }) => (selector === undefined ? [] : [[...own, ...requirementsOf(selector)]]));
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Term {
  return [
    ...Object.entries(matchLabels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions.map(
      ({ key, operator, values }): Requirement => ({
        key,
        operator: operator as Requirement['operator'],
        ...(values === undefined || values.length === 0 ? {} : { values }),
      }),
    ),
  ];
}
