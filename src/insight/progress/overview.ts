// The problems of a fleet, most urgent first: members, placements and staged update runs. Pure.
import type { Freeze } from '../../api/freeze.ts';
import { BLOCKING } from '../../api/hold.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { Placement } from '../../api/placement.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { byNumber, byText } from '../../base/compare.ts';
import { byName } from '../../base/natural-order.ts';
import { endOf, isActive } from '../../hub/freezes/frozen.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { withoutMarker } from '../plain-text.ts';
import { scopeOf } from './freeze-scope.ts';
import { differingNote, inWords, type Progress, progressOf } from './placement-progress.ts';
import { type RunGate, type RunProgress, runProgressOf } from './run-progress.ts';
import { lastRun, movedBy } from './runs-of-placement.ts';
import { isFailing } from './stuck.ts';

export interface Fleet {
  readonly members: readonly MemberCluster[];
  readonly placements: readonly Placement[];
  readonly runs: readonly StagedUpdateRun[];
  readonly freezes: readonly Freeze[];
  /** What could not be read and is not shown. */
  readonly unread: readonly string[];
  /** Epoch ms. */
  readonly now: number;
}

/** Sorted by urgency. */
const MEMBER_STATES = ['Unhealthy', 'Unreachable', 'Joining', 'Leaving', 'Ready'] as const;
const PLACEMENT_STATES = [
  'Failing',
  'Blocked',
  'Frozen',
  'Paused',
  'Pending',
  'Updating',
  'Deleting',
  'Complete',
] as const;
const RUN_STATES = [
  'Failed',
  'Stuck',
  'AwaitingApproval',
  'Frozen',
  'Stopped',
  'Running',
  'Prepared',
  'Deleting',
] as const;

export interface MemberRow {
  readonly name: string;
  readonly state: (typeof MEMBER_STATES)[number];
  /** Epoch ms. */
  readonly since?: number;
  readonly message: string;
}

export interface PlacementRow {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly strategy: string;
  readonly revision: string;
  readonly state: (typeof PLACEMENT_STATES)[number];
  readonly done: number;
  /** Clusters that wait for something other than their own member. */
  readonly blocked: number;
  readonly total: number;
  /** Since when it is in this state, as far as its status shows. */
  readonly since?: number;
  readonly message: string;
}

export interface RunRow {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly placement: string;
  readonly revision: string;
  readonly state: (typeof RUN_STATES)[number];
  /** The first stage that is not done, with the gate that it waits for. */
  readonly stage: string;
  readonly gate: string;
  readonly done: number;
  readonly total: number;
  readonly since?: number;
  readonly message: string;
}

export interface FreezeRow {
  readonly name: string;
  readonly since?: number;
  /** Epoch ms; absent = until it is ended. */
  readonly until?: number;
  /** Not verified. */
  readonly by: string;
  readonly scope: string;
  readonly reason: string;
}

export interface Overview {
  readonly members: readonly MemberRow[];
  readonly placements: readonly PlacementRow[];
  /** Open runs, and the last run of a placement if it failed. */
  readonly runs: readonly RunRow[];
  /** Active freezes. */
  readonly freezes: readonly FreezeRow[];
  readonly unread: readonly string[];
}

export function overviewOf({ members, placements, runs, freezes, unread, now }: Fleet): Overview {
  return {
    members: urgentFirst(members.map(memberRow), MEMBER_STATES),
    placements: urgentFirst(
      placements.map((placement) => placementRow(placement, runs, now)),
      PLACEMENT_STATES,
    ),
    runs: urgentFirst(
      runs.filter((run) => isOfInterest(run, runs)).map((run) => runRow(runProgressOf(run, new Map()))),
      RUN_STATES,
    ),
    freezes: freezes.flatMap((each) => freezeRow(each, now)).toSorted((a, b) => byText(a.name, b.name)),
    unread,
  };
}

/** Nothing needs a user, and nothing is in progress. */
export const isQuiet = ({ members, placements, runs, unread }: Overview): boolean =>
  unread.length === 0 &&
  members.every(({ state }) => state === 'Ready') &&
  placements.every(({ state }) => state === 'Complete') &&
  runs.every(({ state }) => state === 'Prepared');

interface Listed {
  readonly name: string;
  readonly namespace?: string;
  readonly state: string;
  readonly since?: number;
}

/** Sorted by state; within a state, the longest first. */
function urgentFirst<Row extends Listed>(rows: readonly Row[], states: readonly string[]): readonly Row[] {
  const since = (row: Row) => row.since ?? Number.MAX_SAFE_INTEGER;
  return rows.toSorted(
    (a, b) =>
      byNumber(states.indexOf(a.state), states.indexOf(b.state)) ||
      byNumber(since(a), since(b)) ||
      byText(a.namespace ?? '', b.namespace ?? '') ||
      byName(a.name, b.name),
  );
}

const moment = (text: string | undefined): { readonly since?: number } => {
  const since = Date.parse(text ?? '');
  return Number.isNaN(since) ? {} : { since };
};

// ---- members

export function memberRow({ metadata, status }: MemberCluster): MemberRow {
  const joined = conditionOf(status?.conditions, 'Joined');
  const healthy = conditionOf(status?.conditions, 'Healthy');
  const row = (state: MemberRow['state'], about?: typeof joined): MemberRow => ({
    name: metadata.name ?? '',
    state,
    ...moment(about?.lastTransitionTime ?? metadata.creationTimestamp),
    message: about?.status === 'True' ? '' : (about?.message ?? ''),
  });
  if (metadata.deletionTimestamp !== undefined) {
    return { name: metadata.name ?? '', state: 'Leaving', ...moment(metadata.deletionTimestamp), message: '' };
  }
  if (joined?.status !== 'True') return row('Joining', joined);
  if (healthy?.status === 'True') return row('Ready', healthy);
  return row(healthy?.status === 'False' ? 'Unhealthy' : 'Unreachable', healthy);
}

// ---- placements

function placementRow(placement: Placement, runs: readonly StagedUpdateRun[], now: number): PlacementRow {
  const { metadata, spec } = placement;
  const own = runs.filter(
    (run) => run.metadata.namespace === metadata.namespace && run.spec.placementName === metadata.name,
  );
  const run = isExternal(placement) ? movedBy(own) : undefined;
  const staging = isExternal(placement) ? { leaving: [], run } : undefined;
  const progress = progressOf(placement, undefined, staging);
  const { kind, name, namespace, revision, done, total, clusters } = progress;
  return {
    kind,
    name,
    namespace,
    strategy: spec.strategy?.type ?? 'RollingUpdate',
    revision,
    done,
    blocked: clusters.filter(({ stage }) => stage === 'Waiting').length,
    total,
    ...standing(placement, progress, now),
  };
}

type Standing = Pick<PlacementRow, 'state' | 'since' | 'message'>;

function standing(placement: Placement, progress: Progress, now: number): Standing {
  const { isDeleting, isComplete, clusters, holds, open, nothing, nobody, outdated } = progress;
  if (isDeleting) return { state: 'Deleting', ...moment(placement.metadata.deletionTimestamp), message: '' };
  if (isComplete) return { state: 'Complete', message: differingNote(progress) ?? '' };
  const failed = clusters.filter((each) => isFailing(each, now));
  const [worst] = failed.toSorted((a, b) => byNumber(a.since ?? 0, b.since ?? 0));
  const paused = holds.find(({ code }) => code === 'Paused' || code === 'Frozen');
  const blocking = holds.find(({ code }) => BLOCKING.includes(code));
  const hold = blocking ?? paused;
  if (hold !== undefined) {
    const state = blocking !== undefined ? 'Blocked' : hold.code === 'Frozen' ? 'Frozen' : 'Paused';
    return { state, ...moment(hold.since), message: inWords(hold, placement) };
  }
  if (worst !== undefined) {
    const others = failed.length - 1;
    const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'cluster' : 'clusters'})`;
    return {
      state: 'Failing',
      since: worst.since,
      message: `${worst.cluster} is ${worst.stage}${worst.message === '' ? '' : `: ${worst.message}`}${more}`,
    };
  }
  if (nothing !== undefined) return { state: 'Blocked', message: `selects nothing: ${nothing}` };
  if (nobody !== undefined) return { state: 'Blocked', message: `no cluster is picked: ${nobody}` };
  if (outdated !== undefined) return { state: 'Pending', message: 'the newest generation has not been processed yet' };
  const [first] = holds;
  return {
    state: 'Updating',
    ...moment(first?.since ?? open?.lastTransitionTime),
    message: first === undefined ? (open?.message ?? '') : inWords(first, placement),
  };
}

// ---- freezes

function freezeRow({ metadata, spec }: Freeze, now: number): readonly FreezeRow[] {
  const facts = { name: metadata.name ?? '', spec };
  if (!isActive(facts, now)) return [];
  const end = endOf(facts);
  return [
    {
      name: facts.name,
      ...moment(metadata.creationTimestamp),
      ...(Number.isFinite(end) ? { until: end } : {}),
      by: spec.by ?? '',
      scope: scopeOf(spec),
      reason: spec.reason,
    },
  ];
}

// ---- runs

function isOfInterest(run: StagedUpdateRun, runs: readonly StagedUpdateRun[]): boolean {
  const { isOver, phase } = runProgressOf(run, new Map());
  if (!isOver) return true;
  const beside = runs.filter(
    ({ metadata, spec }) =>
      metadata.namespace === run.metadata.namespace && spec.placementName === run.spec.placementName,
  );
  return phase === 'Failed' && lastRun(beside) === run;
}

function runRow(progress: RunProgress): RunRow {
  const { kind, name, namespace, placement, revision, done, total, says } = progress;
  const stage = progress.stages.find(({ state }) => !['Done', 'Empty'].includes(state));
  const gate = stage?.gates.find(
    ({ state }) => state === 'AwaitingApproval' || state === 'Rejected' || state === 'Waiting',
  );
  const [hold] = progress.holds;
  return {
    kind,
    name,
    namespace,
    placement,
    revision,
    state: runState(progress, gate?.state),
    stage: stage?.stage ?? '',
    gate: gate === undefined ? '' : `${gate.type} ${gate.when} it`,
    done,
    total,
    ...moment(hold?.since),
    message: withoutMarker(says),
  };
}

function runState({ phase, holds }: RunProgress, gate: RunGate['state'] | undefined): RunRow['state'] {
  switch (phase) {
    case 'Failed':
    case 'Stuck':
    case 'Prepared':
    case 'Deleting':
      return phase;
    case 'Stopped':
    case 'Stopping':
      return 'Stopped';
    default:
      if (gate === 'AwaitingApproval' || gate === 'Rejected') return 'AwaitingApproval';
      return holds.some(({ code }) => code === 'Frozen') ? 'Frozen' : 'Running';
  }
}
