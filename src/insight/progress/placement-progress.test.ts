import { describe, expect, test } from 'vitest';
import type { PlacementSpec } from '../../api/placement.ts';
import { boundStatus } from '../../hub/placement/bound-status.ts';
import { aPlacement, BEFORE, budgetUsed, cluster, failed, type PlacementParts } from '../placement.testing.ts';
import { progressOf } from './placement-progress.ts';

const REPORT: PlacementParts['spec'] = { strategy: { applyStrategy: { type: 'ReportDiff' } } as never };
const under = (reason: string, type: string) => {
  const [condition] = cluster('c', `${type}:F`).conditions ?? [];
  return { ...condition, reason } as NonNullable<typeof condition>;
};

describe('the stage of a cluster', () => {
  test.each<{ said: string; is: string; done?: true; spec?: PlacementParts['spec'] }>([
    { said: 'F', is: 'NotPicked' },
    { said: 'TU', is: 'Waiting' },
    { said: 'TF', is: 'Waiting' },
    { said: 'TTU', is: 'Starting' },
    { said: 'TTF', is: 'OverrideFailed' },
    { said: 'TTTU', is: 'Starting' },
    { said: 'TTTF', is: 'Starting' },
    { said: 'TTTTU', is: 'Applying' },
    { said: 'TTTTF', is: 'ApplyFailed' },
    { said: 'TTTT', is: 'Applying' },
    { said: 'TTTTTU', is: 'Applied' },
    { said: 'TTTTTF', is: 'NotAvailable' },
    { said: 'TTTTTT', is: 'Available', done: true },
    { said: 'Scheduled:T RolloutStarted:T Overridden:T WorkSynchronized:T', is: 'Comparing', spec: REPORT },
    {
      said: 'Scheduled:T RolloutStarted:T Overridden:T WorkSynchronized:T DiffReported:F',
      is: 'CompareFailed',
      spec: REPORT,
    },
    {
      said: 'Scheduled:T RolloutStarted:T Overridden:T WorkSynchronized:T DiffReported:T',
      is: 'Compared',
      done: true,
      spec: REPORT,
    },
  ])('$said: $is', ({ said, is, done, spec }) => {
    const [state] = progressOf(aPlacement({ clusters: [cluster('c', said)], ...(spec ? { spec } : {}) })).clusters;
    expect(state).toMatchObject({
      cluster: 'c',
      stage: is,
      isDone: done ?? false,
      message: done ? '' : expect.any(String),
    });
  });

  test.each([
    { reason: 'ApplyInProgress', type: 'Applied', is: 'Applying' },
    { reason: 'NotAllWorkHaveBeenApplied', type: 'Applied', is: 'ApplyFailed' },
  ])('False for now is not failed: $reason', ({ reason, type, is }) => {
    const state = cluster('c', 'TTTT');
    const conditions = [...(state.conditions ?? []), under(reason, type)];
    expect(progressOf(aPlacement({ clusters: [{ ...state, conditions }] })).clusters[0]?.stage).toBe(is);
  });

  test('says what failed, what it waits for, and since when', () => {
    const { clusters } = progressOf(
      aPlacement({
        said: 'TF',
        clusters: [
          cluster('c1', 'TTTTTF', { failedPlacements: [failed('no Pod is ready'), failed('x')] }),
          cluster('c2', 'TTTTTF', { failedPlacements: [failed('Deployment "shop/web" is not ready')] }),
          cluster('c2b', 'TTTTTF', {
            failedPlacements: [failed('cannot change Deployment "shop/web": spec.selector')],
          }),
          cluster('c3', 'TF'),
          cluster('c4', 'TF'),
        ],
        holds: [budgetUsed('c1', ['c3']), { ...budgetUsed('c4', ['c4']), code: 'NotAvailable' }],
      }),
    );
    expect(clusters.map(({ message }) => message)).toEqual([
      'Deployment "shop/web": no Pod is ready (and 1 more)',
      'Deployment "shop/web" is not ready',
      'cannot change Deployment "shop/web": spec.selector',
      'waiting for MemberCluster "c1" (BudgetUsed)',
      'RolloutStarted is not reached',
    ]);
    expect(clusters[0]?.since).toBe(Date.parse(BEFORE));
  });
});

describe('a placement', () => {
  const done = [cluster('c1', 'TTTTTT')];
  test.each<PlacementParts & { it: string; complete: boolean; counts?: string }>([
    { it: 'is complete when all is there', clusters: done, complete: true, counts: '1/1' },
    {
      it: 'is not while one is missing',
      said: 'TTTTTF',
      clusters: [...done, cluster('c2', 'TTTTTF')],
      complete: false,
      counts: '1/2',
    },
    {
      it: 'is not while clusters are missing',
      said: 'FTTTTT',
      clusters: [...done, cluster('', 'F')],
      complete: false,
      counts: '1/1',
    },
    { it: 'is not while something holds', clusters: done, holds: [budgetUsed('c1', ['c2'])], complete: false },
    {
      it: 'is, though nobody can tell',
      clusters: done,
      holds: [{ code: 'UntrackedPeriod', count: 1, clusters: ['c1'] }],
      complete: true,
    },
    {
      it: 'is not when its status is of the past',
      clusters: done,
      metadata: { name: 'web', generation: 3 },
      complete: false,
    },
    {
      it: 'is not when it is leaving',
      clusters: done,
      metadata: { name: 'web', deletionTimestamp: BEFORE },
      complete: false,
    },
    { it: 'is not when no cluster fits', said: 'T', complete: false, counts: '0/0' },
    {
      it: 'is when no cluster is wanted',
      said: 'T',
      spec: { policy: { placementType: 'PickN', numberOfClusters: 0 } } as Partial<PlacementSpec>,
      complete: true,
      counts: '0/0',
    },
    {
      it: 'is when none is named',
      said: 'T',
      spec: { policy: { placementType: 'PickFixed', clusterNames: [] } } as Partial<PlacementSpec>,
      complete: true,
    },
    { it: 'is not when it selects nothing', clusters: done, isEmpty: true, complete: false, counts: '1/1' },
    { it: 'is not before anybody looked', said: '', complete: false, counts: '0/0' },
  ])('$it', ({ it: _it, complete, counts, ...parts }) => {
    const progress = progressOf(aPlacement(parts));
    expect(progress.isComplete).toBe(complete);
    if (counts !== undefined) expect(`${progress.done}/${progress.total}`).toBe(counts);
  });

  test.each<PlacementParts & { it: string; is: string | undefined }>([
    {
      it: 'by a name that is not there',
      isEmpty: true,
      note: 'selector v1 Namespace "shoop" matches nothing',
      is: 'selector v1 Namespace "shoop" matches nothing',
    },
    { it: 'by labels that nobody has', isEmpty: true, is: 'no object matches its resourceSelectors' },
    { it: 'with one of two selectors', note: 'selector v1 Namespace "shoop" matches nothing', is: undefined },
    { it: 'as its former generation asked', isEmpty: true, metadata: { name: 'web', generation: 3 }, is: undefined },
    { it: 'since it is going', isEmpty: true, metadata: { name: 'web', deletionTimestamp: BEFORE }, is: undefined },
    { it: 'before it is scheduled', isEmpty: true, said: 'U', is: undefined },
    {
      it: 'because runs have not brought anything yet',
      isEmpty: true,
      spec: { strategy: { type: 'External' } } as Partial<PlacementSpec>,
      is: undefined,
    },
  ])('selects nothing $it: $is', ({ it: _it, is, ...parts }) => {
    const { nothing, notes } = progressOf(aPlacement({ clusters: done, ...parts }));
    expect(nothing).toBe(is);
    expect(notes).toEqual(is === undefined && parts.note !== undefined ? [parts.note] : []);
  });

  describe('of which clusters have an earlier revision', () => {
    const waiting = (holds: PlacementParts['holds'] = []): PlacementParts => ({
      said: 'TF',
      clusters: [cluster('c1', 'TTTTTF'), cluster('c2', 'TF'), cluster('c3', 'TF'), cluster('c4', 'TU')],
      holds,
    });

    test('names the one that each has, as far as that is known', () => {
      const carried = new Map([
        ['c2', '0'],
        ['c3', ''],
      ]);
      const { clusters, earlier } = progressOf(aPlacement(waiting()), carried);
      expect(clusters.map(({ revision }) => revision)).toEqual(['1', '0', '', '']);
      expect(earlier).toBe(1);
    });

    test.each<{ it: string; holds: NonNullable<PlacementParts['holds']>; earlier: number }>([
      { it: 'those that wait for a budget have one', holds: [budgetUsed('c1', ['c2', 'c3'])], earlier: 2 },
      { it: 'not more than there are', holds: [budgetUsed('c1', ['c2', 'c3'], 40)], earlier: 3 },
      { it: 'those that wait for room have none', holds: [{ code: 'SurgeUsed', count: 3 }], earlier: 0 },
      { it: 'nobody knows', holds: [], earlier: 0 },
    ])('counts them by what holds them where it is not: $it', ({ holds, earlier }) => {
      const progress = progressOf(aPlacement(waiting(holds)));
      expect(progress.earlier).toBe(earlier);
      expect(progress.clusters.map(({ revision }) => revision)).toEqual(['1', '', '', '']);
    });

    test('believes a placement that runs roll out', () => {
      const spec = { strategy: { type: 'External' } } as Partial<PlacementSpec>;
      const clusters = [cluster('c1', 'TF', { observedResourceIndex: '0' })];
      const progress = progressOf(aPlacement({ said: 'TU', spec, clusters }));
      expect(progress).toMatchObject({ earlier: 0, clusters: [{ revision: '0' }] });
    });
  });

  describe('that runs move', () => {
    const spec = { strategy: { type: 'External' } } as Partial<PlacementSpec>;
    const on = (name: string, index: string, said = 'TTTTTT') => cluster(name, said, { observedResourceIndex: index });
    const open = (revision: string) => ({ run: { revision, isOpen: true }, leaving: [] });

    test('counts the clusters that have the revision of the run, and none that has another', () => {
      const clusters = [on('c1', '1'), on('c2', '0'), on('c3', '', 'TU'), on('c4', '1', 'TTTTTF')];
      const progress = progressOf(aPlacement({ said: 'TU', spec, clusters }), undefined, open('1'));
      expect(progress).toMatchObject({ revision: '1', done: 1, total: 4, earlier: 1, isComplete: false });
      expect(progress.clusters.map(({ stage, isDone, revision }) => [stage, isDone, revision])).toEqual([
        ['Available', true, '1'],
        ['Waiting', false, '0'],
        ['Waiting', false, ''],
        ['NotAvailable', false, '1'],
      ]);
      expect(progress.clusters[1]?.message).toBe('the run has not reached this cluster yet');
    });

    test('is not complete while a run has reached no cluster, although all its conditions are True', () => {
      const placement = aPlacement({ spec, clusters: [on('c1', '1'), on('c2', '1')] });
      expect(progressOf(placement, undefined, open('2'))).toMatchObject({ done: 0, earlier: 2, isComplete: false });
      expect(progressOf(placement, undefined, open('0'))).toMatchObject({ done: 0, earlier: 2, isComplete: false });
      expect(progressOf(placement, undefined, open('1'))).toMatchObject({ done: 2, earlier: 0, isComplete: true });
      expect(progressOf(placement, undefined, { leaving: [] })).toMatchObject({ done: 2, isComplete: true });
    });

    test('says that no run is under way where the last one did not reach all', () => {
      const staging = { run: { revision: '1', isOpen: false }, leaving: [] };
      const clusters = [on('c1', '1'), on('c2', '0')];
      const progress = progressOf(aPlacement({ said: 'TU', spec, clusters }), undefined, staging);
      expect(progress).toMatchObject({ done: 1, earlier: 1 });
      expect(progress.clusters[1]?.message).toBe('no run that brings revision 1 is under way');
    });

    test('says of a cluster that has the revision that only its confirmation is missing, and names those that leave', () => {
      const staging = { run: { revision: '1', isOpen: false }, leaving: [{ cluster: 'c9', revision: '0' }] };
      const progress = progressOf(
        aPlacement({ said: 'TU', spec, clusters: [on('c1', '1', 'TU')] }),
        undefined,
        staging,
      );
      expect(progress.clusters).toMatchObject([
        {
          stage: 'Waiting',
          message: 'has revision 1; its binding has changed since, and the next run confirms it',
        },
      ]);
      expect(progress.leaving).toEqual([
        {
          cluster: 'c9',
          revision: '0',
          stage: 'Leaving',
          isDone: false,
          differing: 0,
          message: 'no longer picked; keeps its objects until a run removes them',
        },
      ]);
    });
  });

  test('without any status is waited for', () => {
    const { status: _status, ...bare } = aPlacement();
    expect(progressOf(bare as ReturnType<typeof aPlacement>)).toMatchObject({
      isComplete: false,
      outdated: { generation: 2, observed: 0 },
      clusters: [],
    });
  });

  test('so large that clusters stand in no list still counts them', () => {
    const long = 'x'.repeat(1000);
    const many = Array.from({ length: 2000 }, (_, at) => {
      const state = cluster(`c${String(at).padStart(4, '0')}`, at < 1500 ? 'TTTTTT' : 'TF');
      return {
        ...state,
        conditions: state.conditions?.map((each) => ({ ...each, message: long.slice(0, 200) })) ?? [],
      };
    });
    const whole = aPlacement({ said: 'TF', clusters: many });
    const placement = { ...whole, status: boundStatus(whole.status ?? {}) };
    expect(placement.status.placementStatuses).toHaveLength(500);
    expect(progressOf(placement)).toMatchObject({ done: 1500, total: 2000, unlisted: 1500, isComplete: false });
  });

  test('so large that even those that wait are cut still counts them', () => {
    const message = 'x'.repeat(1000);
    const many = Array.from({ length: 3000 }, (_, at) => {
      const state = cluster(`c${String(at).padStart(4, '0')}`, at < 1000 ? 'TTTTTT' : 'TF');
      return { ...state, conditions: state.conditions?.map((each) => ({ ...each, message })) ?? [] };
    });
    const whole = aPlacement({ said: 'TF', clusters: many });
    const placement = { ...whole, status: boundStatus(whole.status ?? {}) };
    const listed = placement.status.placementStatuses?.length ?? 0;
    expect(listed).toBeLessThan(2000);
    expect(progressOf(placement)).toMatchObject({
      done: 1000,
      total: 3000,
      unlisted: 1000,
      unlistedOpen: 2000 - listed,
      isComplete: false,
    });
  });
});
