// V0-1: the fragments of seed 000 are converted unchanged, and the API server accepts the result.
import { describe, expect, test } from 'vitest';
import { aCluster } from '../../../test/cluster.ts';
import { hubKinds } from '../../api/kinds.ts';
import { labels } from '../../api/names.ts';
import type { PlacementSpec } from '../../api/placement.ts';
import { compileLabelSelector } from '../../base/selector.ts';
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

const termsIn = (policy: unknown) =>
  (policy as NonNullable<PlacementSpec['policy']>).affinity?.clusterAffinity
    ?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];

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

  test('of several kinds become terms, as in a GitRepo', () => {
    const { spec, left } = placed(`
targets:
- clusterGroup: edge
- clusterGroup: edge
  clusterSelector: {matchLabels: {env: prod}}
- clusterName: a
- clusterName: b
- clusterName: c
  clusterSelector: {matchExpressions: [{key: env, operator: Exists}]}
`);
    const named = (...values: string[]) => ({ key: labels.memberName, operator: 'In', values });
    expect(left).toEqual([expect.stringContaining('no namespace is named')]);
    expect(spec['policy']).toEqual({
      placementType: 'PickAll',
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [
              { clusterGroup: 'edge' },
              { clusterGroup: 'edge', labelSelector: { matchLabels: { env: 'prod' } } },
              { labelSelector: { matchExpressions: [{ key: 'env', operator: 'Exists' }, named('c')] } },
              { labelSelector: { matchExpressions: [named('a', 'b')] } },
            ],
          },
        },
      },
    });
  });

  test('by name become a list', () => {
    expect(placed('targets: [{clusterName: a}, {clusterName: b}]').spec['policy']).toEqual({
      placementType: 'PickFixed',
      clusterNames: ['a', 'b'],
    });
  });

  test('of which none can be carried over never become all clusters', async () => {
    const text = 'targets: [{clusterGroupSelector: {matchLabels: {a: b}}}, {}]';
    const { spec, left } = placed(text);
    expect(left).toEqual([
      expect.stringContaining('no namespace is named'),
      'targets[0] is left out: clusterGroupSelector cannot be a policy; name each ClusterGroup in a target',
      'targets[1] is left out: it has no criterion and matches no cluster',
    ]);
    const [term] = termsIn(spec['policy']);
    expect(compileLabelSelector(term?.labelSelector as never).matches({ [labels.memberName]: 'a' })).toBe(false);
    await using hub = await aCluster({ kinds: hubKinds });
    const { yaml } = convert(text, 'fleet.yaml', 'shop');
    await hub.create('clusterresourceplacements', undefined, parseYaml(yaml) as never);
  });

  test('beyond the limit of a policy are named', () => {
    const targets = Array.from({ length: 11 }, (_, at) => `{clusterGroup: g${at}}`);
    expect(placed(`targets: [${targets.join(', ')}]`).left).toContain(
      'targets makes 11 terms of a policy, at most 10 are possible: use fewer targets',
    );
  });
});

test('dependencies, labels, kept resources and drift are carried over', async () => {
  const text = `
namespace: web
labels: {team: shop}
keepResources: true
correctDrift: {enabled: false, force: true}
dependsOn: [{name: db}, {selector: {matchLabels: {tier: base}}, acceptedStates: [Ready, Modified]}, {}]
`;
  const { yaml, left } = convert(text, 'fleet.yaml', 'shop');
  expect(left).toEqual([
    'correctDrift.force is not carried over: it has no effect',
    expect.stringContaining('no targets are named'),
    'dependsOn[2] is not carried over: name or selector is expected',
  ]);
  const object = parseYaml(yaml) as never;
  expect(object).toMatchObject({
    metadata: { labels: { team: 'shop' } },
    spec: {
      dependsOn: [
        { name: 'db' },
        { selector: { matchLabels: { tier: 'base' } }, acceptedStates: ['Ready', 'Modified'] },
      ],
      strategy: {
        applyStrategy: { whenToApply: 'OnRevision' },
        deleteStrategy: { propagationPolicy: 'Abandon' },
      },
    },
  });
  await using hub = await aCluster({ kinds: hubKinds });
  await hub.create('clusterresourceplacements', undefined, object);
  expect(convert('correctDrift: {enabled: true}\nkeepResources: false\n', 'x').yaml).toBe(
    'strategy:\n  type: Partitioned\n',
  );
});

test('fields that may differ and conditions that do not count are carried over', async () => {
  const text = `diff:
  comparePatches:
  - { kind: Deployment, jsonPointers: [/spec/replicas, spec] }
  - { kind: Job, operations: [{ op: ignore }, { op: add }] }
ignore: { conditions: [{ type: Ready, status: "False" }, Ready] }
`;
  const { yaml, left } = convert(text, 'fleet.yaml');
  expect(parseYaml(yaml)).toEqual({
    strategy: {
      type: 'Partitioned',
      applyStrategy: {
        comparePatches: [
          { kind: 'Deployment', jsonPointers: ['/spec/replicas'] },
          { kind: 'Job', operations: [{ op: 'ignore' }] },
        ],
        ignoreConditions: [{ type: 'Ready', status: 'False' }],
      },
    },
  });
  expect(left.map((each) => each.split(':')[0])).toEqual([
    'diff.comparePatches[0].jsonPointers[1] is not carried over',
    'diff.comparePatches[1].operations[1].op is not carried over',
    'ignore.conditions[1] is not carried over',
  ]);
  await using hub = await aCluster({ kinds: hubKinds });
  await hub.create('clusterresourceplacements', undefined, parseYaml(convert(text, 'x', 'shop').yaml) as never);
});

test('each field that is not carried over is named', () => {
  const text =
    'helm: {chart: x}\nrolloutStrategy: {maxNew: 5, speed: 9, partitions: [{name: a, weight: 1}]}\ndependsOn: []\n';
  expect(convert(text, 'fleet.yaml').left).toEqual([
    'helm is not carried over',
    'rolloutStrategy.speed is not carried over',
    'rolloutStrategy.partitions[0].weight is not carried over',
    'dependsOn needs a whole placement: set --placement NAME',
  ]);
});

test('a Bundle is read, its pause carried over, and its drift not corrected', () => {
  const text =
    'apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: b}\nspec: {paused: true, rolloutStrategy: {maxNew: 5}}\n';
  expect(parseYaml(convert(text, 'b.yaml').yaml)).toEqual({
    strategy: {
      type: 'Partitioned',
      partitioned: { maxNew: 5 },
      paused: true,
      applyStrategy: { whenToApply: 'OnRevision' },
    },
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

describe('targets with doNotDeploy', () => {
  const policyIn = (targets: string) => {
    const { yaml, left } = convert(`namespace: shop\ntargets:\n${targets}`, 'x', 'shop');
    return { policy: (parseYaml(yaml) as { spec: { policy: object } }).spec.policy, left };
  };
  const terms = (...expressions: readonly (readonly object[])[]) => ({
    placementType: 'PickAll',
    affinity: {
      clusterAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          clusterSelectorTerms: expressions.map((matchExpressions) => ({ labelSelector: { matchExpressions } })),
        },
      },
    },
  });
  const none = terms([{ key: labels.memberName, operator: 'DoesNotExist' }]);

  test('exclude their clusters from the targets after them', () => {
    const { policy, left } = policyIn(
      '- {doNotDeploy: true, clusterSelector: {matchLabels: {env: prod}}}\n- {clusterSelector: {}}\n',
    );
    expect(policy).toEqual(terms([{ key: 'env', operator: 'NotIn', values: ['prod'] }]));
    expect(left).toEqual([]);
  });

  test('do not exclude what an earlier target has matched', () => {
    const { policy } = policyIn(
      '- {clusterSelector: {matchLabels: {env: prod}}}\n- {doNotDeploy: true, clusterSelector: {}}\n',
    );
    expect(policy).toEqual(terms([{ key: 'env', operator: 'In', values: ['prod'] }]));
  });

  test.each([
    ['all of them', '- {doNotDeploy: true, clusterSelector: {}}\n'],
    ['beside groups', '- {doNotDeploy: true, clusterGroup: a}\n- {clusterSelector: {}}\n'],
  ])('select no cluster, and say so: %s', (_it, targets) => {
    const { policy, left } = policyIn(targets);
    expect(left.at(-1)).toContain('targets selects no cluster');
    expect(policy).toEqual(none);
  });
});

test.each(['{}', 'null', '{force: true}'])('a Bundle with correctDrift %s does not correct drift', (given) => {
  const text = `apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: x}\nspec: {correctDrift: ${given}}\n`;
  expect(convert(text, 'x', 'shop').yaml).toContain('whenToApply: OnRevision');
});
