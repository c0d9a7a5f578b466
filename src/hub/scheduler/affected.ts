// Which placements a change of a member concerns. Guarantees: a heartbeat wakes none; a change wakes every placement
// that could pick differently because
// of it, and only those. Numbers change with nearly every heartbeat: they wake a placement only when they make a member fit its required terms.
//
// MemberClusters are written with every heartbeat, and whether one may be picked depends on the time of the last one. So a projection without
// heartbeats would be too little to decide by, and a second watch beside it twice the traffic: instead both states of a change are compared
// here by what policies look at. Health is compared as of now: a member that fell silent and speaks again becomes eligible by that very change.
// That time passes wakes no placement: the objects on a member that becomes unreachable stay there.
import type { MemberCluster, Taint } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { deepEqual } from '../../base/json.ts';
import { eligibility } from '../members/eligibility.ts';
import { type HubPolicySnapshot, isLatest, placementKeyOf } from '../placement-sources.ts';
import { type MemberChange, nameOf, type Plugin } from './plugin.ts';
import { knowledgeOf } from './plugins/namespace-affinity.ts';
import { profile } from './profile.ts';
import { scheduledCondition } from './report.ts';
import { requiredTerms } from './required-terms.ts';

/** What of a member is new, as far as a policy can look at it. */
export interface News {
  readonly cluster: string;
  readonly becameEligible: boolean;
  readonly isEligible: boolean;
  readonly labels: ReadonlySet<string>;
  readonly lostTaint: boolean;
  hasNewsOf(namespace: string): boolean;
}

/** undefined = nothing that any policy looks at. */
export function newsOf({ older, newer }: MemberChange, now: number): News | undefined {
  // A member that leaves keeps what it has until it is gone.
  if (newer.metadata.deletionTimestamp !== undefined) return undefined;
  const isEligible = eligibility(newer, now).ok;
  const becameEligible = isEligible && (older === undefined || !eligibility(older, now).ok);
  const labels = changedLabels(older?.metadata.labels, newer.metadata.labels);
  const lostTaint = hasLost(older?.spec.taints, newer.spec.taints);
  const hasNamespaces =
    !deepEqual(older?.status?.namespaces, newer.status?.namespaces) ||
    !deepEqual(collectionOf(older), collectionOf(newer));
  if (!becameEligible && labels.size === 0 && !lostTaint && !hasNamespaces) return undefined;
  return {
    cluster: nameOf(newer),
    becameEligible,
    isEligible,
    labels,
    lostTaint,
    hasNewsOf: (namespace) =>
      hasNamespaces &&
      (older === undefined || knowledgeOf(older, namespace) !== knowledgeOf(newer, namespace)) &&
      knowledgeOf(newer, namespace) !== 'missing',
  };
}

const collectionOf = (member: MemberCluster | undefined) =>
  member?.status?.conditions?.find(({ type }) => type === 'NamespaceCollectionSucceeded')?.status;

function changedLabels(
  older: Readonly<Record<string, string>> = {},
  newer: Readonly<Record<string, string>> = {},
): ReadonlySet<string> {
  const changed = new Set<string>();
  for (const key in older) if (newer[key] !== older[key]) changed.add(key);
  for (const key in newer) if (newer[key] !== older[key]) changed.add(key);
  return changed;
}

/** A taint more keeps away, it does not bring about a pick. */
const hasLost = (older: readonly Taint[] = [], newer: readonly Taint[] = []): boolean =>
  older.some((taint) => !newer.some((each) => deepEqual(each, taint)));

/**
 * Whether a run under this policy could pick differently.
 * Differs from KubeFleet: only by what the policy refers to. There each change of free capacity, which is nearly every heartbeat, schedules
 * every PickAll placement again. And PickN counts as satisfied when its policy snapshot says so, which is known before the placement says it.
 */
export function concerns(news: News, snapshot: HubPolicySnapshot, hasBinding: boolean): boolean {
  const { policy } = snapshot.spec;
  const type = policy?.placementType ?? 'PickAll';
  if (type !== 'PickAll' && scheduledCondition(snapshot)?.status === 'True') return false;
  // Who fills up a domain, or makes a new one, changes where others may go.
  const spreads = policy?.topologySpreadConstraints ?? [];
  if (spreads.some(({ topologyKey }) => news.labels.has(topologyKey))) return true;
  if (!news.isEligible || (hasBinding && spreads.length === 0)) return false;
  if (type === 'PickFixed') return news.becameEligible && (policy?.clusterNames ?? []).includes(news.cluster);
  if (news.becameEligible || news.lostTaint) return true;
  const { namespace } = snapshot.metadata;
  if (namespace !== undefined && news.hasNewsOf(namespace)) return true;
  return policy !== undefined && requiredTerms(policy).some((term) => refersTo(term, news.labels));
}

type Term = ReturnType<typeof requiredTerms>[number];

function refersTo({ labelSelector }: Term, changed: ReadonlySet<string>): boolean {
  if (changed.size === 0) return false;
  for (const key in labelSelector?.matchLabels ?? {}) if (changed.has(key)) return true;
  return labelSelector?.matchExpressions?.some(({ key }) => changed.has(key)) ?? false;
}

/**
 * Whether a plugin lets the member be picked under this policy now, by something that no other plugin reads. A plugin compares whole members, as
 * numbers change with nearly every heartbeat.
 */
export function admitted(
  change: MemberChange,
  snapshot: HubPolicySnapshot,
  now: number,
  plugins: readonly Plugin[] = profile,
): boolean {
  const { policy = PICK_ALL } = snapshot.spec;
  if (policy.placementType === 'PickFixed') return false;
  if (policy.placementType === 'PickN' && scheduledCondition(snapshot)?.status === 'True') return false;
  return plugins.some((plugin) => plugin.admits?.(change, policy)) && eligibility(change.newer, now).ok;
}

const PICK_ALL: PlacementPolicy = Object.freeze({ placementType: 'PickAll' });

const latest = new WeakMap<readonly HubPolicySnapshot[], readonly HubPolicySnapshot[]>();

/** The list is the same one until a snapshot changes. */
export function latestOf(snapshots: readonly HubPolicySnapshot[]): readonly HubPolicySnapshot[] {
  const known = latest.get(snapshots);
  if (known !== undefined) return known;
  const found = snapshots.filter(isLatest);
  latest.set(snapshots, found);
  return found;
}

export const keysOf = (snapshots: readonly HubPolicySnapshot[]): readonly string[] => snapshots.map(placementKeyOf);
