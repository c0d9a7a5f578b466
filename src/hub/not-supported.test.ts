import { describe, expect, test } from 'vitest';
import { aCluster } from '../../test/cluster.ts';
import { sentenceOf } from '../api/hold.ts';
import { hubKinds } from '../api/kinds.ts';
import { notSupportedFields } from '../api/not-supported.ts';
import { override } from '../api/override.ts';
import type { PlacementSpec } from '../api/placement.ts';
import type { ResourceIdentifier } from '../api/selected-resource.ts';
import {
  clusterOverrides,
  type HubOverride,
  namespacedOverrides,
  notSupported,
  notSupportedHold,
} from './not-supported.ts';

const spec = (more: object = {}): PlacementSpec =>
  ({ resourceSelectors: [], revisionHistoryLimit: 10, ...more }) as unknown as PlacementSpec;
const affinity = (clusterAffinity: object) => ({ policy: { placementType: 'PickN', affinity: { clusterAffinity } } });
const required = (term: object) =>
  affinity({ requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [{}, term] } });
const apply = (applyStrategy: object) => ({ strategy: { type: 'RollingUpdate', applyStrategy } });

describe('fields that are not built yet', () => {
  test.each<[string, object, string]>([
    [
      'preferred affinity',
      affinity({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] }),
      'preferred',
    ],
    ['a property selector', required({ propertySelector: { matchExpressions: [] } }), 'propertySelector'],
    ['a property sorter', required({ propertySorter: { name: 'x', sortOrder: 'Ascending' } }), 'propertySorter'],
    ['ServerSideApply', apply({ type: 'ServerSideApply' }), 'applyStrategy.type: ServerSideApply'],
    ['ReportDiff', apply({ type: 'ReportDiff' }), 'applyStrategy.type: ReportDiff'],
    ['FullComparison', apply({ comparisonOption: 'FullComparison' }), 'FullComparison'],
    ['IfNotDrifted', apply({ whenToApply: 'IfNotDrifted' }), 'IfNotDrifted'],
    ['IfNoDiff', apply({ whenToTakeOver: 'IfNoDiff' }), 'IfNoDiff'],
    ['Abandon', { strategy: { deleteStrategy: { propagationPolicy: 'Abandon' } } }, 'Abandon'],
    ['Mirror', { strategy: { reportBackStrategy: { type: 'Mirror', destination: 'WorkAPI' } } }, 'Mirror'],
    ['NamespaceAccessible', { statusReportingScope: 'NamespaceAccessible' }, 'NamespaceAccessible'],
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
    ['Never', apply({ whenToTakeOver: 'Never' })],
    ['External, which waits for runs', { strategy: { type: 'External' } }],
    ['required affinity on labels', required({ labelSelector: { matchLabels: { a: 'b' } } })],
    [
      'spread and tolerations',
      { policy: { placementType: 'PickN', topologySpreadConstraints: [{}], tolerations: [{}] } },
    ],
    [
      'Disabled and Delete',
      { strategy: { deleteStrategy: { propagationPolicy: 'Delete' }, reportBackStrategy: { type: 'Disabled' } } },
    ],
  ])('not: %s', (_name, more) => {
    expect(notSupportedFields(spec(more))).toEqual([]);
  });
});

describe('objects that are not built yet', () => {
  const selected: readonly ResourceIdentifier[] = [
    { version: 'v1', kind: 'Namespace', name: 'shop' },
    { group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'reader' },
  ];
  const crp = { metadata: { name: 'web' }, spec: spec() };
  const rp = { metadata: { name: 'web', namespace: 'shop' }, spec: spec() };
  const named = (group: string, kind: string, name: string, version = 'v1') => ({ group, version, kind, name });
  const cro = (selectors: HubOverride['selectors'], placement?: HubOverride['placement']): HubOverride => ({
    metadata: { name: 'cro' },
    resource: override.cluster,
    selectors,
    ...(placement === undefined ? {} : { placement }),
  });
  const ro = (
    selectors: HubOverride['selectors'],
    placement?: HubOverride['placement'],
    namespace = 'shop',
  ): HubOverride => ({
    ...cro(selectors, placement),
    metadata: { name: 'ro', namespace },
    resource: override.namespaced,
  });
  const role = named('rbac.authorization.k8s.io', 'ClusterRole', 'reader');
  const deployment = named('apps', 'Deployment', 'web');

  test.each<[string, boolean, typeof crp, HubOverride]>([
    ['a cluster-scoped object', true, crp, cro([role])],
    ['another version', false, crp, cro([{ ...role, version: 'v1beta1' }])],
    ['a namespace', true, crp, cro([named('', 'Namespace', 'shop')])],
    ['a namespaced object by a cluster-scoped override', false, crp, cro([deployment])],
    ['this placement', true, crp, cro([role], { name: 'web', scope: 'Cluster' })],
    ['another placement', false, crp, cro([role], { name: 'far', scope: 'Cluster' })],
    ['a ResourcePlacement, named', false, rp, cro([named('', 'Namespace', 'shop')], { name: 'web', scope: 'Cluster' })],
    ['a ResourcePlacement, unnamed', true, rp, cro([named('', 'Namespace', 'shop')])],
    ['a namespaced object', true, crp, ro([deployment])],
    ['one of another namespace', false, crp, ro([deployment], undefined, 'till')],
    ['a ResourcePlacement beside it', true, rp, ro([deployment], { name: 'web', scope: 'Namespaced' })],
    ['only a ResourcePlacement', false, crp, ro([deployment], { name: 'web', scope: 'Namespaced' })],
    ['only a ClusterResourcePlacement', false, rp, ro([deployment], { name: 'web', scope: 'Cluster' })],
  ])('an override matches %s: %s', (_name, matches, placement, each) => {
    expect(notSupported(placement, selected, [each])).toHaveLength(matches ? 1 : 0);
  });

  test('envelopes and overrides are named, and say what to do', () => {
    const envelope = {
      group: 'placement.kubernetes-fleet.io',
      version: 'v1beta1',
      kind: 'ResourceEnvelope',
      namespace: 'shop',
      name: 'wrap',
    };
    const [first, second] = notSupported(crp, [envelope, ...selected], [cro([role])]);
    const subject = { group: 'placement.kubernetes-fleet.io', kind: 'ClusterResourcePlacement', name: 'web' };
    expect(first && notSupportedHold(subject, first)).toMatchObject({
      code: 'NotSupportedYet',
      subject,
      on: { kind: 'ResourceEnvelope', namespace: 'shop', name: 'wrap' },
    });
    expect(second && sentenceOf(notSupportedHold(subject, second))).toContain('ClusterResourceOverride "cro"');
  });

  test('a projection keeps what matters of an override', () => {
    const object = {
      apiVersion: 'x',
      kind: 'y',
      metadata: { name: 'cro', uid: 'u', resourceVersion: '1' },
      spec: { placement: { name: 'web' }, clusterResourceSelectors: [role], policy: {} },
    };
    expect(clusterOverrides.project?.(object)).toMatchObject({ placement: { name: 'web' }, selectors: [role] });
    expect(namespacedOverrides.project?.(object)).toMatchObject({ selectors: [] });
  });
});

describe('whoever writes what is not built yet is warned', () => {
  const at = (cluster: Awaited<ReturnType<typeof aCluster>>, plural: string, name?: string) =>
    cluster.at(plural, undefined, name);

  test('about fields of a placement, on every write of the spec and not of the status', async () => {
    await using cluster = await aCluster({ kinds: hubKinds });
    const object = {
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'web' },
      spec: {
        resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
        strategy: { applyStrategy: { type: 'ReportDiff' } },
      },
    };
    const plural = 'clusterresourceplacements';
    const created = await cluster.call({ verb: 'create', at: at(cluster, plural), object, manager: 'test' });
    expect(created.warnings).toEqual([
      'spec.strategy.applyStrategy.type: ReportDiff is not supported yet: the placement does not move',
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
    const plural = 'clusterresourceplacementdisruptionbudgets';
    const object = {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'ClusterResourcePlacementDisruptionBudget',
      metadata: { name: 'web' },
      spec: { minAvailable: 1 },
    };
    const created = await cluster.call({ verb: 'create', at: at(cluster, plural), object, manager: 'test' });
    expect(created.warnings).toEqual([
      expect.stringContaining('ClusterResourcePlacementDisruptionBudget is not supported yet'),
    ]);
  });
});
