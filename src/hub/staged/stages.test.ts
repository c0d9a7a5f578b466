import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Labels } from '../../api/object.ts';
import type { Stage } from '../../api/staged-update-strategy.ts';
import { isInPlace, stagesOf, troubleIn } from './stages.ts';

const stage = (more: object = {}): Stage => ({ name: 'x', labelSelector: {}, maxConcurrency: 1, ...more }) as Stage;
const wait = (waitTime?: string) => ({ type: 'TimedWait', ...(waitTime === undefined ? {} : { waitTime }) });
const APPROVAL = { type: 'Approval' };

describe('stages that cannot work', () => {
  test.each<[string, readonly object[], string | undefined]>([
    ['nothing wrong', [{ beforeStageTasks: [APPROVAL], afterStageTasks: [wait('1s'), APPROVAL] }], undefined],
    ['a name twice', [{}, {}], 'stage name "x" is used twice'],
    ['two approvals before', [{ beforeStageTasks: [APPROVAL, APPROVAL] }], 'more than one task'],
    ['a wait before', [{ beforeStageTasks: [wait('1s')] }], 'only tasks of type Approval'],
    ['three tasks after', [{ afterStageTasks: [APPROVAL, wait('1s'), APPROVAL] }], 'more than two tasks'],
    ['two waits after', [{ afterStageTasks: [wait('1s'), wait('2s')] }], 'two tasks of the same type'],
    ['a wait without a time', [{ afterStageTasks: [wait()] }], 'needs a waitTime above 0'],
    ['a wait of nothing', [{ afterStageTasks: [wait('0s')] }], 'needs a waitTime above 0'],
    ['an approval with a time', [{ afterStageTasks: [{ ...APPROVAL, waitTime: '1s' }] }], 'takes no waitTime'],
    [
      'a selector that does not parse',
      [{ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } }],
      'labelSelector: ',
    ],
  ])('%s', (_it, stages, words) => {
    const found = troubleIn(stages.map((each) => stage(each)));
    if (words === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(words);
  });
});

describe('the clusters of stages', () => {
  const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    a: { env: 'x', order: '10' },
    b: { env: 'y', order: '-3' },
    c: { env: 'x', order: '+5' },
    d: { env: 'y', order: '007' },
    e: { env: 'y', order: '1.5' },
    f: { env: 'y', order: '' },
    g: { env: 'y', order: '9223372036854775808' },
    h: { env: 'y' },
    constructor: {},
  };
  const found = (clusters: readonly string[], ...stages: readonly object[]) =>
    stagesOf({
      run: 'r',
      stages: stages.map((each) => stage(each)),
      clusters,
      labelsOf: (cluster) => (Object.hasOwn(labels, cluster) ? labels[cluster] : undefined),
    });
  const env = (value: string) => ({ labelSelector: { matchLabels: { env: value } } });

  test.each<[string, ReturnType<typeof found>, readonly (readonly string[])[]]>([
    ['an empty selector means all, by name', found(['c', 'a', 'b'], {}), [['a', 'b', 'c']]],
    ['an absent one means none', found(['a'], { labelSelector: undefined }, { name: 'y' }), [[], ['a']]],
    ['each in its own', found(['a', 'b', 'c'], env('x'), { name: 'y', ...env('y') }), [['a', 'c'], ['b']]],
    [
      'a label orders them as numbers',
      found(['a', 'b', 'c', 'd'], { sortingLabelKey: 'order' }),
      [['b', 'c', 'd', 'a']],
    ],
    ['nobody is fine', found([], env('x')), [[]]],
  ])('%s', (_it, staged, expected) => {
    expect(staged.ok && staged.stages.map(({ clusters }) => clusters.map(({ clusterName }) => clusterName))).toEqual(
      expected,
    );
  });

  test.each<[string, ReturnType<typeof found>, string, readonly string[]]>([
    ['two stages', found(['a'], {}, { name: 'y' }), 'cluster "a" belongs to two stages, "x" and "y"', ['a']],
    ['no stage', found(['b', 'a', 'd'], env('x')), '2 picked clusters belong to no stage: "b", "d"', ['b', 'd']],
    ['no MemberCluster', found(['a', 'z'], {}), '1 picked cluster belongs to no stage: "z"', ['z']],
    ['no label', found(['h'], { sortingLabelKey: 'order' }), 'cluster "h" has no label "order"', ['h']],
    ['a fraction', found(['e'], { sortingLabelKey: 'order' }), 'which is no integer', ['e']],
    ['nothing in it', found(['f'], { sortingLabelKey: 'order' }), 'which is no integer', ['f']],
    ['more than 64 bits', found(['g'], { sortingLabelKey: 'order' }), 'which is no integer', ['g']],
    [
      'a label that all objects inherit',
      found(['constructor'], { sortingLabelKey: 'toString' }),
      'has no label "toString"',
      ['constructor'],
    ],
  ])('%s ends it', (_it, staged, words, clusters) => {
    expect(staged).toMatchObject({ ok: false, message: expect.stringContaining(words), clusters });
  });

  test('at most ten are named', () => {
    const many = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`);
    expect(found(many, {})).toMatchObject({ ok: false, message: expect.stringMatching(/^12 .*"n09" and 2 more/) });
  });

  test('gates are there from the beginning, with the names of their requests', () => {
    const staged = found(['a'], { beforeStageTasks: [APPROVAL], afterStageTasks: [wait('1s'), APPROVAL] });
    expect(staged.ok && staged.stages[0]).toEqual({
      stageName: 'x',
      clusters: [{ clusterName: 'a' }],
      beforeStageTaskStatus: [{ type: 'Approval', approvalRequestName: 'r-before-x' }],
      afterStageTaskStatus: [{ type: 'TimedWait' }, { type: 'Approval', approvalRequestName: 'r-after-x' }],
    });
  });

  test('are in their places exactly if they would be put there again', () => {
    const anyLabels = fc.record({ env: fc.constantFrom('x', 'y', 'z'), order: fc.constantFrom('1', '2', '03', 'no') });
    const anyFleet = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), anyLabels, { minKeys: 1 });
    /** Relabels some clusters, adds some, removes some. */
    const anyChange = fc.dictionary(fc.constantFrom('a', 'b', 'e'), fc.option(anyLabels, { nil: undefined }), {
      maxKeys: 1,
    });
    const anySorting = fc.constantFrom({}, { sortingLabelKey: 'order' });
    fc.assert(
      fc.property(anyFleet, anyChange, anySorting, (before, change, sorting) => {
        const stages = ['x', 'y'].map((env) =>
          stage({ name: env, labelSelector: { matchLabels: { env } }, ...(env === 'x' ? sorting : {}) }),
        );
        const inputOf = (fleet: Readonly<Record<string, Labels | undefined>>) => ({
          run: 'r',
          stages,
          clusters: Object.keys(fleet),
          labelsOf: (cluster: string) => fleet[cluster],
        });
        const recorded = stagesOf(inputOf(before));
        fc.pre(recorded.ok);
        const next = inputOf({ ...before, ...change });
        const found = stagesOf(next);
        const isSame = found.ok && JSON.stringify(found.stages) === JSON.stringify(recorded.stages);
        expect(isInPlace(next, recorded.stages)).toBe(isSame);
      }),
    );
  });
});
