// Forecasts of rollouts: the traces of spec 08 §14 as waves, in both scopes, without a server.
import { describe, expect, test } from 'vitest';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, labels } from '../../api/names.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { clusterFamily, families, type PlacementFamily } from '../../hub/families.ts';
import { applyStrategyOf } from '../../hub/orders/apply-strategy.ts';
import type { Overriding } from '../../hub/orders/orders-for.ts';
import { forecastRollout, type RolloutForecast } from './rollout-forecast.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const BEFORE = '2026-01-01T11:00:00Z';
const MINUTE = 60_000;

interface Case {
  readonly count: number;
  readonly strategy: object;
  /** Clusters have revision 0 already. */
  readonly isUpdate: boolean;
  readonly family?: PlacementFamily;
  readonly unreachable?: number;
  labelsOf?(number: number): Record<string, string>;
  readonly overriding?: Overriding;
  /** Clusters have the newest revision already. */
  readonly isCurrent?: boolean;
  /** The first of them are no longer picked. */
  readonly leaving?: number;
}

const nameOf = (number: number): string => `c-${String(number).padStart(3, '0')}`;
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: status === 'True' ? 'Fine' : 'MemberUnreachable',
  message: '',
  lastTransitionTime: BEFORE,
  observedGeneration: 1,
});

function foresee({
  count,
  strategy,
  isUpdate,
  family = clusterFamily,
  unreachable = 0,
  labelsOf,
  overriding,
  isCurrent = false,
  leaving = 0,
}: Case): RolloutForecast {
  const namespace = family === clusterFamily ? {} : { namespace: 'team' };
  const apiVersion = 'placement.kubernetes-fleet.io/v1beta1';
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const members = numbers.map(
    (number): MemberCluster =>
      ({
        apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
        kind: 'MemberCluster',
        metadata: { name: nameOf(number), labels: labelsOf?.(number) ?? {} },
        spec: {},
        status: {
          conditions: ['Joined', 'Healthy'].map((type) =>
            condition(type, number <= unreachable && type === 'Healthy' ? 'Unknown' : 'True'),
          ),
        },
      }) as never,
  );
  const bindings = numbers.map(
    (number): KubeObject => ({
      apiVersion,
      kind: family.binding.kind,
      metadata: { name: `web-${nameOf(number)}`, ...namespace, generation: 1, resourceVersion: '1', uid: `u${number}` },
      spec: {
        state: number <= leaving ? 'Unscheduled' : isUpdate ? 'Bound' : 'Scheduled',
        targetCluster: nameOf(number),
        resourceSnapshotName: isUpdate ? `web-${isCurrent ? 1 : 0}-snapshot` : '',
        ...(isCurrent ? { applyStrategy: applyStrategyOf({ spec: { resourceSelectors: [] } } as never) } : {}),
        schedulingPolicySnapshotName: 'web-0',
        clusterDecision: { clusterName: nameOf(number), selected: true, reason: '' },
      },
      status: { conditions: isUpdate ? ['RolloutStarted', 'Applied', 'Available'].map((type) => condition(type)) : [] },
    }),
  );
  const placement = {
    apiVersion,
    kind: family.placement.kind,
    metadata: { name: 'web', ...namespace, generation: 1 },
    spec: { resourceSelectors: [], strategy },
  } as never as Placement;
  expect(groupVersionOf(placement.apiVersion).group).toBe(family.placement.group);
  const newest: KubeObject = {
    apiVersion,
    kind: family.resourceSnapshot.kind,
    metadata: {
      name: 'web-1-snapshot',
      ...namespace,
      labels: { [labels.parentPlacement]: 'web', [labels.resourceIndex]: '1', [labels.isLatestSnapshot]: 'true' },
      annotations: { [annotations.numberOfResourceSnapshots]: '1' },
    },
  };
  return forecastRollout({
    family,
    placement,
    bindings,
    newest,
    policySnapshot: undefined,
    members,
    groups: [],
    overriding,
    durationMs: MINUTE,
    now: NOW,
  });
}

const partitioned = (settings: object) => ({ type: 'Partitioned', partitioned: settings });
const sizes = ({ waves }: RolloutForecast) => waves.map(({ clusters }) => clusters.length);
const repeat = (size: number, times: number) => Array.from({ length: times }, () => size);
const byWave = (number: number) => ({ wave: String(Math.ceil(number / 8)) });
const WAVES = [1, 2, 3, 4, 5].map((wave) => ({
  name: `Wave ${wave}`,
  clusterSelector: { matchLabels: { wave: String(wave) } },
}));

describe('the rollout of a placement is foreseen', () => {
  test.each<[string, Omit<Case, 'family'>, readonly number[]]>([
    ['T1 install', { count: 25, strategy: partitioned({ maxUnavailable: 5 }), isUpdate: false }, [25]],
    ['T1 update', { count: 25, strategy: partitioned({ maxUnavailable: 5 }), isUpdate: true }, repeat(5, 5)],
    ['T2 update', { count: 50, strategy: partitioned({ maxUnavailable: '10%' }), isUpdate: true }, repeat(5, 10)],
    ['T3 install', { count: 100, strategy: partitioned({ maxUnavailable: '10%' }), isUpdate: false }, [50, 50]],
    ['the defaults, update of 60', { count: 60, strategy: partitioned({}), isUpdate: true }, [50, 10]],
    [
      'one at a time, update',
      { count: 12, strategy: partitioned({ maxUnavailable: 0 }), isUpdate: true },
      repeat(1, 12),
    ],
    [
      'T7 in small, install',
      {
        count: 40,
        strategy: partitioned({ maxUnavailable: '10%', partitions: WAVES }),
        isUpdate: false,
        labelsOf: byWave,
      },
      repeat(8, 5),
    ],
    [
      'a rolling update of a quarter',
      {
        count: 8,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        isUpdate: true,
      },
      repeat(2, 4),
    ],
  ])('%s', (_it, given, waves) => {
    for (const family of families) {
      const foreseen = foresee({ ...given, family });
      expect(foreseen).toMatchObject({ end: 'completes', holds: [] });
      expect(sizes(foreseen)).toEqual(waves);
    }
  });

  test('with the time that it takes, and the partitions in order', () => {
    const settings = partitioned({ maxUnavailable: '10%', partitions: WAVES });
    const foreseen = foresee({ count: 40, strategy: settings, isUpdate: false, labelsOf: byWave });
    expect(foreseen.tookMs).toBe(5 * MINUTE);
    expect(
      foreseen.partitions.map(({ name, clusters, maxUnavailable }) => [name, clusters.length, maxUnavailable]),
    ).toEqual(WAVES.map(({ name }) => [name, 8, 1]));
    expect(foreseen.waves.map(({ partitions }) => partitions)).toEqual(WAVES.map(({ name }) => [name]));
  });

  test('V0-7: 230 clusters are cut into 57, 57, 57, 57, 2', () => {
    const { partitions } = foresee({ count: 230, strategy: partitioned({}), isUpdate: false });
    expect(partitions.map(({ clusters }) => clusters.length)).toEqual([57, 57, 57, 57, 2]);
  });

  test('soak time lets each partition prove itself', () => {
    const settings = { maxUnavailable: 1, partitions: WAVES.slice(0, 2), soakSeconds: 300 };
    const foreseen = foresee({ count: 16, strategy: partitioned(settings), isUpdate: false, labelsOf: byWave });
    expect(foreseen.waves.map(({ afterMs }) => afterMs)).toEqual([0, 6 * MINUTE]);
  });

  test('unreachable clusters hold what they hold, and the holds are told', () => {
    const strategy = partitioned({ maxUnavailable: 1, partitions: WAVES });
    const foreseen = foresee({ count: 40, strategy, isUpdate: false, labelsOf: byWave, unreachable: 2 });
    expect(foreseen.end).toBe('waits');
    expect(sizes(foreseen)).toEqual([8]);
    expect(new Set(foreseen.holds.map(({ code }) => code))).toEqual(new Set(['EarlierPartition', 'Unreachable']));
  });

  test.each([
    { it: 'copies are removed at once', unreachable: 0, end: 'completes', codes: [] },
    { it: 'a copy on an unreachable cluster is not', unreachable: 1, end: 'waits', codes: ['RemovalPending'] },
  ])('$it', ({ unreachable, end, codes }) => {
    const strategy = partitioned({ maxUnavailable: 4 });
    const foreseen = foresee({ count: 4, strategy, isUpdate: true, isCurrent: true, leaving: 2, unreachable });
    expect(foreseen.waves).toMatchObject([{ removes: true, clusters: ['c-001', 'c-002'] }]);
    expect(foreseen.end).toBe(end);
    expect(foreseen.holds.map(({ code }) => code)).toEqual(codes);
  });

  test('a paused rollout moves nothing', () => {
    const foreseen = foresee({ count: 5, strategy: { ...partitioned({}), paused: true }, isUpdate: true });
    expect(foreseen).toMatchObject({ end: 'waits', waves: [] });
    expect(new Set(foreseen.holds.map(({ code }) => code))).toEqual(new Set(['Paused']));
  });
});

test.each(families)(
  'a changed override of a $placement.kind moves the clusters that it matches, within the budget',
  (family) => {
    const snapshot = {
      metadata: { name: 'cro-0' },
      override: 'cro',
      index: 0,
      selectors: [],
      rules: [{ clusterSelector: { clusterSelectorTerms: [{ labelSelector: { matchLabels: { odd: 'yes' } } }] } }],
      spec: {},
    };
    const isOdd = (number: number) => ({ odd: number % 2 === 1 ? 'yes' : 'no' });
    const { end, waves } = foresee({
      count: 6,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      isUpdate: true,
      isCurrent: true,
      family,
      labelsOf: isOdd,
      overriding: { snapshots: [snapshot as never], labelsOf: (cluster) => isOdd(Number(cluster.slice(2))) },
    });
    expect(end).toBe('completes');
    expect(waves.map(({ clusters }) => clusters)).toEqual([['c-001'], ['c-003'], ['c-005']]);
  },
);
