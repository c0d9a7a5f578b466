// The order of snapshots, the objects that are never placed, and the watch plan of a selection.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resource } from '../../api/kind.ts';
import type { ObjectMeta } from '../../api/object.ts';
import { inOrder, type Ordered } from './order.ts';
import { createPropagation, type PropagationSettings, parseApis } from './propagation.ts';
import { createWatchPlan } from './watch-plan.ts';

const resource = (group: string, kind: string, version = 'v1', namespaced = true): Resource => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
});

describe('the order of what is selected', () => {
  const an = (group: string, kind: string, name: string, namespace?: string, version = 'v1'): Ordered => ({
    group,
    version,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
  });

  test('is by rank of the kind, then version, then place; what is unknown comes last', () => {
    const all = [
      an('scheduling.k8s.io', 'PriorityClass', 'z'),
      an('', 'Namespace', 'b'),
      an('', 'ConfigMap', 'a', 'a'),
      an('', 'ConfigMap', 'a', 'b'),
      an('serving.knative.dev', 'Service', 'a', 'a'),
      an('', 'Service', 'x', 'a'),
      an('apps', 'Deployment', 'b', 'a'),
      an('extensions', 'Deployment', 'a', 'a', 'v1beta1'),
      an('admissionregistration.k8s.io', 'ValidatingWebhookConfiguration', 'a'),
      an('', 'Binding', 'z', 'z'),
      an('a.example', 'Alpha', 'a'),
      an('b.example', 'Alpha', 'a'),
    ];
    expect(all.toReversed().sort(inOrder)).toEqual(all);
  });

  test('is total', () => {
    const anything = fc.record({
      group: fc.constantFrom('', 'apps', 'x.example'),
      version: fc.constantFrom('v1', 'v2'),
      kind: fc.constantFrom('Namespace', 'Secret', 'Odd', 'Even'),
      name: fc.constantFrom('a', 'b'),
      namespace: fc.constantFrom('m', 'n'),
    });
    fc.assert(
      fc.property(anything, anything, anything, (a, b, c) => {
        expect(Math.sign(inOrder(a, b))).toBe(-Math.sign(inOrder(b, a)) + 0);
        if (inOrder(a, b) <= 0 && inOrder(b, c) <= 0) expect(inOrder(a, c)).toBeLessThanOrEqual(0);
        expect(inOrder(a, b) === 0).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });
});

describe('never placed', () => {
  const FLEET = 'placement.kubernetes-fleet.io';
  test.each<[string, string, boolean]>([
    ['cluster.kubernetes-fleet.io', 'MemberCluster', false],
    ['events.k8s.io', 'Event', false],
    ['coordination.k8s.io', 'Lease', false],
    ['metrics.k8s.io', 'PodMetrics', false],
    ['', 'Pod', false],
    ['', 'Node', false],
    ['', 'Event', false],
    ['', 'ConfigMap', true],
    ['networking.fleet.azure.com', 'ServiceImport', false],
    ['networking.fleet.azure.com', 'TrafficManagerProfile', false],
    ['networking.fleet.azure.com', 'TrafficManagerBackend', false],
    ['networking.fleet.azure.com', 'ServiceExport', true],
    ...[
      'ClusterResourcePlacement',
      'ResourcePlacement',
      'ClusterResourceBinding',
      'ResourceBinding',
      'ClusterResourceSnapshot',
      'ResourceSnapshot',
      'ClusterSchedulingPolicySnapshot',
      'SchedulingPolicySnapshot',
      'Work',
      'ClusterStagedUpdateRun',
      'ClusterStagedUpdateStrategy',
      'ClusterApprovalRequest',
      'StagedUpdateRun',
      'StagedUpdateStrategy',
      'ApprovalRequest',
      'ClusterResourcePlacementEviction',
      'ClusterResourcePlacementDisruptionBudget',
      'ClusterResourceOverride',
      'ClusterResourceOverrideSnapshot',
      'ResourceOverride',
      'ResourceOverrideSnapshot',
      'ClusterResourcePlacementStatus',
    ].map((kind): [string, string, boolean] => [FLEET, kind, false]),
    [FLEET, 'ClusterResourceEnvelope', true],
    [FLEET, 'ResourceEnvelope', true],
    [FLEET, 'AppliedWork', true],
  ])('kind %s %s: %s', (group, kind, allowed) => {
    expect(createPropagation().allowsKind(resource(group, kind))).toBe(allowed);
  });

  test.each<[string, PropagationSettings, boolean]>([
    ['shop', {}, true],
    ['default', {}, false],
    ['kube-public', {}, false],
    ['fleet-member-a', {}, false],
    ['kubernetes', {}, true],
    ['shop', { skippedNamespaces: 'a, shop' }, false],
    ['shop', { skippedNamespaces: 'a;shop' }, false],
  ])('namespace %s with %j: %s', (namespace, settings, allowed) => {
    expect(createPropagation(settings).allowsNamespace(namespace)).toBe(allowed);
  });

  const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }] };
  test.each<[string, string, ObjectMeta, boolean, PropagationSettings?]>([
    ['', 'ConfigMap', { name: 'x' }, true],
    ['', 'ConfigMap', { name: 'x', deletionTimestamp: 'now' }, false],
    ['', 'ConfigMap', { name: 'kube-root-ca.crt' }, false],
    ['', 'ServiceAccount', { name: 'default' }, false],
    ['', 'ServiceAccount', { name: 'own' }, true],
    ['apps', 'ReplicaSet', owned, false],
    ['apps', 'ReplicaSet', { name: 'x' }, true],
    ['apps', 'ControllerRevision', owned, false],
    ['batch', 'Job', owned, true],
    ['', 'PersistentVolumeClaim', { name: 'x' }, true],
    ['', 'PersistentVolumeClaim', { name: 'x' }, false, { enableWorkload: true }],
    ['', 'Endpoints', { name: 'with-service' }, false],
    ['', 'Endpoints', { name: 'without' }, true],
    ['discovery.k8s.io', 'EndpointSlice', { labels: { 'endpointslice.kubernetes.io/managed-by': 'x' } }, false],
    ['discovery.k8s.io', 'EndpointSlice', { name: 'x' }, true],
    ['shop.example', 'ConfigMap', { name: 'kube-root-ca.crt' }, true],
  ])('object of %s %s %j: %s', (group, kind, metadata, allowed, settings = {}) => {
    const hasService = () => metadata.name === 'with-service';
    expect(createPropagation(settings).allowsObject(resource(group, kind), { metadata }, hasService)).toBe(allowed);
  });

  test('lists of APIs are read as people write them', () => {
    expect(parseApis('apps; batch/v1;batch/v1/Job,CronJob ; v1/Secret,ConfigMap;v1')).toEqual([
      { group: 'apps' },
      { group: 'batch', version: 'v1' },
      { group: 'batch', version: 'v1', kinds: ['Job', 'CronJob'] },
      { group: '', version: 'v1', kinds: ['Secret', 'ConfigMap'] },
      { group: '', version: 'v1' },
    ]);
    expect(() => parseApis('a/b/c/d')).toThrow('names no API');
    expect(() => createPropagation({ allowedApis: 'apps', skippedApis: 'batch' })).toThrow('exclude each other');
  });

  test('an allow list is all there is; a deny list comes on top', () => {
    const only = createPropagation({ allowedApis: 'apps/v1/Deployment;v1/Pod' });
    expect(only.allowsKind(resource('apps', 'Deployment'))).toBe(true);
    expect(only.allowsKind(resource('apps', 'StatefulSet'))).toBe(false);
    expect(only.allowsKind(resource('', 'Pod'))).toBe(true);
    const less = createPropagation({ skippedApis: 'apps/v1/Deployment' });
    expect(less.allowsKind(resource('apps', 'Deployment'))).toBe(false);
    expect(less.allowsKind(resource('apps', 'Deployment', 'v2'))).toBe(true);
    expect(less.allowsKind(resource('', 'Pod'))).toBe(false);
  });
});

describe('the watches', () => {
  const secrets = resource('', 'Secret');
  test('are narrow up to three namespaces, then wide, and narrow again when all have gone', () => {
    const plan = createWatchPlan();
    const told: string[] = [];
    plan.onWiden((reader) => told.push(reader));
    const narrow = ['a', 'b', 'c'].map((name) => plan.sourceFor(secrets, name, `p-${name}`));
    expect(narrow.map(({ namespace }) => namespace)).toEqual(['a', 'b', 'c']);
    expect(plan.sourceFor(secrets, 'a', 'other')).toBe(narrow[0]);
    expect(plan.sourceFor(secrets, 'd', 'p-d').namespace).toBeUndefined();
    expect(told).toEqual(['p-a', 'other', 'p-b', 'p-c']);
    expect(plan.sourceFor(secrets, 'a', 'p-a').namespace).toBeUndefined();
    for (const reader of ['p-a', 'p-b', 'p-c', 'p-d', 'other']) plan.forget(reader);
    expect(plan.size).toBe(0);
    expect(plan.sourceFor(secrets, 'a', 'p-a').namespace).toBe('a');
  });

  test('of a reader that looks elsewhere now are free for others', () => {
    const plan = createWatchPlan();
    for (const name of ['a', 'b', 'c']) plan.sourceFor(secrets, name, name);
    const moved = plan.sourceFor(secrets, 'c', 'a');
    plan.keep('a', new Set([moved]));
    expect(plan.sourceFor(secrets, 'd', 'd').namespace).toBe('d');
  });

  test('of cluster-scoped kinds are one', () => {
    const plan = createWatchPlan();
    const roles = resource('rbac.authorization.k8s.io', 'ClusterRole', 'v1', false);
    expect(plan.sourceFor(roles, undefined, 'a')).toBe(plan.sourceFor(roles, undefined, 'b'));
  });
});
