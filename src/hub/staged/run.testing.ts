// A valid run with all its dependencies: placement `web` on clusters a, b and c, with the stages `first` (a) and
// `rest`.

import type { Condition } from '../../api/conditions.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { kubeTime } from '../../base/clock.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Decision } from '../../runtime/controller.ts';
import { clusterFamily } from '../families.ts';
import { ordersFor } from '../orders/orders-for.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import type { HubRun, HubStrategy } from '../staged-sources.ts';
import type { Observed } from './observed.ts';

export const NOW = Date.parse('2026-01-01T00:00:00Z');
export const APPLY = {
  type: 'ClientSideApply',
  comparisonOption: 'PartialComparison',
  whenToApply: 'Always',
  whenToTakeOver: 'Always',
  allowCoOwnership: false,
} as const;

export const STAGES = [
  { name: 'first', labelSelector: { matchLabels: { stage: 'first' } }, maxConcurrency: 1 },
  { name: 'rest', labelSelector: { matchLabels: { stage: 'rest' } }, maxConcurrency: 1 },
] as const;

export const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { stage: 'first' },
  b: { stage: 'rest' },
  c: { stage: 'rest' },
};

export const aPlacement = (spec: object = {}): HubPlacement => ({
  metadata: { name: 'web', uid: 'p', resourceVersion: '1', generation: 1 },
  spec: {
    resourceSelectors: [],
    strategy: { type: 'External', applyStrategy: APPLY },
    revisionHistoryLimit: 10,
    statusReportingScope: 'ClusterScopeOnly',
    ...spec,
  },
  conditions: [],
  observedResourceIndex: '',
});

export const aPolicy = ({
  index = '0',
  status = 'True',
  generation = 1,
  policy,
  selected = ['a', 'b', 'c'],
  annotations = {},
}: {
  readonly index?: string | undefined;
  readonly status?: Condition['status'];
  readonly generation?: number;
  readonly policy?: NonNullable<HubPolicySnapshot['spec']['policy']>;
  readonly selected?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
} = {}): HubPolicySnapshot => ({
  metadata: {
    name: `web-${index}`,
    uid: `policy-${index}`,
    resourceVersion: '1',
    generation: 1,
    labels: {
      'kubernetes-fleet.io/parent-CRP': 'web',
      'kubernetes-fleet.io/is-latest-snapshot': 'true',
      ...(index === '' ? {} : { 'kubernetes-fleet.io/policy-index': index }),
    },
    annotations,
  },
  spec: { ...(policy === undefined ? {} : { policy }), policyHash: '' },
  status: {
    observedCRPGeneration: generation,
    targetClusters: selected.map((clusterName) => ({ clusterName, selected: true, reason: 'fits' })),
    conditions: [
      {
        type: 'Scheduled',
        status,
        reason: 'r',
        message: 'so it is',
        observedGeneration: 1,
        lastTransitionTime: kubeTime(NOW),
      },
    ],
  },
});

export const aBinding = (cluster: string, spec: object = {}, more: object = {}): HubBinding => ({
  metadata: {
    name: `web-${cluster}`,
    uid: `b-${cluster}`,
    resourceVersion: '1',
    generation: 1,
    labels: { 'kubernetes-fleet.io/parent-CRP': 'web' },
    ...more,
  },
  spec: {
    state: 'Scheduled',
    targetCluster: cluster,
    resourceSnapshotName: '',
    schedulingPolicySnapshotName: 'web-0',
    clusterDecision: { clusterName: cluster, selected: true, reason: 'fits' },
    ...spec,
  },
  conditions: [],
});

export const aSnapshot = (index: string, hash = `hash-${index}`, isLatest = true): HubResourceSnapshot => ({
  metadata: {
    name: `web-${index}-snapshot`,
    uid: `s-${index}`,
    resourceVersion: '1',
    labels: {
      'kubernetes-fleet.io/parent-CRP': 'web',
      'kubernetes-fleet.io/resource-index': index,
      'kubernetes-fleet.io/is-latest-snapshot': String(isLatest),
    },
    annotations: { 'kubernetes-fleet.io/resource-hash': hash, 'kubernetes-fleet.io/number-of-resource-snapshots': '1' },
  },
});

export const aRun = (spec: object = {}, more: object = {}, name = 'r'): HubRun => ({
  metadata: {
    name,
    uid: `run-${name}`,
    resourceVersion: '1',
    generation: 1,
    finalizers: ['kubernetes-fleet.io/stagedupdaterun-finalizer'],
  },
  spec: { placementName: 'web', stagedRolloutStrategyName: 's', state: 'Run', resourceSnapshotIndex: '0', ...spec },
  conditions: [],
  hasBegun: false,
  ...more,
});

export const aStrategy = (stages: HubStrategy['spec']['stages'] = STAGES): HubStrategy => ({
  metadata: { name: 's', uid: 's', resourceVersion: '1' },
  spec: { stages },
});

export const observe = (more: Partial<Observed> = {}): Observed => ({
  family: clusterFamily,
  run: aRun(),
  status: undefined,
  placement: aPlacement(),
  strategy: aStrategy(),
  policySnapshots: [aPolicy()],
  resourceSnapshots: [aSnapshot('0')],
  bindings: ['a', 'b', 'c'].map((cluster) => aBinding(cluster)),
  others: [],
  member: (cluster) => {
    const labels = LABELS[cluster];
    return labels && { reachable: true, labels };
  },
  ordersOf: (snapshot) => ordersFor({ placement: aPlacement(), snapshot }),
  requests: [],
  request: () => undefined,
  specProblem: undefined,
  statusDue: 0,
  stuckAfterMs: 300_000,
  now: NOW,
  ...more,
});

/** A released binding of a run on this revision, with the given health. */
export const onRevision = (
  cluster: string,
  index: string,
  health: 'available' | 'failed' | 'unknown' = 'unknown',
): HubBinding => {
  const condition = (type: string, status: Condition['status'], message = ''): Condition => ({
    type,
    status,
    reason: status === 'True' ? 'Fine' : 'Broken',
    message,
    observedGeneration: 2,
    lastTransitionTime: kubeTime(NOW),
  });
  return {
    ...aBinding(
      cluster,
      { state: 'Bound', resourceSnapshotName: `web-${index}-snapshot`, applyStrategy: APPLY },
      { generation: 2 },
    ),
    conditions: [
      condition('RolloutStarted', 'True'),
      ...(health === 'available' ? [condition('Applied', 'True'), condition('Available', 'True')] : []),
      ...(health === 'failed' ? [condition('Applied', 'False', 'ConfigMap "x": refused')] : []),
    ],
  };
};

export const REVISION = { snapshot: 'web-0-snapshot', overrides: '', strategy: canonicalJson(APPLY) };

/** The status that a decision writes: a merge patch, so the first one has all of it. */
export function statusIn({ steps }: Pick<Decision, 'steps'>): StagedUpdateRunStatus | undefined {
  for (const action of steps.flat()) {
    if (action.do !== 'patch' || action.subresource !== 'status' || action.of.resource !== clusterFamily.run) continue;
    return (action.merge as { readonly status: object }).status as StagedUpdateRunStatus;
  }
  return undefined;
}
