// The state of one pass over a run: its input, the status tree that it fills in, and its findings. The functions of the
// pass change only the last two, and the plan is built from them at the end. A run that fails during the pass acts no
// more, whatever was found before.
import type { Hold } from '../../api/hold.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { Planner, Row } from './planner.ts';
import { stagedHolds } from './staged-holds.ts';
import type { Gate, StagedLimits, StagedPlan } from './staged-plan.ts';
import { type ClusterTree, type RunTree, type StageTree, sinceOf, type Teller, teller, treeOf } from './staged-tree.ts';

export type StagedInput = Parameters<Planner<StagedLimits, StagedUpdateRunStatus>>[0];

export interface Pass {
  readonly limits: StagedLimits;
  readonly now: number;
  /** The status of the run as recorded. */
  readonly state: StagedUpdateRunStatus;
  /** A copy of the status, which this pass updates. */
  readonly tree: RunTree;
  /** The stages of the tree, without the deletion stage. */
  readonly stages: readonly StageTree[];
  /** The picked rows, by cluster. */
  readonly updates: ReadonlyMap<string, Row>;
  /** The unscheduled rows, by cluster. */
  readonly removals: ReadonlyMap<string, readonly Row[]>;
  readonly tell: Teller;
  readonly say: ReturnType<typeof stagedHolds>;
  readonly found: Found;
}

export interface Found {
  readonly move: string[];
  readonly release: string[];
  readonly remove: string[];
  readonly ask: Gate[];
  readonly discard: string[];
  readonly accept: string[];
  readonly holds: Record<string, Hold>;
  readonly gates: Hold[];
  readonly wakes: number[];
  failure: StagedPlan['failure'];
  isOver: boolean;
}

export function begin({ rows, limits, state, now }: StagedInput): Pass {
  const tree = treeOf(state, limits.generation);
  const updates = new Map<string, Row>();
  const removals = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.state === 'unscheduled') removals.set(row.cluster, [...(removals.get(row.cluster) ?? []), row]);
    else if (!row.deleting) updates.set(row.cluster, row);
  }
  return {
    limits,
    now,
    state,
    tree,
    stages: tree.stagesStatus ?? [],
    updates,
    removals,
    tell: teller(limits.generation, now),
    say: stagedHolds(limits),
    found: {
      move: [],
      release: [],
      remove: [],
      ask: [],
      discard: [],
      accept: [],
      holds: {},
      gates: [],
      wakes: [],
      failure: undefined,
      isOver: false,
    },
  };
}

export function planOf({ tree, found }: Pass): StagedPlan {
  const { failure, isOver, holds, gates, wakes, move, release, remove, ask, discard, accept } = found;
  const acts = failure === undefined;
  return {
    move: acts ? move : [],
    release: acts ? release : [],
    remove: acts ? remove : [],
    ask: acts ? ask : [],
    discard: acts ? discard : [],
    accept: acts ? accept : [],
    holds: isOver ? {} : holds,
    gates: isOver ? [] : gates,
    state: tree as StagedUpdateRunStatus,
    ...(wakes.length === 0 || isOver ? {} : { wakeAt: Math.min(...wakes) }),
    done: isOver,
    ...(failure === undefined ? {} : { failure }),
  };
}

// ---- reading rows, and when to run again

export const isDone = ({ health }: Row): boolean =>
  health === 'available' || health === 'untracked' || health === 'diffed';

export const rowOf = ({ updates, removals }: Pass, cluster: ClusterTree | undefined): Row | undefined =>
  cluster && (updates.get(cluster.clusterName) ?? removals.get(cluster.clusterName)?.[0]);

/** The Freeze that covers a cluster; the run is requeued when the Freeze ends. */
export function frozenBy({ limits, found }: Pass, { cluster, labels }: Row): Hold | undefined {
  const hold = limits.frozen?.by(cluster, labels);
  if (hold !== undefined && limits.frozen?.wakeAt !== undefined) found.wakes.push(limits.frozen.wakeAt);
  return hold;
}

/** Whether that time has come; if not, the run is requeued then. */
export function hasCome({ now, found }: Pass, moment: number): boolean {
  if (moment > now) found.wakes.push(moment);
  return now >= moment;
}

/** It has been unreachable for longer than the run waits for such a cluster. */
export function isGivenUp(pass: Pass, { reachable, silentSince }: Row): boolean {
  const { unreachableAfterMs } = pass.limits;
  if (reachable || unreachableAfterMs === undefined || silentSince === undefined) return false;
  return hasCome(pass, silentSince + unreachableAfterMs);
}

export const isStuck = (pass: Pass, cluster: ClusterTree): boolean =>
  hasCome(pass, sinceOf(cluster, 'Started') + pass.limits.stuckAfterMs);
