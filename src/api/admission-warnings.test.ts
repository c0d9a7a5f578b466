import { describe, expect, test } from 'vitest';
import { aCluster } from '../../test/cluster.ts';
import { hubAdmissions } from './admission-warnings.ts';
import { sentenceOf } from './hold.ts';
import { hubKinds } from './kinds.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';
import type { PlacementSpec } from './placement.ts';
import { type SpecProblem, specProblemHold, specProblemIn } from './spec-problem.ts';

const copied = { strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } } };

describe('the spec of a placement', () => {
  test.each<{ it: string; spec: object; works: boolean }>([
    { it: 'is empty', spec: {}, works: true },
    { it: 'copies statuses of all clusters', spec: copied, works: false },
    {
      it: 'copies statuses of two',
      spec: { ...copied, policy: { placementType: 'PickN', numberOfClusters: 2 } },
      works: false,
    },
    {
      it: 'copies statuses of the one that PickN picks',
      spec: { ...copied, policy: { placementType: 'PickN', numberOfClusters: 1 } },
      works: true,
    },
    {
      it: 'copies statuses of two names',
      spec: { ...copied, policy: { placementType: 'PickFixed', clusterNames: ['a', 'b'] } },
      works: false,
    },
    {
      it: 'copies statuses of one name',
      spec: { ...copied, policy: { placementType: 'PickFixed', clusterNames: ['a'] } },
      works: true,
    },
    {
      it: 'reports statuses of all clusters in Works',
      spec: { strategy: { reportBackStrategy: { type: 'Mirror', destination: 'WorkAPI' } } },
      works: true,
    },
    {
      it: 'reports no status',
      spec: { strategy: { reportBackStrategy: { type: 'Disabled', destination: 'OriginalResource' } } },
      works: true,
    },
  ])('can work ($works) if it $it', ({ spec, works }) => {
    expect(specProblemIn(spec as PlacementSpec) === undefined).toBe(works);
  });

  test('has one hold that says what is wrong and what to do', () => {
    const subject = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' };
    const hold = specProblemHold(subject, specProblemIn(copied as PlacementSpec) as SpecProblem);
    expect(hold).toMatchObject({ code: 'SpecInvalid', subject, on: subject });
    expect(sentenceOf(hold)).toBe(
      'ClusterResourcePlacement "web" cannot work: spec.strategy.reportBackStrategy.destination OriginalResource needs a policy that picks exactly one cluster',
    );
    expect(hold.next).toBe(
      'use placementType PickFixed with one name, PickN with numberOfClusters 1, or destination WorkAPI',
    );
  });
});

describe('the author is warned', () => {
  const at = (cluster: Awaited<ReturnType<typeof aCluster>>, plural: string, name?: string) =>
    cluster.at(plural, undefined, name);

  test('about a placement that cannot work, on every write of the spec and not of the status', async () => {
    await using cluster = await aCluster({ kinds: hubKinds });
    await cluster.create('namespaces', undefined, { metadata: { name: 'shop' } });
    const object = {
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'web' },
      spec: {
        resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
        strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } },
      },
    };
    const plural = 'clusterresourceplacements';
    const created = await cluster.call({ verb: 'create', at: at(cluster, plural), object, manager: 'test' });
    expect(created.warnings).toEqual([
      'spec.strategy.reportBackStrategy.destination OriginalResource needs a policy that picks exactly one cluster; this placement is not rolled out: use placementType PickFixed with one name, PickN with numberOfClusters 1, or destination WorkAPI',
    ]);
    const patch = (body: object, subresource?: 'status') =>
      cluster.call({
        verb: 'patch',
        at: { ...at(cluster, plural, 'web'), ...(subresource === undefined ? {} : { subresource }) },
        patch: { type: 'merge', body: body as never },
        manager: 'test',
      });
    expect((await patch({ status: { observedResourceIndex: '1' } }, 'status')).warnings ?? []).toEqual([]);
    expect((await patch({ spec: { revisionHistoryLimit: 3 } })).warnings).toHaveLength(1);
    expect((await patch({ spec: { strategy: null } })).warnings ?? []).toEqual([]);
  });

  test('about kinds', async () => {
    await using cluster = await aCluster({ kinds: hubKinds });
    const plural = 'clusterresourceenvelopes';
    const object = {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'ClusterResourceEnvelope',
      metadata: { name: 'web' },
      data: { role: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'one' } } },
    };
    const created = await cluster.call({ verb: 'create', at: at(cluster, plural), object, manager: 'test' });
    expect(created.warnings ?? []).toEqual([]);
    const inner = { ...object.data.role, metadata: { name: 'one', namespace: 'shop' } };
    const wrong = { ...object, metadata: { name: 'wrong' }, data: { role: inner } };
    const warned = await cluster.call({ verb: 'create', at: at(cluster, plural), object: wrong, manager: 'test' });
    expect(warned.warnings).toEqual([expect.stringContaining('ClusterResourceEnvelope "wrong", entry "role"')]);
  });

  describe('about a ConfigMap that is an envelope', () => {
    const WITHOUT = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: inner\n';
    const OBJECT = WITHOUT.replace('name: inner', 'name: inner\n  namespace: shop');
    const MARK = { [annotations.envelopeConfigMap]: 'true' };
    const configMap = (data: object, marks: object = MARK) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'wrap', annotations: marks },
      data,
    });
    const created = async (object: object, admissions = hubAdmissions) => {
      const cluster = await aCluster({ kinds: hubKinds, admissions });
      await cluster.create('namespaces', undefined, { metadata: { name: 'shop' } });
      const at = cluster.at('configmaps', 'shop');
      const { warnings = [] } = await cluster.call({
        verb: 'create',
        at,
        object: object as KubeObject,
        manager: 'test',
      });
      return { cluster, warnings, at: { ...at, name: 'wrap' } };
    };
    const OTHER = WITHOUT.replace('name: inner', 'name: inner\n  namespace: other');
    const IS_WRONG = expect.stringContaining('ConfigMap "shop/wrap", entry "a": it is in namespace "other"');
    const IS_NONE =
      'annotation kubernetes-fleet.io/envelope-configmap has no effect: not each value of data is one object with apiVersion, kind and name; it is placed as any ConfigMap';

    test.each<[string, object, readonly string[]]>([
      ['it is one', configMap({ a: OBJECT }), []],
      ['it holds an object of another namespace', configMap({ a: OTHER }), [IS_WRONG]],
      [
        'it holds a namespaced object without a namespace',
        configMap({ a: WITHOUT }),
        [expect.stringContaining('ConfigMap "shop/wrap", entry "a": it has no namespace')],
      ],
      ['it holds something else', configMap({ a: OBJECT, b: 'words' }), [IS_NONE]],
      ['nobody calls it so', configMap({ a: OBJECT }, {}), []],
    ])('%s', async (_what, object, expected) => {
      const { cluster, warnings } = await created(object);
      await using _ = cluster;
      expect(warnings).toEqual(expected);
    });

    test('when it becomes one, and not when it goes; other kinds are nobody’s business', async () => {
      const { cluster, at } = await created(configMap({ a: OTHER }, {}));
      await using _ = cluster;
      const body = { metadata: { annotations: MARK } };
      const patched = await cluster.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
      expect(patched.warnings).toEqual([IS_WRONG]);
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'x', annotations: MARK },
        stringData: { a: OBJECT },
      } as unknown as KubeObject;
      const other = await cluster.call({
        verb: 'create',
        at: cluster.at('secrets', 'shop'),
        object: secret,
        manager: 'test',
      });
      expect(other.warnings ?? []).toEqual([]);
      expect((await cluster.call({ verb: 'delete', at })).warnings ?? []).toEqual([]);
    });

    test('on the hub alone', async () => {
      const { cluster, warnings } = await created(configMap({ a: OBJECT }), []);
      await using _ = cluster;
      expect(warnings).toEqual([]);
    });
  });
});
