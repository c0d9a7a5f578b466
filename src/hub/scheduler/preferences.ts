// Preferred affinity terms: how much each adds to the affinity score of a cluster, by its labels and by its position
// between the smallest and the largest value of a property. The arithmetic is exactly that of KubeFleet.
import type { ClusterSelectorTerm, PropertySorter } from '../../api/cluster-selector.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { compileLabelSelector, everything } from '../../base/selector.ts';
import { readerOf, whyUnread } from './property.ts';

export interface Preference {
  readonly weight: number;
  readonly preference: ClusterSelectorTerm;
}

/** Preferences with weight 0 cannot change a score. */
export const preferencesOf = (policy: PlacementPolicy): readonly Preference[] =>
  (policy.affinity?.clusterAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).filter(
    ({ weight }) => weight !== 0,
  );

export interface Preferred {
  scoreOf(member: MemberCluster): number;
  /** Why this preference adds nothing although the labels match. */
  noteOn(member: MemberCluster): string | undefined;
}

export function compilePreference(
  { weight, preference: { labelSelector, propertySorter } }: Preference,
  members: readonly MemberCluster[],
): Preferred {
  const labels = labelSelector === undefined ? everything : compileLabelSelector(labelSelector);
  const matches = ({ metadata }: MemberCluster) => labels.matches(metadata.labels);
  if (propertySorter === undefined) {
    return { scoreOf: (member) => (matches(member) ? weight : 0), noteOn: () => undefined };
  }
  const { name, sortOrder } = propertySorter;
  const read = readerOf(name);
  const range = rangeOf(propertySorter, members);
  return {
    scoreOf(member) {
      if (range === undefined || !matches(member)) return 0;
      const reading = read(member);
      return reading.is === 'quantity' ? share(reading.number, range, sortOrder, weight) : 0;
    },
    noteOn(member) {
      const reading = read(member);
      // A property that no cluster reports is noted for the policy, not for each cluster.
      if (reading.is === 'quantity' || range === undefined || !matches(member)) return undefined;
      return `${whyUnread(name, reading)}, so the preference on it adds 0`;
    },
  };
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The range over all members, including those that cannot be picked. undefined = no member has a number. */
export function rangeOf({ name }: Pick<PropertySorter, 'name'>, members: readonly MemberCluster[]): Range | undefined {
  const read = readerOf(name);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const member of members) {
    const reading = read(member);
    if (reading.is !== 'quantity') continue;
    if (reading.number < min) min = reading.number;
    if (reading.number > max) max = reading.number;
  }
  return min > max ? undefined : { min, max };
}

export function share(
  value: number,
  { min, max }: Range,
  sortOrder: PropertySorter['sortOrder'],
  weight: number,
): number {
  if (min === max) return 0;
  const place = (value - min) / (max - min);
  return roundAwayFromZero((sortOrder === 'Descending' ? place : 1 - place) * weight);
}

/** Halves round away from zero; Math.round rounds them up. */
function roundAwayFromZero(value: number): number {
  const rounded = Math.round(Math.abs(value));
  // No negative zero: scores are compared and stored.
  return value < 0 && rounded !== 0 ? -rounded : rounded;
}
