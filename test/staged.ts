// Words for scenarios of staged update runs, on top of those of delivery: strategies, runs, approvals, and trees in short.
import type { ApprovalRequest } from '../src/api/approval-request.ts';
import type { Condition } from '../src/api/conditions.ts';
import type { StagedUpdateRun, StagedUpdateRunStatus, StageStatus } from '../src/api/staged-update-run.ts';
import { configMap, type Delivery, deployment, gotten } from './delivery.ts';

export const EXTERNAL = { strategy: { type: 'External' } };
export const FLEET = { c1: { env: 'prod' }, c2: { env: 'canary' }, c3: { env: 'prod' } };
export const OF_FLEET = { members: FLEET };

export const labelled = (labels: Readonly<Record<string, string>>) => ({ labelSelector: { matchLabels: labels } });
export const EVERYBODY = { labelSelector: {} };

/** canary, then a person and five seconds; a person, then prod. */
export const CANARY_FIRST = [
  {
    name: 'canary',
    ...labelled({ env: 'canary' }),
    afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '5s' }],
  },
  { name: 'prod', ...labelled({ env: 'prod' }), beforeStageTasks: [{ type: 'Approval' }] },
];
/** All in one stage, without gates. */
export const AT_ONCE = [{ name: 'all', ...EVERYBODY, maxConcurrency: '100%' }];

const told = (conditions: readonly Condition[] | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries((conditions ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]));

export interface Staging {
  strategy(stages: readonly object[], name?: string): Promise<void>;
  /** A run `r` of placement `web` with strategy `s`, in state Run. */
  run(spec?: object, name?: string, annotations?: Readonly<Record<string, string>>): Promise<void>;
  runOf(name?: string): Promise<StagedUpdateRun>;
  status(name?: string): Promise<StagedUpdateRunStatus>;
  said(name?: string): Promise<Readonly<Record<string, string>>>;
  message(condition: string, name?: string): Promise<string>;
  stage(stage: string, name?: string): Promise<Readonly<Record<string, string>>>;
  /** By cluster of a stage, in order: its conditions. */
  clusters(stage: string, name?: string): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>>;
  state(state: 'Run' | 'Stop' | 'Initialize', name?: string): Promise<void>;
  remove(name?: string): Promise<void>;
  request(name: string): Promise<ApprovalRequest | undefined>;
  approve(name: string, observedGeneration?: number, status?: 'True' | 'False'): Promise<void>;
  /** Names of the resource snapshots. */
  snapshots(): Promise<readonly string[]>;
  /** By cluster: the snapshot that its binding names. */
  bound(): Promise<Readonly<Record<string, string>>>;
}

export function staging(it: Delivery): Staging {
  const { fleet, family, namespace } = it;
  const { hub } = fleet;
  const stageIn = (
    { stagesStatus = [], deletionStageStatus }: StagedUpdateRunStatus,
    stage: string,
  ): StageStatus | undefined =>
    stage === 'deletion' ? deletionStageStatus : stagesStatus.find(({ stageName }) => stageName === stage);
  const self: Staging = {
    async strategy(stages, name = 's') {
      await hub.create(family.strategy.plural, namespace, { metadata: { name }, spec: { stages } });
      await fleet.settles();
    },
    async run(spec = {}, name = 'r', annotations = {}) {
      await hub.create(family.run.plural, namespace, {
        metadata: { name, annotations },
        spec: { placementName: 'web', stagedRolloutStrategyName: 's', state: 'Run', ...spec },
      });
      await fleet.settles();
    },
    runOf: async (name = 'r') => (await hub.get(family.run.plural, namespace, name)) as StagedUpdateRun,
    status: async (name) => ((await self.runOf(name)).status ?? {}) as StagedUpdateRunStatus,
    said: async (name) => told((await self.status(name)).conditions),
    async message(condition, name) {
      return (await self.status(name)).conditions?.find(({ type }) => type === condition)?.message ?? '';
    },
    stage: async (stage, name) => told(stageIn(await self.status(name), stage)?.conditions),
    async clusters(stage, name) {
      const found = stageIn(await self.status(name), stage)?.clusters ?? [];
      return Object.fromEntries(found.map(({ clusterName, conditions }) => [clusterName, told(conditions)]));
    },
    async state(state, name = 'r') {
      await fleet.patch(family.run.plural, namespace, name, { spec: { state } });
      await fleet.settles();
    },
    async remove(name = 'r') {
      await hub.call({ verb: 'delete', at: hub.at(family.run.plural, namespace, name) });
      await fleet.settles();
    },
    request: async (name) =>
      (await gotten(hub, family.approvalRequest.plural, namespace, name)) as ApprovalRequest | undefined,
    async approve(name, observedGeneration = 1, status = 'True') {
      const condition = {
        type: 'Approved',
        status,
        reason: 'lgtm',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration,
      };
      const old = ((await self.request(name))?.status?.conditions ?? []).filter(({ type }) => type !== 'Approved');
      const at = { ...hub.at(family.approvalRequest.plural, namespace, name), subresource: 'status' as const };
      const body = { status: { conditions: [...old, condition] } };
      await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'somebody' });
      await fleet.settles();
    },
    async snapshots() {
      const { list } = await hub.call({ verb: 'list', at: hub.at(family.resourceSnapshot.plural, namespace) });
      return (list?.items ?? []).map(({ metadata }) => metadata.name ?? '').sort();
    },
    async bound() {
      const all = await it.bindings();
      return Object.fromEntries(all.map(({ spec }) => [spec.targetCluster, spec.resourceSnapshotName]));
    },
  };
  return self;
}

/** The placement of the scenarios, its content and its strategy. */
export async function prepared(
  it: Delivery,
  stages: readonly object[] = CANARY_FIRST,
  spec: object = {},
): Promise<Staging> {
  const run = staging(it);
  await it.give(configMap('1'));
  await it.place({ ...EXTERNAL, ...spec });
  await run.strategy(stages);
  await it.runs(2000);
  return run;
}

/** A run of a Deployment, one cluster at a time, whose first cluster is under way: for members that take their time. */
export async function underWay(it: Delivery): Promise<Staging> {
  const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
  await it.give(deployment('web:1'));
  await run.run();
  await it.runs(3000);
  return run;
}

/** Two members that take their time. */
export const SLOW = { members: 2, delivers: { readyMs: 10_000 } };

/** Reasons of Events about run r, in the order they came, each once. */
export async function eventsOf(it: Delivery): Promise<readonly string[]> {
  const { hub } = it.fleet;
  const { list } = await hub.call({ verb: 'list', at: hub.at('events', it.namespace ?? 'default') });
  const own = (list?.items ?? []).filter((event) => {
    const about = event['involvedObject'] as { readonly kind: string; readonly name: string };
    return about.kind === it.family.run.kind && about.name === 'r';
  });
  const numbered = own.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  return [...new Set(numbered.map((event) => String(event['reason'])))];
}

/** One cluster, done. */
export const DONE_CLUSTER = { Started: 'True/ClusterUpdatingStarted', Succeeded: 'True/ClusterUpdatingSucceeded' };
export const UNDER_WAY = { Started: 'True/ClusterUpdatingStarted' };
/** A stage, done. */
export const DONE_STAGE = { Progressing: 'False/StageUpdatingSucceeded', Succeeded: 'True/StageUpdatingSucceeded' };
/** A run, done. */
export const DONE_RUN = {
  Initialized: 'True/UpdateRunInitializedSuccessfully',
  Progressing: 'False/UpdateRunSucceeded',
  Succeeded: 'True/UpdateRunSucceeded',
};
export const FAILED_TO_BEGIN = { Initialized: 'False/UpdateRunInitializedFailed' };
export const WAITS_TO_BEGIN = { Initialized: 'Unknown/UpdateRunInitializationPending' };
export const ABORTED = {
  Initialized: 'True/UpdateRunInitializedSuccessfully',
  Progressing: 'False/UpdateRunFailed',
  Succeeded: 'False/UpdateRunFailed',
};
