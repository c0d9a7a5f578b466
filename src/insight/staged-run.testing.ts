// Short constructors of staged update runs and related objects, as a server has them, for tests.
import type { ApprovalRequest } from '../api/approval-request.ts';
import type { Binding, BindingSpec } from '../api/binding.ts';
import type { Condition } from '../api/conditions.ts';
import type { HoldEntry } from '../api/holds.ts';
import type { MemberCluster } from '../api/member-cluster.ts';
import { annotations, labels, TASK_TYPES } from '../api/names.ts';
import type { KubeObject } from '../api/object.ts';
import type { StageClusterStatus, StagedUpdateRun, StageStatus, StageTaskStatus } from '../api/staged-update-run.ts';
import { BEFORE } from './placement.testing.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';

/** `Type:True:Reason`, separated by blanks. */
export const said = (text: string, message = '', generation = 1): Condition[] =>
  text
    .split(' ')
    .filter((each) => each !== '')
    .map((each) => {
      const [type = '', status = 'True', reason = 'R'] = each.split(':');
      return {
        type,
        status: status as Condition['status'],
        reason,
        message,
        observedGeneration: generation,
        lastTransitionTime: BEFORE,
      };
    });

export const INITIALIZED = 'Initialized:True:UpdateRunInitializedSuccessfully';

export const inRun = (clusterName: string, text = '', message = ''): StageClusterStatus => ({
  clusterName,
  ...(text === '' ? {} : { conditions: said(text, message) }),
});
export const STARTED = 'Started:True:ClusterUpdatingStarted';
export const DONE = `${STARTED} Succeeded:True:ClusterUpdatingSucceeded`;
export const SKIPPED = 'Succeeded:True:ClusterUpdatingSkipped';

export const approval = (request: string, text = ''): StageTaskStatus => ({
  type: 'Approval',
  approvalRequestName: request,
  ...(text === '' ? {} : { conditions: said(text) }),
});

export const aStage = (
  stageName: string,
  text: string,
  clusters: readonly StageClusterStatus[],
  more: Partial<StageStatus> = {},
): StageStatus => ({
  stageName,
  clusters: [...clusters],
  ...(text === '' ? {} : { conditions: said(text), startTime: BEFORE }),
  ...more,
});

export interface RunParts {
  readonly name?: string;
  readonly namespace?: string;
  readonly state?: 'Initialize' | 'Run' | 'Stop';
  /** Conditions of the run; the last one has the message. */
  readonly says?: string;
  readonly message?: string;
  readonly stages?: readonly StageStatus[];
  readonly removal?: StageStatus;
  readonly holds?: readonly HoldEntry[];
  readonly metadata?: object;
  readonly strategy?: readonly object[];
}

export function aRun(parts: RunParts = {}): StagedUpdateRun {
  const { name = 'r', namespace, state = 'Run', says = '', message = '', stages, removal, holds, strategy } = parts;
  const conditions = says.split(' ').flatMap((each, at, all) => said(each, at === all.length - 1 ? message : ''));
  return {
    apiVersion: API,
    kind: namespace === undefined ? 'ClusterStagedUpdateRun' : 'StagedUpdateRun',
    metadata: {
      name,
      uid: `uid-of-${name}`,
      generation: 1,
      ...(namespace === undefined ? {} : { namespace }),
      ...parts.metadata,
    },
    spec: { placementName: 'web', stagedRolloutStrategyName: 's', state },
    status: {
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(stages === undefined ? {} : { stagesStatus: [...stages], resourceSnapshotIndexUsed: '1' }),
      ...(strategy === undefined ? {} : { stagedUpdateStrategySnapshot: { stages: [...strategy] as never } }),
      deletionStageStatus: removal ?? { stageName: 'kubernetes-fleet.io/deleteStage', clusters: [] },
      ...(holds === undefined ? {} : { holds: [...holds] }),
    },
  };
}

export const onCluster = (code: string, name: string, more: Partial<HoldEntry> = {}): HoldEntry => ({
  code,
  on: { group: 'cluster.kubernetes-fleet.io', kind: 'MemberCluster', name },
  facts: { cause: 'progressing' },
  count: 1,
  clusters: [name],
  ...more,
});

export const onRun = (code: string, more: Partial<HoldEntry> = {}): HoldEntry => ({
  code,
  on: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterStagedUpdateRun', name: 'r' },
  count: 0,
  ...more,
});

export const onRequest = (name: string, stage: string, when: 'before' | 'after', more: object = {}): HoldEntry => ({
  code: 'ApprovalMissing',
  on: { group: 'placement.kubernetes-fleet.io', kind: 'ClusterApprovalRequest', name },
  facts: { stage, when, ...more },
  next: `approve ClusterApprovalRequest "${name}"`,
  count: 0,
});

interface RequestParts {
  readonly status?: object;
  readonly when?: 'before' | 'after';
  readonly namespace?: string;
  /** The uid of the run that created it. */
  readonly owner?: string | undefined;
}

export const aRequest = (
  name: string,
  stage: string,
  { status = {}, when = 'after', namespace, owner }: RequestParts = {},
): ApprovalRequest => ({
  apiVersion: API,
  kind: namespace === undefined ? 'ClusterApprovalRequest' : 'ApprovalRequest',
  metadata: {
    name,
    generation: 1,
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      [labels.targetUpdateRun]: 'r',
      [labels.targetUpdatingStage]: stage,
      [labels.taskType]: TASK_TYPES[when],
    },
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: API, kind: 'ClusterStagedUpdateRun', name: 'r', uid: owner }] }),
  },
  spec: { parentStageRollout: 'r', targetStage: stage },
  status,
});

/** A request of run `r`, as `aRun` creates it; a server assigns another uid to the run. */
export const askedByR = (name: string, stage: string, parts: RequestParts = {}): ApprovalRequest =>
  aRequest(name, stage, { owner: 'uid-of-r', ...parts });

// ---- a fleet for forecasts

export const aMember = (name: string, own: Readonly<Record<string, string>> = {}, isHeard = true): MemberCluster => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name, uid: `m-${name}`, resourceVersion: '1', labels: own },
  spec: {
    identity: { kind: 'User', name: 'agent', apiGroup: 'rbac.authorization.k8s.io' },
    heartbeatPeriodSeconds: 60,
  },
  status: { conditions: said(`Joined Healthy:${isHeard ? 'True:Fine' : 'Unknown:MemberUnreachable'}`) },
});

/** `index`: the revision that it has and that is available; absent = none yet. */
export const aBinding = (cluster: string, index?: number, more: Partial<BindingSpec> = {}): Binding => ({
  apiVersion: API,
  kind: 'ClusterResourceBinding',
  metadata: {
    name: `web-${cluster}`,
    uid: `b-${cluster}`,
    resourceVersion: '1',
    generation: 1,
    labels: { [labels.parentPlacement]: 'web' },
  },
  spec: {
    state: index === undefined ? 'Scheduled' : 'Bound',
    targetCluster: cluster,
    resourceSnapshotName: index === undefined ? '' : `web-${index}-snapshot`,
    schedulingPolicySnapshotName: 'web-0',
    clusterDecision: { clusterName: cluster, selected: true, reason: 'picked' },
    ...(index === undefined ? {} : { applyStrategy: APPLY }),
    ...more,
  },
  ...(index === undefined ? {} : { status: { conditions: said('RolloutStarted Applied Available') } }),
});

export const APPLY = {
  type: 'ClientSideApply',
  comparisonOption: 'PartialComparison',
  whenToApply: 'Always',
  whenToTakeOver: 'Always',
  allowCoOwnership: false,
} as const;

export const aSnapshot = (index: number, objects: readonly KubeObject[] = [], isLatest = true): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterResourceSnapshot',
  metadata: {
    name: `web-${index}-snapshot`,
    uid: `s-${index}`,
    resourceVersion: '1',
    labels: {
      [labels.parentPlacement]: 'web',
      [labels.resourceIndex]: String(index),
      [labels.isLatestSnapshot]: String(isLatest),
    },
    annotations: { [annotations.resourceHash]: `hash-${index}`, [annotations.numberOfResourceSnapshots]: '1' },
  },
  spec: { selectedResources: objects },
});

export const aPolicy = (clusters: readonly string[]): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterSchedulingPolicySnapshot',
  metadata: {
    name: 'web-0',
    uid: 'policy',
    resourceVersion: '1',
    generation: 1,
    labels: {
      [labels.parentPlacement]: 'web',
      [labels.isLatestSnapshot]: 'true',
      [labels.policyIndex]: '0',
    },
  },
  spec: { policyHash: 'aGFzaA==' },
  status: {
    observedCRPGeneration: 1,
    targetClusters: clusters.map((clusterName) => ({ clusterName, selected: true, reason: 'fits' })),
    conditions: said('Scheduled'),
  },
});

export const anExternal = (spec: object = {}): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'web', uid: 'p', resourceVersion: '1', generation: 1 },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
    strategy: { type: 'External', applyStrategy: APPLY },
    ...spec,
  },
});

export const aStrategy = (stages: readonly object[]): KubeObject => ({
  apiVersion: API,
  kind: 'ClusterStagedUpdateStrategy',
  metadata: { name: 's', uid: 's', resourceVersion: '1' },
  spec: { stages },
});
