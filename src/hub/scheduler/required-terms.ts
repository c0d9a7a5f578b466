// Required affinity terms: labels and properties that a cluster must have. One matching term is enough.
import type { ClusterSelectorTerm, GroupSelectorTerm, PropertyExpression } from '../../api/cluster-selector.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { compareQuantities, parseQuantity } from '../../base/quantity.ts';
import { compileLabelSelector, everything } from '../../base/selector.ts';
import { readerOf, roundedNumber, whyUnread } from './property.ts';

export const requiredTerms = (policy: PlacementPolicy): readonly GroupSelectorTerm[] =>
  policy.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];

export interface RequiredTerm {
  matchesLabels(member: MemberCluster): boolean;
  /**
   * The first comparison that fails, in words; undefined = all hold. Without the observed value, which may change with
   * every heartbeat.
   */
  refusedBy(member: MemberCluster): string | undefined;
}

export function compileTerm(term: ClusterSelectorTerm | GroupSelectorTerm): RequiredTerm {
  const { labelSelector, propertySelector } = term;
  // The selector of an existing group has already replaced its name.
  const isUnresolved = 'clusterGroup' in term && (term.clusterGroup ?? '') !== '';
  // In these terms an absent selector matches everything.
  const labels = labelSelector === undefined ? everything : compileLabelSelector(labelSelector);
  const comparisons = (propertySelector?.matchExpressions ?? []).map(comparisonOf);
  return {
    matchesLabels: ({ metadata }) => !isUnresolved && labels.matches(metadata.labels),
    refusedBy(member) {
      for (const comparison of comparisons) {
        const refusal = comparison(member);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
}

export const matchesTerm = (term: RequiredTerm, member: MemberCluster): boolean =>
  term.matchesLabels(member) && term.refusedBy(member) === undefined;

const compiled = new WeakMap<PlacementPolicy, readonly RequiredTerm[]>();

export function compileTerms(policy: PlacementPolicy): readonly RequiredTerm[] {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const terms = requiredTerms(policy).map(compileTerm);
  // A mutable policy must not be cached by identity.
  if (Object.isFrozen(policy)) compiled.set(policy, terms);
  return terms;
}

const HOLDS: Readonly<Record<PropertyExpression['operator'], (difference: number) => boolean>> = {
  Gt: (difference) => difference > 0,
  Ge: (difference) => difference >= 0,
  Eq: (difference) => difference === 0,
  Ne: (difference) => difference !== 0,
  Lt: (difference) => difference < 0,
  Le: (difference) => difference <= 0,
};

function comparisonOf({ name, operator, values }: PropertyExpression): (member: MemberCluster) => string | undefined {
  const [text = ''] = values;
  const wanted = parseQuantity(text);
  const rounded = wanted === undefined ? 0 : roundedNumber(wanted);
  const unreadable = `"${text}", with which property "${name}" is compared, is not a quantity`;
  const refusal = `property "${name}" is not ${operator} ${text}`;
  const read = readerOf(name);
  return (member) => {
    if (wanted === undefined) return unreadable;
    const reading = read(member);
    // Without a value every comparison fails, even `Ne`.
    if (reading.is !== 'quantity') return whyUnread(name, reading);
    // Rounding keeps the order, so only numbers that round to the same value need the exact comparison.
    const difference = reading.number - rounded || compareQuantities(reading.quantity, wanted);
    return HOLDS[operator](difference) ? undefined : refusal;
  };
}
