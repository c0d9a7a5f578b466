// The limits, defaults and grammars of the fields: what is just allowed, and what is just not.
import { describe, expect, test } from 'vitest';
import { approvalRequest } from '../../src/api/approval-request.ts';
import { disruptionBudget } from '../../src/api/disruption-budget.ts';
import { envelope } from '../../src/api/envelope.ts';
import { eviction } from '../../src/api/eviction.ts';
import { internalMemberCluster } from '../../src/api/internal-member-cluster.ts';
import type { Kind } from '../../src/api/kind.ts';
import { memberCluster } from '../../src/api/member-cluster.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/object.ts';
import { override } from '../../src/api/override.ts';
import { placement } from '../../src/api/placement.ts';
import { stagedUpdateRun } from '../../src/api/staged-update-run.ts';
import { stagedUpdateStrategy } from '../../src/api/staged-update-strategy.ts';
import { work } from '../../src/api/work.ts';
import type { Draft } from '../../src/apiserver/registry.ts';
import { structureOf } from '../../src/apiserver/schema/structure.ts';

type Body = Readonly<Record<string, unknown>>;

function written(kind: Kind, body: Body): KubeObject {
  const draft = structuredClone({
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    metadata: { name: 'sample', ...(kind.namespaced ? { namespace: 'team' } : {}) },
    ...body,
  }) as Draft;
  const structure = structureOf(kind.schema);
  structure.default(draft);
  expect(structure.prune(draft)).toEqual([]);
  return draft as KubeObject;
}
const refusals = (kind: Kind, body: Body): readonly string[] =>
  structureOf(kind.schema)
    .validate(written(kind, body), undefined)
    .map((cause) => cause.field);

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const selector = (index: number) => ({ group: '', version: 'v1', kind: 'Namespace', name: `shop-${index}` });
const placing = (more: Body): Body => ({ spec: { resourceSelectors: [selector(0)], ...more } });
const rolling = (rollingUpdate: Body) => placing({ strategy: { rollingUpdate } });
const policy = (value: Body) => placing({ policy: value });
const member = (more: Body): Body => ({ spec: { identity: { kind: 'User', name: 'agent' }, ...more } });
const stage = (more: Body): Body => ({ spec: { stages: [{ name: 'canary', ...more }] } });
const patch = (index: number) => ({ op: 'add', path: `/data/key-${index}`, value: index });
const overriding = (more: Body): Body => ({
  spec: {
    clusterResourceSelectors: [selector(0)],
    policy: { overrideRules: [{ clusterSelector: {}, jsonPatchOverrides: [patch(0)] }] },
    ...more,
  },
});
const rules = (overrideRules: readonly unknown[]) => overriding({ policy: { overrideRules } });
const quota = (index: number) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: `quota-${index}` },
});
const data = (count: number): Body => ({
  data: Object.fromEntries(times(count, (index) => [`quota-${index}.yaml`, quota(index)])),
});
const expression = (operator: string, values: readonly string[], name = 'kubernetes-fleet.io/node-count') =>
  policy({
    affinity: {
      clusterAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          clusterSelectorTerms: [
            {
              propertySelector: { matchExpressions: [{ name, operator, values }] },
            },
          ],
        },
      },
    },
  });
const requiring = (count: number) =>
  policy({
    placementType: 'PickAll',
    affinity: {
      clusterAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: times(count, () => ({})) },
      },
    },
  });
const preferring = (count: number) =>
  policy({
    placementType: 'PickN',
    numberOfClusters: 1,
    affinity: {
      clusterAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: times(count, () => ({ weight: 1, preference: {} })),
      },
    },
  });
const weight = (value: number) =>
  policy({
    placementType: 'PickN',
    numberOfClusters: 1,
    affinity: {
      clusterAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: value, preference: {} }] },
    },
  });
const request = { parentStageRollout: 'run', targetStage: 'canary' };

const crp = placement.cluster;
const strategy = stagedUpdateStrategy.cluster;
const cro = override.cluster;

const TIME = '2026-01-01T00:00:00Z';
const condition = (index: number) => ({
  type: `T${index}`,
  status: 'True',
  reason: 'R',
  message: '',
  lastTransitionTime: TIME,
});
const reporting = (status: Body): Body => ({ spec: { state: 'Join' }, status });
const entries = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(times(count, (index) => [`k${index}`, make(index)]));
const property = (value: string) => ({ value, observationTime: TIME });
const manifest = (more: Body = {}) => ({ identifier: { ordinal: 0 }, conditions: [], ...more });
const working = (status: Body): Body => ({ spec: {}, status: { conditions: [], ...status } });
const drift = (count: number, path = '/a') => ({
  driftDetails: {
    observationTime: TIME,
    observedInMemberClusterGeneration: 1,
    firstDriftedObservedTime: TIME,
    observedDrifts: times(count, () => ({ path })),
  },
});

/** Each is as much as a member may report, and one more. */
const reports: readonly { it: string; kind: Kind; of: (count: number) => Body; max: number }[] = [
  { it: 'conditions', max: 64, of: (n) => reporting({ conditions: times(n, condition) }), kind: internalMemberCluster },
  {
    it: 'conditions',
    max: 64,
    of: (n) => ({ ...member({}), status: { conditions: times(n, condition) } }),
    kind: memberCluster,
  },
  {
    it: 'agents',
    max: 8,
    of: (n) => reporting({ agentStatus: times(n, (i) => ({ type: `A${i}` })) }),
    kind: internalMemberCluster,
  },
  {
    it: 'the name of an agent',
    max: 253,
    of: (n) => reporting({ agentStatus: [{ type: 'a'.repeat(n) }] }),
    kind: internalMemberCluster,
  },
  {
    it: 'conditions of an agent',
    max: 16,
    of: (n) => reporting({ agentStatus: [{ type: 'A', conditions: times(n, condition) }] }),
    kind: internalMemberCluster,
  },
  {
    it: 'properties',
    max: 1000,
    of: (n) => reporting({ properties: entries(n, () => property('1')) }),
    kind: internalMemberCluster,
  },
  {
    it: 'the value of a property',
    max: 16_384,
    of: (n) => reporting({ properties: { a: property('x'.repeat(n)) } }),
    kind: internalMemberCluster,
  },
  {
    it: 'resources',
    max: 100,
    of: (n) => reporting({ resourceUsage: { capacity: entries(n, () => '1') } }),
    kind: internalMemberCluster,
  },
  {
    it: 'digits of a quantity',
    max: 64,
    of: (n) => reporting({ resourceUsage: { available: { cpu: '1'.repeat(n) } } }),
    kind: internalMemberCluster,
  },
  {
    it: 'namespaces',
    max: 5000,
    of: (n) => reporting({ namespaces: entries(n, () => '') }),
    kind: internalMemberCluster,
  },
  {
    it: 'the Work of a namespace',
    max: 253,
    of: (n) => reporting({ namespaces: { a: 'w'.repeat(n) } }),
    kind: internalMemberCluster,
  },
  {
    it: 'manifests',
    max: 10_000,
    of: (n) => ({ spec: { workload: { manifests: times(n, () => selector(0)).map(() => quota(0)) } } }),
    kind: work,
  },
  { it: 'conditions of a Work', max: 64, of: (n) => working({ conditions: times(n, condition) }), kind: work },
  {
    it: 'manifests reported on',
    max: 10_000,
    of: (n) => working({ manifestConditions: times(n, () => manifest()) }),
    kind: work,
  },
  {
    it: 'conditions of a manifest',
    max: 16,
    of: (n) => working({ manifestConditions: [manifest({ conditions: times(n, condition) })] }),
    kind: work,
  },
  {
    it: 'the kind of a manifest',
    max: 253,
    of: (n) => working({ manifestConditions: [manifest({ identifier: { ordinal: 0, kind: 'k'.repeat(n) } })] }),
    kind: work,
  },
  {
    it: 'the name of a manifest',
    max: 1024,
    of: (n) => working({ manifestConditions: [manifest({ identifier: { ordinal: 0, name: 'k'.repeat(n) } })] }),
    kind: work,
  },
  { it: 'drifts', max: 1000, of: (n) => working({ manifestConditions: [manifest(drift(n))] }), kind: work },
  {
    it: 'the path of a drift',
    max: 4096,
    of: (n) => working({ manifestConditions: [manifest(drift(1, '/'.repeat(n)))] }),
    kind: work,
  },
];

const ignoring = (ignoreConditions: readonly Body[]): Body =>
  placing({ strategy: { applyStrategy: { ignoreConditions } } });
const comparing = (patch: Body): Body => placing({ strategy: { applyStrategy: { comparePatches: [patch] } } });
const table: readonly { it: string; kind: Kind; accepted: readonly Body[]; refused: readonly Body[] }[] = [
  {
    it: 'a placement has 1 to 100 selectors',
    kind: crp,
    accepted: [{ spec: { resourceSelectors: times(100, selector) } }],
    refused: [
      { spec: { resourceSelectors: [] } },
      { spec: { resourceSelectors: times(101, selector) } },
      { spec: {} },
      {},
    ],
  },
  {
    it: 'comparePatches point at parts of an object, by operations that there are',
    kind: crp,
    accepted: [
      {},
      { jsonPointers: ['/spec/replicas', '/metadata/labels/example.com~1owner', '/spec/list/-'] },
      { name: '^web-.*', operations: [{ op: 'ignore' }, { op: 'remove', path: '/a~0b' }] },
    ].map(comparing),
    refused: [
      { jsonPointers: [''] },
      { jsonPointers: ['spec'] },
      { jsonPointers: ['/a~2'] },
      { jsonPointers: times(51, (index) => `/data/${index}`) },
      { operations: [{ op: 'replace', path: '/a' }] },
      { operations: [{ path: '/a' }] },
    ].map(comparing),
  },
  {
    it: 'conditions that do not count have at least one field',
    kind: crp,
    accepted: [[], [{ type: 'Ready' }, { type: 'Ready', status: 'False', reason: 'Waiting' }]].map(ignoring),
    refused: [[{}], [{ type: 7 }], times(51, () => ({ type: 'Ready' }))].map(ignoring),
  },
  {
    it: 'maxUnavailable and maxSurge are counts from 0 or percentages up to 100 %',
    kind: crp,
    accepted: [0, 7, '0%', '25%', '100%', '3'].flatMap((value) => [
      rolling({ maxUnavailable: value }),
      rolling({ maxSurge: value }),
    ]),
    refused: [-1, '-1', '101%', '1000%', '5 %', 'all', '', true, 1.5].flatMap((value) => [
      rolling({ maxUnavailable: value }),
      rolling({ maxSurge: value }),
    ]),
  },
  {
    it: 'unavailablePeriodSeconds is not negative',
    kind: crp,
    accepted: [rolling({ unavailablePeriodSeconds: 0 })],
    refused: [rolling({ unavailablePeriodSeconds: -1 })],
  },
  {
    it: '1 to 1000 revisions are kept',
    kind: crp,
    accepted: [placing({ revisionHistoryLimit: 1 }), placing({ revisionHistoryLimit: 1000 })],
    refused: [placing({ revisionHistoryLimit: 0 }), placing({ revisionHistoryLimit: 1001 })],
  },
  {
    it: 'numberOfClusters is not negative',
    kind: crp,
    accepted: [policy({ placementType: 'PickN', numberOfClusters: 0 })],
    refused: [policy({ placementType: 'PickN', numberOfClusters: -1 })],
  },
  {
    it: 'PickFixed names up to 100 clusters by legal names',
    kind: crp,
    accepted: [
      policy({ placementType: 'PickFixed', clusterNames: times(100, (index) => `eu-${index}`) }),
      policy({ placementType: 'PickFixed', clusterNames: [] }),
      policy({ placementType: 'PickFixed' }),
    ],
    refused: [
      policy({ placementType: 'PickFixed', clusterNames: times(101, (index) => `eu-${index}`) }),
      policy({ placementType: 'PickFixed', clusterNames: ['EU'] }),
      policy({ placementType: 'PickFixed', clusterNames: [''] }),
      policy({ placementType: 'PickFixed', clusterNames: ['a'.repeat(64)] }),
    ],
  },
  {
    it: 'a property is compared with exactly one quantity',
    kind: crp,
    accepted: ['Gt', 'Ge', 'Eq', 'Ne', 'Lt', 'Le'].map((operator) => expression(operator, ['1.5Gi'])),
    refused: [expression('Gt', []), expression('Gt', ['1', '2']), expression('Gt', ['many']), expression('In', ['1'])],
  },
  {
    it: 'a property has a name of qualified parts',
    kind: crp,
    accepted: ['a', 'kubernetes.azure.com/vm-sizes/Standard_D4/count', 'x/y_z.1'].map((name) =>
      expression('Gt', ['1'], name),
    ),
    refused: ['', 'a b', '/a', 'a/', '-a', 'a'.repeat(1025)].map((name) => expression('Gt', ['1'], name)),
  },
  {
    it: 'required terms are at most 10 and preferred ones at most 100',
    kind: crp,
    accepted: [requiring(10), preferring(100)],
    refused: [requiring(11), requiring(1000), preferring(101), preferring(1000)],
  },
  {
    it: 'a weight lies between -100 and 100',
    kind: crp,
    accepted: [weight(-100), weight(100)],
    refused: [weight(-101), weight(101)],
  },
  {
    it: 'a skew is at least 1',
    kind: crp,
    accepted: [
      policy({
        placementType: 'PickN',
        numberOfClusters: 2,
        topologySpreadConstraints: [{ topologyKey: 'env', maxSkew: 1 }],
      }),
    ],
    refused: [
      policy({
        placementType: 'PickN',
        numberOfClusters: 2,
        topologySpreadConstraints: [{ topologyKey: 'env', maxSkew: 0 }],
      }),
    ],
  },
  {
    it: 'a heartbeat comes every 1 to 600 seconds',
    kind: memberCluster,
    accepted: [member({ heartbeatPeriodSeconds: 1 }), member({ heartbeatPeriodSeconds: 600 })],
    refused: [member({ heartbeatPeriodSeconds: 0 }), member({ heartbeatPeriodSeconds: 601 }), { spec: {} }],
  },
  {
    it: 'a member has up to 100 taints with legal keys, values and effects',
    kind: memberCluster,
    accepted: [
      member({ taints: times(100, (index) => ({ key: `key-${index}`, effect: 'NoSchedule' })) }),
      member({ taints: [{ key: 'example.com/gpu', value: '', effect: 'NoSchedule' }] }),
    ],
    refused: [
      member({ taints: times(101, (index) => ({ key: `key-${index}`, effect: 'NoSchedule' })) }),
      member({ taints: [{ key: 'a b', effect: 'NoSchedule' }] }),
      member({ taints: [{ key: 'gpu', value: 'a b', effect: 'NoSchedule' }] }),
      member({ taints: [{ key: 'gpu', effect: 'NoExecute' }] }),
      member({ taints: [{ key: 'gpu' }] }),
    ],
  },
  {
    it: 'a strategy has up to 31 stages',
    kind: strategy,
    accepted: [{ spec: { stages: times(31, (index) => ({ name: `stage${index}` })) } }, { spec: { stages: [] } }],
    refused: [{ spec: { stages: times(32, (index) => ({ name: `stage${index}` })) } }, { spec: {} }],
  },
  {
    it: 'a stage is named in small letters and digits',
    kind: strategy,
    accepted: [stage({ name: 'a' }), stage({ name: '1st' }), stage({ name: 'a'.repeat(63) })],
    refused: [
      stage({ name: 'pre-prod' }),
      stage({ name: 'Canary' }),
      stage({ name: '' }),
      stage({ name: 'a'.repeat(64) }),
    ],
  },
  {
    it: 'maxConcurrency is at least 1 or 1 % to 100 %',
    kind: strategy,
    accepted: [1, 500, '1%', '100%'].map((maxConcurrency) => stage({ maxConcurrency })),
    refused: [0, -1, '0%', '101%', '50', '', '01%'].map((maxConcurrency) => stage({ maxConcurrency })),
  },
  {
    it: 'a stage has at most one task before it and two after it',
    kind: strategy,
    accepted: [
      stage({
        beforeStageTasks: [{ type: 'Approval' }],
        afterStageTasks: [{ type: 'Approval' }, { type: 'TimedWait', waitTime: '1h' }],
      }),
    ],
    refused: [
      stage({ beforeStageTasks: [{ type: 'Approval' }, { type: 'Approval' }] }),
      stage({ afterStageTasks: times(3, () => ({ type: 'Approval' })) }),
      stage({ afterStageTasks: [{ type: 'Sleep' }] }),
    ],
  },
  {
    it: 'a wait is a duration in hours, minutes and seconds',
    kind: strategy,
    accepted: ['0s', '1h', '1h30m', '0.5s', '90m'].map((waitTime) =>
      stage({ afterStageTasks: [{ type: 'TimedWait', waitTime }] }),
    ),
    refused: ['', '0', '1', '1d', '-1h', '1h 30m', '01h', '10ms'].map((waitTime) =>
      stage({ afterStageTasks: [{ type: 'TimedWait', waitTime }] }),
    ),
  },
  {
    it: 'an override has 1 to 20 selectors, rules and patches',
    kind: cro,
    accepted: [
      overriding({ clusterResourceSelectors: times(20, selector) }),
      rules(times(20, () => ({ overrideType: 'Delete' }))),
      rules([{ jsonPatchOverrides: times(20, patch) }]),
    ],
    refused: [
      overriding({ clusterResourceSelectors: [] }),
      overriding({ clusterResourceSelectors: times(21, selector) }),
      rules([]),
      rules(times(21, () => ({ overrideType: 'Delete' }))),
      rules([{ jsonPatchOverrides: [] }]),
      rules([{ jsonPatchOverrides: times(21, patch) }]),
    ],
  },
  {
    it: 'a patch adds, removes or replaces',
    kind: cro,
    accepted: [rules([{ jsonPatchOverrides: [{ op: 'replace', path: '/data/a', value: null }] }])],
    refused: [
      rules([{ jsonPatchOverrides: [{ op: 'copy', path: '/data/a' }] }]),
      rules([{ jsonPatchOverrides: [{ op: 'add' }] }]),
    ],
  },
  {
    it: 'an envelope holds 1 to 50 objects',
    kind: envelope.cluster,
    accepted: [data(1), data(50)],
    refused: [data(0), data(51), {}],
  },
  {
    it: 'a budget is a count from 0 or a percentage up to 100 %',
    kind: disruptionBudget,
    accepted: [0, 3, '0%', '100%'].flatMap((value) => [
      { spec: { maxUnavailable: value } },
      { spec: { minAvailable: value } },
    ]),
    refused: [-1, '3', '101%', ''].flatMap((value) => [
      { spec: { maxUnavailable: value } },
      { spec: { minAvailable: value } },
    ]),
  },
  {
    it: 'an eviction names a placement and a cluster',
    kind: eviction,
    accepted: [{ spec: { placementName: 'web', clusterName: 'eu-1' } }],
    refused: [
      { spec: { placementName: 'web' } },
      { spec: { clusterName: 'eu-1' } },
      { spec: { placementName: 'a'.repeat(256), clusterName: 'eu-1' } },
    ],
  },
  {
    it: 'a run names a placement and a strategy and is in one of three states',
    kind: stagedUpdateRun.cluster,
    accepted: ['Initialize', 'Run', 'Stop'].map((state) => ({
      spec: { placementName: 'web', stagedRolloutStrategyName: 'safe', state },
    })),
    refused: [
      { spec: { placementName: 'web' } },
      { spec: { stagedRolloutStrategyName: 'safe' } },
      { spec: { placementName: 'web', stagedRolloutStrategyName: 'safe', state: 'Pause' } },
      { spec: { placementName: 'web', stagedRolloutStrategyName: 'safe', resourceSnapshotIndex: 0 } },
    ],
  },
  {
    it: 'an approval is a condition with a reason, and may name who gave it',
    kind: approvalRequest.cluster,
    accepted: [
      {
        spec: request,
        status: {
          conditions: [
            {
              type: 'Approved',
              status: 'True',
              reason: 'lgtm',
              message: 'lgtm',
              lastTransitionTime: '2025-03-12T23:21:39Z',
              observedGeneration: 1,
            },
          ],
          approval: { user: 'ada', groups: ['ops'], time: '2025-03-12T23:21:39Z', generation: 1 },
        },
      },
    ],
    refused: [
      {
        spec: request,
        status: {
          conditions: [
            {
              type: 'Approved',
              status: 'Yes',
              reason: 'lgtm',
              message: '',
              lastTransitionTime: '2025-03-12T23:21:39Z',
            },
          ],
        },
      },
      { spec: request, status: { conditions: [{ type: 'Approved', status: 'True' }] } },
    ],
  },
];

describe('limits', () => {
  test.each(table)('$it', ({ kind, accepted, refused }) => {
    for (const body of accepted) expect(refusals(kind, body), JSON.stringify(body).slice(0, 300)).toEqual([]);
    for (const body of refused) expect(refusals(kind, body), JSON.stringify(body).slice(0, 300)).not.toEqual([]);
  });
});

describe('defaults', () => {
  test('a placement keeps ten revisions and reports at cluster scope; no policy and no strategy are made up', () => {
    expect(written(crp, placing({})).spec).toEqual({
      resourceSelectors: [{ ...selector(0), selectionScope: 'NamespaceWithResources' }],
      revisionHistoryLimit: 10,
      statusReportingScope: 'ClusterScopeOnly',
    });
  });

  test('a policy that is there picks all, and a strategy that is there rolls', () => {
    const spec = written(crp, placing({ policy: {}, strategy: { rollingUpdate: {}, applyStrategy: {} } })).spec as Body;
    expect(spec['policy']).toEqual({ placementType: 'PickAll' });
    expect(spec['strategy']).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%', unavailablePeriodSeconds: 60 },
      applyStrategy: {
        type: 'ClientSideApply',
        comparisonOption: 'PartialComparison',
        whenToApply: 'Always',
        whenToTakeOver: 'Always',
        allowCoOwnership: false,
      },
    });
  });

  test('an external strategy gets no limits of a rolling update', () => {
    expect((written(crp, placing({ strategy: { type: 'External' } })).spec as Body)['strategy']).toEqual({
      type: 'External',
    });
  });

  test('an empty cluster selector of an override means every cluster', () => {
    const spec = written(cro, overriding({})).spec as { readonly policy: { readonly overrideRules: readonly Body[] } };
    expect(spec.policy.overrideRules[0]?.['clusterSelector']).toEqual({ clusterSelectorTerms: [] });
  });

  test('a run waits to be started, and a stage moves one cluster at a time', () => {
    const run = written(stagedUpdateRun.cluster, {
      spec: { placementName: 'web', stagedRolloutStrategyName: 'safe' },
    });
    expect((run.spec as Body)['state']).toBe('Initialize');
    expect(written(strategy, stage({})).spec).toEqual({ stages: [{ name: 'canary', maxConcurrency: 1 }] });
  });
});

describe('a member may not report more than so much', () => {
  test.each(reports)('$it of $kind.kind: $max', ({ kind, of, max }) => {
    expect(refusals(kind, of(max))).toEqual([]);
    expect(refusals(kind, of(max + 1)).filter((field) => field !== '<nil>')).toHaveLength(1);
  });
});
