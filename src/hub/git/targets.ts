// Converts the targets of a GitRepo to the policy of its placements: a cluster is picked if one target matches it.
// Pure.
import { CLUSTER_NAME_LABELS } from '../../api/cluster-name.ts';
import type { GitProblem, GitTarget } from '../../api/git-repo.ts';
import { labels } from '../../api/names.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import { canonicalJson } from '../../base/json.ts';
import { compileLabelSelector, type LabelSelector } from '../../base/selector.ts';
import type { ClusterGroupFacts } from '../planners/partitioned.ts';
import type { Requirement, Term } from '../revisions/variants.ts';

export type Targeted =
  | { readonly policy: NonNullable<PlacementSpec['policy']>; readonly warnings: readonly GitProblem[] }
  /** No cluster can be picked: a placement without any term would be placed everywhere. */
  | { readonly problem: GitProblem };

export const DEFAULT_GROUP = 'default';
const MAX_TERMS = 10;

/** The clusters that customizations exclude. */
export interface Excluding {
  readonly mode: 'first' | 'all';
  /** Per customization: the clusters that it matches, and whether they are excluded. */
  readonly rules: readonly { readonly terms: readonly Term[]; readonly doNotDeploy: boolean }[];
}

const asked = (targets: readonly GitTarget[] | undefined): readonly GitTarget[] =>
  targets === undefined || targets.length === 0 ? [{ clusterGroup: DEFAULT_GROUP }] : targets;

/** A cluster gets it if one of the terms matches. */
export const termsFor = (
  targets: readonly GitTarget[] | undefined,
  groups: readonly ClusterGroupFacts[] | undefined,
  excluding?: Excluding,
): readonly Term[] => {
  const terms = asked(targets).flatMap((target) => termsOf(target, groups ?? []));
  return excluding?.rules.some(({ doNotDeploy }) => doNotDeploy) ? both(terms, allowedBy(excluding)) : terms;
};

/** `groups`: undefined = they cannot be read. */
export function policyOf(
  targets: readonly GitTarget[] | undefined,
  groups: readonly ClusterGroupFacts[] | undefined,
  excluding?: Excluding,
): Targeted {
  const isDefault = targets === undefined || targets.length === 0;
  const matching = termsFor(targets, groups);
  let allowed: readonly Term[];
  try {
    allowed = termsFor(targets, groups, excluding);
  } catch (error) {
    if (!(error instanceof TooManyAlternatives)) throw error;
    const message = 'doNotDeploy of the targetCustomizations makes too many terms of a policy: use fewer labels';
    return { problem: { reason: 'TooManyTargets', message } };
  }
  // All clusters are excluded. Every cluster has a name, so this term matches none.
  const terms = matching.length > 0 && allowed.length === 0 ? NO_CLUSTER : allowed;
  const names = terms.filter(isName).map(([requirement]) => requirement);
  const others = terms.filter((term) => !isName(term));
  if (others.some((term) => term.length === 0)) return { policy: { placementType: 'PickAll' }, warnings: [] };
  const all: readonly Term[] = [...others, ...merged(names)];
  if (all.length === 0) {
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

const NO_CLUSTER: readonly Term[] = [[{ key: labels.memberName, operator: 'DoesNotExist' }]];

/** One term per label that may contain the name. */
const nameTerms = (name: string): readonly Term[] =>
  CLUSTER_NAME_LABELS.map((key) => [{ key, operator: 'In', values: [name] }]);

/** It only selects clusters by name. */
const isName = (term: Term): term is readonly [Requirement] =>
  term.length === 1 && term[0]?.operator === 'In' && CLUSTER_NAME_LABELS.some((key) => key === term[0]?.key);

/** One term per label, whatever the number of names. */
const merged = (names: readonly Requirement[]): readonly Term[] =>
  CLUSTER_NAME_LABELS.flatMap((key): readonly Term[] => {
    const values = [...new Set(names.filter((name) => name.key === key).flatMap((name) => name.values ?? []))];
    return values.length === 0 ? [] : [[{ key, operator: 'In', values }]];
  });

/** A target by name becomes one term per name label, and one by a selector of groups becomes one per group. */
export function termsOf(target: GitTarget, groups: readonly ClusterGroupFacts[]): readonly Term[] {
  const { clusterName = '', clusterSelector, clusterGroup = '', clusterGroupSelector } = target;
  const isGiven = clusterName !== '' || clusterSelector !== undefined;
  const byGroup = clusterGroup !== '' || clusterGroupSelector !== undefined;
  if (!isGiven && !byGroup) return [];
  const selected = clusterSelector === undefined ? [] : requirementsOf(clusterSelector);
  const own = (clusterName === '' ? EVERYWHERE : nameTerms(clusterName)).map((name): Term => [...name, ...selected]);
  if (!byGroup) return own;
  const matching = groups.filter(
    (group) =>
      (clusterGroup === '' || group.name === clusterGroup) &&
      (clusterGroupSelector === undefined || compileLabelSelector(clusterGroupSelector).matches(group.labels)),
  );
  // A group without a selector contains no clusters.
  return matching.flatMap(({ selector }) =>
    selector === undefined ? [] : own.map((term) => [...term, ...requirementsOf(selector)]),
  );
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

// ---- exclusions

/** Alternatives multiply; more than this exceed what any policy allows. */
const MAX_ALTERNATIVES = 500;
export class TooManyAlternatives extends Error {
  override readonly name = 'TooManyAlternatives';
}
const EVERYWHERE: readonly Term[] = [[]];

/** `first`: the first matching rule decides. `all`: one matching rule with doNotDeploy is enough. */
function allowedBy({ mode, rules }: Excluding): readonly Term[] {
  if (mode === 'all')
    return rules.reduce((rest, { terms, doNotDeploy }) => (doNotDeploy ? both(rest, none(terms)) : rest), EVERYWHERE);
  return rules.reduceRight(
    (rest, { terms, doNotDeploy }) => (doNotDeploy ? both(none(terms), rest) : either(terms, rest)),
    EVERYWHERE,
  );
}

const NEGATED = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' } as const;

/** None of the terms matches. As in Kubernetes, NotIn matches if the label is absent. */
const none = (terms: readonly Term[]): readonly Term[] =>
  terms.reduce<readonly Term[]>(
    (rest, term) =>
      both(
        rest,
        term.map((each): Term => [{ ...each, operator: NEGATED[each.operator] }]),
      ),
    EVERYWHERE,
  );

const both = (a: readonly Term[], b: readonly Term[]): readonly Term[] =>
  either(
    a.flatMap((left) =>
      b.flatMap((right) => {
        const term = simplified([...left, ...right]);
        return term === undefined ? [] : [term];
      }),
    ),
    [],
  );

/** Without duplicates; a term without requirements makes the others redundant. */
function either(a: readonly Term[], b: readonly Term[]): readonly Term[] {
  const all = [...new Map([...a, ...b].map((term) => [canonicalJson(term), term])).values()];
  if (all.length > MAX_ALTERNATIVES) throw new TooManyAlternatives();
  return all.some((term) => term.length === 0) ? EVERYWHERE : all;
}

/** One requirement per key if that is equivalent; undefined = no cluster can match. */
function simplified(term: Term): Term | undefined {
  const kept: Requirement[] = [];
  for (const key of [...new Set(term.map((each) => each.key))].toSorted()) {
    const own = term.filter((each) => each.key === key);
    const lists = own.filter(({ operator }) => operator === 'In').map(({ values = [] }) => values);
    const not = new Set(own.filter(({ operator }) => operator === 'NotIn').flatMap(({ values = [] }) => values));
    const isAbsent = own.some(({ operator }) => operator === 'DoesNotExist');
    const isPresent = own.some(({ operator }) => operator === 'Exists');
    if (isAbsent) {
      if (isPresent || lists.length > 0) return undefined;
      kept.push({ key, operator: 'DoesNotExist' });
      continue;
    }
    const [first, ...others] = lists;
    if (first !== undefined) {
      const values = first.filter((value) => !not.has(value) && others.every((list) => list.includes(value)));
      if (values.length === 0) return undefined;
      kept.push({ key, operator: 'In', values });
      continue;
    }
    if (isPresent) kept.push({ key, operator: 'Exists' });
    if (not.size > 0) kept.push({ key, operator: 'NotIn', values: [...not].toSorted() });
  }
  return kept;
}
