// Section 3 of seed 003 with real kubectl on `flotilla up`: what people read of a placement, its snapshots, bindings and members is what the
// document shows, with today's reasons. Numbers (V3-1 …) are those of the checklist.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { parseYamlDocuments } from '../../src/base/yaml.ts';
import { type Condition, type Fleet, type Happening, inShort, messageOf, startFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { skipsKubectl } from './server.ts';

const seed = (file: string) => join(fileURLToPath(new URL('../seeds/003/', import.meta.url)), file);
const sample = (file: string) => parseYamlDocuments(readFileSync(seed(file), 'utf8'))[0] as KubeObject;

const configMap = (name: string, inNamespace: string, data: object, labels?: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: inNamespace, ...(labels === undefined ? {} : { labels }) },
  data,
});

const MEMBERS = [
  'aks-member-1',
  'aks-member-2',
  'kind-cluster-1',
  'kind-cluster-2',
  'kind-cluster-3',
  'member1',
  'member2',
  'prod-cluster-1',
  'prod-cluster-2',
];

describe.skipIf(skipsKubectl)('seed 003', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet('seed-003');
    const labelled = { app: 'my-application' };
    await fleet.apply(
      ...['test-deployment', 'my-app', 'test'].map(namespace),
      configMap('app-config-1', 'test-deployment', { key: 'value' }),
      configMap('labelled', 'my-app', { key: 'value' }, labelled),
      configMap('not-labelled', 'my-app', { key: 'value' }),
      configMap('test-1', 'test', { key1: 'value1' }),
    );
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  test('V3-1: crp-1 picks two clusters of different env, and is read back in v1 without loss', async () => {
    await fleet.hub(['apply', '-f', seed('v3-1.yaml')]);
    await fleet.waitForAvailable('crp/crp-1');

    const { apiVersion, spec } = await fleet.get<KubeObject>('hub', ['crp', 'crp-1']);
    expect({ apiVersion, spec }).toMatchObject({
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      spec: sample('v3-1.yaml').spec,
    });
    const { placementStatuses = [] } = await fleet.status('crp', 'crp-1');
    const envs = await Promise.all(
      placementStatuses.map(({ clusterName }) =>
        fleet.hub(['get', 'membercluster', clusterName as string, '-o', 'jsonpath={.metadata.labels.env}']),
      ),
    );
    expect(new Set(envs).size).toBe(2);
  });

  test('V3-2: describe has the sections of the sample in their order, its reasons and its events', async () => {
    {
      // News travel behind the status.
      await using news = await fleet.record('hub', ['get', 'events', '--field-selector=involvedObject.name=crp-1']);
      const isLast = ({ object }: Happening) => object['reason'] === 'PlacementRolloutCompleted';
      await news.until((seen) => seen.some(isLast) && seen.length >= 6, 'the last event of the rollout');
    }
    const described = await fleet.hub(['describe', 'crp', 'crp-1']);
    const keys = (indent: number, text: string) =>
      [...text.matchAll(new RegExp(`^ {${indent}}([A-Z][A-Za-z ]*):`, 'gm'))].map(([, key]) => key);
    const section = (name: string) =>
      described.slice(described.indexOf(`\n${name}:`) + 1).split(/\n(?=[A-Z])/)[0] as string;

    expect(keys(0, described)).toEqual([
      'Name',
      'Namespace',
      'Labels',
      'Annotations',
      'API Version',
      'Kind',
      'Metadata',
      'Spec',
      'Status',
      'Events',
    ]);
    expect(described).toMatch(/^API Version: +placement\.kubernetes-fleet\.io\/v1$/m);
    expect(keys(2, section('Spec'))).toEqual([
      'Policy',
      'Resource Selectors',
      'Revision History Limit',
      'Status Reporting Scope',
      'Strategy',
    ]);
    expect(keys(2, section('Status'))).toEqual([
      'Conditions',
      'Observed Resource Index',
      'Placement Statuses',
      'Selected Resources',
    ]);
    const reasons = [...section('Status').matchAll(/^ {4,6}Reason: +(\S+)$/gm)].map(([, reason]) => reason);
    const ofCluster = [
      'Scheduled',
      'RolloutStarted',
      'NoOverrideSpecified',
      'AllWorkSynced',
      'AllWorkHaveBeenApplied',
      'AllWorkAreAvailable',
    ];
    expect(reasons).toEqual([
      ...[
        'SchedulingPolicyFulfilled',
        'RolloutStarted',
        'NoOverrideSpecified',
        'WorkSynchronized',
        'ApplySucceeded',
        'ResourceAvailable',
      ],
      ...ofCluster,
      ...ofCluster,
    ]);
    const { conditions, placementStatuses } = await fleet.status('crp', 'crp-1');
    expect(conditions.map(({ message }) => /\b2\b/.test(message))).toEqual(conditions.map(() => true));
    for (const { clusterName, conditions: own } of placementStatuses ?? [])
      expect(messageOf(own, 'Scheduled')).toMatch(
        new RegExp(`${clusterName}.*affinity score: \\d+, topology spread score: -?\\d+`),
      );
    expect(section('Status')).toMatch(
      /Selected Resources:\n +Kind: +Namespace\n +Name: +test-deployment\n +Version: +v1\n +Kind: +ConfigMap\n +Name: +app-config-1\n +Namespace: +test-deployment\n +Version: +v1$/,
    );

    const events = section('Events')
      .trimEnd()
      .split('\n')
      .slice(3)
      .map((line) => line.trim().split(/ {2,}/));
    expect(events.map(([type, reason, , from]) => `${type} ${reason} ${from}`).toSorted()).toEqual(
      ['Applied', 'Available', 'OverriddenSucceeded', 'RolloutCompleted', 'RolloutStarted', 'WorkSynchronized'].map(
        (what) => `Normal Placement${what} cluster-resource-placement-controller`,
      ),
    );
  });

  test('V3-3: the namespace alone goes to all, and the labelled ConfigMaps to the two clusters that are named', async () => {
    await fleet.hub(['apply', '-f', seed('v3-3.yaml')]);
    await fleet.waitForAvailable('crp/app-namespace-crp');
    await fleet.waitForAvailable('rp/app-configs-rp', '-n', 'my-app');

    const [crp, rp] = [
      await fleet.status('crp', 'app-namespace-crp'),
      await fleet.status('rp', 'app-configs-rp', '-n', 'my-app'),
    ];
    expect(crp.selectedResources).toEqual([{ version: 'v1', kind: 'Namespace', name: 'my-app' }]);
    expect(crp.placementStatuses?.map(({ clusterName }) => clusterName)).toEqual(MEMBERS);
    expect(rp.selectedResources).toEqual([{ version: 'v1', kind: 'ConfigMap', namespace: 'my-app', name: 'labelled' }]);
    expect(rp.placementStatuses?.map(({ clusterName }) => clusterName)).toEqual(['prod-cluster-1', 'prod-cluster-2']);
    expect(rp.conditions.map(({ type }) => type)).toEqual(
      ['Scheduled', 'RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available'].map(
        (each) => `ResourcePlacement${each}`,
      ),
    );
    expect(inShort(rp.conditions)).toEqual(inShort(crp.conditions));

    const found = await Promise.all(
      MEMBERS.map(async (member) => [member, await fleet.on(member, ['-n', 'my-app', 'get', 'cm', '-o', 'name'])]),
    );
    // Every real namespace has the certificates' own ConfigMap; it is no one's to place.
    expect(
      found.map(([member, names]) => [member, (names as string).replace('configmap/kube-root-ca.crt\n', '')]),
    ).toEqual(MEMBERS.map((member) => [member, member.startsWith('prod-') ? 'configmap/labelled\n' : '']));
  });

  test('V3-4: snapshots have the names, labels, annotations, owners and hashes of the samples', async () => {
    await fleet.apply({
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      kind: 'ClusterResourcePlacement',
      metadata: { name: 'sample' },
      spec: {
        policy: { placementType: 'PickN', numberOfClusters: 2 },
        resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'test' }],
      },
    });
    await fleet.waitForAvailable('crp/sample');
    await fleet.apply(configMap('test-1', 'test', { key1: 'value1', key2: 'value2', key3: 'value3' }));
    await fleet.hub(['wait', '--for=jsonpath={.status.observedResourceIndex}=1', 'crp/sample', '--timeout=60s']);
    await fleet.waitForAvailable('crp/sample');

    const { metadata: owner } = await fleet.get<KubeObject>('hub', ['crp', 'sample']);
    const ownerReferences = [
      {
        // Differs from the sample, which shows v1.
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        blockOwnerDeletion: true,
        controller: true,
        kind: 'ClusterResourcePlacement',
        name: 'sample',
        uid: owner.uid,
      },
    ];
    const ours = ['-l', 'kubernetes-fleet.io/parent-CRP=sample'];

    const resources = await fleet.get<{ items: KubeObject[] }>('hub', ['crs', ...ours]);
    const { metadata, spec } = sample('v3-4-resource-snapshot.yaml');
    expect(
      resources.items.map((each) => [
        each.metadata.name,
        each.metadata.labels?.['kubernetes-fleet.io/is-latest-snapshot'],
      ]),
    ).toEqual([
      ['sample-0-snapshot', 'false'],
      ['sample-1-snapshot', 'true'],
    ]);
    expect(resources.items[1]).toMatchObject({
      apiVersion: 'placement.kubernetes-fleet.io/v1',
      metadata: {
        generation: 1,
        labels: {
          ...metadata.labels,
          'kubernetes-fleet.io/parent-CRP': 'sample',
          'kubernetes-fleet.io/resource-index': '1',
        },
        ownerReferences,
      },
      spec,
    });
    expect(resources.items[1]?.metadata.annotations).toMatchObject({ ...metadata.annotations });

    const policies = await fleet.get<{ items: KubeObject[] }>('hub', ['csps', ...ours]);
    const policy = sample('v3-4-policy-snapshot.yaml');
    const chosen = (await fleet.status('crp', 'sample')).placementStatuses?.map(({ clusterName }) => clusterName);
    expect(policies.items).toMatchObject([
      {
        metadata: {
          name: 'sample-0',
          generation: 1,
          labels: {
            ...policy.metadata.labels,
            'kubernetes-fleet.io/parent-CRP': 'sample',
            'kubernetes-fleet.io/policy-index': '0',
          },
          annotations: { ...policy.metadata.annotations, 'kubernetes-fleet.io/CRP-generation': '1' },
          ownerReferences,
        },
        spec: policy.spec,
        status: {
          conditions: [
            { type: 'Scheduled', status: 'True', reason: 'SchedulingPolicyFulfilled', observedGeneration: 1 },
          ],
          observedCRPGeneration: 1,
        },
      },
    ]);
    const { targetClusters } = (policies.items[0]?.status ?? {}) as {
      readonly targetClusters?: readonly { readonly selected: boolean }[];
    };
    expect(targetClusters?.filter(({ selected }) => selected)).toEqual(
      chosen?.map((clusterName) => ({
        clusterName,
        clusterScore: { affinityScore: 0, priorityScore: 0 },
        reason: expect.stringContaining('picked by'),
        selected: true,
      })),
    );

    const bindings = await fleet.get<{ items: KubeObject[] }>('hub', ['crb', ...ours]);
    const bound = sample('v3-4-binding.yaml').spec as { clusterDecision: object };
    expect(bindings.items.map((each) => each.metadata.name)).toEqual(
      chosen?.map((cluster) => expect.stringMatching(new RegExp(`^sample-${cluster}-[0-9a-f]{8}$`))),
    );
    expect(bindings.items).toMatchObject(
      (chosen ?? []).map((cluster) => ({
        metadata: {
          labels: { 'kubernetes-fleet.io/parent-CRP': 'sample' },
          finalizers: expect.arrayContaining(['kubernetes-fleet.io/work-cleanup']),
        },
        spec: {
          ...bound,
          clusterDecision: {
            ...bound.clusterDecision,
            clusterName: cluster,
            reason: expect.stringContaining('picked by'),
          },
          resourceSnapshotName: 'sample-1-snapshot',
          schedulingPolicySnapshotName: 'sample-0',
          targetCluster: cluster,
        },
      })),
    );
    for (const {
      metadata: { generation },
      status,
    } of bindings.items) {
      const { conditions } = status as { conditions: Condition[] };
      expect(inShort(conditions)).toEqual([
        'RolloutStarted True RolloutStarted',
        'Overridden True NoOverrideSpecified',
        'WorkSynchronized True AllWorkSynced',
        'Applied True AllWorkHaveBeenApplied',
        'Available True AllWorkAreAvailable',
      ]);
      expect(conditions.map((each) => each.observedGeneration)).toEqual(conditions.map(() => generation));
    }

    const { metadata: placed } = await fleet.get<KubeObject>(chosen?.[0] as string, ['-n', 'test', 'cm', 'test-1']);
    expect(placed.ownerReferences).toEqual([
      {
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        blockOwnerDeletion: true,
        kind: 'AppliedWork',
        name: 'sample-work',
        uid: expect.any(String),
      },
    ]);
    expect(Object.keys(placed.annotations ?? {}).toSorted()).toEqual([
      'kubernetes-fleet.io/last-applied-configuration',
      'kubernetes-fleet.io/spec-hash',
    ]);
  });

  test('V3-5: a member tells its properties and the three amounts of what it has', async () => {
    const { status } = await fleet.get<KubeObject>('hub', ['membercluster', 'aks-member-1']);
    const amounts = { cpu: expect.anything(), memory: expect.anything() };
    expect(status).toMatchObject({
      properties: { 'kubernetes-fleet.io/node-count': { value: '2', observationTime: expect.stringMatching(/Z$/) } },
      resourceUsage: {
        capacity: { cpu: '8', memory: '32Gi' },
        allocatable: amounts,
        available: amounts,
      },
    });
  });
});
