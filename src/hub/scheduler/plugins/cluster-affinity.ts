// ClusterAffinity: required terms, of which one must match, and preferred terms, which add to the affinity part of the
// score.

import type { MemberCluster } from '../../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../../api/placement-policy.ts';
import { contradictionIn } from '../../../api/property-bounds.ts';
import { type MemberChange, type Plugin, pass, type Run, unfit, type Verdict } from '../plugin.ts';
import { compilePreference, type Preferred, preferencesOf } from '../preferences.ts';
import { isReported } from '../property.ts';
import { compileTerms, matchesTerm, type RequiredTerm, requiredTerms } from '../required-terms.ts';

const MISMATCH = 'cluster does not match with any of the required cluster affinity terms';
const BY_LABELS = unfit(MISMATCH);

export const clusterAffinity: Plugin = {
  name: 'ClusterAffinity',
  prepare({ policy, members }) {
    const terms = compileTerms(policy);
    const preferences = preferencesOf(policy).map((each) => compilePreference(each, members));
    if (terms.length + preferences.length === 0) return undefined;
    const refusals = new Map<string, Verdict>();
    return {
      filter: (member) => (terms.length === 0 ? pass : (refusalOf(terms, member, refusals) ?? pass)),
      ...(preferences.length === 0
        ? {}
        : {
            score: (member) => ({ affinity: sumOf(preferences, member) }),
            note: (member) => notesOn(preferences, member),
          }),
    };
  },
  remarks,
  admits,
};

/** Only the numbers of required terms count. Those of sorters only rank, so they never make a cluster eligible. */
function admits({ older, newer }: MemberChange, policy: PlacementPolicy): boolean {
  if (!requiredTerms(policy).some(({ propertySelector }) => propertySelector !== undefined)) return false;
  const terms = compileTerms(policy);
  const fits = (member: MemberCluster) => terms.some((term) => matchesTerm(term, member));
  return fits(newer) && !(older !== undefined && fits(older));
}

function sumOf(preferences: readonly Preferred[], member: MemberCluster): number {
  let sum = 0;
  for (const { scoreOf } of preferences) sum += scoreOf(member);
  return sum;
}

/** undefined = one of the terms matches. `refusals` caches by reason, of which a fleet has few. */
function refusalOf(
  terms: readonly RequiredTerm[],
  member: MemberCluster,
  refusals: Map<string, Verdict>,
): Verdict | undefined {
  let because: string | undefined;
  for (const term of terms) {
    if (!term.matchesLabels(member)) continue;
    const refusal = term.refusedBy(member);
    if (refusal === undefined) return undefined;
    because ??= refusal;
  }
  if (because === undefined) return BY_LABELS;
  const known = refusals.get(because);
  if (known !== undefined) return known;
  const refusal = unfit(`${MISMATCH}: ${because}`);
  refusals.set(because, refusal);
  return refusal;
}

const MAX_NOTES = 3;

function notesOn(preferences: readonly Preferred[], member: MemberCluster): string | undefined {
  const notes = new Set<string>();
  for (const { noteOn } of preferences) {
    const note = noteOn(member);
    if (note !== undefined) notes.add(note);
    if (notes.size === MAX_NOTES) break;
  }
  return notes.size === 0 ? undefined : [...notes].join(', ');
}

/** Warns about a term that can have no effect, which is hardly intended. */
function remarks({ policy, members }: Pick<Run, 'policy' | 'members'>): readonly string[] {
  const contradictions = requiredTerms(policy).flatMap(({ propertySelector }, at) => {
    const found = contradictionIn(propertySelector?.matchExpressions ?? []);
    return found === undefined
      ? []
      : [
          `required affinity term ${at + 1} matches no cluster: ${found.between} of property "${found.property}" contradict each other`,
        ];
  });
  const unread = members.length === 0 ? [] : propertiesOf(policy).filter((name) => !isReported(name, members));
  const withoutGroup = requiredTerms(policy).flatMap(({ clusterGroup = '' }, at) =>
    clusterGroup === ''
      ? []
      : [
          `required affinity term ${at + 1} matches no cluster: ClusterGroup "${clusterGroup}" does not exist or has no selector`,
        ],
  );
  return [
    ...contradictions,
    ...withoutGroup,
    ...unread
      .slice(0, MAX_NOTES)
      .map((name) => `no cluster reports property "${name}" as a quantity, so ${without(name, policy)}`),
  ];
}

const without = (name: string, policy: PlacementPolicy): string =>
  requiredPropertiesOf(policy).includes(name)
    ? 'no cluster matches a required term on it'
    : 'preferences on it have no effect';

const requiredPropertiesOf = (policy: PlacementPolicy): readonly string[] =>
  requiredTerms(policy).flatMap(({ propertySelector }) =>
    (propertySelector?.matchExpressions ?? []).map(({ name }) => name),
  );

/** The properties that a policy names. */
export const propertiesOf = (policy: PlacementPolicy): readonly string[] => [
  ...new Set([
    ...requiredPropertiesOf(policy),
    ...preferencesOf(policy).flatMap(({ preference: { propertySorter } }) =>
      propertySorter === undefined ? [] : [propertySorter.name],
    ),
  ]),
];
