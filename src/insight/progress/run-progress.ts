// The progress of a staged update run, from its status and its approval requests: each stage, each cluster, each gate
// and who opened it. Pure.
import { type ApprovalRequest, PLAIN_APPROVAL, REJECTED } from '../../api/approval-request.ts';
import type { Condition } from '../../api/conditions.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { DELETION_STAGE } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { StageClusterStatus, StagedUpdateRun, StageStatus, StageTaskStatus } from '../../api/staged-update-run.ts';
import type { Stage } from '../../api/staged-update-strategy.ts';
import { withoutMarker } from '../plain-text.ts';
import { inWords } from './placement-progress.ts';

export type RunPhase =
  /** The hub has not processed it yet. */
  | 'New'
  /** It waits for something before it can start, such as scheduling. */
  | 'Initializing'
  | 'Prepared'
  | 'Starting'
  | 'Running'
  | 'Waiting'
  | 'Stuck'
  | 'Stopping'
  | 'Stopped'
  | 'Succeeded'
  | 'Failed'
  | 'Deleting';

export interface RunProgress {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly placement: string;
  readonly strategy: string;
  /** Index of the revision that it rolls out; empty = not chosen yet. */
  readonly revision: string;
  readonly phase: RunPhase;
  readonly isOver: boolean;
  /** The message of the condition. */
  readonly says: string;
  /**
   * Set if the hub has not processed the present generation: `observed` is the one that the status is about, 0 = none.
   */
  readonly outdated?: { readonly generation: number; readonly observed: number };
  /** Counts of the clusters that get the revision. */
  readonly done: number;
  readonly skipped: number;
  readonly total: number;
  /** In order; the deletion stage, at the end, only if it has clusters. */
  readonly stages: readonly StageProgress[];
  readonly holds: readonly HoldEntry[];
}

export interface StageProgress {
  readonly stage: string;
  /** A deletion stage: the placement is removed from its clusters. */
  readonly removes: boolean;
  readonly state:
    | 'Pending'
    | 'Updating'
    | 'Removing'
    | 'Waiting'
    | 'Stopping'
    | 'Stopped'
    | 'Done'
    | 'Empty'
    | 'Failed';
  /** Epoch ms. */
  readonly started?: number;
  /** For a stage that was open when the run failed: the time of the failure. */
  readonly ended?: number;
  readonly done: number;
  readonly skipped: number;
  readonly total: number;
  readonly clusters: readonly RunCluster[];
  readonly gates: readonly RunGate[];
}

export interface RunCluster {
  readonly cluster: string;
  /**
   * `Stopped`: the cluster got the revision, did not become available with it, and the run is stopped or has failed.
   * `Removing` and `Removed` are `Updating` and `Done` in the deletion stage.
   */
  readonly state:
    | 'Pending'
    | 'Updating'
    | 'Removing'
    | 'Stopped'
    | 'Unreachable'
    | 'Done'
    | 'Removed'
    | 'Skipped'
    | 'Failed';
  readonly since?: number;
  readonly message: string;
}

export interface RunGate {
  readonly when: 'before' | 'after';
  readonly type: 'Approval' | 'TimedWait';
  /**
   * `AwaitingApproval`: requested. `Rejected`: a user rejected it, but may still approve. `Approved`: approved, but not
   * accepted by the hub yet. `Waiting`: for a time. `Closed`: will not open any more, because the run or its stage is
   * over.
   */
  readonly state: 'Pending' | 'AwaitingApproval' | 'Rejected' | 'Approved' | 'Waiting' | 'Open' | 'Closed';
  readonly request?: string;
  /** The approver; absent = it is closed, or the approver is unknown. */
  readonly by?: string;
  /** When it was opened, epoch ms. */
  readonly at?: number;
  /** The message of the approver. */
  readonly message?: string;
  /** Why an approval does not count, or who rejected it and why. */
  readonly hint?: string;
  readonly waitTime?: string;
  /** When the wait ends, epoch ms. */
  readonly until?: number;
}

/** By name; empty if they may not be read. */
export type Requests = ReadonlyMap<string, ApprovalRequest>;

export function runProgressOf(run: StagedUpdateRun, requests: Requests): RunProgress {
  const { kind, metadata, spec, status } = run;
  const { stagesStatus = [], deletionStageStatus: removal, stagedUpdateStrategySnapshot: strategy } = status ?? {};
  const { conditions, holds = [], resourceSnapshotIndexUsed: revision = '' } = status ?? {};
  const generation = metadata.generation ?? 0;
  const observed = Math.max(0, ...(conditions ?? []).map(({ observedGeneration = 0 }) => observedGeneration));
  const look = (stage: StageStatus, at?: number) =>
    stageProgress(stage, at === undefined ? undefined : strategy?.stages[at], { run, holds, requests });
  const updates = stagesStatus.map(look);
  const phase = phaseOf(run);
  const sum = (count: (stage: StageProgress) => number) => updates.reduce((total, stage) => total + count(stage), 0);
  return {
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace,
    placement: spec.placementName,
    strategy: spec.stagedRolloutStrategyName,
    revision,
    phase,
    isOver: phase === 'Succeeded' || phase === 'Failed',
    says: sayingOf(conditions),
    ...(observed < generation && phase !== 'Deleting' ? { outdated: { generation, observed } } : {}),
    done: sum(({ done }) => done),
    skipped: sum(({ skipped }) => skipped),
    total: sum(({ total }) => total),
    stages: [...updates, ...(removal === undefined || removal.clusters.length === 0 ? [] : [look(removal)])],
    holds,
  };
}

const STEPS = ['Succeeded', 'Progressing', 'Initialized'] as const;

/** The message of the last condition that is set, unchanged. */
export const messageIn = (conditions: readonly Condition[] | undefined): string =>
  STEPS.map((type) => conditionOf(conditions, type)).find((each) => each !== undefined)?.message ?? '';

const sayingOf = (conditions: readonly Condition[] | undefined): string => withoutMarker(messageIn(conditions));

const PHASES: Readonly<Record<string, RunPhase>> = {
  UpdateRunProgressing: 'Running',
  UpdateRunWaiting: 'Waiting',
  UpdateRunStuck: 'Stuck',
  UpdateRunStopping: 'Stopping',
  UpdateRunStopped: 'Stopped',
};

export function phaseOf({ metadata, spec, status }: StagedUpdateRun): RunPhase {
  const said = (type: string) => conditionOf(status?.conditions, type);
  const succeeded = said('Succeeded')?.status;
  const initialized = said('Initialized')?.status;
  if (metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (succeeded === 'True') return 'Succeeded';
  if (succeeded === 'False' || initialized === 'False') return 'Failed';
  if (initialized === undefined) return 'New';
  if (initialized !== 'True') return 'Initializing';
  const reason = said('Progressing')?.reason;
  if (reason === undefined) return spec.state === 'Initialize' ? 'Prepared' : 'Starting';
  return Object.hasOwn(PHASES, reason) ? (PHASES[reason] as RunPhase) : 'Running';
}

// ---- stages

interface Around {
  readonly run: StagedUpdateRun;
  readonly holds: readonly HoldEntry[];
  readonly requests: Requests;
}

const STAGE_STATES: Readonly<Record<string, StageProgress['state']>> = {
  StageUpdatingStarted: 'Updating',
  StageUpdatingWaiting: 'Waiting',
  StageUpdatingStopping: 'Stopping',
  StageUpdatingStopped: 'Stopped',
};

function stageProgress(status: StageStatus, spec: Stage | undefined, around: Around): StageProgress {
  const removes = status.stageName === DELETION_STAGE;
  const state = stageState(status, around.run);
  const clusters = status.clusters
    .map((each) => clusterProgress(each, around))
    .map((each) => (removes ? removed(each) : each));
  const isOver = hasEnded(around.run) || FINISHED.includes(state);
  const gates = (when: RunGate['when'], tasks: readonly StageTaskStatus[] = []) =>
    tasks.map((task) => gateOf(task, { when, stage: status.stageName, spec, isOver, ...around }));
  const skipped = clusters.filter(({ state }) => state === 'Skipped').length;
  return {
    stage: removes ? 'deletion' : status.stageName,
    removes,
    state: removes && state === 'Updating' ? 'Removing' : state,
    ...moment('started', status.startTime),
    ...moment('ended', status.endTime ?? (state === 'Failed' ? failureOf(around.run)?.lastTransitionTime : undefined)),
    done: clusters.filter(({ state }) => state === 'Done' || state === 'Removed').length,
    skipped,
    total: clusters.length,
    clusters,
    gates: [...gates('before', status.beforeStageTaskStatus), ...gates('after', status.afterStageTaskStatus)],
  };
}

const FINISHED: readonly StageProgress['state'][] = ['Done', 'Empty', 'Failed'];

/** Why the run failed after its start. */
const failureOf = ({ status }: StagedUpdateRun): Condition | undefined => {
  const succeeded = conditionOf(status?.conditions, 'Succeeded');
  return succeeded?.status === 'False' ? succeeded : undefined;
};
const isFailed = (run: StagedUpdateRun): boolean => failureOf(run) !== undefined;
const hasEnded = ({ status }: StagedUpdateRun): boolean =>
  conditionOf(status?.conditions, 'Succeeded') !== undefined ||
  conditionOf(status?.conditions, 'Initialized')?.status === 'False';

/** A run that fails because its placement or clusters changed does not update the conditions of its open stage. */
function stageState({ conditions }: StageStatus, run: StagedUpdateRun): StageProgress['state'] {
  const succeeded = conditionOf(conditions, 'Succeeded');
  if (succeeded?.status === 'True') return succeeded.reason === 'StageUpdatingSkippedNoClusters' ? 'Empty' : 'Done';
  if (succeeded?.status === 'False') return 'Failed';
  const reason = conditionOf(conditions, 'Progressing')?.reason ?? '';
  const state = Object.hasOwn(STAGE_STATES, reason) ? (STAGE_STATES[reason] as StageProgress['state']) : 'Pending';
  return state !== 'Pending' && isFailed(run) ? 'Failed' : state;
}

const REMOVAL: Partial<Readonly<Record<RunCluster['state'], RunCluster['state']>>> = {
  Updating: 'Removing',
  Done: 'Removed',
};
const removed = (cluster: RunCluster): RunCluster => ({ ...cluster, state: REMOVAL[cluster.state] ?? cluster.state });

function moment<Name extends string>(name: Name, text: string | undefined): Partial<Record<Name, number>> {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? {} : ({ [name]: ms } as Partial<Record<Name, number>>);
}

const since = (condition: Condition | undefined) => moment('since', condition?.lastTransitionTime);

function clusterProgress({ clusterName: cluster, conditions }: StageClusterStatus, { run, holds }: Around): RunCluster {
  const succeeded = conditionOf(conditions, 'Succeeded');
  const started = conditionOf(conditions, 'Started');
  if (succeeded?.status === 'True') {
    const isSkipped = succeeded.reason === 'ClusterUpdatingSkipped';
    return {
      cluster,
      state: isSkipped ? 'Skipped' : 'Done',
      ...since(succeeded),
      message: isSkipped ? succeeded.message : '',
    };
  }
  if (succeeded?.status === 'False')
    return { cluster, state: 'Failed', ...since(succeeded), message: succeeded.message };
  // The hold of the cluster itself; that it waits for others is already known.
  const own = holds.find(({ code, on, clusters = [] }) =>
    code === 'RemovalPending' ? clusters.includes(cluster) : on?.kind === 'MemberCluster' && on.name === cluster,
  );
  const isSilent = own?.code === 'Unreachable';
  if (started?.status !== 'True' && !isSilent) return { cluster, state: 'Pending', message: '' };
  return {
    cluster,
    state: isSilent ? 'Unreachable' : phaseOf(run) === 'Stopped' || isFailed(run) ? 'Stopped' : 'Updating',
    ...since(started),
    message: own === undefined || own.code === 'ConcurrencyUsed' ? '' : inWords(own, run),
  };
}

// ---- gates

/**
 * As on the hub: a request of an earlier run of the same name, or one that was created by hand, opens no gate of this
 * run.
 */
function askedBy({ metadata: { uid } }: StagedUpdateRun, request: ApprovalRequest | undefined) {
  const owners = request?.metadata.ownerReferences ?? [];
  return uid !== undefined && owners.some((owner) => owner.uid === uid) ? request : undefined;
}

function gateOf(
  task: StageTaskStatus,
  around: Around & {
    readonly when: RunGate['when'];
    readonly stage: string;
    readonly spec: Stage | undefined;
    /** The stage or the whole run is over. */
    readonly isOver: boolean;
  },
): RunGate {
  const { run, when, stage, spec, isOver, holds, requests } = around;
  const said = (type: string) => conditionOf(task.conditions, type);
  const at = (condition: Condition) => moment('at', condition.lastTransitionTime);
  if (task.type === 'TimedWait') {
    const waitTime = spec?.afterStageTasks?.find(({ type }) => type === 'TimedWait')?.waitTime;
    const elapsed = said('WaitTimeElapsed');
    const hold = holds.find(({ code, facts }) => code === 'TimedWait' && facts?.['stage'] === stage);
    return {
      when,
      type: 'TimedWait',
      waitTime,
      ...(elapsed?.status === 'True'
        ? { state: 'Open', ...at(elapsed) }
        : isOver
          ? { state: 'Closed' }
          : { state: hold === undefined ? 'Pending' : 'Waiting', ...moment('until', hold?.until) }),
    };
  }
  const name = task.approvalRequestName ?? '';
  const request = askedBy(run, requests.get(name));
  const approval = request?.status?.approval;
  const accepted = said('ApprovalRequestApproved');
  const base = { when, type: 'Approval', request: name } as const;
  const { conditions } = request?.status ?? {};
  const yes = conditionOf(conditions, 'Approved');
  const isExplained = yes?.status === 'True' && yes.message !== '' && yes.message !== PLAIN_APPROVAL;
  const by = {
    ...(approval === undefined ? {} : { by: approval.user, ...moment('at', approval.time) }),
    ...(isExplained ? { message: yes.message } : {}),
  };
  if (accepted?.status === 'True') return { ...base, state: 'Open', ...at(accepted), ...by };
  if (isOver) return { ...base, state: 'Closed' };
  if (request === undefined) {
    return { ...base, state: said('ApprovalRequestCreated')?.status === 'True' ? 'AwaitingApproval' : 'Pending' };
  }
  const refusal = conditionOf(conditions, 'ApprovalAccepted');
  if (yes?.status === 'True' && yes.observedGeneration === request.metadata.generation) {
    return { ...base, state: 'Approved', ...at(yes), ...by };
  }
  if (yes?.status === 'False' && yes.reason.endsWith(REJECTED))
    return { ...base, state: 'Rejected', hint: yes.message };
  const hint = refusal?.status === 'False' ? refusal.message : undefined;
  return { ...base, state: 'AwaitingApproval', ...(hint === undefined ? {} : { hint }) };
}
