import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { Hold } from '../../api/hold.ts';
import { annotations, labels } from '../../api/names.ts';
import type { PlacementSpec, PlacementStatus } from '../../api/placement.ts';
import { families } from '../families.ts';
import { ordersFor } from '../orders/orders-for.ts';
import type { HubBinding, HubPlacement, HubPolicySnapshot, HubResourceSnapshot } from '../placement-sources.ts';
import { placementStatus } from './status.ts';
import type { PlacementStatusInput } from './status-input.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const BEFORE = '2026-01-01T11:00:00Z';
const [family] = families as readonly [(typeof families)[number]];

const snapshot = (index: number): HubResourceSnapshot => ({
  metadata: {
    name: `web-${index}-snapshot`,
    labels: {
      [labels.resourceIndex]: String(index),
      [labels.isLatestSnapshot]: 'true',
      [labels.parentPlacement]: 'web',
    },
    annotations: { [annotations.resourceHash]: 'x' },
  },
});

const placement = (spec: Partial<PlacementSpec> = {}): HubPlacement => ({
  metadata: { name: 'web', uid: 'u', resourceVersion: '1', generation: 3 },
  spec: {
    resourceSelectors: [],
    revisionHistoryLimit: 10,
    statusReportingScope: 'ClusterScopeOnly',
    ...spec,
  } as PlacementSpec,
  conditions: [],
  observedResourceIndex: '',
});

interface Decided {
  readonly picked?: readonly string[];
  readonly refused?: readonly string[];
  readonly status?: 'True' | 'False';
  readonly generation?: number;
}

const policy = ({ picked = [], refused = [], status = 'True', generation = 3 }: Decided): HubPolicySnapshot => ({
  metadata: { name: 'web-0', generation: 1, labels: { [labels.isLatestSnapshot]: 'true' } },
  spec: { policyHash: '' },
  status: {
    observedCRPGeneration: generation,
    targetClusters: [
      ...picked.map((clusterName) => ({ clusterName, selected: true, reason: `picked ${clusterName}` })),
      ...refused.map((clusterName) => ({ clusterName, selected: false, reason: 'tainted' })),
    ],
    conditions: [
      {
        type: 'Scheduled',
        status,
        reason: status === 'True' ? 'SchedulingPolicyFulfilled' : 'SchedulingPolicyUnfulfilled',
        message: `found ${picked.length}`,
        observedGeneration: 1,
        lastTransitionTime: BEFORE,
      },
    ],
  },
});

type Step = 'RolloutStarted' | 'Overridden' | 'WorkSynchronized' | 'Applied' | 'Available';
const REASONS: Readonly<Record<Step, readonly [yes: string, no: string]>> = {
  RolloutStarted: ['RolloutStarted', 'RolloutNotStartedYet'],
  Overridden: ['NoOverrideSpecified', 'OverriddenFailed'],
  WorkSynchronized: ['AllWorkSynced', 'SyncWorkFailed'],
  Applied: ['AllWorkHaveBeenApplied', 'NotAllWorkHaveBeenApplied'],
  Available: ['AllWorkAreAvailable', 'NotAllWorkAreAvailable'],
};
const STEPS = Object.keys(REASONS) as readonly Step[];

/** `said`: one letter per step, T, F, or `-` for no condition; a leading `s` gives them an older generation. */
function binding(
  cluster: string,
  said: string,
  { index = 1, more = {} }: { index?: number; more?: Partial<HubBinding> } = {},
): HubBinding {
  const isStale = said.startsWith('s');
  const conditions = [...said.replace('s', '')].flatMap((letter, at): readonly Condition[] => {
    const type = STEPS[at] as Step;
    if (letter === '-') return [];
    const [yes, no] = REASONS[type];
    const isTrue = letter === 'T';
    return [
      {
        type,
        status: isTrue ? 'True' : 'False',
        reason: isTrue ? yes : no,
        message: `${type} of ${cluster}`,
        observedGeneration: isStale ? 1 : 2,
        lastTransitionTime: BEFORE,
      },
    ];
  });
  return {
    metadata: { name: `web-${cluster}-1`, generation: 2, labels: { [labels.parentPlacement]: 'web' } },
    spec: {
      state: 'Bound',
      targetCluster: cluster,
      resourceSnapshotName: index < 0 ? '' : `web-${index}-snapshot`,
      schedulingPolicySnapshotName: 'web-0',
      clusterDecision: { clusterName: cluster, selected: true, reason: '' },
    },
    conditions,
    ...more,
  };
}

const input = (more: Partial<PlacementStatusInput> = {}): PlacementStatusInput => {
  const all = base(more);
  const snapshot = all.latestSnapshot?.metadata.name;
  return snapshot === undefined ? all : { ...all, orders: ordersFor({ placement: all.placement, snapshot }) };
};

const base = (more: Partial<PlacementStatusInput>): PlacementStatusInput => ({
  kind: family.placement,
  placement: placement(),
  previous: undefined,
  selection: { state: 'selected', resources: [], notes: [] },
  policySnapshot: policy({ picked: ['c1', 'c2'] }),
  resourceSnapshots: [snapshot(0), snapshot(1)],
  latestSnapshot: snapshot(1),
  delivered: { snapshot: 'web-1-snapshot', resources: [{ version: 'v1', kind: 'Namespace', name: 'app' }] },
  bindings: [],
  members: [],
  holds: [],
  now: NOW,
  ...more,
});

const words = (conditions: readonly Condition[] = []) =>
  conditions.map(({ type, status, reason }) => `${type.replace('ClusterResourcePlacement', '')} ${status} ${reason}`);
const last = ({ conditions }: PlacementStatus) => words(conditions).at(-1);
const clusters = ({ placementStatuses = [] }: PlacementStatus) =>
  placementStatuses.map(({ clusterName = '', conditions }) => `${clusterName}: ${words(conditions).at(-1)}`);

describe('the status of a placement', () => {
  test.each([
    {
      it: 'no binding yet',
      of: [],
      is: 'RolloutStarted Unknown RolloutStartedUnknown',
      one: 'c1: RolloutStarted Unknown RolloutStartedUnknown',
    },
    {
      it: 'one waits for its turn',
      of: [binding('c1', 'F', { index: 0 }), binding('c2', 'TTTTT')],
      is: 'RolloutStarted False RolloutNotStartedYet',
      one: 'c1: RolloutStarted False RolloutNotStartedYet',
    },
    {
      it: 'an old revision that nobody speaks of',
      of: [binding('c1', 'TTTTT', { index: 0 }), binding('c2', 'TTTTT')],
      is: 'RolloutStarted Unknown RolloutStartedUnknown',
      one: 'c1: RolloutStarted Unknown RolloutStartedUnknown',
    },
    {
      it: 'what was said of an older generation',
      of: [binding('c1', 'sTTTTT'), binding('c2', 'TTTTT')],
      is: 'RolloutStarted Unknown RolloutStartedUnknown',
      one: 'c1: RolloutStarted Unknown RolloutStartedUnknown',
    },
    {
      it: 'one has not reported',
      of: [binding('c1', 'TTT'), binding('c2', 'TTTTT')],
      is: 'Applied Unknown ApplyPending',
      one: 'c1: Applied Unknown ApplyPending',
    },
    {
      it: 'one failed to apply',
      of: [binding('c1', 'TTTF'), binding('c2', 'TTTTT')],
      is: 'Applied False ApplyFailed',
      one: 'c1: Applied False NotAllWorkHaveBeenApplied',
    },
    {
      it: 'unknown beats false',
      of: [binding('c1', 'TTTF'), binding('c2', 'TTT')],
      is: 'Applied Unknown ApplyPending',
      one: 'c1: Applied False NotAllWorkHaveBeenApplied',
    },
    {
      it: 'one is not available',
      of: [binding('c1', 'TTTTF'), binding('c2', 'TTTTT')],
      is: 'Available False ResourceNotAvailableYet',
      one: 'c1: Available False NotAllWorkAreAvailable',
    },
    {
      it: 'all is well',
      of: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')],
      is: 'Available True ResourceAvailable',
      one: 'c1: Available True AllWorkAreAvailable',
    },
  ])('when $it', ({ of, is, one }) => {
    const status = placementStatus(input({ bindings: of }));
    expect(last(status)).toBe(is);
    expect(clusters(status)[0]).toBe(one);
    expect(words(status.conditions)[0]).toBe('Scheduled True SchedulingPolicyFulfilled');
  });

  test('shows all steps in order when all is well, and what was selected', () => {
    const status = placementStatus(input({ bindings: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')] }));
    expect(words(status.conditions)).toEqual([
      'Scheduled True SchedulingPolicyFulfilled',
      'RolloutStarted True RolloutStarted',
      'Overridden True NoOverrideSpecified',
      'WorkSynchronized True WorkSynchronized',
      'Applied True ApplySucceeded',
      'Available True ResourceAvailable',
    ]);
    expect(status).toMatchObject({ observedResourceIndex: '1', selectedResources: [{ name: 'app' }] });
    expect(status.placementStatuses?.[0]).toMatchObject({ clusterName: 'c1', observedResourceIndex: '1' });
    expect(status.holds).toBeUndefined();
  });

  test('names the culprit and the numbers when the rollout is stuck', () => {
    const bindings = [binding('c1', 'TTTTF'), binding('c2', 'F', { index: 0 })];
    const strategy = {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1, maxSurge: 1, unavailablePeriodSeconds: 60 },
    };
    const status = placementStatus(input({ bindings, placement: placement({ strategy } as Partial<PlacementSpec>) }));
    expect(status.conditions?.find(({ type }) => type.endsWith('RolloutStarted'))?.message).toContain('"c1"');
    expect(status.holds).toMatchObject([
      { code: 'BudgetUsed', on: { name: 'c1' }, count: 1, clusters: ['c2'] },
      { code: 'Unreachable', on: { name: 'c1' }, count: 1, clusters: ['c1'] },
    ]);
  });

  test('does not change because time passes', () => {
    const bindings = [binding('c1', 'TTTTF'), binding('c2', 'F', { index: 0 })];
    const first = placementStatus(input({ bindings }));
    const again = placementStatus(input({ bindings, previous: first, now: NOW + 60_000 }));
    expect(again).toEqual(first);
  });

  test('keeps the time of what has not changed', () => {
    const first = placementStatus(input({ bindings: [binding('c1', 'TTTTF'), binding('c2', 'TTTTT')] }));
    const later = placementStatus(
      input({ bindings: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')], previous: first, now: NOW + 60_000 }),
    );
    const times = Object.fromEntries(
      (later.conditions ?? []).map(({ type, lastTransitionTime }) => [type.slice(24), lastTransitionTime]),
    );
    expect(times).toMatchObject({ Applied: '2026-01-01T12:00:00Z', Available: '2026-01-01T12:01:00Z' });
  });

  test('counts the time of what is about a revision from that revision, also if it was never seen otherwise', () => {
    const first = placementStatus(input({ bindings: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')] }));
    const next = { latestSnapshot: snapshot(2), resourceSnapshots: [snapshot(1), snapshot(2)] };
    const bindings = [binding('c1', 'TTTTT', { index: 2 }), binding('c2', 'TTTTT', { index: 2 })];
    const later = placementStatus(input({ ...next, bindings, previous: first, now: NOW + 60_000 }));
    const timesIn = (conditions: readonly Condition[] = []) =>
      Object.fromEntries(conditions.map(({ type, lastTransitionTime }) => [type.slice(-9), lastTransitionTime]));
    const [THEN, LATER] = ['2026-01-01T12:00:00Z', '2026-01-01T12:01:00Z'];
    expect(timesIn(later.conditions)).toMatchObject({ Scheduled: THEN, Available: LATER });
    expect(timesIn(later.placementStatuses?.[0]?.conditions)).toMatchObject({ Scheduled: THEN, Available: LATER });
  });

  test('lists what failed on a cluster, and only while it fails', () => {
    const failedPlacements = [
      { version: 'v1', kind: 'ConfigMap', name: 'x', condition: binding('c1', 'T').conditions[0] as Condition },
    ];
    const failing = placementStatus(
      input({ bindings: [binding('c1', 'TTTF', { more: { failedPlacements } }), binding('c2', 'TTTTT')] }),
    );
    expect(failing.placementStatuses?.[0]?.failedPlacements).toEqual(failedPlacements);
    const well = placementStatus(input({ bindings: [binding('c1', 'TTTTT', { more: { failedPlacements } })] }));
    expect(well.placementStatuses?.[0]?.failedPlacements).toBeUndefined();
  });

  test.each([
    {
      it: 'the scheduler has not seen this generation',
      more: { policySnapshot: policy({ picked: ['c1'], generation: 2 }) },
    },
    {
      it: 'there is no decision',
      more: { policySnapshot: { ...policy({}), status: undefined } as unknown as HubPolicySnapshot },
    },
  ])('is pending while $it, and leaves the other conditions as they were', ({ more }) => {
    const previous = placementStatus(input({ bindings: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')] }));
    const moved = { ...placement(), metadata: { ...placement().metadata, generation: 4 } };
    const status = placementStatus(input({ previous, placement: moved, ...more }));
    expect(words(status.conditions)[0]).toBe('Scheduled Unknown SchedulePending');
    expect(status.placementStatuses).toEqual([]);
    expect(status.conditions?.find(({ type }) => type.endsWith('Available'))).toMatchObject({
      status: 'True',
      observedGeneration: 3,
    });
  });

  // Otherwise `kubectl wait` would succeed although the change is not rolled out.
  test.each<{ code: Hold['code']; facts: Hold['facts']; says: string }>([
    { code: 'SpecInvalid', facts: { message: 'm' }, says: 'Scheduled Unknown SchedulePending' },
    { code: 'SelectionPending', facts: { kind: 'x', message: 'm' }, says: 'Scheduled Unknown SchedulePending' },
    { code: 'SnapshotTooLarge', facts: { bytes: 2, objects: 1, limit: 1 }, says: 'Scheduled Unknown SchedulePending' },
    { code: 'StepRefused', facts: { message: 'm' }, says: 'Scheduled Unknown SchedulePending' },
    { code: 'RevisionPending', facts: {}, says: 'Scheduled True SchedulingPolicyFulfilled' },
  ])(
    'says of nothing that it is there while $code holds it, at the generation that it was before',
    ({ says, ...hold }) => {
      const bindings = [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')];
      const previous = placementStatus(input({ bindings }));
      const holds: readonly Hold[] = [{ ...hold, subject: { group: '', kind: 'X', name: 'x' }, next: '' }];
      const status = placementStatus(input({ previous, bindings, holds }));
      expect(words(status.conditions)).toEqual([says, 'RolloutStarted Unknown RolloutStartedUnknown']);
      expect(status.placementStatuses?.map(({ clusterName }) => clusterName)).toEqual(['c1', 'c2']);
      const after = placementStatus(input({ previous: status, bindings }));
      expect(words(after.conditions)).toEqual(words(previous.conditions));
    },
  );

  test('of clusters that have not answered yet speaks of no failure', () => {
    const message = (reasons: readonly string[]) => {
      const bindings = reasons.map((reason, at) => {
        const each = binding(`c${at + 1}`, 'TTTF');
        const conditions = each.conditions.map((said) => (said.type === 'Applied' ? { ...said, reason } : said));
        return { ...each, conditions };
      });
      const { conditions = [] } = placementStatus(input({ bindings }));
      return conditions.find(({ type }) => type.endsWith('Applied'));
    };
    expect(message(['ApplyInProgress', 'ApplyInProgress'])).toMatchObject({
      reason: 'ApplyFailed',
      message: 'no report of 2 clusters on the newest content yet',
    });
    expect(message(['ApplyInProgress', 'NotAllWorkHaveBeenApplied'])?.message).toMatch(
      /^not everything could be applied/,
    );
  });

  test('with selectors that cannot work touches nothing but Scheduled', () => {
    const previous = placementStatus(input({ bindings: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')] }));
    const status = placementStatus(input({ previous, selection: { state: 'invalid', message: 'no such kind' } }));
    expect(words(status.conditions)[0]).toBe('Scheduled False InvalidResourceSelectors');
    expect(status).toMatchObject({
      placementStatuses: previous.placementStatuses,
      selectedResources: previous.selectedResources,
    });
  });

  test.each<{ code: Hold['code']; clusters: readonly string[] }>([
    { code: 'RevisionPending', clusters: ['c1'] },
    { code: 'SnapshotTooLarge', clusters: ['c1'] },
    { code: 'SelectionPending', clusters: ['c1'] },
    { code: 'SpecInvalid', clusters: [] },
  ])('says what holds clusters beside $code, unless that stops them', ({ code, clusters: held }) => {
    const holds = [{ code, subject: { group: '', kind: 'X', name: 'x' }, facts: {} }] as readonly Hold[];
    const status = placementStatus(input({ bindings: [binding('c1', 'TTTTF'), binding('c2', 'TTTTT')], holds }));
    expect(status.holds?.map((each) => each.code)).toEqual([code, ...held.map(() => 'Unreachable')]);
    expect(status.holds?.flatMap((each) => each.clusters ?? [])).toEqual(held);
  });

  test('with selectors that cannot work holds only what still waits', () => {
    const selection = { state: 'invalid', message: 'no such kind' } as const;
    const broken = [binding('c1', 'TTTTF'), binding('c2', 'TTTTT')];
    const previous = placementStatus(input({ bindings: broken }));
    expect(previous.holds).toMatchObject([{ clusters: ['c1'] }]);
    expect(placementStatus(input({ previous, selection, bindings: broken })).holds).toEqual(previous.holds);
    const well = [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')];
    expect(placementStatus(input({ previous, selection, bindings: well })).holds).toBeUndefined();
  });

  test.each([
    { placementType: 'PickN', numberOfClusters: 4 },
    { placementType: 'PickFixed', clusterNames: ['c1', 'c2', 'c3', 'c4'] },
  ])('shows the clusters that could not be found, without a name but with the reason ($placementType)', (asked) => {
    const status = placementStatus(
      input({
        placement: placement({ policy: asked } as Partial<PlacementSpec>),
        policySnapshot: policy({ picked: ['c1'], refused: ['c2', 'c3', 'c4', 'c5'], status: 'False' }),
        bindings: [binding('c1', 'TTTTT')],
      }),
    );
    expect(clusters(status)).toEqual([
      'c1: Available True AllWorkAreAvailable',
      ': Scheduled False ScheduleFailed',
      ': Scheduled False ScheduleFailed',
      ': Scheduled False ScheduleFailed',
    ]);
    expect(status.placementStatuses?.[1]?.conditions?.[0]?.message).toBe('c2: tainted');
  });

  test('of nothing picked has nothing to say but that', () => {
    const status = placementStatus(input({ policySnapshot: policy({}) }));
    expect(words(status.conditions)).toEqual(['Scheduled True SchedulingPolicyFulfilled']);
  });

  describe('with the strategy External', () => {
    const outside = { placement: placement({ strategy: { type: 'External' } } as Partial<PlacementSpec>) };
    const external = 'RolloutStarted Unknown RolloutControlledByExternalController';
    test.each([
      {
        it: 'before any run',
        of: [binding('c1', '', { index: -1 }), binding('c2', '', { index: -1 })],
        is: external,
        index: undefined,
      },
      {
        it: 'while clusters differ',
        of: [binding('c1', 'TTTTT', { index: 0 }), binding('c2', 'TTTTT')],
        is: external,
        index: undefined,
      },
      { it: 'while one was not reached', of: [binding('c1', 'TTTTT'), binding('c2', 's')], is: external, index: '1' },
      {
        it: 'when all are there',
        of: [binding('c1', 'TTTTT'), binding('c2', 'TTTTT')],
        is: 'Available True ResourceAvailable',
        index: '1',
      },
    ])('$it', ({ of, is, index }) => {
      const status = placementStatus(input({ ...outside, bindings: of }));
      expect(last(status)).toBe(is);
      expect(status.observedResourceIndex).toBe(index);
      expect(status.holds).toBeUndefined();
    });
  });
});
