// V0-1: the fragments of seed 000 are converted unchanged, and the API server accepts the result.
import { describe, expect, test } from 'vitest';
import { aCluster } from '../../../test/cluster.ts';
import { hubKinds } from '../../api/kinds.ts';
import { parseYaml } from '../../base/yaml.ts';
import { convert } from './convert.ts';

const FRAGMENTS = {
  'two named partitions': `
rolloutStrategy:
  partitions:
    - name: demoRollout
      maxUnavailable: 10%
      clusterSelector:
        matchLabels:
          env: staging
    - name: stable
      maxUnavailable: 5%
      clusterSelector:
        matchLabels:
          env: prod
`,
  'a limit alone': 'rolloutStrategy:\n  maxUnavailable: 10%\n',
  'automatic partitions': 'rolloutStrategy:\n  maxUnavailablePartitions: 1\n  autoPartitionSize: 10%\n',
  strict: `
rolloutStrategy:
  maxUnavailable: 0
  maxUnavailablePartitions: 0
  partitions:
    - name: demoRollout
      clusterSelector:
        matchLabels:
          stage: demoRollout
    - name: stable
      clusterSelector:
        matchLabels:
          stage: stable
`,
};

describe.each(Object.entries(FRAGMENTS))('%s', (_it, text) => {
  const { rolloutStrategy } = parseYaml(text) as { rolloutStrategy: object };

  test('becomes a strategy with the same fields', () => {
    const { yaml, left } = convert(text, 'fleet.yaml');
    expect(left).toEqual([]);
    expect(parseYaml(yaml)).toEqual({ strategy: { type: 'Partitioned', partitioned: rolloutStrategy } });
  });

  test('becomes a placement that the API server accepts', async () => {
    await using hub = await aCluster({ kinds: hubKinds });
    const { yaml } = convert(text, 'fleet.yaml', 'shop');
    const stored = await hub.create('clusterresourceplacements', undefined, parseYaml(yaml) as never);
    expect(stored).toMatchObject({ metadata: { name: 'shop' }, spec: { strategy: { partitioned: rolloutStrategy } } });
  });
});

const placed = (text: string) => {
  const { yaml, left } = convert(text, 'fleet.yaml', 'shop');
  return { spec: (parseYaml(yaml) as { spec: Record<string, unknown> }).spec, left };
};

describe('targets', () => {
  test('by labels become terms of an affinity', () => {
    const { spec, left } = placed(
      'namespace: web\ntargets:\n- clusterSelector: {matchLabels: {env: prod}}\n- clusterSelector: {}\n',
    );
    expect(left).toEqual([]);
    expect(spec['resourceSelectors']).toMatchObject([{ kind: 'Namespace', name: 'web' }]);
    expect(spec['policy']).toEqual({
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'prod' } } }, { labelSelector: {} }],
          },
        },
      },
    });
  });

  test('by name become a list, and none that is known never becomes all', () => {
    expect(placed('targets: [{clusterName: a}, {clusterName: b}]').spec['policy']).toEqual({
      placementType: 'PickFixed',
      clusterNames: ['a', 'b'],
    });
    const { spec, left } = placed('targets: [{clusterGroup: edge}]');
    expect(spec['policy']).toEqual({ placementType: 'PickFixed', clusterNames: [] });
    expect(left).toContainEqual(expect.stringContaining('targets[0] is left out: clusterGroup cannot be a policy'));
  });
});

test('each field that is not carried over is named', () => {
  const text =
    'helm: {chart: x}\nrolloutStrategy: {maxNew: 5, speed: 9, partitions: [{name: a, weight: 1}]}\ndependsOn: []\n';
  expect(convert(text, 'fleet.yaml').left).toEqual([
    'helm is not carried over',
    'dependsOn is not carried over',
    'rolloutStrategy.speed is not carried over',
    'rolloutStrategy.partitions[0].weight is not carried over',
  ]);
});

test('a Bundle is read, and its pause carried over', () => {
  const text =
    'apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: b}\nspec: {paused: true, rolloutStrategy: {maxNew: 5}}\n';
  expect(parseYaml(convert(text, 'b.yaml').yaml)).toEqual({
    strategy: { type: 'Partitioned', partitioned: { maxNew: 5 }, paused: true },
  });
});

test.each([
  ['- a', 'must hold one fleet.yaml'],
  ['rolloutStrategy: 5', 'rolloutStrategy must be a map'],
  ['rolloutStrategy: {partitions: [a]}', 'must be a list of maps'],
  ['apiVersion: v1\nkind: Pod\n', 'holds a Pod'],
  ['a: [', 'cannot read fleet.yaml'],
])('%s is refused', (text, says) => {
  expect(() => convert(text, 'fleet.yaml')).toThrow(says);
});
