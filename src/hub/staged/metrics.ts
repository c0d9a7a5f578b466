// The progress of each run, and how long approvals and clusters take: three metrics, as in KubeFleet.
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { conditionIn, isTrue, sinceOf } from '../planners/staged-tree.ts';
import type { HubRun } from '../staged-sources.ts';
import { registered } from '../status/registered.ts';

export interface RunMetrics {
  /** Records the present state of a run. `askedAt`: when an approval request was created. */
  looked(
    run: HubRun,
    status: StagedUpdateRunStatus | undefined,
    askedAt: (request: string) => number,
    now: number,
  ): void;
  /** The run was deleted. */
  forget(run: RunName): void;
}

type RunName = { readonly namespace?: string; readonly name: string };

export const noRunMetrics: RunMetrics = { looked() {}, forget() {} };

const STATUS = 'fleet_workload_update_run_status_last_timestamp_seconds';
const APPROVAL = 'fleet_workload_update_run_approval_request_latency_seconds';
const CLUSTER = 'fleet_workload_update_run_stage_cluster_updating_duration_seconds';

type StatusLabels = Record<'namespace' | 'name' | 'state' | 'condition' | 'status' | 'reason' | 'failureType', string>;

interface Known {
  readonly series: Map<string, StatusLabels>;
  /** Clusters and approvals that are counted, or were done before this process saw the run. */
  readonly done: Set<string>;
  /** The status that was processed last. */
  status: StagedUpdateRunStatus | undefined;
}

export function runMetrics(registry: Registry): RunMetrics {
  const registers = [registry];
  const gauge = registered(registry, STATUS, () => {
    const help = 'When a staged update run was last seen with this as its furthest condition.';
    const labelNames: (keyof StatusLabels)[] = [
      'namespace',
      'name',
      'state',
      'condition',
      'status',
      'reason',
      'failureType',
    ];
    return new Gauge({ name: STATUS, help, labelNames, registers });
  });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    registered(registry, name, () => new Histogram({ name, help, labelNames, buckets, registers }));
  const approvals = histogram(
    APPROVAL,
    'Seconds from an approval request to its acceptance.',
    ['namespace', 'name', 'taskType'],
    [60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400],
  );
  const clusters = histogram(
    CLUSTER,
    'Seconds from the start of a cluster to its success.',
    ['namespace', 'name'],
    [15, 30, 60, 120, 300, 600, 1800, 3600],
  );
  const known = new Map<string, Known>();
  const taskTypes = new Map<string, Set<string>>();
  const keyOf = ({ namespace = '', name }: RunName) => `${namespace}/${name}`;

  return {
    looked(run, status, askedAt, now) {
      const { namespace = '', name = '' } = run.metadata;
      const key = keyOf({ namespace, name });
      const isNew = !known.has(key);
      const own = known.get(key) ?? {
        series: new Map<string, StatusLabels>(),
        done: new Set<string>(),
        status: undefined,
      };
      known.set(key, own);
      const labels = { namespace, name, state: run.spec.state, ...furthest(run) };
      own.series.set(Object.values(labels).join(' '), labels);
      gauge.set(labels, now / 1000);
      // Anything done before the first look was counted by an earlier process, or never.
      const count = (what: string, observe: () => void) => {
        if (own.done.has(what)) return;
        own.done.add(what);
        if (!isNew) observe();
      };
      if (own.status === status) return;
      own.status = status;
      for (const stage of status?.stagesStatus ?? []) {
        for (const cluster of stage.clusters) {
          if (!isTrue(cluster, 'Succeeded') || !isTrue(cluster, 'Started')) continue;
          const seconds = (sinceOf(cluster, 'Succeeded') - sinceOf(cluster, 'Started')) / 1000;
          count(`${stage.stageName} ${cluster.clusterName}`, () => clusters.observe({ namespace, name }, seconds));
        }
        for (const [taskType, tasks] of [
          ['beforeStage', stage.beforeStageTaskStatus ?? []],
          ['afterStage', stage.afterStageTaskStatus ?? []],
        ] as const) {
          for (const task of tasks) {
            if (!isTrue(task, 'ApprovalRequestApproved')) continue;
            const seconds = (sinceOf(task, 'ApprovalRequestApproved') - askedAt(task.approvalRequestName ?? '')) / 1000;
            count(`${taskType} ${stage.stageName}`, () => {
              if (!(seconds >= 0)) return;
              taskTypes.set(key, (taskTypes.get(key) ?? new Set()).add(taskType));
              approvals.observe({ namespace, name, taskType }, seconds);
            });
          }
        }
      }
    },
    forget(run) {
      const key = keyOf(run);
      const { namespace = '', name } = run;
      if (!known.has(key)) return;
      for (const labels of known.get(key)?.series.values() ?? []) gauge.remove(labels);
      clusters.remove({ namespace, name });
      for (const taskType of taskTypes.get(key) ?? []) approvals.remove({ namespace, name, taskType });
      known.delete(key);
      taskTypes.delete(key);
    },
  };
}

/** Conditions of earlier generations are ignored. */
function furthest(run: HubRun): Pick<StatusLabels, 'condition' | 'status' | 'reason' | 'failureType'> {
  for (const type of ['Succeeded', 'Progressing', 'Initialized']) {
    const condition = conditionIn(run, type);
    if (condition === undefined || condition.observedGeneration !== run.metadata.generation) continue;
    const { status, reason } = condition;
    return { condition: type, status, reason, failureType: failureOf(reason, run.failureCause) };
  }
  return { condition: 'nil', status: 'nil', reason: 'nil', failureType: 'none' };
}

function failureOf(reason: string, cause: HubRun['failureCause']): string {
  if (reason === 'UpdateRunStuck') return 'internal_error';
  if (reason !== 'UpdateRunFailed' && reason !== 'UpdateRunInitializedFailed') return 'none';
  return cause === 'User' ? 'user_error' : 'internal_error';
}
