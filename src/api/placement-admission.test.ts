import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { ApiError } from '../base/errors.ts';
import { hubKinds } from './kinds.ts';
import type { KubeObject } from './object.ts';
import type { PlacementSpec } from './placement.ts';
import { admitPlacement } from './placement-admission.ts';
import { contradictionIn } from './property-bounds.ts';
import { propertySourceOf } from './property-name.ts';

describe('the name of a property', () => {
  test.each([
    ['kubernetes-fleet.io/node-count', { from: 'properties', key: 'kubernetes-fleet.io/node-count' }],
    ['resources.kubernetes-fleet.io/total-cpu', { from: 'capacity', key: 'cpu' }],
    ['resources.kubernetes-fleet.io/allocatable-memory', { from: 'allocatable', key: 'memory' }],
    ['resources.kubernetes-fleet.io/available-ephemeral-storage', { from: 'available', key: 'ephemeral-storage' }],
    ['resources.kubernetes-fleet.io/available-nvidia.com/gpu', { from: 'available', key: 'nvidia.com/gpu' }],
    ['resources.kubernetes-fleet.io/cpu', undefined],
    ['resources.kubernetes-fleet.io/free-cpu', undefined],
    ['resources.kubernetes-fleet.io/constructor-cpu', undefined],
    ['resources.kubernetes-fleet.io/total-', undefined],
    ['', undefined],
  ])('%s', (name, source) => {
    expect(propertySourceOf(name)).toEqual(source);
  });
});

const compared = (...comparisons: readonly string[]) =>
  comparisons.map((text) => {
    const [operator, value = ''] = text.split(' ');
    return { name: 'size', operator: operator as 'Gt', values: [value] };
  });

describe('comparisons of one property', () => {
  test.each([
    [['Eq 1', 'Eq 2']],
    [['Eq 1', 'Ne 1000m']],
    [['Gt 5', 'Lt 3']],
    [['Ge 5', 'Lt 5']],
    [['Gt 5', 'Le 5']],
    [['Gt 5', 'Lt 5']],
    [['Eq 4', 'Gt 4']],
    [['Eq 4', 'Ge 5']],
    [['Lt 4', 'Eq 4']],
    [['Ge 5', 'Le 5', 'Ne 5']],
    [['Gt 1', 'Ge 1', 'Le 1']],
    [['Le 1Gi', 'Ge 2Gi']],
  ])('%j contradict each other', (comparisons) => {
    expect(contradictionIn(compared(...comparisons))).toMatchObject({ property: 'size' });
    expect(contradictionIn(compared(...comparisons.toReversed()))).toMatchObject({ property: 'size' });
  });

  test.each([
    [['Eq 1', 'Eq 1000m']],
    [['Ge 5', 'Le 5']],
    [['Ge 5', 'Le 5', 'Eq 5']],
    [['Gt 3', 'Lt 5', 'Ne 4']],
    [['Ne 1', 'Ne 2']],
    [['Eq 4', 'Ge 4', 'Le 4', 'Ne 5']],
  ])('%j do not', (comparisons) => {
    expect(contradictionIn(compared(...comparisons))).toBeUndefined();
  });

  test('those of two properties never do', () => {
    expect(contradictionIn([...compared('Eq 1'), { name: 'other', operator: 'Eq', values: ['2'] }])).toBeUndefined();
  });
});

const CPU = 'resources.kubernetes-fleet.io/available-cpu';
const required = (...expressions: readonly object[]) => ({
  placementType: 'PickAll',
  affinity: {
    clusterAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        clusterSelectorTerms: [{}, { propertySelector: { matchExpressions: expressions } }],
      },
    },
  },
});
const preferred = (name: string) => ({
  placementType: 'PickN',
  numberOfClusters: 1,
  affinity: {
    clusterAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { propertySorter: { name, sortOrder: 'Ascending' } } },
      ],
    },
  },
});

describe.each([
  { plural: 'clusterresourceplacements', namespace: undefined, selects: 'Namespace' },
  { plural: 'resourceplacements', namespace: 'team', selects: 'ConfigMap' },
])('a policy of $plural', ({ plural, namespace, selects }) => {
  const body = (policy: object): Partial<KubeObject> & { metadata: object } => ({
    metadata: { name: 'web' },
    spec: { resourceSelectors: [{ group: '', version: 'v1', kind: selects, name: 'shop' }], policy },
  });
  async function aHub() {
    const hub = await aCluster({ kinds: hubKinds });
    if (namespace !== undefined) await hub.create('namespaces', undefined, { metadata: { name: namespace } });
    return hub;
  }
  const refusal = async (policy: object) => {
    await using hub = await aHub();
    try {
      await hub.create(plural, namespace, body(policy));
      return undefined;
    } catch (error) {
      return error instanceof ApiError ? error.details?.causes?.map(({ field }) => field) : error;
    }
  };
  const term =
    'spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[1]';
  const expressions = `${term}.propertySelector.matchExpressions`;

  test.each<[string, object, string]>([
    [
      'comparisons that contradict each other',
      required({ name: CPU, operator: 'Gt', values: ['5'] }, { name: CPU, operator: 'Lt', values: ['3'] }),
      expressions,
    ],
    [
      'a resource property of no known kind',
      required({ name: 'resources.kubernetes-fleet.io/free-cpu', operator: 'Gt', values: ['5'] }),
      `${expressions}[0].name`,
    ],
    [
      'a number that cannot be read',
      required({ name: CPU, operator: 'Gt', values: ['1e1000'] }),
      `${expressions}[0].values[0]`,
    ],
    [
      'a sorter on a resource property of no known kind',
      preferred('resources.kubernetes-fleet.io/cpu'),
      'spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.propertySorter.name',
    ],
  ])('is refused: %s', async (_it, policy, field) => {
    expect(await refusal(policy)).toEqual([field]);
  });

  test.each([
    [
      'requirement',
      required({ name: CPU, operator: 'Gt', values: ['5'] }, { name: CPU, operator: 'Lt', values: ['8'] }),
    ],
    ['preference', preferred('resources.kubernetes-fleet.io/allocatable-ephemeral-storage')],
  ])('is accepted without a warning: %s', async (_it, policy) => {
    await using hub = await aHub();
    const object = (await hub.create(plural, namespace, body(policy))) as KubeObject;
    const { warnings } = await hub.call({
      verb: 'update',
      at: hub.at(plural, namespace, 'web'),
      object,
      manager: 'test',
    });
    expect(warnings).toEqual([]);
  });
});

test('a policy that was stored before the rule does not stand in the way of a label', () => {
  const spec = {
    resourceSelectors: [],
    revisionHistoryLimit: 10,
    policy: required({ name: CPU, operator: 'Gt', values: ['5'] }, { name: CPU, operator: 'Lt', values: ['3'] }),
  } as unknown as PlacementSpec;
  const stored = { apiVersion: 'v1', kind: 'ClusterResourcePlacement', metadata: { name: 'web' }, spec };
  const request = {
    verb: 'update',
    dryRun: false,
    now: 0,
    user: admin,
    lookup: { get: () => undefined, list: () => [] },
  } as const;
  const object = { ...stored, metadata: { name: 'web', labels: { a: 'b' } } };
  expect(admitPlacement({ ...request, object, old: stored }).ok).toBe(true);
  expect(
    admitPlacement({ ...request, object, old: { ...stored, spec: { ...spec, policy: undefined } as never } }).ok,
  ).toBe(false);
});
