// One valid object of every kind of ours, with a status and a change, for what is done with all of them alike.

import type { Kind } from '../../../src/api/kind.ts';
import { hubKinds, memberKinds } from '../../../src/api/kinds.ts';

type Content = Readonly<Record<string, unknown>>;

export interface Sample {
  readonly kind: Kind;
  /** As written below: read it with `contentOf`. */
  readonly object: Content;
  /** A merge patch that changes the object, or what no change of the spec is allowed but labels. */
  readonly change?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const namespace = { group: '', version: 'v1', kind: 'Namespace', name: 'shop' };
const configMap = { group: '', version: 'v1', kind: 'ConfigMap', name: 'settings' };
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Fine',
  message: 'all is fine',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
};
const conditions = { conditions: [condition] };
const rules = {
  policy: {
    overrideRules: [
      {
        clusterSelector: { clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'prod' } } }] },
        jsonPatchOverrides: [{ op: 'add', path: '/metadata/labels', value: { cluster: 'x' } }],
      },
    ],
  },
};
// No two overrides may select the same object.
const clusterOverride = { clusterResourceSelectors: [{ ...namespace, name: 'shop-{{name}}' }], ...rules };
const override = { resourceSelectors: [{ ...configMap, name: 'settings-{{name}}' }], ...rules };
const binding = {
  state: 'Scheduled',
  targetCluster: 'c-1',
  resourceSnapshotName: 'p-0-snapshot',
  schedulingPolicySnapshotName: 'p-0',
  clusterDecision: { clusterName: 'c-1', selected: true, reason: 'picked' },
};
const snapshot = {
  selectedResources: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' }, spec: { finalizers: ['kubernetes'] } },
  ],
};
const stages = {
  stages: [
    {
      name: 'canary',
      labelSelector: { matchLabels: { env: 'canary' } },
      afterStageTasks: [{ type: 'TimedWait', waitTime: '1m' }],
    },
    { name: 'prod', sortingLabelKey: 'order', maxConcurrency: '50%', beforeStageTasks: [{ type: 'Approval' }] },
  ],
};
const run = { placementName: 'p', stagedRolloutStrategyName: 's', resourceSnapshotIndex: '0' };
const request = { parentStageRollout: 'run', targetStage: 'canary' };
const envelope = {
  'cm.yaml': {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'inner', namespace: '{{namespace}}' },
    data: { a: '1' },
  },
};
const spec = (value: object, change?: object, status?: Sample['status']): Omit<Sample, 'kind'> => ({
  object: { spec: value },
  ...(change === undefined ? {} : { change: { spec: change } }),
  ...(status === undefined ? {} : { status }),
});

const contents: Readonly<Record<string, Omit<Sample, 'kind'>>> = {
  MemberCluster: spec(
    {
      identity: { kind: 'ServiceAccount', name: 'agent', namespace: 'fleet-system', apiGroup: '' },
      taints: [{ key: 'a', effect: 'NoSchedule' }],
    },
    { heartbeatPeriodSeconds: 30 },
    {
      ...conditions,
      properties: { 'kubernetes-fleet.io/node-count': { value: '3', observationTime: '2026-01-01T00:00:00Z' } },
    },
  ),
  InternalMemberCluster: spec({ state: 'Join' }, { state: 'Leave' }, conditions),
  ClusterResourcePlacement: spec(
    { resourceSelectors: [namespace] },
    { revisionHistoryLimit: 3 },
    { ...conditions, observedResourceIndex: '0' },
  ),
  ResourcePlacement: spec(
    { resourceSelectors: [configMap], policy: { placementType: 'PickFixed', clusterNames: ['c-1'] } },
    { revisionHistoryLimit: 3 },
    conditions,
  ),
  ClusterResourcePlacementStatus: {
    object: { sourceStatus: { ...conditions, observedResourceIndex: '0' }, lastUpdatedTime: '2026-01-01T00:00:00Z' },
    change: { lastUpdatedTime: '2026-01-02T00:00:00Z' },
  },
  ClusterResourceSnapshot: spec(snapshot, undefined, conditions),
  ResourceSnapshot: spec(snapshot, undefined, conditions),
  ClusterSchedulingPolicySnapshot: spec({ policyHash: 'aGFzaA==', policy: { placementType: 'PickAll' } }, undefined, {
    observedCRPGeneration: 1,
    ...conditions,
  }),
  SchedulingPolicySnapshot: spec({ policyHash: 'aGFzaA==' }, undefined, { observedCRPGeneration: 1, ...conditions }),
  ClusterResourceBinding: spec(binding, { state: 'Bound' }, conditions),
  ResourceBinding: spec(binding, { state: 'Bound' }, conditions),
  Work: spec(
    {
      workload: {
        manifests: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'shop' }, data: { a: '1' } },
        ],
      },
    },
    { applyStrategy: { type: 'ServerSideApply' } },
    conditions,
  ),
  ClusterResourceOverride: spec(clusterOverride, { placement: { name: 'p' } }),
  ResourceOverride: spec(override, { placement: { name: 'p' } }),
  ClusterResourceOverrideSnapshot: spec({ overrideSpec: clusterOverride, overrideHash: 'aGFzaA==' }),
  ResourceOverrideSnapshot: spec({ overrideSpec: override, overrideHash: 'aGFzaA==' }),
  ClusterResourceEnvelope: {
    object: {
      data: {
        'role.yaml': {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'r' },
          rules: [],
        },
      },
    },
  },
  ResourceEnvelope: { object: { data: envelope } },
  ClusterStagedUpdateStrategy: spec(stages, { stages: [{ name: 'all' }] }),
  StagedUpdateStrategy: spec(stages, { stages: [{ name: 'all' }] }),
  ClusterStagedUpdateRun: spec(run, { state: 'Run' }, conditions),
  StagedUpdateRun: spec(run, { state: 'Run' }, conditions),
  ClusterApprovalRequest: spec(request, undefined, conditions),
  ApprovalRequest: spec(request, undefined, conditions),
  ClusterResourcePlacementEviction: spec({ placementName: 'p', clusterName: 'c-1' }, undefined, conditions),
  ClusterResourcePlacementDisruptionBudget: spec({ minAvailable: 1 }, { minAvailable: 2 }),
  ClusterProfile: spec(
    { clusterManager: { name: 'flotilla' }, displayName: 'one' },
    { displayName: 'two' },
    {
      version: { kubernetes: 'v1.34.4' },
      properties: [{ name: 'region', value: 'west' }],
    },
  ),
  ClusterGroup: spec(
    { selector: { matchLabels: { env: 'prod' } } },
    { selector: { matchLabels: { env: 'canary' } } },
    { clusterCount: 1, readyClusterCount: 1, nonReadyClusterCount: 0 },
  ),
  GitRepo: spec(
    { repo: 'https://example.com/shop.git' },
    { repo: 'https://example.com/shop.git', branch: 'main' },
    { commit: 'a'.repeat(40) },
  ),
  Freeze: spec(
    { reason: 'incident', clusterSelector: { matchLabels: { env: 'prod' } } },
    { reason: 'over soon', until: '2030-01-31T06:00:00Z' },
  ),
  AppliedWork: spec({ workName: 'w', workNamespace: 'fleet-member-c-1' }, undefined, {
    appliedResources: [
      {
        ordinal: 0,
        group: '',
        version: 'v1',
        kind: 'ConfigMap',
        resource: 'configmaps',
        namespace: 'shop',
        name: 'm',
        uid: 'u',
      },
    ],
  }),
};

export const samples: readonly Sample[] = [...hubKinds, ...memberKinds].map((kind) => {
  const content = contents[kind.kind];
  if (!content) throw new Error(`no sample of ${kind.kind}`);
  return { kind, ...content };
});

/** What one object of the kind consists of beside its metadata. */
export const contentOf = ({ object }: Sample, { name, namespace }: { name: string; namespace: string }): Content =>
  JSON.parse(JSON.stringify(object).replaceAll('{{name}}', name).replaceAll('{{namespace}}', namespace)) as Content;
