// The progress of a placement, from its status: the stage of each cluster, how many are done, and whether the placement
// is complete. Pure.

import { isStartFailure } from '../../api/apply-cause.ts';
import type { Condition } from '../../api/conditions.ts';
import { sentenceOf } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import {
  type ClusterCondition,
  type Placement,
  type PlacementCondition,
  placementConditionType,
} from '../../api/placement.ts';
import type { ClusterPlacementState } from '../../api/placement-state.ts';
import { withPlaced } from '../../api/selected-resource.ts';
import { holdOf } from '../../hub/status/holds-summary.ts';
import { isExternal } from '../../hub/strategies/table.ts';

export type Stage =
  | 'NotPicked'
  | 'Leaving'
  | 'Waiting'
  | 'Starting'
  | 'OverrideFailed'
  | 'Applying'
  | 'ApplyFailed'
  | 'Applied'
  | 'NotAvailable'
  | 'Available'
  | 'Comparing'
  | 'CompareFailed'
  | 'Compared';

export interface ClusterProgress {
  /** Empty if no cluster was found. */
  readonly cluster: string;
  readonly stage: Stage;
  readonly isDone: boolean;
  /** Since when it is in this stage, epoch ms. */
  readonly since?: number;
  /** The revision that it has; empty = none, or unknown. */
  readonly revision: string;
  /** Why it is not done; for a cluster that is done, how many of its objects differ. */
  readonly message: string;
  /** The number of objects in its lists of drifts and differences. */
  readonly differing: number;
  /** A Pod reports a cause that waiting does not fix, such as ImagePullBackOff. */
  readonly cannotStart?: true;
}

export interface Progress {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly revision: string;
  readonly isDeleting: boolean;
  /**
   * Set if the hub has not processed the present generation: `observed` is the one that the status is about, 0 = none.
   */
  readonly outdated?: { readonly generation: number; readonly observed: number };
  readonly isComplete: boolean;
  readonly done: number;
  readonly total: number;
  /**
   * How many clusters that are not done still have an earlier revision, as far as it is known; with External, a
   * revision other than that of the run.
   */
  readonly earlier: number;
  /** Clusters that are done but not listed, because the status would be too large. */
  readonly unlisted: number;
  /** Clusters that are not done and not listed either. */
  readonly unlistedOpen: number;
  /** The message of the scheduler if no cluster fits although some are wanted. */
  readonly nobody?: string;
  /** Why nothing is selected, if so: the API reports success then, but it is hardly intended. */
  readonly nothing?: string;
  /** Further messages about a successful selection, such as one of several selectors that matches nothing. */
  readonly notes: readonly string[];
  readonly isReport: boolean;
  /** Staged update runs move it, also back to an earlier revision. */
  readonly isStaged: boolean;
  readonly clusters: readonly ClusterProgress[];
  /** Clusters that are no longer picked and still have objects, as far as a hold names them. */
  readonly leaving: readonly ClusterProgress[];
  readonly holds: readonly HoldEntry[];
  /** The first condition of the placement that is not True. */
  readonly open?: Condition & { readonly step: PlacementCondition };
}

type Step = ClusterCondition;
const TO_APPLY: readonly Step[] = [
  'Scheduled',
  'RolloutStarted',
  'Overridden',
  'WorkSynchronized',
  'Applied',
  'Available',
];
const TO_REPORT: readonly Step[] = ['Scheduled', 'RolloutStarted', 'Overridden', 'WorkSynchronized', 'DiffReported'];

/** Reasons of a False condition that is not final. */
const UNDER_WAY: readonly string[] = ['ApplyInProgress', 'ApplyPending', 'DiffReportInProgress'];

const stageAt: Readonly<Record<Step, (condition: Condition | undefined) => Stage>> = {
  Scheduled: () => 'NotPicked',
  RolloutStarted: () => 'Waiting',
  Overridden: (condition) => (condition?.status === 'False' ? 'OverrideFailed' : 'Starting'),
  WorkSynchronized: () => 'Starting',
  Applied: (condition) => (isFailed(condition) ? 'ApplyFailed' : 'Applying'),
  Available: (condition) => (isFailed(condition) ? 'NotAvailable' : 'Applied'),
  DiffReported: (condition) => (isFailed(condition) ? 'CompareFailed' : 'Comparing'),
};

const isFailed = (condition: Condition | undefined): boolean =>
  condition?.status === 'False' && !UNDER_WAY.includes(condition.reason);

/**
 * The revision of each cluster without the newest one; empty = none. With RollingUpdate the status does not contain it.
 */
export type Carried = ReadonlyMap<string, string>;

/** How staged update runs affect a placement with strategy External. */
export interface Staging {
  /** The run that moves it; if none does and clusters have different revisions, the last one. */
  readonly run?: { readonly revision: string; readonly isOpen: boolean };
  /** Clusters that are no longer picked and keep their objects until a run removes them. */
  readonly leaving: readonly Pick<ClusterProgress, 'cluster' | 'revision'>[];
}

export function progressOf(placement: Placement, carried?: Carried, staging?: Staging): Progress {
  const { kind, metadata, spec, status } = placement;
  const isReport = spec.strategy?.applyStrategy?.type === 'ReportDiff';
  const steps = isReport ? TO_REPORT : TO_APPLY;
  const generation = metadata.generation ?? 0;
  const holds = status?.holds ?? [];
  const said = (step: PlacementCondition) => conditionOf(status?.conditions, placementConditionType({ kind }, step));
  const observed = said('Scheduled')?.observedGeneration ?? 0;
  const byRuns = isExternal({ spec });
  const revision = staging?.run?.revision ?? status?.observedResourceIndex ?? '';
  const clusters = (status?.placementStatuses ?? []).map((each) => {
    const progress = clusterProgress(each, { steps, holds });
    if (byRuns) return staging === undefined ? progress : stagedProgress(progress, staging);
    return progress.stage !== 'Waiting' ? progress : { ...progress, revision: carried?.get(progress.cluster) ?? '' };
  });
  const { unlisted, unlistedOpen } = unlistedIn(status);
  const total = unlisted + unlistedOpen + clusters.filter(({ stage }) => stage !== 'NotPicked').length;
  const isTrue = (step: PlacementCondition) => {
    const condition = said(step);
    return condition?.status === 'True' && condition.observedGeneration === generation;
  };
  const last = steps.at(-1) as Step;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const step = steps.find((each) => said(each) !== undefined && said(each)?.status !== 'True');
  const open = step && said(step);
  const notes = said('Scheduled')?.status === 'True' ? (said('Scheduled')?.message ?? '').split('; ').slice(1) : [];
  // With External, nothing is rolled out before the first run, whatever is selected.
  const isEmpty =
    !isDeleting && !byRuns && revision !== '' && isTrue('Scheduled') && (status?.selectedResources ?? []).length === 0;
  const isNobody = total === 0 && isTrue('Scheduled') && open === undefined && !asksForNobody(spec.policy);
  return {
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace,
    revision,
    isDeleting,
    ...(observed < generation ? { outdated: { generation, observed } } : {}),
    isComplete:
      !isDeleting &&
      isTrue('Scheduled') &&
      (total === 0 ? open === undefined && !isNobody : isTrue(last)) &&
      !isEmpty &&
      clusters.every((each) => !isOnAnother(each, staging)) &&
      !holds.some(isInTheWay),
    done: unlisted + clusters.filter(({ isDone }) => isDone).length,
    total,
    earlier: byRuns
      ? clusters.filter((each) => isOnAnother(each, staging)).length
      : isReport
        ? 0
        : earlierIn(clusters, { revision, holds, carried }),
    unlisted,
    unlistedOpen,
    ...(isNobody ? { nobody: said('Scheduled')?.message ?? '' } : {}),
    ...(isEmpty ? { nothing: notes.join('; ') || 'no object matches its resourceSelectors' } : {}),
    notes: isEmpty ? [] : notes,
    isReport,
    isStaged: byRuns,
    clusters,
    // Before the scheduling is done, the status lists no clusters.
    leaving:
      unlisted + unlistedOpen === 0 && said('Scheduled')?.status !== 'Unknown'
        ? withStaged(leavingIn(clusters, holds), staging)
        : [],
    holds,
    ...(step === undefined || open === undefined ? {} : { open: { ...open, step } }),
  };
}

/**
 * A cluster whose availability cannot be tracked delays the ones after it, but has everything itself; and a pending
 * removal blocks nothing.
 */
const isInTheWay = ({ code }: HoldEntry): boolean => code !== 'UntrackedPeriod' && code !== 'RemovalPending';

/**
 * If the revision of each cluster is unknown: only existing clusters wait for the budget; new ones wait for the surge.
 */
function earlierIn(
  clusters: readonly ClusterProgress[],
  {
    revision,
    holds,
    carried,
  }: {
    readonly revision: string;
    readonly holds: readonly HoldEntry[];
    readonly carried: Carried | undefined;
  },
): number {
  const waiting = clusters.filter(({ stage }) => stage === 'Waiting');
  if (carried !== undefined) return waiting.filter((each) => each.revision !== '' && each.revision !== revision).length;
  const held = holds.filter(({ code }) => code === 'BudgetUsed').reduce((sum, { count = 0 }) => sum + count, 0);
  return Math.min(held, waiting.length);
}

interface Around {
  readonly steps: readonly Step[];
  readonly holds: readonly HoldEntry[];
}

function clusterProgress(state: ClusterPlacementState, { steps, holds }: Around): ClusterProgress {
  const { clusterName: cluster = '', conditions, failedPlacements = [] } = state;
  const step = steps.find((each) => conditionOf(conditions, each)?.status !== 'True');
  const condition = conditionOf(conditions, step ?? (steps.at(-1) as Step));
  const isDone = step === undefined;
  const differing = (state.driftedPlacements ?? []).length + (state.diffedPlacements ?? []).length;
  const stage = isDone ? (steps.at(-1) === 'DiffReported' ? 'Compared' : 'Available') : stageAt[step](condition);
  const since = condition === undefined ? Number.NaN : Date.parse(condition.lastTransitionTime);
  // The hold of a cluster; that it is not available itself is already known.
  const hold = holds.find(({ code, on, clusters = [] }) => {
    const isItself = on?.kind === 'MemberCluster' && on.name === cluster;
    return code !== 'UntrackedPeriod' && !isItself && clusters.includes(cluster);
  });
  return {
    cluster,
    stage,
    isDone,
    ...(Number.isNaN(since) ? {} : { since }),
    revision: state.observedResourceIndex ?? '',
    differing,
    message: isDone
      ? differing === 0
        ? ''
        : differingWords(differing)
      : (failureIn(state) ?? (stage === 'Waiting' && hold ? inShort(hold) : condition?.message) ?? ''),
    ...(!isDone && failedPlacements.some(({ cause }) => cause !== undefined && isStartFailure(cause.code))
      ? { cannotStart: true }
      : {}),
  };
}

/** A status lists only picked clusters; others appear only in holds. */
function leavingIn(listed: readonly ClusterProgress[], holds: readonly HoldEntry[]): readonly ClusterProgress[] {
  const known = new Set(listed.map(({ cluster }) => cluster));
  const found = new Map<string, string>();
  for (const hold of holds.filter(({ code }) => code === 'BudgetUsed' || code === 'RemovalPending')) {
    const isBeingRemoved = hold.code === 'RemovalPending';
    const message = isBeingRemoved ? 'its objects are being removed' : `keeps its objects: ${inShort(hold)}`;
    for (const cluster of hold.clusters ?? [])
      if (!known.has(cluster)) found.set(cluster, `no longer picked; ${message}`);
  }
  return [...found].map(([cluster, message]) => leavingWith({ cluster, revision: '' }, message));
}

const leavingWith = (of: Pick<ClusterProgress, 'cluster' | 'revision'>, message: string): ClusterProgress => ({
  ...of,
  stage: 'Leaving',
  isDone: false,
  differing: 0,
  message,
});

/** The maximum number of objects per list of a cluster in a status. */
const MAX_LISTED = 100;

export const differingWords = (count: number): string =>
  `${count >= MAX_LISTED ? `at least ${count}` : count} ${count === 1 ? 'object differs' : 'objects differ'} from the hub`;

/** undefined = no listed cluster has differences. */
export function differingNote({ clusters }: Pick<Progress, 'clusters'>): string | undefined {
  const where = clusters.filter(({ differing }) => differing > 0);
  const [first] = where;
  if (first === undefined) return undefined;
  const on = where.length === 1 ? `cluster "${first.cluster}"` : `${where.length} clusters`;
  const most = Math.max(...where.map(({ differing }) => differing));
  if (most >= MAX_LISTED) return `at least ${most} objects differ from the hub on ${on}`;
  return `${differingWords(where.reduce((sum, { differing }) => sum + differing, 0))} on ${on}`;
}

/** It has a revision other than that of the run. */
const isOnAnother = ({ revision, stage }: ClusterProgress, staging: Staging | undefined): boolean =>
  staging?.run !== undefined && stage !== 'NotPicked' && revision !== '' && revision !== staging.run.revision;

/** The status reports the state of each cluster with its present revision, which need not be that of the run. */
function stagedProgress(progress: ClusterProgress, staging: Staging): ClusterProgress {
  const { since: _since, ...rest } = progress;
  if (staging.run !== undefined && isOnAnother(progress, staging) && progress.isDone) {
    const message = staging.run.isOpen
      ? 'the run has not reached this cluster yet'
      : `no run that brings revision ${staging.run.revision} is under way`;
    return { ...rest, stage: 'Waiting', isDone: false, message };
  }
  if (progress.stage !== 'Waiting' || progress.revision === '' || isOnAnother(progress, staging)) return progress;
  const message = `has revision ${progress.revision}; its binding has changed since, and the next run confirms it`;
  return { ...progress, message };
}

const withStaged = (found: readonly ClusterProgress[], staging: Staging | undefined): readonly ClusterProgress[] => {
  const known = new Set(found.map(({ cluster }) => cluster));
  const kept = (staging?.leaving ?? []).filter(({ cluster }) => !known.has(cluster));
  const message = 'no longer picked; keeps its objects until a run removes them';
  return [...found, ...kept.map((each) => leavingWith(each, message))];
};

/** Many clusters wait for the same thing, so the full message is printed once above them. */
const inShort = ({ code, on }: HoldEntry): string =>
  on === undefined ? `waiting (${code})` : `waiting for ${on.kind} "${on.name}" (${code})`;

/** An entry of `status.holds` as a message. */
export const inWords = (entry: HoldEntry, { kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string =>
  sentenceOf(
    holdOf(entry, {
      group: '',
      kind,
      name: metadata.name ?? '',
      namespace: metadata.namespace,
    }),
  );

function failureIn({ failedPlacements = [] }: ClusterPlacementState): string | undefined {
  const [first] = failedPlacements;
  if (first === undefined) return undefined;
  const { condition } = first;
  const more = failedPlacements.length === 1 ? '' : ` (and ${failedPlacements.length - 1} more)`;
  return `${withPlaced(first, condition.message || condition.reason)}${more}`;
}

/** The policy explicitly asks for no cluster; only then it is intended that none is picked. */
const asksForNobody = (policy: Placement['spec']['policy']): boolean =>
  (policy?.placementType === 'PickN' && (policy.numberOfClusters ?? 0) === 0) ||
  (policy?.placementType === 'PickFixed' && (policy.clusterNames ?? []).length === 0);

/** A status that would be too large counts clusters instead of listing them (hub/placement/bound-status.ts). */
function unlistedIn(status: Placement['status']): Pick<Progress, 'unlisted' | 'unlistedOpen'> {
  return { unlisted: status?.notListed?.ready ?? 0, unlistedOpen: status?.notListed?.others ?? 0 };
}
