import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { initialise } from './initialise.ts';
import type { Observed } from './observed.ts';
import { APPLY, aBinding, aPlacement, aPolicy, aRun, aSnapshot, LABELS, observe, STAGES } from './run.testing.ts';
import { validate } from './validate.ts';

const begun = (): StagedUpdateRunStatus => {
  const found = initialise(observe());
  if (found.state !== 'ready') throw new Error('it does not begin');
  return found.status;
};
const CONTINUE = aRun(
  {},
  { metadata: { name: 'r', generation: 1, annotations: { 'flotilla.dev/membership-change': 'Continue' } } },
);
const labelled = (more: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>): Partial<Observed> => ({
  member: (cluster) => {
    const labels = { ...LABELS, ...more }[cluster];
    return labels && { reachable: true, labels };
  },
});
const withBindings = (...clusters: readonly string[]): Partial<Observed> => ({
  bindings: clusters.map((cluster) => aBinding(cluster)),
  policySnapshots: [aPolicy({ selected: clusters })],
});
const givenUp = (cluster: string): Partial<Observed> => ({
  bindings: ['a', 'b', 'c'].map((each) => aBinding(each, each === cluster ? { state: 'Unscheduled' } : {})),
  policySnapshots: [aPolicy({ selected: ['a', 'b', 'c'].filter((each) => each !== cluster) })],
});

test('a run whose ground is the same may go on', () => {
  expect(validate(observe(), begun()).state).toBe('valid');
});

/** `membership`: the run continues with the annotation Continue. */
const CHANGES: readonly (readonly [string, Partial<Observed>, 'user' | 'internal', RegExp, 'membership'?])[] = [
  ['the placement does not exist any more', { placement: undefined }, 'user', /does not exist/],
  [
    'the placement is not External any more',
    { placement: aPlacement({ strategy: { type: 'RollingUpdate' } }) },
    'user',
    /RollingUpdate/,
  ],
  [
    'it is applied otherwise',
    { placement: aPlacement({ strategy: { type: 'External', applyStrategy: { ...APPLY, whenToTakeOver: 'Never' } } }) },
    'user',
    /apply strategy/,
  ],
  [
    'the revision is gone',
    { resourceSnapshots: [aSnapshot('1')] },
    'internal',
    /its revision was deleted: resource snapshot "web-0-snapshot" does not exist/,
  ],
  [
    'the first part of the revision is gone',
    { resourceSnapshots: [{ metadata: { ...aSnapshot('0').metadata, annotations: {} } }] },
    'internal',
    /its revision was deleted/,
  ],
  [
    'the policy is another',
    {
      policySnapshots: [aPolicy({ index: '1' })],
      bindings: ['a', 'b', 'c'].map((each) => aBinding(each, { schedulingPolicySnapshotName: 'web-1' })),
    },
    'internal',
    /policy snapshot 1 has replaced 0/,
  ],
  ['the policy has no index', { policySnapshots: [aPolicy({ index: '' })] }, 'internal', /no index/],
  [
    'the number is another',
    {
      policySnapshots: [
        aPolicy({
          policy: { placementType: 'PickN' },
          annotations: { 'kubernetes-fleet.io/number-of-clusters': '2' },
          selected: ['a', 'b'],
        }),
      ],
      bindings: [aBinding('a'), aBinding('b')],
    },
    'internal',
    /asks for 2 clusters now, and asked for 3/,
  ],
  [
    'clusters are missing',
    { policySnapshots: [aPolicy({ status: 'False' })] },
    'internal',
    /not fully scheduled any more/,
    'membership',
  ],
  [
    'a cluster joins',
    { ...withBindings('a', 'b', 'c', 'd'), ...labelled({ d: { stage: 'rest' } }) },
    'internal',
    /joined: d/,
    'membership',
  ],
  ['a cluster is gone', withBindings('a', 'b'), 'internal', /no longer picked: c/, 'membership'],
  ['a cluster was given up', givenUp('b'), 'internal', /no longer picked: b/, 'membership'],
  ['a cluster has left', labelled({ b: undefined }), 'internal', /left the fleet: b/, 'membership'],
  [
    'a cluster changes its stage',
    labelled({ b: { stage: 'first' } }),
    'internal',
    /now in another position: b/,
    'membership',
  ],
  ['a cluster belongs nowhere', labelled({ b: {} }), 'user', /belongs to no stage: "b"/, 'membership'],
];

for (const [what, more, blame, words, kind] of CHANGES) {
  describe(`when ${what}`, () => {
    test('the run ends', () => {
      expect(validate(observe(more), begun())).toMatchObject({
        state: 'wrong',
        blame,
        message: expect.stringMatching(words),
      });
    });
    test(`one that is told to continue ${kind === undefined ? 'ends too' : 'goes on'}`, () => {
      expect(validate(observe({ ...more, run: CONTINUE }), begun()).state).toBe(kind === undefined ? 'wrong' : 'valid');
    });
  });
}

test('one that has brought its revision to all does not need it any more', () => {
  const done = begun();
  const succeeded = { type: 'Succeeded', status: 'True', reason: 'x', message: '', lastTransitionTime: '' } as const;
  const stagesStatus = done.stagesStatus?.map((stage) => ({
    ...stage,
    clusters: stage.clusters.map((cluster) => ({ ...cluster, conditions: [succeeded] })),
  }));
  const status = { ...done, ...(stagesStatus === undefined ? {} : { stagesStatus }) };
  expect(validate(observe({ resourceSnapshots: [] }), status).state).toBe('valid');
});

test('one whose clusters all have their orders waits for them without it', () => {
  const synced = (generation: number): Condition => ({
    type: 'WorkSynchronized',
    status: 'True',
    reason: 'AllWorkSynced',
    message: '',
    observedGeneration: generation,
    lastTransitionTime: '',
  });
  const ordered = (cluster: string, of = 2) => {
    const binding = aBinding(cluster, { resourceSnapshotName: 'web-0-snapshot' });
    return { ...binding, metadata: { ...binding.metadata, generation: 2 }, conditions: [synced(of)] };
  };
  const stateWith = (...bindings: Observed['bindings']) =>
    validate(observe({ resourceSnapshots: [], bindings }), begun()).state;
  expect(stateWith(ordered('a'), ordered('b'), ordered('c'))).toBe('valid');
  expect(stateWith(ordered('a'), ordered('b'), ordered('c', 1))).toBe('wrong');
});

test('what the scheduler has not settled is waited for', () => {
  for (const more of [
    { policySnapshots: [] },
    { policySnapshots: [aPolicy({ status: 'Unknown' })] },
    { bindings: [aBinding('a'), aBinding('b')] },
    { bindings: ['a', 'b', 'c'].map((each) => aBinding(each, { schedulingPolicySnapshotName: 'web-9' })) },
  ]) {
    expect(validate(observe(more), begun())).toMatchObject({ state: 'pending', hold: { code: 'SchedulingPending' } });
  }
});

test('edits of selectors and of the history change nothing', () => {
  const placement = {
    ...aPlacement({ resourceSelectors: [{ kind: 'X' }], revisionHistoryLimit: 3 }),
    metadata: { name: 'web', generation: 9 },
  };
  expect(validate(observe({ placement }), begun()).state).toBe('valid');
});

test('one that goes on knows why it goes on without a cluster', () => {
  const why = (more: Partial<Observed>, cluster: string) => {
    const found = validate(observe({ ...more, run: CONTINUE }), begun());
    return found.state === 'valid' ? found.left(cluster) : found;
  };
  expect(why(givenUp('b'), 'b')).toBe('the placement does not pick it any more');
  expect(why({ ...withBindings('a', 'b'), ...labelled({ c: undefined }) }, 'c')).toBe('it has left the fleet');
  expect(why(withBindings('a', 'b'), 'c')).toBe('it has no binding any more');
  expect(why(givenUp('b'), 'a')).toBeUndefined();
});

describe('a status that contradicts itself ends the run:', () => {
  const say = (type: string, status: string, reason = 'X') => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const stage = (at: number, more: object) => (status: StagedUpdateRunStatus) =>
    ({
      ...status,
      stagesStatus: status.stagesStatus?.map((each, index) => (index === at ? { ...each, ...more } : each)),
    }) as StagedUpdateRunStatus;
  const done = [say('Succeeded', 'True')];
  const cluster = (clusterName: string, ...conditions: readonly object[]) => ({ clusterName, conditions });
  test.each<[string, (status: StagedUpdateRunStatus) => StagedUpdateRunStatus, RegExp]>([
    ['no strategy', ({ stagedUpdateStrategySnapshot: _, ...rest }) => rest, /lacks the facts that it began with/],
    ['no stages', ({ stagesStatus: _, ...rest }) => rest, /lacks the facts that it began with/],
    ['no last stage', ({ deletionStageStatus: _, ...rest }) => rest, /lacks the facts that it began with/],
    ['other stages', stage(0, { stageName: 'y' }), /not those of its strategy/],
    ['a stage has failed', stage(0, { conditions: [say('Succeeded', 'False')] }), /"first" has failed before/],
    ['a stage is done before an earlier one', stage(1, { conditions: done }), /"rest" is ahead of stage "first"/],
    [
      'a stage has begun before an earlier one',
      stage(1, { conditions: [say('Progressing', 'True')] }),
      /"rest" is ahead/,
    ],
    ['a cluster is not done in a stage that is', stage(0, { conditions: done }), /its cluster "a" is not/],
    [
      'too many under way',
      (status) =>
        stage(1, { clusters: ['b', 'c'].map((name) => cluster(name, say('Started', 'True'))) })(
          stage(0, { conditions: done, clusters: [cluster('a', ...done)] })(status),
        ),
      /2 clusters of stage "rest" are under way, 1 may be/,
    ],
    [
      'removal too early',
      (status) =>
        ({
          ...status,
          deletionStageStatus: { stageName: 'd', clusters: [], conditions: [say('Progressing', 'True')] },
        }) as StagedUpdateRunStatus,
      /while stage "first" is not done/,
    ],
  ])('%s', (_it, change, words) => {
    expect(STAGES).toHaveLength(2);
    expect(validate(observe(), change(begun()))).toMatchObject({
      state: 'wrong',
      blame: 'internal',
      message: expect.stringMatching(words),
    });
  });
});

test.each([
  ['somebody seems to have joined', withBindings('a', 'b', 'c', 'd'), labelled({ d: LABELS['a'] }), 'binding web-d'],
  ['somebody seems to be gone', withBindings('a', 'b'), {}, 'policySnapshot web-0'],
] as const)('that %s is looked at once more before it ends a run', (_it, bindings, members, rest) => {
  const found = validate(observe({ ...bindings, ...members }), begun());
  expect(found.state).toBe('wrong');
  expect(found.state === 'wrong' && found.rests.map(({ of, name }) => `${of} ${name}`)).toContain(rest);
});

test('who comes into another stage is blamed, and not those that stand behind it there', () => {
  const found = validate(observe(labelled({ a: LABELS['b'] })), begun());
  expect(found).toMatchObject({ state: 'wrong', message: expect.stringMatching(/now in another position: a\)/) });
});
