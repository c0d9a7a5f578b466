// The status of the policy snapshot after a run: which clusters were picked, why others were not, and whether the
// policy is satisfied.
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { MAX_DECISIONS, type PolicySnapshotReason, type PolicySnapshotStatus } from '../../api/policy-snapshot.ts';
import { by } from '../../base/compare.ts';
import { deepEqual } from '../../base/json.ts';
import type { HubPolicySnapshot } from '../placement-sources.ts';
import type { Outcome } from './cycle.ts';
import { type Explained, FILTERED } from './decisions.ts';

/** Clusters that the policy does not name. */
const MAX_EXPLAINED = 20;
const SCHEDULED = 'Scheduled';

export interface ReportInput {
  readonly snapshot: HubPolicySnapshot;
  /** The generation of the placement, from the annotation of the snapshot. */
  readonly generation: number;
  readonly now: number;
}

interface Said {
  readonly decisions: readonly ClusterDecision[];
  readonly isFulfilled: boolean;
  readonly message: string;
}

/** The status to write; undefined = it is up to date. */
export function reportOf(outcome: Outcome, input: ReportInput): PolicySnapshotStatus | undefined {
  const { found, wanted, remarks } = outcome;
  const isFulfilled = found >= wanted;
  const result = !isFulfilled
    ? `found ${found} of the ${wanted} clusters that the scheduling policy asks for`
    : found === 0 && isPickAll(input.snapshot)
      ? sayNobody([...(outcome.explained ?? [])])
      : `all clusters required by the scheduling policy were found: ${found}`;
  const message = [result, ...remarks].join('; ');
  return changed({ decisions: decisionsOf(outcome, input.snapshot), isFulfilled, message }, input);
}

const isPickAll = ({ spec: { policy } }: HubPolicySnapshot): boolean =>
  policy === undefined || policy.placementType === 'PickAll';

const MAX_REASONS = 3;
const MAX_NAMED = 3;

/**
 * PickAll found no cluster that fits, which is hardly intended, so the message says why. It contains no semicolon,
 * because further notes follow after one.
 */
function sayNobody(refused: readonly Explained[]): string {
  if (refused.length === 0) return 'found 0 clusters that fit the scheduling policy: the fleet has no members';
  const byReason = new Map<string, string[]>();
  for (const {
    decision: { clusterName, reason },
  } of refused) {
    const why = reason.replace(FILTERED, '').replaceAll(';', ',');
    byReason.set(why, [...(byReason.get(why) ?? []), clusterName]);
  }
  const said = [...byReason].slice(0, MAX_REASONS).map(([why, clusters]) => `${few(clusters)}: ${why}`);
  const others = byReason.size - said.length;
  return `found 0 clusters that fit the scheduling policy, of ${refused.length} looked at (${said.join(' / ')}${others > 0 ? ` / and ${others} more reasons` : ''})`;
}

const few = (names: readonly string[]): string =>
  `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''}`;

/**
 * The status if no run was possible; decisions stay as they are. Differs from KubeFleet: there such a placement stays
 * pending without a reason.
 */
export function reportOfTrouble(cause: string, input: ReportInput): PolicySnapshotStatus | undefined {
  const decisions = input.snapshot.status?.targetClusters ?? [];
  return changed({ decisions, isFulfilled: false, message: `cannot schedule: ${cause}` }, input);
}

function changed({ decisions, isFulfilled, message }: Said, { snapshot, generation, now }: ReportInput) {
  const { status, metadata } = snapshot;
  const reason: PolicySnapshotReason = isFulfilled ? 'SchedulingPolicyFulfilled' : 'SchedulingPolicyUnfulfilled';
  const condition = nextCondition(
    conditionOf(status?.conditions, SCHEDULED),
    {
      type: SCHEDULED,
      status: isFulfilled ? 'True' : 'False',
      observedGeneration: metadata.generation ?? 0,
      reason,
      message,
    },
    now,
  );
  const others = (status?.conditions ?? []).filter(({ type }) => type !== SCHEDULED);
  const next = { observedCRPGeneration: generation, targetClusters: decisions, conditions: [...others, condition] };
  const before = {
    observedCRPGeneration: status?.observedCRPGeneration,
    targetClusters: status?.targetClusters ?? [],
    conditions: status?.conditions ?? [],
  };
  return status !== undefined && deepEqual(before, next) ? undefined : next;
}

/**
 * Differs from KubeFleet: picked clusters are sorted by name, so that equal decisions give equal lists; and the number
 * of explained clusters is limited after the picked ones are removed, not before.
 */
function decisionsOf(
  { kept, picks, explained }: Outcome,
  { status, spec }: HubPolicySnapshot,
): readonly ClusterDecision[] {
  const selected = [...kept.map(({ spec }) => spec.clusterDecision), ...picks.map(({ decision }) => decision)]
    .toSorted(by(({ clusterName }) => clusterName))
    .slice(0, MAX_DECISIONS);
  const isSelected = new Set(selected.map(({ clusterName }) => clusterName));
  const max = spec.policy?.placementType === 'PickFixed' ? MAX_DECISIONS : MAX_EXPLAINED;
  const room = Math.min(max, MAX_DECISIONS - selected.length);
  const others: ClusterDecision[] = [];
  for (const decision of explained === undefined ? before(status) : decisionsIn(explained)) {
    if (others.length >= room) break;
    if (!isSelected.has(decision.clusterName)) others.push(decision);
  }
  return [...selected, ...others];
}

const before = (status: HubPolicySnapshot['status']): readonly ClusterDecision[] =>
  status?.targetClusters?.filter((each) => !each.selected) ?? [];

function* decisionsIn(explained: Iterable<Explained>) {
  for (const { decision } of explained) yield decision;
}

/** The Scheduled condition as last written. */
export const scheduledCondition = ({ status }: HubPolicySnapshot) => conditionOf(status?.conditions, SCHEDULED);
