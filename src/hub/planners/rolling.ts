// Rolling update: which bindings may move to the newest snapshot now, and which may be removed. Guarantees: the rollout
// never makes more than `maxUnavailable` clusters unavailable (one at a time if it is 0 and content changes in place),
// and never has copies on more than `maxSurge` clusters beyond the target. A cluster that is already unavailable may
// always be updated.
import type { Hold } from '../../api/hold.ts';
import { MAX_DECISIONS } from '../../api/policy-snapshot.ts';
import { countRoundedUp, type IntOrPercent } from '../../base/int-or-percent.ts';
import { gatesOf, readyAt } from './gates.ts';
import { isOutdated, type Plan, type Planner, type Row } from './planner.ts';

export interface RollingLimits {
  readonly maxUnavailable: IntOrPercent;
  readonly maxSurge: IntOrPercent;
  /** How long a cluster whose availability cannot be tracked counts as unavailable. */
  readonly unavailablePeriodMs: number;
  /** How many clusters the policy asks for; undefined = as many as were picked. */
  readonly target: number | undefined;
  /** The clusters that the scheduler found, if it reported that it cannot find more; else undefined. */
  readonly foundOnly?: readonly string[] | undefined;
  /** The kind of the bindings, for references to them. */
  readonly binding: { readonly group: string; readonly kind: string };
}

/** The figures of one plan, for messages and tests. */
export interface Figures {
  readonly target: number;
  readonly maxUnavailable: number;
  readonly maxSurge: number;
  readonly minAvailable: number;
  readonly ready: number;
  readonly canBeUnavailable: number;
  readonly canBeReady: number;
  readonly maxRemove: number;
  readonly maxAdd: number;
}

export interface RollingPlan extends Plan<undefined> {
  readonly figures: Figures;
  /** Rows that should move and may not yet. */
  readonly stale: readonly string[];
  /** Rows that have the newest content. */
  readonly upToDate: readonly string[];
}

export const rolling: Planner<RollingLimits, undefined, RollingPlan> = ({ rows, limits, now }) => {
  const isReady = (row: Row): boolean => readyOf(row, limits, now);
  const canBeReady = ({ health }: Row): boolean =>
    health !== 'failed' && health !== 'diffed' && health !== 'diff-failed';

  const scheduled = rows.filter(({ state }) => state === 'scheduled');
  const bound = rows.filter(({ state }) => state === 'bound');
  const present = rows.filter(({ state }) => state === 'bound' || state === 'unscheduled');
  const live = bound.filter(({ deleting }) => !deleting);
  const leaving = rows.filter(({ state, deleting }) => state === 'unscheduled' && !deleting);

  // Differs from KubeFleet: clusters that do not exist do not use the budget of those that do.
  const picked = scheduled.length + bound.length;
  const target = limits.target ?? picked;
  const isExhausted = limits.foundOnly !== undefined && isWordOf(limits.foundOnly, [...scheduled, ...bound]);
  // Differs from KubeFleet: if the policy asks for fewer clusters and the scheduler has not yet decided which ones
  // stay, all of them count. The surplus is not spare budget: those clusters may be the only ones that still work, and
  // every waiting update would be released at once.
  const staying = [...scheduled, ...bound].filter(({ deleting }) => !deleting).length;
  const within = Math.max(isExhausted ? Math.min(target, picked) : target, staying);
  const maxUnavailable = countRoundedUp(limits.maxUnavailable, within);
  const maxSurge = countRoundedUp(limits.maxSurge, target);
  const ready = present.filter(isReady).length;
  const canBeUnavailable = present.filter((row) => row.deleting && isReady(row)).length;
  const figures: Figures = {
    target: within,
    maxUnavailable,
    maxSurge,
    minAvailable: within - maxUnavailable,
    ready,
    canBeUnavailable,
    canBeReady: present.filter(canBeReady).length,
    maxRemove: ready - canBeUnavailable - (within - maxUnavailable),
    maxAdd: target + maxSurge - present.filter(canBeReady).length,
  };

  const outdated = live.filter(isOutdated);
  const [held, free] = split(outdated, (row) => row.held !== undefined);
  const [broken, toUpdate] = split(free, ({ health }) => health === 'failed' || health === 'starting');
  // Differs from KubeFleet: removing a copy that is known to be down uses no budget. The state of a binding that was
  // just unscheduled or is being applied is unknown and it probably works; it does not count as available, and is
  // removed once the others suffice without it.
  const [down, serving] = split(leaving, isDown);
  const [costly, unsure] = split(serving, isReady);
  const removing = costly.slice(0, Math.max(0, figures.maxRemove));
  const spare = figures.maxRemove >= 0 ? unsure : [];
  // maxUnavailable 0 applies to moves between clusters; content that changes in place still takes one cluster at a
  // time, or it would never change.
  const forUpdates = figures.maxRemove + (maxUnavailable === 0 && within > 0 ? 1 : 0) - removing.length;
  const updating = toUpdate.slice(0, Math.max(0, forUpdates));
  // Differs from KubeFleet: a cluster whose predecessor is still being deleted does not block the others.
  const predecessors = new Map(rows.filter(({ deleting }) => deleting).map((row) => [row.cluster, row]));
  const [blocked, unblocked] = split(
    scheduled.filter(({ deleting }) => !deleting),
    ({ cluster }) => predecessors.has(cluster),
  );
  const [undecided, toBind] = split(unblocked, (row) => row.undecided !== undefined || row.held !== undefined);
  const binding = toBind.slice(0, Math.max(0, figures.maxAdd));

  const moving = [...broken, ...updating, ...binding];
  const isMoving = new Set(moving);
  const isRemoved = new Set([...down, ...removing, ...spare]);
  const remove = rows.filter((row) => isRemoved.has(row));
  const staleUpdates = toUpdate.filter((row) => !isMoving.has(row));
  const staleBinds = toBind.filter((row) => !isMoving.has(row));
  const stale = [...staleUpdates, ...held, ...blocked, ...undecided, ...staleBinds];
  const kept = serving.filter((row) => !isRemoved.has(row));

  const clock = waiting(present, limits, now);
  const gates = gatesOf({ figures, limits, present, isReady, moving, isMoving, remove });
  const holds: Record<string, Hold> = {};
  for (const row of staleUpdates) holds[row.key] = gates.budget(row);
  for (const row of kept) holds[row.key] = gates.budget(row);
  for (const row of staleBinds) holds[row.key] = gates.surge(row);
  for (const row of blocked) holds[row.key] = gates.predecessor(row, predecessors.get(row.cluster) as Row);
  for (const row of [...undecided, ...live]) if (row.undecided !== undefined) holds[row.key] ??= row.undecided;
  for (const row of [...held, ...undecided]) if (row.held !== undefined) holds[row.key] ??= row.held;
  for (const row of live) {
    const hold = holds[row.key] === undefined && !isMoving.has(row) ? gates.own(row) : undefined;
    if (hold !== undefined) holds[row.key] = hold;
  }
  const hasWork = outdated.length > 0 || scheduled.length > 0 || leaving.length > 0;
  // A row that is being removed does not keep the rollout from being done, but gets a hold as long as it exists.
  const done = !hasWork && Object.keys(holds).length === 0;
  const awaited = new Set(blocked.map(({ cluster }) => cluster));
  for (const row of rows) if (row.deleting && !awaited.has(row.cluster)) holds[row.key] = gates.removal(row);

  return {
    move: moving.map(({ key }) => key),
    remove: remove.map(({ key }) => key),
    stale: stale.map(({ key }) => key),
    upToDate: live.filter((row) => !isOutdated(row)).map(({ key }) => key),
    holds,
    state: undefined,
    figures,
    ...(hasWork && clock !== undefined ? { wakeAt: clock } : {}),
    done,
  };
};

/**
 * Conditions from before the Work is written: if one is False, the member still runs the content of the previous Work.
 */
const BEFORE_DELIVERY: readonly string[] = ['Overridden', 'WorkSynchronized'];

/** The member reported that its copy does not work. Content that is still being applied may serve, see ADR 7. */
const isDown = ({ health, at = '' }: Row): boolean =>
  (health === 'failed' && !BEFORE_DELIVERY.includes(at)) || health === 'starting' || health === 'diff-failed';

function readyOf(row: Row, limits: RollingLimits, now: number): boolean {
  if (row.health === 'available' || row.health === 'diffed') return true;
  return row.health === 'untracked' && readyAt(row, limits) < now;
}

/** The only change that time alone brings: the end of the period of an untracked cluster. */
function waiting(present: readonly Row[], limits: RollingLimits, now: number): number | undefined {
  const ends = present
    .filter((row) => row.health === 'untracked' && !readyOf(row, limits, now))
    .map((row) => readyAt(row, limits) + 1);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function split<T>(items: readonly T[], fits: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (fits(item) ? yes : no).push(item);
  return [yes, no];
}

/**
 * Whether the scheduler's result covers the clusters that are picked now. An older result may be wrong: the scheduler
 * may find more clusters and count on those that would be removed. A result with the maximum number of names may be
 * truncated, so it counts as complete.
 */
function isWordOf(named: readonly string[], picked: readonly Row[]): boolean {
  const names = new Set(named);
  const clusters = new Set(picked.map(({ cluster }) => cluster));
  const isKnown = ({ cluster, deleting }: Row) => deleting || names.has(cluster) || names.size >= MAX_DECISIONS;
  return named.every((name) => clusters.has(name)) && picked.every(isKnown);
}
