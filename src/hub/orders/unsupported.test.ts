import { describe, expect, test } from 'vitest';
import { aCluster } from '../../../test/cluster.ts';
import { sentenceOf } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { hubKinds } from '../../api/kinds.ts';
import { annotations } from '../../api/names.ts';
import { hubAdmissions, notSupportedFields } from '../../api/not-supported.ts';
import type { KubeObject } from '../../api/object.ts';
import { type PlacementSpec, placement as placementKinds } from '../../api/placement.ts';
import { placementSource } from '../placement-sources.ts';
import { notSupported, notSupportedHold, notSupportedIn } from './unsupported.ts';

const spec = (more: object = {}): PlacementSpec =>
  ({ resourceSelectors: [], revisionHistoryLimit: 10, ...more }) as unknown as PlacementSpec;
const affinity = (clusterAffinity: object) => ({ policy: { placementType: 'PickN', affinity: { clusterAffinity } } });
const required = (term: object) =>
  affinity({ requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [{}, term] } });
const apply = (applyStrategy: object) => ({ strategy: { type: 'RollingUpdate', applyStrategy } });

describe('fields that are not built yet', () => {
  test.each<[string, object, string]>([
    [
      'Mirror',
      { strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } } },
      'OriginalResource',
    ],
  ])('%s', (_name, more, word) => {
    expect(notSupportedFields(spec(more))).toEqual([expect.stringContaining(word)]);
  });

  test.each<[string, object]>([
    ['nothing said', {}],
    [
      'what is the default anyway',
      {
        ...apply({
          type: 'ClientSideApply',
          comparisonOption: 'PartialComparison',
          whenToApply: 'Always',
          whenToTakeOver: 'Always',
        }),
        statusReportingScope: 'ClusterScopeOnly',
      },
    ],
    ['NamespaceAccessible', { statusReportingScope: 'NamespaceAccessible' }],
    ['Never', apply({ whenToTakeOver: 'Never' })],
    ['External, which waits for runs', { strategy: { type: 'External' } }],
    ['required affinity on labels', required({ labelSelector: { matchLabels: { a: 'b' } } })],
    ['required affinity on properties', required({ propertySelector: { matchExpressions: [] } })],
    [
      'preferred affinity',
      affinity({
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { propertySorter: { name: 'x', sortOrder: 'Ascending' } } },
        ],
      }),
    ],
    [
      'spread and tolerations',
      { policy: { placementType: 'PickN', topologySpreadConstraints: [{}], tolerations: [{}] } },
    ],
    [
      'OriginalResource of the one cluster that PickN picks',
      {
        policy: { placementType: 'PickN', numberOfClusters: 1 },
        strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } },
      },
    ],
    [
      'OriginalResource of the one cluster that PickFixed names',
      {
        policy: { placementType: 'PickFixed', clusterNames: ['a'] },
        strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } },
      },
    ],
    [
      'Disabled and Delete',
      { strategy: { deleteStrategy: { propagationPolicy: 'Delete' }, reportBackStrategy: { type: 'Disabled' } } },
    ],
  ])('not: %s', (_name, more) => {
    expect(notSupportedFields(spec(more))).toEqual([]);
  });
});

describe('a placement that uses a field that is not built yet', () => {
  const subject = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' };
  const second =
    'spec.strategy.reportBackStrategy.destination: OriginalResource with a policy that may pick several clusters';
  const whole = {
    metadata: { name: 'web' },
    spec: spec({
      strategy: {
        reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' },
      },
    }),
  };

  test('has one hold that names it', () => {
    const holds = notSupported(whole).map((each) => notSupportedHold(subject, each));
    expect(holds).toEqual([
      {
        code: 'NotSupportedYet',
        subject,
        on: subject,
        facts: { what: second },
        next: `remove ${second} from the placement`,
      },
    ]);
    expect(holds.map(sentenceOf)).toEqual([`ClusterResourcePlacement "web": ${second} is not supported yet`]);
  });
});

describe('objects that are not built yet', () => {
  const crp = { metadata: { name: 'web' }, spec: spec() };
  const HELD = { code: 'NotSupportedYet', facts: { what: 'x' } };
  const wrap = { group: 'placement.kubernetes-fleet.io', kind: 'ResourceEnvelope', namespace: 'shop', name: 'wrap' };
  test.each<[string, readonly HoldEntry[] | undefined, object | undefined]>([
    ['nothing', undefined, undefined],
    ['another hold', [{ code: 'SelectionPending', on: wrap }], undefined],
    [
      'a field, which may be gone by now',
      [{ ...HELD, on: { kind: 'ClusterResourcePlacement', name: 'web' } }],
      undefined,
    ],
    ['an object', [{ code: 'BudgetUsed' }, { ...HELD, on: wrap }], { what: 'x', object: wrap }],
    ['an object without facts', [{ code: HELD.code, on: wrap }], { what: 'ResourceEnvelope', object: wrap }],
  ])('of a status that tells of %s', (_name, holds, found) => {
    const kind = placementKinds.cluster;
    expect(notSupportedIn(holds, kind)).toEqual(found);
    const object = { apiVersion: 'x', kind: kind.kind, ...crp, status: { holds } } as KubeObject;
    expect(placementSource(kind).project?.(object).unsupported).toEqual(found);
  });

  test.each([
    {
      it: 'an envelope',
      object: { group: '', kind: 'ResourceEnvelope', namespace: 'shop', name: 'wrap' },
      next: 'delete ResourceEnvelope "shop/wrap", or do not select it',
    },
  ])('what can be done about $it names it', ({ object, next }) => {
    const subject = { group: '', kind: 'ClusterResourcePlacement', name: 'web' };
    expect(notSupportedHold(subject, { what: object.kind, object }).next).toBe(next);
  });
});

describe('whoever writes what is not built yet is warned', () => {
  const at = (cluster: Awaited<ReturnType<typeof aCluster>>, plural: string, name?: string) =>
    cluster.at(plural, undefined, name);

  test('about fields of a placement, on every write of the spec and not of the status', async () => {
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
      'spec.strategy.reportBackStrategy.destination: OriginalResource with a policy that may pick several clusters is not supported yet; this placement will not be rolled out; use placementType PickFixed with one name, or PickN with numberOfClusters 1',
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
