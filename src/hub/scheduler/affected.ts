// Which placements a change of a member affects. Guarantees: a heartbeat requeues none; a change requeues every
// placement that could pick differently because of it, and no other. Numbers change with nearly every heartbeat: they
// requeue a placement only if the member now fits its required terms.
//
// MemberClusters are written with every heartbeat, and eligibility depends on the time of the last one. A projection
// without heartbeats would not be enough, and a second watch would double the traffic; so both states are compared
// here, by the fields that policies read. Health is compared as of now: a member that was unreachable becomes eligible
// by its next heartbeat. Time alone requeues no placement: objects on a member that becomes unreachable stay there.
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

/** The changes of a member that policies can read. */
export interface News {
  readonly cluster: string;
  readonly becameEligible: boolean;
  readonly isEligible: boolean;
  readonly labels: ReadonlySet<string>;
  readonly lostTaint: boolean;
  hasNewsOf(namespace: string): boolean;
}

/** undefined = no policy reads the change. */
export function newsOf({ older, newer }: MemberChange, now: number): News | undefined {
  // A leaving member keeps its placements until it is deleted.
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

/** An added taint keeps placements away, it cannot lead to a new pick. */
const hasLost = (older: readonly Taint[] = [], newer: readonly Taint[] = []): boolean =>
  older.some((taint) => !newer.some((each) => deepEqual(each, taint)));

/**
 * Whether a scheduling run under this policy could pick differently; only the fields that the policy references count.
 * Differs from KubeFleet: there each change of free capacity, that is nearly every heartbeat, reschedules every PickAll
 * placement. Here PickN also counts as satisfied as soon as its policy snapshot says so, which is before the placement
 * does.
 */
export function concerns(news: News, snapshot: HubPolicySnapshot, hasBinding: boolean): boolean {
  const { policy } = snapshot.spec;
  const type = policy?.placementType ?? 'PickAll';
  if (type !== 'PickAll' && scheduledCondition(snapshot)?.status === 'True') return false;
  // A change of a topology label changes where others may go.
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
 * Whether a change makes a plugin admit the member under this policy, by values that only this plugin reads. A plugin
 * compares whole members, because numbers change with nearly every heartbeat.
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

/** Cached by the identity of the list, which is the same until a snapshot changes. */
export function latestOf(snapshots: readonly HubPolicySnapshot[]): readonly HubPolicySnapshot[] {
  const known = latest.get(snapshots);
  if (known !== undefined) return known;
  const found = snapshots.filter(isLatest);
  latest.set(snapshots, found);
  return found;
}

export const keysOf = (snapshots: readonly HubPolicySnapshot[]): readonly string[] => snapshots.map(placementKeyOf);
