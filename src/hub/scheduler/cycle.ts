// A scheduling cycle: which clusters a placement gets, over one immutable snapshot of policy, members and bindings.
//
// 1. Classify the bindings under this policy (bindings.ts).
// 2. If there are enough clusters already, unschedule the surplus (PickN, here).
// 3. Filter the members by everything that picks do not change (filter.ts, plugins/).
// 4. In rounds: evaluate what picks do change, score, take the best (PickN, here).
// 5. Match the picks with existing bindings (matched, here).
//
// Guarantees: a cluster gets at most one live binding; PickN never gets more than N; the same snapshot in any order
// gives the same outcome. Pure: decide.ts turns the outcome into writes.
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { lazy } from '../../base/lazy.ts';
import { eligibility } from '../members/eligibility.ts';
import type { HubBinding } from '../placement-sources.ts';
import { byCluster, clusterOf, type Duplicate, parted, type Sorted, sortBindings } from './bindings.ts';
import { type Explained, filtered, ineligible, named, notFound, notPicked, picked } from './decisions.ts';
import {
  type Candidate,
  type Filtered,
  filterMembers,
  firstOf,
  judged,
  type Panel,
  picker,
  type Rejection,
} from './filter.ts';
import { nameOf, type Plugin, type Run } from './plugin.ts';
import { clusterEligibility } from './plugins/cluster-eligibility.ts';
import { profile } from './profile.ts';

export interface CycleInput {
  /** Absent = PickAll. */
  readonly policy: PlacementPolicy | undefined;
  /** For PickN. */
  readonly numberOfClusters: number;
  /** Name of the policy snapshot. */
  readonly snapshot: string;
  readonly namespace?: string;
  /** Sorted by name. */
  readonly members: readonly MemberCluster[];
  readonly bindings: readonly HubBinding[];
  readonly now: number;
  /** Explain every cluster that is not picked, even if there is nothing to decide; for the CLI. */
  readonly explainsAll?: true;
  /** Absent = the profile. */
  readonly plugins?: readonly Plugin[];
}

/** A picked cluster, with its existing binding: obsolete or unscheduled. */
export interface Picked {
  readonly decision: ClusterDecision;
  readonly obsolete?: HubBinding;
  readonly unscheduled?: HubBinding;
}

export interface Outcome {
  readonly sorted: Sorted;
  readonly picks: readonly Picked[];
  readonly unschedule: readonly HubBinding[];
  /** They are deleted, and their objects stay on the cluster. */
  readonly duplicates: readonly Duplicate[];
  /** Live bindings that stay as they are. */
  readonly kept: readonly HubBinding[];
  /** Why others were not picked, most relevant first; undefined = keep the earlier explanation. */
  readonly explained: Iterable<Explained> | undefined;
  readonly wanted: number;
  readonly found: number;
  /** Notes about the policy for the user. */
  readonly remarks: readonly string[];
}

const PICK_ALL: PlacementPolicy = Object.freeze({ placementType: 'PickAll' });

export function cycle(input: CycleInput): Outcome {
  const policy = input.policy ?? PICK_ALL;
  const known = membersByName(input.members);
  const isMember = (cluster: string) => {
    const member = known.get(cluster);
    return member !== undefined && member.metadata.deletionTimestamp === undefined;
  };
  const sortedAll = sortBindings({ bindings: input.bindings, snapshot: input.snapshot, isMember });
  const { sorted, unusedDuplicates, duplicates } = parted(sortedAll);
  const outcome = pick(input, policy, sorted, known);
  const { members, plugins = profile } = input;
  const isJudged = policy.placementType !== 'PickFixed';
  const remarks = isJudged ? plugins.flatMap((plugin) => plugin.remarks?.({ policy, members }) ?? []) : [];
  return { ...outcome, unschedule: [...outcome.unschedule, ...unusedDuplicates], duplicates, remarks };
}

type Members = ReadonlyMap<string, MemberCluster>;

type Picking = Omit<Outcome, 'duplicates' | 'remarks'>;

function pick(input: CycleInput, policy: PlacementPolicy, sorted: Sorted, known: Members): Picking {
  switch (policy.placementType) {
    case 'PickFixed':
      return pickFixed(input, new Set(policy.clusterNames), sorted, known);
    case 'PickN':
      return pickN(input, policy, sorted);
    default:
      return pickAll(input, policy, sorted);
  }
}

const maps = new WeakMap<readonly MemberCluster[], Members>();

/** Cached by the identity of the list, which is the same for all placements until a member changes. */
function membersByName(members: readonly MemberCluster[]): Members {
  const known = maps.get(members);
  if (known !== undefined) return known;
  const made = new Map(members.map((member) => [nameOf(member), member]));
  if (Object.isFrozen(members)) maps.set(members, made);
  return made;
}

const runOf = (input: CycleInput, policy: PlacementPolicy, { obsolete }: Sorted): Run => {
  const known = lazy(() => membersByName(input.members));
  return {
    policy,
    ...(input.namespace === undefined ? {} : { namespace: input.namespace }),
    members: input.members,
    find: (name) => known().get(name),
    obsolete: new Set(obsolete.map(clusterOf)),
    now: input.now,
  };
};

const clustersOf = (bindings: readonly HubBinding[]): Set<string> => new Set(bindings.map(clusterOf));

// ---- PickAll

function pickAll(input: CycleInput, policy: PlacementPolicy, sorted: Sorted): Picking {
  const kept = [...sorted.scheduled, ...sorted.bound];
  const panel = filterMembers(runOf(input, policy, sorted), input.plugins ?? profile);
  const last = judged(panel.candidates, panel.round(clustersOf(kept)));
  const decisions = last.candidates.map((candidate) => picked(noted(panel, candidate), NO_SCORE));
  return {
    ...matched({ picks: decisions, kept }, sorted),
    explained: again(() => refusals(panel, last.rejected)),
    // PickAll wants every cluster that fits, even if none does.
    wanted: kept.length + decisions.length,
  };
}

const NO_SCORE = Object.freeze({ topology: 0, affinity: 0, obsolete: 0 });

// ---- PickN

function pickN(input: CycleInput, policy: PlacementPolicy, sorted: Sorted): Picking {
  const { numberOfClusters: wanted } = input;
  const kept = [...sorted.scheduled, ...sorted.bound];
  if (kept.length >= wanted) {
    const surplus = new Set(tooMany(sorted, kept.length - wanted));
    return {
      // Differs from KubeFleet: the explanation is kept if fewer clusters are wanted or nothing changes.
      ...matched({ picks: [], kept: kept.filter((binding) => !surplus.has(binding)), surplus: [...surplus] }, sorted),
      explained: input.explainsAll ? unpicked(input, policy, sorted) : undefined,
      wanted,
    };
  }

  const panel = filterMembers(runOf(input, policy, sorted), input.plugins ?? profile);
  const present = clustersOf(kept);
  const best: Candidate[] = [];
  const missing = () => wanted - kept.length - best.length;
  // Differs from KubeFleet: all rounds of a cycle run before anything is written. There each round is a cycle with its
  // own writes, and the first one unschedules every obsolete binding that it did not pick, although a later round may
  // pick it.
  const { batchLimit } = panel;
  const next = batchLimit === 1 ? picker(panel, better) : undefined;
  while (missing() > batchLimit) {
    const found = next?.(present, batchLimit) ?? firstOf(left(panel, present).candidates, batchLimit, better);
    best.push(...found);
    for (const { name } of found) present.add(name);
    if (found.length === 0) break;
  }
  // The last round is reported.
  const last = lazy(() => left(panel, present));
  const ranked = (count: number) => next?.(present, count) ?? firstOf(last().candidates, count, better);
  const picks = ranked(Math.min(missing(), batchLimit));
  best.push(...picks);
  return {
    ...matched({ picks: best.map((each) => picked(noted(panel, each))), kept }, sorted),
    explained: explanation(panel, { last, ranked, picks }),
    wanted,
  };
}

/** Clusters without a live binding, evaluated next to those that have one. */
function unpicked(input: CycleInput, policy: PlacementPolicy, sorted: Sorted): Iterable<Explained> {
  const panel = filterMembers(runOf(input, policy, sorted), input.plugins ?? profile);
  const last = lazy(() => left(panel, clustersOf([...sorted.scheduled, ...sorted.bound])));
  return explanation(panel, { last, ranked: (count) => firstOf(last().candidates, count, better), picks: [] });
}

/** All clusters that are not picked, as the next round evaluates them. */
const left = ({ candidates, round }: Panel, present: ReadonlySet<string>): Filtered =>
  judged(candidates, round(present));

const noted = ({ notesOn }: Panel, candidate: Candidate): Candidate => {
  const more = notesOn(candidate.member);
  return more.length === 0 ? candidate : { ...candidate, notes: [...candidate.notes, ...more] };
};

// ---- why others are not picked: computed lazily, because a status explains twenty of ten thousand clusters

const again = <T>(items: () => Iterator<T>): Iterable<T> => ({ [Symbol.iterator]: items });

/** This many are ranked first; a reader that continues gets the full sort. */
const RANKED_FIRST = 32;

interface LastRound {
  /** All clusters that were evaluated. */
  last(): Filtered;
  /** The best of them. */
  ranked(count: number): readonly Candidate[];
  readonly picks: readonly Candidate[];
}

const explanation = (panel: Panel, { last, ranked, picks }: LastRound): Iterable<Explained> =>
  again(function* () {
    const isPicked = new Set(picks.map(({ name }) => name));
    const first = ranked(RANKED_FIRST + picks.length);
    for (const candidate of first) if (!isPicked.has(candidate.name)) yield notPicked(noted(panel, candidate));
    if (last().candidates.length > first.length) {
      const others = last().candidates.toSorted(better).slice(first.length);
      for (const candidate of others) if (!isPicked.has(candidate.name)) yield notPicked(noted(panel, candidate));
    }
    yield* refusals(panel, last().rejected);
  });

function* refusals(panel: Panel, rejected: readonly Rejection[]) {
  for (const each of [...panel.rejected, ...rejected].toSorted(byName)) yield filtered(each);
}

const byName = (a: Rejection, b: Rejection): number => byText(a.name, b.name);

/** Best first. Ties are broken by the larger name, unlike PickAll, which sorts ascending. */
const better = (a: Candidate, b: Candidate): number =>
  byNumber(b.score.topology, a.score.topology) ||
  byNumber(b.score.affinity, a.score.affinity) ||
  byNumber(b.score.obsolete, a.score.obsolete) ||
  byText(b.name, a.name);

/**
 * Scheduled bindings are removed before bound ones; within each, those with the lowest score at the time of the pick.
 */
function tooMany({ scheduled, bound }: Sorted, count: number): readonly HubBinding[] {
  return [...scheduled.toSorted(worse), ...bound.toSorted(worse)].slice(0, count);
}

const worse = (a: HubBinding, b: HubBinding): number => {
  const [left, right] = [a.spec.clusterDecision.clusterScore, b.spec.clusterDecision.clusterScore];
  return (
    byNumber(left === undefined ? 0 : 1, right === undefined ? 0 : 1) ||
    byNumber(left?.priorityScore ?? 0, right?.priorityScore ?? 0) ||
    byNumber(left?.affinityScore ?? 0, right?.affinityScore ?? 0) ||
    byText(clusterOf(a), clusterOf(b))
  );
};

// ---- PickFixed

/** No plugins: the user named the clusters. Only membership and health are checked. */
function pickFixed({ now }: CycleInput, names: ReadonlySet<string>, sorted: Sorted, known: Members): Picking {
  const kept = [...sorted.scheduled, ...sorted.bound].filter((binding) => names.has(clusterOf(binding)));
  const present = clustersOf(kept);
  const had = clustersOf(sorted.obsolete);
  const decisions: ClusterDecision[] = [];
  const unfit: Explained[] = [];
  const absent: Explained[] = [];
  for (const name of names) {
    const member = known.get(name);
    if (member === undefined) {
      absent.push(notFound(name));
      continue;
    }
    // Differs from KubeFleet: an unhealthy cluster keeps its placement and still counts.
    if (present.has(name)) continue;
    const verdict = eligibility(member, now);
    if (verdict.ok) decisions.push(named(name));
    else if (had.has(name)) decisions.push(named(name, `kept although ${verdict.reason}`));
    else unfit.push(ineligible({ name, reason: verdict.reason, plugin: clusterEligibility.name }));
  }
  // Differs from KubeFleet: an empty list unschedules everything. There nothing happens, and placed objects stay.
  return { ...matched({ picks: decisions, kept }, sorted), explained: [...unfit, ...absent], wanted: names.size };
}

// ---- matching picks with bindings

interface Matching {
  readonly picks: readonly ClusterDecision[];
  readonly kept: readonly HubBinding[];
  /** Live bindings to unschedule. */
  readonly surplus?: readonly HubBinding[];
}

/** A pick reuses the existing binding of its cluster; obsolete bindings that no pick uses are unscheduled. */
function matched({ picks, kept, surplus = [] }: Matching, sorted: Sorted) {
  const obsolete = byCluster(sorted.obsolete);
  // If a cluster has several unscheduled bindings, the first is reused.
  const unscheduled = new Map(sorted.unscheduled.toReversed().map((binding) => [clusterOf(binding), binding]));
  const isTaken = new Set(sorted.obsolete.length === 0 ? [] : picks.map(({ clusterName }) => clusterName));
  const hasEarlier = obsolete.size + unscheduled.size > 0;
  return {
    sorted,
    kept,
    picks: picks.map((decision): Picked => {
      if (!hasEarlier) return { decision };
      const earlier = obsolete.get(decision.clusterName);
      if (earlier !== undefined) return { decision, obsolete: earlier };
      const givenUp = unscheduled.get(decision.clusterName);
      return givenUp === undefined ? { decision } : { decision, unscheduled: givenUp };
    }),
    unschedule: [
      ...sorted.dangling,
      ...sorted.obsolete.filter((binding) => !isTaken.has(clusterOf(binding))),
      ...surplus,
    ],
    found: kept.length + picks.length,
  };
}
