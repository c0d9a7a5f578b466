import { describe, expect, test } from 'vitest';
import type { Content } from '../revisions/content.ts';
import { initialise, inUseBy } from './initialise.ts';
import type { Observed } from './observed.ts';
import { APPLY, aBinding, aPlacement, aPolicy, aRun, aSnapshot, aStrategy, observe, STAGES } from './run.testing.ts';

const pickN = { placementType: 'PickN' } as const;
const n = (count: string) => ({ 'kubernetes-fleet.io/number-of-clusters': count });
const content = (hash: string, bytes = 10) => ({
  state: 'selected' as const,
  content: {
    resources: [],
    objects: [],
    hash,
    bytes,
    sizes: [],
    envelopes: [],
    largest: { of: { version: 'v1', kind: 'ConfigMap', name: 'big' }, bytes },
  } as Content,
  notes: [],
});
const other = (more: object, strategy: object = { stages: [{ ...STAGES[0], name: 'else' }] }) =>
  aRun({}, { hasBegun: true, strategy, conditions: [{ type: 'Initialized', status: 'True' }], ...more }, 'other');

describe('a run', () => {
  test('that finds all as it should be writes down what it will do', () => {
    expect(initialise(observe())).toMatchObject({
      state: 'ready',
      status: {
        policySnapshotIndexUsed: '0',
        policyObservedClusterCount: 3,
        resourceSnapshotIndexUsed: '0',
        appliedStrategy: APPLY,
        stagedUpdateStrategySnapshot: { stages: STAGES },
        stagesStatus: [
          { stageName: 'first', clusters: [{ clusterName: 'a' }] },
          { stageName: 'rest', clusters: [{ clusterName: 'b' }, { clusterName: 'c' }] },
        ],
        deletionStageStatus: { stageName: 'kubernetes-fleet.io/deleteStage', clusters: [] },
        conditions: [
          { type: 'Initialized', status: 'True', reason: 'UpdateRunInitializedSuccessfully', observedGeneration: 1 },
        ],
      },
    });
  });

  test.each<[string, Partial<Observed>, 'user' | 'internal', string]>([
    [
      'a placement that goes',
      { placement: { ...aPlacement(), metadata: { name: 'web', deletionTimestamp: 'now' } } },
      'user',
      'is being deleted',
    ],
    [
      'a placement that rolls by itself',
      { placement: aPlacement({ strategy: { type: 'RollingUpdate' } }) },
      'user',
      'RollingUpdate',
    ],
    ['a placement without a strategy', { placement: aPlacement({ strategy: undefined }) }, 'user', 'RollingUpdate'],
    ['a policy without an index', { policySnapshots: [aPolicy({ index: '' })] }, 'internal', 'has no index'],
    [
      'a number of clusters that is none',
      { policySnapshots: [aPolicy({ policy: pickN, annotations: n('x') })] },
      'internal',
      'is no number',
    ],
    [
      'no clusters at all',
      { bindings: [], policySnapshots: [aPolicy({ selected: [] })] },
      'internal',
      'has no clusters: so it is',
    ],
    [
      'a placement that rolls by itself, whose strategy is missing as well',
      { placement: aPlacement({ strategy: { type: 'RollingUpdate' } }), strategy: undefined },
      'user',
      'RollingUpdate',
    ],
    ['a strategy that cannot work', { strategy: aStrategy([STAGES[0], STAGES[0]]) }, 'user', 'is used twice'],
    ['a cluster in no stage', { strategy: aStrategy([STAGES[0]]) }, 'user', 'belong to no stage: "b", "c"'],
    ['another run with other stages', { others: [other({})] }, 'user', 'ClusterStagedUpdateRun "other" is under way'],
    ['an index that is no number', { run: aRun({ resourceSnapshotIndex: '-1' }) }, 'user', '"-1"'],
    [
      'an index that is not there',
      { run: aRun({ resourceSnapshotIndex: '7' }), resourceSnapshots: [aSnapshot('0'), aSnapshot('12')] },
      'user',
      'those that exist: 0, 12;',
    ],
    ['an index written otherwise', { run: aRun({ resourceSnapshotIndex: '00' }) }, 'user', 'those that exist: 0;'],
    [
      'index 1 of what was never rolled out',
      { run: aRun({ resourceSnapshotIndex: '1' }), resourceSnapshots: [] },
      'user',
      'there are none yet',
    ],
    [
      'half a revision',
      { resourceSnapshots: [{ metadata: { ...aSnapshot('0').metadata, annotations: {} } }] },
      'internal',
      'is missing',
    ],
    [
      'selectors that make no sense',
      { run: aRun({ resourceSnapshotIndex: undefined }), selected: { state: 'invalid', message: 'odd' } },
      'user',
      'odd',
    ],
    [
      'an annotation that makes no sense',
      { run: aRun({}, { metadata: { name: 'r', annotations: { 'flotilla.dev/unreachable-after': 'soon' } } }) },
      'user',
      'unreachable-after',
    ],
    [
      'another one',
      { run: aRun({}, { metadata: { name: 'r', annotations: { 'flotilla.dev/membership-change': 'go' } } }) },
      'user',
      'Continue or Abort',
    ],
  ])('with %s does not begin', (_it, more, blame, words) => {
    const found = initialise(observe(more));
    expect(found).toMatchObject({
      state: 'wrong',
      blame,
      message: expect.stringContaining(words),
      status: { conditions: [{ type: 'Initialized', status: 'False', reason: 'UpdateRunInitializedFailed' }] },
    });
    const [condition] = (found.state === 'wrong' && found.status.conditions) || [];
    expect(condition?.message.includes('failed to process the request due to a client error')).toBe(blame === 'user');
  });

  test.each<[string, Partial<Observed>, string]>([
    ['the policy snapshot', { policySnapshots: [] }, 'no policy snapshot yet'],
    ['one of two policy snapshots', { policySnapshots: [aPolicy(), aPolicy({ index: '1' })] }, 'taking over'],
    ['the scheduler', { policySnapshots: [aPolicy({ status: 'Unknown' })] }, 'has not decided yet'],
    ['more clusters', { policySnapshots: [aPolicy({ status: 'False' })] }, 'so it is'],
    [
      'the scheduler to see the newest edit',
      { placement: { ...aPlacement(), metadata: { name: 'web', generation: 2 } } },
      'has not decided yet',
    ],
    [
      'a binding of an earlier policy',
      { bindings: [aBinding('a', { schedulingPolicySnapshotName: 'web-9' })] },
      'has not evaluated it again yet',
    ],
    ['a binding that was promised', { bindings: [aBinding('a'), aBinding('b')] }, 'cluster "c" is picked'],
    [
      'as many as were asked for',
      { policySnapshots: [aPolicy({ policy: pickN, annotations: n('4') })] },
      '3 clusters are bound, and the policy asks for 4',
    ],
  ])('waits without end for %s', (_it, more, words) => {
    const found = initialise(observe(more));
    expect(found).toMatchObject({
      state: 'waits',
      holds: [{ code: 'SchedulingPending' }],
      status: { conditions: [{ type: 'Initialized', status: 'Unknown', reason: 'UpdateRunInitializationPending' }] },
    });
    const [condition] = (found.state === 'waits' && found.status.conditions) || [];
    expect(condition?.message).toContain(words);
  });

  const kinds = { placement: 'ClusterResourcePlacement', strategy: 'ClusterStagedUpdateStrategy' };
  test.each<[string, Partial<Observed>, readonly object[], string]>([
    [
      'its placement',
      { placement: undefined },
      [{ code: 'NotFound', on: { kind: kinds.placement, name: 'web' } }],
      'the run waits: ClusterResourcePlacement "web" does not exist',
    ],
    [
      'its strategy',
      { strategy: undefined },
      [{ code: 'NotFound', on: { kind: kinds.strategy, name: 's' } }],
      'the run waits: ClusterStagedUpdateStrategy "s" does not exist',
    ],
    [
      'both',
      { placement: undefined, strategy: undefined },
      [
        { code: 'NotFound', on: { kind: kinds.placement, name: 'web' } },
        { code: 'NotFound', on: { kind: kinds.strategy, name: 's' } },
      ],
      'the run waits: ClusterResourcePlacement "web" does not exist; ClusterStagedUpdateStrategy "s" does not exist',
    ],
    [
      'the scheduler and its strategy',
      { policySnapshots: [], strategy: undefined },
      [{ code: 'SchedulingPending' }, { code: 'NotFound', on: { kind: kinds.strategy, name: 's' } }],
      'ClusterStagedUpdateStrategy "s" does not exist',
    ],
  ])('waits without limit for %s, and names it', (_it, more, holds, words) => {
    const found = initialise(observe(more));
    expect(found).toMatchObject({
      state: 'waits',
      holds,
      status: { conditions: [{ type: 'Initialized', status: 'Unknown', reason: 'UpdateRunInitializationPending' }] },
    });
    const [condition] = (found.state === 'waits' && found.status.conditions) || [];
    expect(condition?.message).toContain(words);
  });

  test('goes along with one of equal stages, one that has not begun, and one that is over', () => {
    const others = [
      other({}, { stages: STAGES }),
      other({ hasBegun: false }),
      other({
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Succeeded', status: 'False' },
        ],
      }),
      other({ metadata: { name: 'other', uid: 'o', deletionTimestamp: 'now' } }),
    ];
    expect(initialise(observe({ others })).state).toBe('ready');
  });

  test('clears clusters that were given up, whatever policy picked them', () => {
    const bindings = [
      aBinding('a'),
      aBinding('c', { state: 'Unscheduled', schedulingPolicySnapshotName: 'web-9' }),
      aBinding('b', { state: 'Unscheduled' }),
    ];
    const found = initialise(observe({ bindings, policySnapshots: [aPolicy({ selected: ['a'] })] }));
    expect(found).toMatchObject({
      state: 'ready',
      status: {
        policyObservedClusterCount: 1,
        deletionStageStatus: { clusters: [{ clusterName: 'b' }, { clusterName: 'c' }] },
      },
    });
  });

  describe('without an index', () => {
    const run = aRun({ resourceSnapshotIndex: undefined });
    test('looks at what is selected', () => {
      expect(initialise(observe({ run })).state).toBe('looks');
    });
    test('takes the newest revision if it is the same', () => {
      const found = initialise(
        observe({ run, resourceSnapshots: [aSnapshot('0', 'x', false), aSnapshot('3', 'y')], selected: content('y') }),
      );
      expect(found).toMatchObject({ state: 'ready', status: { resourceSnapshotIndexUsed: '3' } });
    });
    test('makes a new one at once if it is not', () => {
      const found = initialise(observe({ run, resourceSnapshots: [aSnapshot('3', 'y')], selected: content('z') }));
      expect(found).toMatchObject({
        state: 'captures',
        steps: [[{ do: 'create', object: { metadata: { name: 'web-4-snapshot' } } }], [{ do: 'patch' }]],
      });
    });
    test('makes the first one, also as index 0', () => {
      for (const index of [undefined, '0']) {
        const found = initialise(
          observe({ run: aRun({ resourceSnapshotIndex: index }), resourceSnapshots: [], selected: content('z') }),
        );
        expect(found).toMatchObject({
          state: 'captures',
          steps: [[{ object: { metadata: { name: 'web-0-snapshot' } } }]],
        });
      }
    });
    test('waits if a kind cannot be read, or if it is too much', () => {
      expect(
        initialise(observe({ run, selected: { state: 'pending', kind: 'things', message: 'no', next: 'do this' } })),
      ).toMatchObject({ state: 'waits', holds: [{ code: 'SelectionPending' }] });
      expect(initialise(observe({ run, selected: content('z', 10 ** 9) }))).toMatchObject({
        state: 'waits',
        holds: [{ code: 'SnapshotTooLarge' }],
      });
    });
  });

  test('waits while the spec of the placement cannot work, and names the placement', () => {
    expect(initialise(observe({ specProblem: { message: 'x needs y', next: 'use z' } }))).toMatchObject({
      state: 'waits',
      holds: [{ code: 'SpecInvalid', on: { name: 'web' }, facts: { message: 'x needs y' }, next: 'use z' }],
    });
  });

  test('keeps the moment from which on it waits', () => {
    const waiting = observe({ policySnapshots: [] });
    const first = initialise(waiting);
    if (first.state !== 'waits') throw new Error('it does not wait');
    const second = initialise({ ...waiting, status: first.status, now: waiting.now + 60_000 });
    expect(second).toEqual(first);
  });

  test('drops a stray time of an approval', () => {
    const strategy = aStrategy([
      { name: 'x', labelSelector: {}, maxConcurrency: 1, afterStageTasks: [{ type: 'Approval' }] },
    ]);
    expect(initialise(observe({ strategy }))).toMatchObject({
      status: { stagedUpdateStrategySnapshot: { stages: [{ afterStageTasks: [{ type: 'Approval' }] }] } },
    });
  });
});

test('revisions in use are those of runs that are not over', () => {
  const runs = [
    aRun({ resourceSnapshotIndex: '1' }),
    aRun({ resourceSnapshotIndex: undefined }, { resourceIndex: '2' }),
    aRun({ resourceSnapshotIndex: '3' }, { conditions: [{ type: 'Initialized', status: 'False' }] }),
    aRun({ resourceSnapshotIndex: '4' }, { conditions: [{ type: 'Succeeded', status: 'True' }] }),
    aRun({ resourceSnapshotIndex: 'x' }),
  ];
  expect([...inUseBy(runs)].sort()).toEqual([1, 2]);
});
