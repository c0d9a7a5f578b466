// Spec 08 §13: settings that protect nothing, or have another meaning than expected, are accepted with a warning.
import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { hubKinds } from './kinds.ts';
import { partitionWarnings } from './partition-warnings.ts';
import type { PartitionMember } from './partitions.ts';
import type { PlacementSpec } from './placement.ts';

const edge = { name: 'edge', labels: { tier: '1' } };
const members: readonly PartitionMember[] = Array.from({ length: 20 }, (_, index) => ({
  cluster: `c${index + 10}`,
  labels: { env: index < 8 ? 'staging' : index < 16 ? 'prod' : 'none' },
  groups: index < 4 ? [edge] : [],
}));
const byEnv = (env: string, more: object = {}) => ({ name: env, clusterSelector: { matchLabels: { env } }, ...more });
const warningsOf = (partitioned: object, policy?: object) =>
  partitionWarnings(
    {
      resourceSelectors: [],
      strategy: { type: 'Partitioned', partitioned },
      ...(policy ? { policy } : {}),
    } as never as PlacementSpec,
    { members, groupNames: ['edge'] },
  );

const UNPROTECTED = 'every partition counts as ready at once';
const NO_PARTITION = 'c26, c27, c28, c29) are in no partition';

describe('settings of partitions', () => {
  test.each<[string, object, readonly string[]]>([
    ['nothing', {}, []],
    ['a limit alone', { maxUnavailable: '10%' }, []],
    [
      'partitions allowed to fail, limit unset (K11)',
      { maxUnavailablePartitions: 1, autoPartitionThreshold: 1 },
      [UNPROTECTED],
    ],
    [
      'a size, limit 150%',
      { autoPartitionSize: 5, maxUnavailable: '150%', autoPartitionThreshold: 1 },
      [UNPROTECTED, 'it counts as 100%'],
    ],
    [
      'a size below the threshold',
      { autoPartitionSize: 5, maxUnavailable: 1 },
      [
        '20 clusters are fewer than autoPartitionThreshold (200), so there is one partition; autoPartitionSize has no effect',
      ],
    ],
    ['0', { maxUnavailable: 0 }, []],
    ['0 in FleetExact', { maxUnavailable: 0, mode: 'FleetExact' }, ['an update of clusters that work never starts']],
    ['a negative number', { maxUnavailable: -3 }, ['is -3: it counts as 0']],
    ['0%', { maxUnavailable: '0%' }, ['is 0%: it counts as 1; write the number 0 for none']],
    [
      'a share of less than one cluster',
      { maxUnavailable: '4%' },
      ['of 20 clusters that is less than one, and counts as 1'],
    ],
    ['a number as text above the size', { maxUnavailable: '500' }, ['is "500": a partition has only 20 clusters']],
    ['maxNew 0', { maxNew: 0 }, ['no cluster starts']],
    ['clusters in no partition', { maxUnavailable: 1, partitions: [byEnv('staging'), byEnv('prod')] }, [NO_PARTITION]],
    [
      'overlap',
      {
        maxUnavailable: 1,
        partitions: [
          { name: 'edge', clusterGroup: 'edge' },
          { name: 'all', clusterSelector: {} },
        ],
      },
      ['4 clusters (c10, c11, c12, c13) are in several partitions and count in each of them'],
    ],
    [
      'an empty partition',
      { maxUnavailable: 1, partitions: [byEnv('nowhere'), { name: 'all', clusterSelector: {} }] },
      ['partitions[0] "nowhere" is empty now'],
    ],
    [
      'a partition without a criterion',
      { maxUnavailable: 1, partitions: [{ name: 'a B' }, { name: 'all', clusterSelector: {} }] },
      ['partitions[0] "a B" has no criterion'],
    ],
    [
      'a group that does not exist',
      {
        maxUnavailable: 1,
        partitions: [
          { name: 'g', clusterGroup: 'lost' },
          { name: 'all', clusterSelector: {} },
        ],
      },
      ['there is no ClusterGroup "lost" now'],
    ],
    [
      'a size besides partitions',
      { maxUnavailable: 1, autoPartitionSize: 3, partitions: [{ name: 'all', clusterSelector: {} }] },
      ['autoPartitionSize has no effect: partitions are listed'],
    ],
    [
      'own limits protect',
      {
        partitions: [
          byEnv('staging', { maxUnavailable: '50%' }),
          {
            name: 'x',
            clusterSelector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['staging'] }] },
          },
        ],
      },
      [],
    ],
    [
      'an own limit that rounds',
      {
        partitions: [
          byEnv('staging', { maxUnavailable: '10%' }),
          {
            name: 'x',
            clusterSelector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['staging'] }] },
          },
        ],
      },
      ['partitions[0].maxUnavailable is 10%: of 8 clusters that is less than one'],
    ],
  ])('%s', (_it, partitioned, warnings) => {
    expect(warningsOf(partitioned)).toEqual(warnings.map((text) => expect.stringContaining(text)));
  });

  test('only clusters that the policy picks count, and none where labels alone do not decide', () => {
    const partitioned = { maxUnavailable: 1, partitions: [byEnv('staging')] };
    expect(warningsOf(partitioned, { placementType: 'PickFixed', clusterNames: ['c10'] })).toEqual([]);
    const affinity = (term: object) => ({
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [term] } },
      },
    });
    expect(warningsOf(partitioned, affinity({ labelSelector: { matchLabels: { env: 'staging' } } }))).toEqual([]);
    expect(warningsOf(partitioned, affinity({ labelSelector: { matchLabels: { env: 'prod' } } }))).not.toEqual([]);
    expect(warningsOf(partitioned, { placementType: 'PickN', numberOfClusters: 2 })).toEqual([]);
  });
});

describe.each([
  { plural: 'clusterresourceplacements', namespace: undefined },
  { plural: 'resourceplacements', namespace: 'team' },
])('the API server, for $plural', ({ plural, namespace }) => {
  async function admitted(partitioned: object, more: object = { strategy: { type: 'Partitioned', partitioned } }) {
    await using hub = await aCluster({ kinds: hubKinds });
    await hub.create('namespaces', undefined, { metadata: { name: 'team' } });
    await hub.create('configmaps', 'team', { metadata: { name: 'shop' } });
    await hub.create('memberclusters', undefined, {
      metadata: { name: 'm1', labels: { env: 'prod' } },
      spec: { identity: { kind: 'User', name: 'm1' } },
    });
    const { at } = { at: hub.at(plural, namespace) };
    const selector =
      namespace === undefined ? { kind: 'Namespace', name: 'team' } : { kind: 'ConfigMap', name: 'shop' };
    return hub.call({
      verb: 'create',
      at,
      object: {
        apiVersion: 'placement.kubernetes-fleet.io/v1',
        kind: namespace === undefined ? 'ClusterResourcePlacement' : 'ResourcePlacement',
        metadata: { name: 'shop' },
        spec: {
          resourceSelectors: [{ group: '', version: 'v1', ...selector }],
          ...more,
        },
      },
      manager: 'test',
      user: admin,
    } as never);
  }

  test('warns with the clusters that it knows', async () => {
    const { warnings } = await admitted({ maxUnavailable: 1, partitions: [byEnv('staging')] });
    expect(warnings).toEqual([
      'spec.strategy.partitioned.partitions: 1 cluster (m1) is in no partition and will not be updated',
      'spec.strategy.partitioned.partitions[0] "staging" is empty now: no cluster of the placement matches',
    ]);
  });

  test('warns of an affinity term whose group does not exist, with every strategy', async () => {
    const terms = { clusterSelectorTerms: [{ clusterGroup: 'lost' }] };
    const affinity = { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    const { warnings } = await admitted({}, { policy: { placementType: 'PickAll', affinity } });
    expect(warnings).toEqual([
      expect.stringMatching(/clusterSelectorTerms\[0\]\.clusterGroup: there is no ClusterGroup "lost" now/),
    ]);
  });

  test.each<[string, object, string]>([
    ['a number that cannot be read', { maxUnavailable: 'many' }, 'spec.strategy.partitioned.maxUnavailable'],
    ['0 as text', { maxUnavailable: '0' }, 'spec.strategy.partitioned.maxUnavailable'],
    ['a negative maxNew', { maxNew: -1 }, 'spec.strategy.partitioned.maxNew'],
    [
      'a label key that no label can have',
      { partitions: [{ clusterSelector: { matchLabels: { 'b d': 'x' } } }] },
      'spec.strategy.partitioned.partitions[0].clusterSelector.matchLabels',
    ],
    [
      'In without values',
      { partitions: [{ clusterSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
      'spec.strategy.partitioned.partitions[0].clusterSelector.matchExpressions[0]',
    ],
  ])('refuses %s', async (_it, partitioned, field) => {
    await expect(admitted(partitioned)).rejects.toMatchObject({
      code: 422,
      details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) },
    });
  });
});
