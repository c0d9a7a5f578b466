// Spec 08 §4: how a fleet is divided into partitions, with the acceptance cases A1–A9 of §15.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UserError } from '../base/errors.ts';
import { type PartitionMember, type PartitionSettings, partitionsOf } from './partitions.ts';

const fleet = (
  count: number,
  facts: (index: number) => Partial<PartitionMember> = () => ({}),
): readonly PartitionMember[] =>
  Array.from({ length: count }, (_, index) => ({
    cluster: `c-${String(index + 1).padStart(4, '0')}`,
    labels: {},
    groups: [],
    ...facts(index + 1),
  }));

const shape = (settings: PartitionSettings, targets: readonly PartitionMember[]) =>
  partitionsOf(settings, targets).map(({ targets: own, max }) => `${own.length}:${max}`);

describe('automatic partitions', () => {
  test.each<[number, PartitionSettings, readonly string[]]>([
    [199, {}, ['199:199']],
    [200, {}, ['50:50', '50:50', '50:50', '50:50']],
    [200, { autoPartitionSize: 100 }, ['100:100', '100:100']], // A1
    [199, { autoPartitionSize: '25%', maxUnavailable: 1 }, ['199:1']], // A2
    [1000, { autoPartitionSize: '10%', maxUnavailable: '10%' }, Array.from({ length: 10 }, () => '100:10')], // A3
    [200, { autoPartitionSize: '10%' }, Array.from({ length: 10 }, () => '20:20')],
    [230, {}, ['57:57', '57:57', '57:57', '57:57', '2:2']],
    [230, { maxUnavailable: '10%' }, ['57:5', '57:5', '57:5', '57:5', '2:1']],
    [1000, { autoPartitionSize: '49%' }, ['490:490', '490:490', '20:20']],
    [50, { autoPartitionThreshold: 50, autoPartitionSize: '50%' }, ['25:25', '25:25']],
    [49, { autoPartitionThreshold: 50, autoPartitionSize: '50%' }, ['49:49']],
    [500, { autoPartitionThreshold: 0 }, ['500:500']],
    [500, { autoPartitionThreshold: -1 }, ['500:500']],
    [4, { autoPartitionThreshold: 1, autoPartitionSize: '10%' }, ['1:1', '1:1', '1:1', '1:1']],
    [3, { autoPartitionThreshold: 1, autoPartitionSize: '0%' }, ['1:1', '1:1', '1:1']],
    [300, { autoPartitionSize: 900 }, ['300:300']],
    [300, { autoPartitionSize: 0 }, ['300:300']],
    [300, { autoPartitionSize: -3 }, ['300:300']],
    [0, {}, ['0:1']],
  ])('%d clusters with %j', (count, settings, expected) => {
    expect(shape(settings, fleet(count))).toEqual(expected);
  });

  test('are named by their positions, one partition by All', () => {
    const names = (settings: PartitionSettings, count: number) =>
      partitionsOf(settings, fleet(count)).map(({ name }) => name);
    expect(names({}, 230)).toEqual([
      'Partition 0 - 57',
      'Partition 57 - 114',
      'Partition 114 - 171',
      'Partition 171 - 228',
      'Partition 228 - 230',
    ]);
    expect(names({}, 199)).toEqual(['All']);
    expect(names({ autoPartitionSize: 900 }, 300)).toEqual(['Partition 0 - 300']);
  });

  test('sort clusters by bytes', () => {
    const targets = ['c-2', 'c-10', 'c-1'].map((cluster) => ({ cluster, labels: {}, groups: [] }));
    const [first] = partitionsOf({}, targets);
    expect(first?.targets.map(({ cluster }) => cluster)).toEqual(['c-1', 'c-10', 'c-2']);
  });
});

describe('manual partitions', () => {
  const clustersOf = (settings: PartitionSettings, targets: readonly PartitionMember[]) =>
    partitionsOf(settings, targets).map(({ targets: own }) => own.map(({ cluster }) => Number(cluster.slice(2))));
  const byName = (first: number, last: number) => (cluster: string) => {
    const index = Number(cluster.slice(2));
    return index >= first && index <= last;
  };

  test('by name, in the order of their definitions (A4)', () => {
    const settings = { partitions: [{ clusterName: 'c-0002' }, { clusterName: 'c-0001' }] };
    expect(clustersOf(settings, fleet(3))).toEqual([[2], [1]]);
  });

  test('by group; clusters of neither group are in no partition (A5)', () => {
    const targets = fleet(5, (index) => ({
      groups: index <= 2 ? [{ name: 'g1', labels: {} }] : index <= 4 ? [{ name: 'g2', labels: {} }] : [],
    }));
    const settings = { partitions: [{ clusterGroup: 'g2' }, { clusterGroup: 'g1' }] };
    expect(clustersOf(settings, targets)).toEqual([
      [3, 4],
      [1, 2],
    ]);
  });

  test('may overlap, and a cluster then counts in both (A6)', () => {
    const targets = fleet(100, (index) => ({
      labels: { ...(index <= 60 ? { env: 'testing' } : {}), ...(index > 40 ? { group: 'a' } : {}) },
    }));
    const settings: PartitionSettings = {
      partitions: [
        { clusterSelector: { matchLabels: { env: 'testing' } } },
        { clusterSelector: { matchLabels: { group: 'a' } } },
      ],
    };
    const [first, second] = partitionsOf(settings, targets);
    expect(first?.targets.every(({ cluster }) => byName(1, 60)(cluster))).toBe(true);
    expect(second?.targets.every(({ cluster }) => byName(41, 100)(cluster))).toBe(true);
    expect([first?.targets.length, second?.targets.length, first?.max, second?.max]).toEqual([60, 60, 60, 60]);
  });

  test('ignore the automatic size (A7)', () => {
    const targets = fleet(100, (index) => ({ labels: { half: index <= 50 ? 'first' : 'second' } }));
    const settings = {
      autoPartitionSize: '50%',
      partitions: [{ clusterSelector: { matchLabels: { half: 'first' } } }],
    };
    expect(shape(settings, targets)).toEqual(['50:50']);
  });

  test('match the display name of a cluster as well (A8)', () => {
    const targets = [
      { cluster: 'c-abc', labels: { 'management.cattle.io/cluster-display-name': 'edge-7' }, groups: [] },
    ];
    expect(shape({ partitions: [{ clusterName: 'edge-7' }] }, targets)).toEqual(['1:1']);
  });

  test.each<[string, PartitionSettings['partitions'], readonly number[]]>([
    ['two criteria of two groups (A9)', [{ clusterGroup: 'web', clusterGroupSelector: tier(1) }], []],
    ['two criteria of one group', [{ clusterGroup: 'eu', clusterGroupSelector: tier(1) }], [1]],
    ['all criteria together', [{ clusterName: 'c-0001', clusterSelector: { matchLabels: { a: 'x' } } }], []],
    ['no criterion', [{ name: 'empty' }], []],
    ['empty texts', [{ clusterName: '', clusterGroup: '' }], []],
    ['an empty cluster selector', [{ clusterSelector: {} }], [1, 2]],
    ['an empty group selector, also without a group', [{ clusterGroupSelector: {} }], [1, 2]],
    [
      'a purely negative group selector, also without a group',
      [{ clusterGroupSelector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] } }],
      [2],
    ],
    ['a group that does not exist', [{ clusterGroup: 'nowhere' }], []],
  ])('%s', (_, partitions, expected) => {
    const targets = fleet(2, (index) => ({
      groups:
        index === 1
          ? [
              { name: 'web', labels: { tier: '2' } },
              { name: 'eu', labels: { tier: '1' } },
            ]
          : [],
    }));
    expect(clustersOf({ partitions: partitions ?? [] }, targets)).toEqual([expected]);
  });

  test('take their own limit, else the one of the strategy, else all', () => {
    const own = { clusterSelector: {}, maxUnavailable: '50%' };
    expect(shape({ maxUnavailable: 1, partitions: [own, { clusterSelector: {} }] }, fleet(10))).toEqual([
      '10:5',
      '10:1',
    ]);
    expect(shape({ partitions: [{ clusterName: 'nobody' }] }, fleet(10))).toEqual(['0:1']);
  });

  test('with an invalid operator are refused (A26)', () => {
    const partitions = [{ clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }];
    expect(() => partitionsOf({ partitions } as PartitionSettings, fleet(1))).toThrow(UserError);
  });
});

function tier(level: number) {
  return { matchLabels: { tier: String(level) } };
}

test('partitions do not depend on the order of the fleet', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(999), { maxLength: 60 }),
      fc.nat(30),
      fc.integer({ min: 1, max: 40 }),
      (names, size, threshold) => {
        const targets = names.map((name) => ({ cluster: `c-${name}`, labels: {}, groups: [] }));
        const settings = { autoPartitionSize: size, autoPartitionThreshold: threshold };
        const cut = partitionsOf(settings, targets);
        expect(partitionsOf(settings, [...targets].reverse())).toEqual(cut);
        expect(cut.flatMap(({ targets: own }) => own)).toHaveLength(targets.length);
      },
    ),
  );
});
