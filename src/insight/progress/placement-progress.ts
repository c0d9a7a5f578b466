// How far a placement is, from its status: each cluster's stage, how many are there, whether all is done. Pure.

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
  /** Empty where no cluster could be found. */
  readonly cluster: string;
  readonly stage: Stage;
  readonly isDone: boolean;
  /** Since when it is in this stage, epoch ms. */
  readonly since?: number;
  /** The one that it has; empty = none, or unknown. */
  readonly revision: string;
  /** Why it is not done; of a cluster that is done, how many objects differ there, if any. */
  readonly message: string;
  /** Objects in its lists of drifts and differences. */
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
  /** Set when the hub has not dealt with the present generation: the one that the status speaks of, 0 = none. */
  readonly outdated?: { readonly generation: number; readonly observed: number };
  readonly isComplete: boolean;
  readonly done: number;
  readonly total: number;
  /** Of those that are not done: how many still have an earlier revision, as far as that is known; with External, another than the run brings. */
  readonly earlier: number;
  /** Clusters that are done and stand in no list, because the status would be too large. */
  readonly unlisted: number;
  /** Clusters that are not done and stand in no list either. */
  readonly unlistedOpen: number;
  /** What the scheduler says when no cluster fits, although some are asked for. */
  readonly nobody?: string;
  /** Why there is nothing to bring anywhere, if that is so: in the API all is well then, and hardly anybody means that. */
  readonly nothing?: string;
  /** What else the hub adds to a schedule that is well, such as one selector of several that matches nothing. */
  readonly notes: readonly string[];
  readonly isReport: boolean;
  /** Runs move it, also back to an earlier revision. */
  readonly isStaged: boolean;
  readonly clusters: readonly ClusterProgress[];
  /** Clusters that are no longer picked and still have something, as far as something holds them. */
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

/** False for now, not for good. */
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

/** The revision of each cluster that the newest one has not reached; empty = none. With RollingUpdate a status does not tell it. */
export type Carried = ReadonlyMap<string, string>;

/** What staged update runs do with a placement whose strategy is External. */
export interface Staging {
  /** Of the run that moves it; where clusters have different revisions and none does, of the last one. */
  readonly run?: { readonly revision: string; readonly isOpen: boolean };
  /** Clusters that are no longer picked and keep what they have until a run removes them. */
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
  // What runs roll out is another story: before the first of them nothing is there, whatever is selected.
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
    // Before it is scheduled it lists no cluster.
    leaving:
      unlisted + unlistedOpen === 0 && said('Scheduled')?.status !== 'Unknown'
        ? withStaged(leavingIn(clusters, holds), staging)
        : [],
    holds,
    ...(step === undefined || open === undefined ? {} : { open: { ...open, step } }),
  };
}

/**
 * An availability that cannot be tracked holds up the clusters after it, not the cluster itself: all has arrived. And what a cluster should have
 * no longer blocks nothing.
 */
const isInTheWay = ({ code }: HoldEntry): boolean => code !== 'UntrackedPeriod' && code !== 'RemovalPending';

/** Where it is not known what each has: only what was there before waits for a budget; what is new waits for room. */
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
  // What a cluster waits for; that it is not there itself is no news.
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

/** A status lists those that are picked; of others only what holds them tells. */
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

/** The lists of a status are cut at 100 objects per cluster. */
const MAX_LISTED = 100;

export const differingWords = (count: number): string =>
  `${count >= MAX_LISTED ? `at least ${count}` : count} ${count === 1 ? 'object differs' : 'objects differ'} from the hub`;

/** undefined = none differs on any cluster that is listed. */
export function differingNote({ clusters }: Pick<Progress, 'clusters'>): string | undefined {
  const where = clusters.filter(({ differing }) => differing > 0);
  const [first] = where;
  if (first === undefined) return undefined;
  const on = where.length === 1 ? `cluster "${first.cluster}"` : `${where.length} clusters`;
  const most = Math.max(...where.map(({ differing }) => differing));
  if (most >= MAX_LISTED) return `at least ${most} objects differ from the hub on ${on}`;
  return `${differingWords(where.reduce((sum, { differing }) => sum + differing, 0))} on ${on}`;
}

/** It has a revision, and not the one of the run. */
const isOnAnother = ({ revision, stage }: ClusterProgress, staging: Staging | undefined): boolean =>
  staging?.run !== undefined && stage !== 'NotPicked' && revision !== '' && revision !== staging.run.revision;

/** A status tells of each cluster what became of the revision that it has, not whether that is the one of the run. */
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

/** Many clusters wait for one thing: the whole sentence is above them once. */
const inShort = ({ code, on }: HoldEntry): string =>
  on === undefined ? `waiting (${code})` : `waiting for ${on.kind} "${on.name}" (${code})`;

/** What an entry of `status.holds` says to people. */
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

/** All that fit are wanted, and hardly anybody means none by that; who wants none says so. */
const asksForNobody = (policy: Placement['spec']['policy']): boolean =>
  (policy?.placementType === 'PickN' && (policy.numberOfClusters ?? 0) === 0) ||
  (policy?.placementType === 'PickFixed' && (policy.clusterNames ?? []).length === 0);

/** A status that would be too large counts clusters instead of listing them (hub/placement/bound-status.ts). */
function unlistedIn(status: Placement['status']): Pick<Progress, 'unlisted' | 'unlistedOpen'> {
  return { unlisted: status?.notListed?.ready ?? 0, unlistedOpen: status?.notListed?.others ?? 0 };
}
