// Partitioned rollout: one pass over the partitions of a placement's clusters (partition-pass.ts), as a plan over rows.
// Guarantees: those of the pass; an available copy is removed only while enough others are available (ADR 7); nothing
// moves while a number or a selector of the strategy is invalid. Nothing is kept between plans.
import type { Hold } from '../../api/hold.ts';
import type { ObjectRef } from '../../api/object.ts';
import { type GroupFacts, type Partition, type PartitionSettings, partitionsOf } from '../../api/partitions.ts';
import { UserError } from '../../base/errors.ts';
import { type IntOrPercent, partitionLimit } from '../../base/int-or-percent.ts';
import { compileLabelSelector, type LabelSelector } from '../../base/selector.ts';
import { partitionGates } from './partition-gates.ts';
import { type PartitionMode, type PassResult, type PassTarget, partitionPass } from './partition-pass.ts';
import { isOutdated, type Plan, type Planner, type Row } from './planner.ts';
import { rolling } from './rolling.ts';

export interface ClusterGroupFacts extends GroupFacts {
  readonly selector: LabelSelector | undefined;
}

export interface PartitionedLimits extends PartitionSettings {
  readonly maxUnavailablePartitions?: IntOrPercent;
  readonly maxNew: number;
  readonly mode: PartitionMode;
  readonly excludesUnreachable: boolean;
  readonly excludesPaused: boolean;
  readonly soakMs: number;
  /** undefined = the groups cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  readonly placement: ObjectRef;
  readonly binding: { readonly group: string; readonly kind: string };
}

export interface PartitionTarget extends PassTarget {
  readonly cluster: string;
  readonly labels: Row['labels'];
  readonly groups: readonly GroupFacts[];
  readonly row: Row;
}

/** The result of the pass, for the status. */
export interface PartitionedOutcome {
  readonly targets: readonly PartitionTarget[];
  readonly partitions: readonly Partition<PartitionTarget>[];
  readonly pass: PassResult;
  /** The maximum number of unavailable clusters over all partitions. */
  readonly max: number;
  readonly maxPartitions: number;
}

export interface PartitionedPlan extends Plan<undefined> {
  readonly stale: readonly string[];
  readonly upToDate: readonly string[];
  /** undefined = the strategy is invalid. */
  readonly outcome: PartitionedOutcome | undefined;
}

export const DEFAULT_MAX_NEW = 50;

export const partitioned: Planner<PartitionedLimits, undefined, PartitionedPlan> = ({ rows, limits, now }) => {
  const live = rows.filter(({ state, deleting }) => !deleting && (state === 'scheduled' || state === 'bound'));
  const predecessors = new Map(rows.filter(({ deleting }) => deleting).map((row) => [row.cluster, row]));
  const begun = new Set<string>();
  for (const { batch } of rows) for (const uid of batch ?? []) begun.add(uid);
  const targets = live.map((row) => targetOf(row, { limits, predecessors, begun, now }));
  let outcome: PartitionedOutcome;
  try {
    outcome = outcomeOf(targets, limits);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return invalid(rows, live, limits, error.message);
  }
  const { pass } = outcome;
  const moving = new Set(pass.move);
  const rest = removalsAfter(rows, moving, { limits, max: outcome.max, now });
  const gates = partitionGates({ outcome, limits, moving, predecessors });
  const holds: Record<string, Hold> = { ...rest.holds };
  const stale: string[] = [];
  for (const target of targets) {
    const { key, row } = target;
    if (moving.has(key)) continue;
    const isWaiting = isOutdated(row) || row.state === 'scheduled';
    if (isWaiting) stale.push(key);
    const hold = isWaiting || row.undecided !== undefined ? gates.waiting(target) : gates.own(target);
    if (hold !== undefined) holds[key] = hold;
  }
  const hasWork = stale.length > 0 || moving.size > 0 || rows.some(({ state }) => state === 'unscheduled');
  const wakeAt = soakEnd(live, limits, now);
  return {
    move: pass.move,
    ...(pass.batch === undefined ? {} : { batch: pass.batch }),
    remove: rest.remove,
    stale,
    upToDate: live.filter((row) => row.state === 'bound' && !isOutdated(row)).map(({ key }) => key),
    holds,
    state: undefined,
    outcome,
    ...(hasWork && wakeAt !== undefined ? { wakeAt } : {}),
    done: !hasWork && Object.keys(holds).length === 0,
  };
};

/** Untracked availability counts at once: partitioned rollouts have no waiting period. */
const SERVING: readonly Row['health'][] = ['available', 'untracked', 'diffed'];

interface Around {
  readonly limits: PartitionedLimits;
  readonly predecessors: ReadonlyMap<string, Row>;
  /** The uids of the bindings in batches that have started. */
  readonly begun: ReadonlySet<string>;
  readonly now: number;
}

function targetOf(row: Row, { limits, predecessors, begun, now }: Around): PartitionTarget {
  const isServing = row.state === 'bound' && SERVING.includes(row.health);
  const isPaused = row.paused === true;
  const isCurrent = row.state === 'bound' && !isOutdated(row);
  const isDelayed = row.held !== undefined || (row.state === 'scheduled' && predecessors.has(row.cluster));
  return {
    key: row.key,
    cluster: row.cluster,
    labels: row.labels,
    groups: groupsOf(row, limits.groups),
    row,
    isPresent: row.state === 'bound',
    isCurrent,
    isServing,
    isAvailable: isServing && (limits.mode === 'FleetExact' || row.reachable),
    isHeld: isPaused || row.undecided !== undefined || isDelayed,
    isDelayed: isDelayed && !isPaused && row.undecided === undefined,
    isInBatch: row.binding !== undefined && begun.has(row.binding.uid),
    isExcluded: (limits.excludesUnreachable && !row.reachable) || (limits.excludesPaused && isPaused && !isCurrent),
    // Clocks differ: without a soak time, a time in the future counts as available at once.
    isSoaking: limits.soakMs > 0 && isServing && row.since + limits.soakMs > now,
  };
}

function groupsOf({ labels }: Row, groups: PartitionedLimits['groups']): readonly GroupFacts[] {
  // A group without a selector contains no clusters.
  return (groups ?? []).filter(({ selector }) => selector !== undefined && compiled(selector).matches(labels));
}

const selectors = new WeakMap<LabelSelector, ReturnType<typeof compileLabelSelector>>();

function compiled(selector: LabelSelector) {
  let known = selectors.get(selector);
  if (known === undefined) {
    known = compileLabelSelector(selector);
    selectors.set(selector, known);
  }
  return known;
}

function outcomeOf(targets: readonly PartitionTarget[], limits: PartitionedLimits): PartitionedOutcome {
  const usesGroups = (limits.partitions ?? []).some(
    ({ clusterGroup = '', clusterGroupSelector }) => clusterGroup !== '' || clusterGroupSelector !== undefined,
  );
  if (usesGroups && limits.groups === undefined) {
    throw new UserError(
      'GroupsUnknown',
      'ClusterGroups cannot be read: install the CRDs of this version (flotilla crds hub)',
    );
  }
  const partitions = partitionsOf(limits, targets);
  const max = partitionLimit(targets.length, limits.maxUnavailable);
  const maxPartitions = partitionLimit(partitions.length, limits.maxUnavailablePartitions, 0);
  const pass = partitionPass(targets, partitions, { mode: limits.mode, maxNew: limits.maxNew, max, maxPartitions });
  return { targets, partitions, pass, max, maxPartitions };
}

/**
 * Removals follow the rule of a rolling update (ADR 7): they are computed after the moves, which count as unavailable.
 * Differs from Rancher Fleet, which deletes copies that are no longer targeted at once, even the last available one.
 */
function removalsAfter(
  rows: readonly Row[],
  moving: ReadonlySet<string>,
  { limits, max, now }: { readonly limits: PartitionedLimits; readonly max: number; readonly now: number },
): Pick<Plan<undefined>, 'remove' | 'holds'> {
  const leaving = rows.filter(({ state, deleting }) => state === 'unscheduled' || deleting);
  if (leaving.length === 0) return { remove: [], holds: {} };
  const after = rows.map((row): Row => {
    if (moving.has(row.key)) return { ...row, state: 'bound', has: row.wants, health: 'progressing' };
    return row.state === 'bound' ? { ...row, has: row.wants } : row;
  });
  const plan = rolling({
    rows: after,
    limits: {
      maxUnavailable: max,
      maxSurge: '100%',
      unavailablePeriodMs: 0,
      target: undefined,
      binding: limits.binding,
    },
    state: undefined,
    now,
  });
  const isLeaving = new Set(leaving.map(({ key }) => key));
  return {
    remove: plan.remove,
    holds: Object.fromEntries(Object.entries(plan.holds).filter(([key]) => isLeaving.has(key))),
  };
}

function invalid(
  rows: readonly Row[],
  live: readonly Row[],
  { placement }: PartitionedLimits,
  message: string,
): PartitionedPlan {
  const hold: Hold = {
    code: 'SpecInvalid',
    subject: placement,
    facts: { message },
    next: `fix spec.strategy.partitioned of ${placement.kind} "${placement.name}"`,
  };
  const stale = live.filter((row) => row.state === 'scheduled' || isOutdated(row)).map(({ key }) => key);
  return {
    move: [],
    remove: [],
    stale,
    upToDate: live.filter((row) => row.state === 'bound' && !isOutdated(row)).map(({ key }) => key),
    holds: Object.fromEntries(
      (stale.length > 0 ? stale : rows.slice(0, 1).map(({ key }) => key)).map((key) => [key, hold]),
    ),
    state: undefined,
    outcome: undefined,
    done: false,
  };
}

/** When the first soaking cluster has soaked. */
function soakEnd(live: readonly Row[], { soakMs }: PartitionedLimits, now: number): number | undefined {
  if (soakMs === 0) return undefined;
  const ends = live
    .filter(({ health }) => SERVING.includes(health))
    .map(({ since }) => since + soakMs)
    .filter((end) => end > now);
  return ends.length === 0 ? undefined : Math.min(...ends);
}
