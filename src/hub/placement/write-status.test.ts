// When a status is written, which Events are recorded, and how large it may become.
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import { dueAt, newThrottle, sawDone } from '../../runtime/due.ts';
import { clusterFamily } from '../families.ts';
import { STATUS_WRITES } from '../status/status-rule.ts';
import { boundStatus } from './bound-status.ts';
import { newsIn, saysTheSame, statusChange } from './write-status.ts';

const { group, kind: kindName } = clusterFamily.placement;
const kind = { group, kind: kindName, name: 'shop' };
const condition = (type: string, status: 'True' | 'False' | 'Unknown', more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'R',
  message: 'm',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
const status = (...conditions: readonly [string, 'True' | 'False' | 'Unknown'][]): PlacementStatus => ({
  conditions: conditions.map(([type, value]) => condition(`ClusterResourcePlacement${type}`, value)),
});

describe('what is told', () => {
  const SCHEDULED = ['Scheduled', 'True'] as const;
  test.each<[string, PlacementStatus | undefined, PlacementStatus, readonly string[]]>([
    ['nothing of a beginning', undefined, status(['Scheduled', 'Unknown']), []],
    [
      'that a rollout began',
      status([...SCHEDULED]),
      status([...SCHEDULED], ['RolloutStarted', 'True']),
      ['PlacementRolloutStarted'],
    ],
    ['nothing twice', status(['RolloutStarted', 'True']), status(['RolloutStarted', 'True']), []],
    [
      'everything up to the end at once',
      undefined,
      status(
        [...SCHEDULED],
        ['RolloutStarted', 'True'],
        ['Overridden', 'True'],
        ['WorkSynchronized', 'True'],
        ['Applied', 'True'],
        ['Available', 'True'],
      ),
      [
        'PlacementRolloutStarted',
        'PlacementOverriddenSucceeded',
        'PlacementWorkSynchronized',
        'PlacementApplied',
        'PlacementAvailable',
        'PlacementRolloutCompleted',
      ],
    ],
    [
      'all of it again with the next revision, however quick it was',
      { ...status([...SCHEDULED], ['RolloutStarted', 'True'], ['Available', 'True']), observedResourceIndex: '0' },
      { ...status([...SCHEDULED], ['RolloutStarted', 'True'], ['Available', 'True']), observedResourceIndex: '1' },
      ['PlacementRolloutStarted', 'PlacementAvailable', 'PlacementRolloutCompleted'],
    ],
    [
      'available but not scheduled is not complete',
      status(['Applied', 'True']),
      status(['Applied', 'True'], ['Available', 'True']),
      ['PlacementAvailable'],
    ],
    [
      'that differences are reported',
      status([...SCHEDULED]),
      status([...SCHEDULED], ['DiffReported', 'True']),
      ['PlacementDiffReported', 'PlacementRolloutCompleted'],
    ],
    [
      'nothing when it becomes worse',
      status([...SCHEDULED], ['Available', 'True']),
      status([...SCHEDULED], ['Available', 'False']),
      [],
    ],
    ['that it cannot be scheduled', status([...SCHEDULED]), status(['Scheduled', 'False']), ['R']],
    ['that only once', status(['Scheduled', 'False']), status(['Scheduled', 'False']), []],
  ])('%s', (_name, before, after, reasons) => {
    expect(newsIn(kind, before, after).map(({ reason }) => reason)).toEqual(reasons);
  });

  test('bad news as a warning, for another reason again', () => {
    const invalid = {
      conditions: [condition('ClusterResourcePlacementScheduled', 'False', { reason: 'InvalidResourceSelectors' })],
    };
    expect(newsIn(kind, status(['Scheduled', 'False']), invalid)).toEqual([
      { type: 'Warning', reason: 'InvalidResourceSelectors', message: 'm' },
    ]);
  });
});

describe('who holds a rollout up', () => {
  const held = (name: string, cause: string, code = 'BudgetUsed'): PlacementStatus => ({
    holds: [{ code, on: { kind: 'MemberCluster', name }, count: 2, facts: { cause, ready: 1, minAvailable: 1 } }],
  });
  test.each<[string, PlacementStatus | undefined, PlacementStatus, boolean]>([
    ['is told', undefined, held('a', 'failed'), true],
    ['is told of one that only started so far', held('a', 'starting'), held('a', 'failed'), true],
    ['is not told of one that starts', undefined, held('a', 'starting'), false],
    ['is told once', held('a', 'failed'), held('a', 'failed'), false],
    ['is told again of another', held('a', 'failed'), held('b', 'unreachable'), true],
    ['is not told where nobody waits for it', undefined, held('a', 'failed', 'NotAvailable'), false],
    ['is the placement itself, if it cannot move', undefined, { holds: [{ code: 'SnapshotTooLarge' }] }, true],
    ['and that once', { holds: [{ code: 'SnapshotTooLarge' }] }, { holds: [{ code: 'SnapshotTooLarge' }] }, false],
    ['but not that a revision is still to come', undefined, { holds: [{ code: 'RevisionPending' }] }, false],
  ])('%s', (_it, before, after, told) => {
    expect(newsIn(kind, before, after).map(({ reason }) => reason)).toEqual(told ? ['PlacementRolloutHeld'] : []);
  });

  test('is named, also if it is the placement itself', () => {
    const [news] = newsIn(kind, undefined, { holds: [{ code: 'SnapshotTooLarge', facts: { largestBytes: 9 } }] });
    expect(news?.message).toContain('ClusterResourcePlacement "shop" selects an object that is too large');
  });
});

describe('what a cluster did not take', () => {
  const refused = (clusterName: string, message: string, type = 'Applied') => ({
    clusterName,
    failedPlacements: [
      { version: 'v1', kind: 'ConfigMap', name: 'x', condition: condition(type, 'False', { message }) },
    ],
  });
  const at = (observedResourceIndex: string, ...placementStatuses: readonly ReturnType<typeof refused>[]) =>
    ({ observedResourceIndex, placementStatuses }) as PlacementStatus;
  const one = at('1', refused('a', 'ConfigMap "x" is refused'));
  test.each<[string, PlacementStatus | undefined, PlacementStatus, readonly string[]]>([
    ['is told', at('1'), one, ['cluster "a": ConfigMap "x" is refused']],
    ['is told once', one, one, []],
    ['is not told again of others', one, at('1', refused('a', 'x'), refused('b', 'x')), []],
    ['is told anew of another revision', at('0', refused('a', 'x')), one, ['cluster "a": ConfigMap "x" is refused']],
    [
      'is told with the number of others',
      at('1'),
      at('1', refused('a', 'x'), refused('b', 'y'), refused('c', 'y')),
      ['cluster "a": x; and 2 more clusters'],
    ],
    ['is not what only does not work', at('1'), at('1', refused('a', 'x', 'Available')), []],
  ])('%s', (_it, before, after, messages) => {
    const news = newsIn(kind, before, after);
    expect(news.map(({ message }) => message)).toEqual(messages);
    expect(news.every(({ type, reason }) => type === 'Warning' && reason === 'PlacementApplyFailed')).toBe(true);
  });
});

describe('a workload that cannot start', () => {
  const stuck = (clusterName: string, reason: string, observedResourceIndex = '1', name = 'web') => ({
    clusterName,
    observedResourceIndex,
    failedPlacements: [
      {
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
        namespace: 'shop',
        name,
        condition: condition('Available', 'False'),
        cause: { code: reason, message: 'as seen' },
      },
    ],
  });
  const of = (...placementStatuses: readonly ReturnType<typeof stuck>[]) =>
    ({ placementStatuses, observedResourceIndex: '1' }) as unknown as PlacementStatus;
  const told = 'cluster "a": Deployment "shop/web" of revision 1 cannot start: ImagePullBackOff (as seen)';
  const one = stuck('a', 'ImagePullBackOff');
  test.each<[string, PlacementStatus | undefined, PlacementStatus, readonly string[]]>([
    ['is told', of(), of(one), [told]],
    ['is told once', of(one), of(one), []],
    ['is not told again of another cluster', of(one), of(one, stuck('b', 'ImagePullBackOff')), []],
    ['is not told again of another object', of(one), of(one, stuck('a', 'ImagePullBackOff', '1', 'db')), []],
    ['is told with the number of others', of(), of(one, stuck('b', 'ImagePullBackOff')), [`${told}; and 1 more`]],
    ['is told of another cause', of(stuck('a', 'CrashLoopBackOff')), of(one, stuck('b', 'CrashLoopBackOff')), [told]],
    ['is told of another revision', of(stuck('a', 'ImagePullBackOff', '0')), of(one), [told]],
  ])('%s', (_it, before, after, messages) => {
    const news = newsIn(kind, before, after);
    expect(news.map(({ message }) => message)).toEqual(messages);
    expect(news.every(({ type, reason }) => type === 'Warning' && reason === 'PlacementWorkloadCannotStart')).toBe(
      true,
    );
  });
});

describe('a status is written', () => {
  const hold = { code: 'BudgetUsed', on: { kind: 'ClusterResourceBinding', name: 'a' }, count: 2, facts: { ready: 1 } };
  test('not for changed numbers behind a hold, but for another hold, and for everything else', () => {
    const before = { ...status(['Scheduled', 'True']), holds: [hold] };
    expect(
      saysTheSame(before, { ...before, holds: [{ ...hold, facts: { ready: 2 }, since: '2026-01-01T00:00:00Z' }] }),
    ).toBe(true);
    expect(saysTheSame(before, { ...before, holds: [{ ...hold, count: 3 }] })).toBe(false);
    expect(saysTheSame(before, { ...before, holds: [] })).toBe(false);
    expect(saysTheSame(before, { ...before, observedResourceIndex: '1' })).toBe(false);
    expect(saysTheSame({ ...status(), holds: [] }, status())).toBe(true);
    expect(saysTheSame(undefined, {})).toBe(false);
  });

  test('with nothing of what is no longer said', () => {
    expect(statusChange({ holds: [hold], observedResourceIndex: '1' }, { observedResourceIndex: '2' })).toEqual({
      holds: null,
      observedResourceIndex: '2',
    });
  });

  test.each([
    { clusters: 0, ms: 100 },
    { clusters: 100, ms: 100 },
    { clusters: 101, ms: 101 },
    { clusters: 1000, ms: 1000 },
  ])('of $clusters clusters at most once in $ms ms', ({ clusters, ms }) => {
    const writes = newThrottle();
    sawDone(writes, STATUS_WRITES, undefined, 1000, clusters);
    expect(dueAt(writes, STATUS_WRITES, 1000)).toBe(1000);
    sawDone(writes, STATUS_WRITES, status(['Scheduled', 'True']), 1000, clusters);
    expect(dueAt(writes, STATUS_WRITES, 1000)).toBe(1000 + ms);
  });
});

describe('a status that is too large', () => {
  const clusters = (count: number, value: 'True' | 'False', message: string) =>
    Array.from({ length: count }, (_, index) => ({
      clusterName: `cluster-${value}-${index}`,
      conditions: [condition('Scheduled', 'True', { message }), condition('Applied', value, { message })],
    }));
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const base = status(['Scheduled', 'True']);
  const aFailure = {
    version: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: 'web',
    condition: condition('Applied', 'False'),
  };

  test('of a few clusters stays as it is', () => {
    const small = { ...base, placementStatuses: clusters(100, 'True', 'm') };
    expect(boundStatus(small)).toBe(small);
  });

  test('above 512 KB says no more of what is True', () => {
    const bounded = boundStatus({
      ...base,
      placementStatuses: [...clusters(1000, 'True', 'x'.repeat(300)), ...clusters(1, 'False', 'why')],
    });
    expect(bounded.placementStatuses).toHaveLength(1001);
    expect(bounded.placementStatuses?.[0]?.conditions?.map(({ message }) => message)).toEqual(['', '']);
    expect(bounded.placementStatuses?.at(-1)?.conditions?.map(({ message }) => message)).toEqual(['', 'why']);
    expect(boundStatus(bounded)).toEqual(bounded);
  });

  test('above 1 MiB lists only those where something is not True, and says so', () => {
    const bounded = boundStatus({
      ...base,
      placementStatuses: [...clusters(6000, 'True', 'x'.repeat(300)), ...clusters(7, 'False', 'why')],
    });
    expect(bounded.placementStatuses).toHaveLength(7);
    expect(bounded.conditions?.[0]?.message).toContain('6000 of 6007 clusters, all True, are not listed');
    expect(bounded.notListed).toEqual({ ready: 6000 });
    expect(bounded.conditions?.[0]?.status).toBe('True');
    expect(bytes(bounded)).toBeLessThanOrEqual(1024 * 1024);
  });

  test('fits even when nothing works anywhere', () => {
    const bounded = boundStatus({ ...base, placementStatuses: clusters(6000, 'False', 'x'.repeat(900)) });
    expect(bytes(bounded)).toBeLessThanOrEqual(1024 * 1024);
    expect(bounded.placementStatuses?.length).toBeGreaterThan(500);
    expect(bounded.notListed).toEqual({ ready: 0, others: 6000 - (bounded.placementStatuses?.length ?? 0) });
    expect(bounded.conditions?.[0]?.message).toContain(
      `nor are ${6000 - (bounded.placementStatuses?.length ?? 0)} others`,
    );
  });

  test('fits when a few clusters each name as many failed objects as they may', () => {
    const condition = { ...aFailure.condition, message: 'x'.repeat(1024) };
    const failedPlacements = Array.from({ length: 100 }, (_, index) => ({
      ...aFailure,
      name: `web-${index}`,
      condition,
    }));
    const few = clusters(10, 'False', 'why').map((each) => ({ ...each, failedPlacements }));
    const bounded = boundStatus({ ...base, placementStatuses: few });
    expect(bytes(bounded)).toBeLessThanOrEqual(1024 * 1024);
    expect(bounded.placementStatuses).toHaveLength(10);
    expect(bounded.conditions?.[0]?.message).toContain(
      '0 of 10 clusters, all True, are not listed, nor are 0 others and the objects that failed',
    );
  });
});
