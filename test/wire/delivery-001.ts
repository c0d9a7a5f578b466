// Seed 001 with real kubectl, on whatever the fleet runs on: a bad image stops at one cluster, a move keeps one available, and every kind is available
// when the document says so. Numbers (V1-1 …) are those of the checklist; reasons are compared, of messages only the facts they carry.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import {
  type Condition,
  type Fleet,
  type Happening,
  type Identified,
  inShort,
  messageOf,
  named,
  type Recording,
  type StartFleet,
} from './delivery.ts';
import {
  budget,
  definition,
  deployment,
  namespace,
  onlyData,
  placementOf,
  service,
  serviceExport,
} from './delivery-kinds.ts';

const seed = (file: string) => join(fileURLToPath(new URL('../seeds/001/', import.meta.url)), file);

const app = [namespace('test-ns'), deployment('web', 'test-ns', 1)];

const CLUSTERS = ['cluster-1', 'cluster-2', 'cluster-3', 'cluster-4'] as const;

const ALL_WELL = [
  'Scheduled True SchedulingPolicyFulfilled',
  'RolloutStarted True RolloutStarted',
  'Overridden True NoOverrideSpecified',
  'WorkSynchronized True WorkSynchronized',
  'Applied True ApplySucceeded',
  'Available True ResourceAvailable',
];
const CLUSTER_WELL = [
  'Scheduled True Scheduled',
  'RolloutStarted True RolloutStarted',
  'Overridden True NoOverrideSpecified',
  'WorkSynchronized True AllWorkSynced',
  'Applied True AllWorkHaveBeenApplied',
  'Available True AllWorkAreAvailable',
];
const AVAILABLE = 'Available True Available';
const NOT_YET = 'Available False ManifestNotAvailableYet';
const CLUSTER_WAITS = ['Scheduled True Scheduled', 'RolloutStarted False RolloutNotStartedYet'];
const CLUSTER_BROKEN = [...CLUSTER_WELL.slice(0, -1), 'Available False NotAllWorkAreAvailable'];

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
}

export const describeExample1 = (start: StartFleet) =>
  describe('example 1 of seed 001', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await start('seed-001-prod');
    });
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    const setImage = (image: string) => fleet.hub(['-n', 'test-ns', 'set', 'image', 'deployment/web', `web=${image}`]);
    /** What each cluster was told to run; undefined where there is no such namespace. */
    const images = () =>
      Promise.all(
        CLUSTERS.map(async (cluster) => {
          const { items } = await fleet.get<{ items: KubeObject<DeploymentSpec>[] }>(cluster, [
            'deployments',
            '-n',
            'test-ns',
          ]);
          return items[0]?.spec?.template.spec.containers[0]?.image;
        }),
      );
    const rollout = (reason: string) =>
      fleet.waitForReason('crp/example-1', 'ClusterResourcePlacementRolloutStarted', reason);

    test('V1-1: three of four clusters are picked and run it; cluster-1, last of equals, is untouched', async () => {
      await fleet.apply(...app);
      await fleet.hub(['apply', '-f', seed('v1-1.yaml')]);
      await fleet.waitForAvailable('crp/example-1');

      expect(await images()).toEqual([undefined, 'web:1', 'web:1', 'web:1']);
      const status = await fleet.status('crp', 'example-1');
      expect(inShort(status.conditions)).toEqual(ALL_WELL);
      expect(status.conditions.map(({ message }) => message)).toEqual(
        ALL_WELL.map(() => expect.stringMatching(/\b3\b/)),
      );
      expect(status.placementStatuses?.map((each) => [each.clusterName, inShort(each.conditions)])).toEqual(
        ['cluster-2', 'cluster-3', 'cluster-4'].map((name) => [name, CLUSTER_WELL]),
      );
      expect(messageOf(status.placementStatuses?.[0]?.conditions, 'Scheduled')).toMatch(
        /cluster-2.*affinity score: 0, topology spread score: 0/,
      );
      expect(status.selectedResources).toEqual([
        { version: 'v1', kind: 'Namespace', name: 'test-ns' },
        { group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'test-ns', name: 'web' },
      ]);
      expect(status.holds ?? []).toEqual([]);
    });

    test('V1-1: a bad image reaches one cluster; the others keep the old one, and the status names the culprit', async () => {
      await setImage('web:bad');
      // The culprit's own news may come after the decision to wait.
      await fleet.hub([
        'wait',
        '--for=jsonpath={.status.holds[?(@.code=="NotAvailable")].on.name}=cluster-2',
        'crp/example-1',
        '--timeout=60s',
      ]);
      await rollout('RolloutNotStartedYet');

      expect(await images()).toEqual([undefined, 'web:bad', 'web:1', 'web:1']);
      const status = await fleet.status('crp', 'example-1');
      expect(inShort(status.conditions)).toEqual([
        'Scheduled True SchedulingPolicyFulfilled',
        'RolloutStarted False RolloutNotStartedYet',
      ]);
      expect(messageOf(status.conditions, 'RolloutStarted')).toMatch(
        /2 clusters.*cluster-2.*Deployment "test-ns\/web"/,
      );
      expect(status.placementStatuses?.map((each) => [each.clusterName, inShort(each.conditions)])).toEqual([
        ['cluster-2', CLUSTER_BROKEN],
        ['cluster-3', CLUSTER_WAITS],
        ['cluster-4', CLUSTER_WAITS],
      ]);
      expect(status.placementStatuses?.[0]?.failedPlacements).toEqual([
        expect.objectContaining({
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
          namespace: 'test-ns',
          name: 'web',
          condition: expect.objectContaining({ type: 'Available', status: 'False', reason: 'ManifestNotAvailableYet' }),
        }),
      ]);
      expect(status.holds?.map(({ code, clusters, on }) => [code, clusters, on?.name])).toEqual([
        ['BudgetUsed', ['cluster-3', 'cluster-4'], 'cluster-2'],
        ['NotAvailable', ['cluster-2'], 'cluster-2'],
      ]);
      expect(status.holds?.[0]?.facts).toMatchObject({
        maxUnavailable: 1,
        maxSurge: 1,
        target: 3,
        minAvailable: 2,
        ready: 2,
      });
    });

    test('V1-1c: the type cannot be changed; the answer says to create a new placement', async () => {
      const { code, stderr } = await fleet.try(['apply', '-f', seed('v1-1c.yaml')]);
      expect(code).toBe(1);
      expect(stderr).toContain('placementType is immutable: create a new placement');
      expect(await images()).toEqual([undefined, 'web:bad', 'web:1', 'web:1']);
    });

    test('V1-1b: asked for four, the fourth gets it at once through surge; the other two still wait', async () => {
      await fleet.hub(['apply', '-f', seed('v1-1b.yaml')]);
      await fleet.on('cluster-1', ['wait', '--for=create', 'namespace/test-ns', '--timeout=60s']);
      await fleet.on('cluster-1', ['wait', '--for=create', '-n', 'test-ns', 'deployment/web', '--timeout=60s']);

      expect(await images()).toEqual(['web:bad', 'web:bad', 'web:1', 'web:1']);
      const policies = await fleet.get<{ items: KubeObject[] }>('hub', ['csps']);
      expect(policies.items.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([
        ['example-1-0', { 'kubernetes-fleet.io/CRP-generation': '2', 'kubernetes-fleet.io/number-of-clusters': '4' }],
      ]);
    });

    test('V1-1: a fix heals what is broken and rolls on to the rest', async () => {
      await setImage('web:2');
      await fleet.waitForAvailable('crp/example-1');

      expect(await images()).toEqual(['web:2', 'web:2', 'web:2', 'web:2']);
      const status = await fleet.status('crp', 'example-1');
      expect(inShort(status.conditions)).toEqual(ALL_WELL);
      expect(status.placementStatuses?.map((each) => [each.clusterName, inShort(each.conditions)])).toEqual(
        CLUSTERS.map((name) => [name, CLUSTER_WELL]),
      );
      expect(status.holds ?? []).toEqual([]);
      expect(status.observedResourceIndex).toBe('2');
    });
  });

type Binding = KubeObject<
  { readonly targetCluster: string; readonly state: string; readonly resourceSnapshotName?: string },
  { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
>;

/** What the hub knew after each change of a binding, in the order of its revisions. */
function history(happenings: readonly Happening[]) {
  const now = new Map<string, { bound: boolean; available: boolean; leaving: boolean }>();
  return happenings.map(({ type, object }) => {
    const { metadata, spec, status } = object as Binding;
    if (type === 'DELETED') now.delete(spec?.targetCluster as string);
    else
      now.set(spec?.targetCluster as string, {
        bound: spec?.state === 'Bound',
        available: status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True') === true,
        leaving: metadata.deletionTimestamp !== undefined,
      });
    return new Map(now);
  });
}

export const describeExample2 = (start: StartFleet) =>
  describe('example 2 of seed 001', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await start('seed-001-loc');
    });
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    test('V1-2: a move first gives it to both new clusters, and at every moment one has it available', async () => {
      await fleet.apply(...app);
      await fleet.hub(['apply', '-f', seed('v1-2-west.yaml')]);
      await fleet.waitForAvailable('crp/example-2');
      expect((await fleet.status('crp', 'example-2')).placementStatuses?.map((each) => each.clusterName)).toEqual([
        'cluster-1',
        'cluster-2',
      ]);

      await using bindings = await fleet.record('hub', ['get', 'crb']);
      await using first = await fleet.record('cluster-1', ['get', 'namespace', ...named('test-ns')]);
      await using second = await fleet.record('cluster-2', ['get', 'namespace', ...named('test-ns')]);
      await fleet.hub(['apply', '-f', seed('v1-2-east.yaml')]);
      const deleted = (happenings: readonly Happening[]) => happenings.filter(({ type }) => type === 'DELETED').length;
      await bindings.until((seen) => deleted(seen) === 2, 'both old bindings gone');
      await fleet.waitForAvailable('crp/example-2');

      // As the hub decided it. Its revisions are one sequence, so this order is exact.
      const seen = history(bindings.happenings);
      const counts = seen.map((state) => {
        const all = [...state.values()];
        return {
          old: ['cluster-1', 'cluster-2'].filter((name) => state.get(name)?.leaving === false).length,
          bound: ['cluster-3', 'cluster-4'].filter((name) => state.get(name)?.bound === true).length,
          arrived: ['cluster-3', 'cluster-4'].filter((name) => state.get(name)?.available === true).length,
          available: all.filter(({ available, leaving }) => available && !leaving).length,
          total: state.size,
        };
      });
      const settled = counts.slice(counts.findIndex(({ old }) => old === 2));
      expect(Math.min(...settled.map(({ available }) => available))).toBe(1);
      expect(Math.max(...settled.map(({ total }) => total))).toBeLessThanOrEqual(4);
      const oneLeaves = settled.find(({ old }) => old === 1);
      expect(oneLeaves).toMatchObject({ bound: 2, arrived: 0 });
      const otherLeaves = settled.find(({ old }) => old === 0);
      expect(otherLeaves?.arrived).toBeGreaterThanOrEqual(1);

      // As it was on the members, to the second.
      const leftAt = ({ happenings }: Recording) =>
        happenings.map(({ object }) => object.metadata.deletionTimestamp).find((time) => time !== undefined) as string;
      const [, lastLeft] = [leftAt(first), leftAt(second)].toSorted();
      const arrivals = await Promise.all(
        ['cluster-3', 'cluster-4'].map(async (cluster) => {
          const { status } = await fleet.get<{
            status: { conditions: { type: string; lastTransitionTime: string }[] };
          }>(cluster, ['-n', 'test-ns', 'deployment', 'web']);
          return status.conditions.find(({ type }) => type === 'Available')?.lastTransitionTime as string;
        }),
      );
      expect((arrivals.toSorted()[0] as string) <= (lastLeft as string)).toBe(true);

      const status = await fleet.status('crp', 'example-2');
      expect(inShort(status.conditions)).toEqual(ALL_WELL);
      expect(status.placementStatuses?.map((each) => [each.clusterName, inShort(each.conditions)])).toEqual(
        ['cluster-3', 'cluster-4'].map((name) => [name, CLUSTER_WELL]),
      );
      const left = await Promise.all(
        CLUSTERS.map((cluster) =>
          fleet.on(cluster, ['get', 'namespace', 'test-ns', '--ignore-not-found', '-o', 'name']),
        ),
      );
      expect(left).toEqual(['', '', 'namespace/test-ns\n', 'namespace/test-ns\n']);
    });

    /** What became of each object on cluster-1, as the Work tells it. */
    const outcomes = (work: KubeObject | undefined): Readonly<{ [object: string]: string | undefined }> => {
      const { manifestConditions = [] } = (work?.status ?? {}) as {
        readonly manifestConditions?: readonly { readonly identifier: Identified; readonly conditions: Condition[] }[];
      };
      return Object.fromEntries(
        manifestConditions.map(({ identifier: { kind, name }, conditions }) => [
          `${kind} ${name}`,
          inShort(conditions.filter(({ type }) => type === 'Available'))[0],
        ]),
      );
    };
    const work = (name: string) => ['-n', 'fleet-member-cluster-1', 'get', 'work', ...named(name)];
    /** Watches the Work until each of these objects, and no other, is as told. */
    const untilOutcomes = async (name: string, expected: Readonly<{ [object: string]: string }>) => {
      await using seen = await fleet.record('hub', work(name));
      const last = () => outcomes(seen.happenings.at(-1)?.object);
      await seen
        .until(() => isDeepStrictEqual(last(), { ...last(), ...expected }), `${name} as expected`)
        .catch(() => expect(last()).toEqual(expected));
      expect(last()).toEqual(expected);
    };
    const place = async (name: string, objects: readonly KubeObject[]) => {
      await fleet.apply(...objects, placementOf(name, 'cluster-1', objects));
      await fleet.hub(['-n', 'fleet-member-cluster-1', 'wait', '--for=create', `work/${name}-work`, '--timeout=60s']);
    };
    const all = (objects: readonly KubeObject[], outcome: string) =>
      Object.fromEntries(objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, outcome]));

    test('V1-3: the 17 kinds that are only data, and ServiceAccount, are available at once', async () => {
      await place('data', onlyData);
      await fleet.waitForAvailable('crp/data');

      expect(onlyData.length).toBe(18);
      const { items } = await fleet.get<{ items: KubeObject[] }>(
        'hub',
        work('data-work').filter((word) => word !== 'get'),
      );
      expect(outcomes(items[0])).toEqual(all(onlyData, AVAILABLE));
      const { conditions, placementStatuses } = await fleet.status('crp', 'data');
      expect(inShort(conditions)).toEqual(ALL_WELL);
      // At once: told in the same breath as that it is applied. And tracked: the next cluster need not wait unavailablePeriodSeconds.
      const { manifestConditions } = (items[0]?.status ?? {}) as {
        readonly manifestConditions?: readonly { readonly conditions: readonly Condition[] }[];
      };
      for (const each of manifestConditions ?? [])
        expect(each.conditions[1]?.lastTransitionTime).toBe(each.conditions[0]?.lastTransitionTime);
      expect(inShort(placementStatuses?.[0]?.conditions)).toEqual(CLUSTER_WELL);
    });

    test('V1-4: a ServiceExport is available by its weight and its validity; a wrong weight never, until it is mended', async () => {
      const kind = definition('networking.fleet.azure.com', 'ServiceExport', 'v1beta1');
      await fleet.apply(kind);
      await fleet.hub(['wait', '--for=condition=Established', `crd/${kind.metadata.name}`, '--timeout=60s']);
      const objects = [
        kind,
        namespace('exports'),
        ...['no-traffic', 'traffic', 'wrong'].map((name) => service(name, 'exports')),
        serviceExport('no-traffic', 'exports', '0'),
        serviceExport('traffic', 'exports', '1'),
        serviceExport('wrong', 'exports', 'heavy'),
        serviceExport('of-nothing', 'exports', '1'),
      ];
      await place('exports', objects);
      await untilOutcomes('exports-work', {
        ...all(objects, AVAILABLE),
        'ServiceExport wrong': NOT_YET,
        'ServiceExport of-nothing': NOT_YET,
      });
      await fleet.waitForReason('crp/exports', 'ClusterResourcePlacementAvailable', 'ResourceNotAvailableYet');
      const { placementStatuses } = await fleet.status('crp', 'exports');
      expect(inShort(placementStatuses?.[0]?.conditions)).toEqual(CLUSTER_BROKEN);
      expect(
        placementStatuses?.[0]?.failedPlacements?.map(({ kind, name, condition }) => [kind, name, condition.message]),
      ).toEqual([
        ['ServiceExport', 'of-nothing', expect.stringContaining('not valid')],
        ['ServiceExport', 'wrong', expect.stringContaining('networking.fleet.azure.com/weight')],
      ]);

      await fleet.apply(serviceExport('wrong', 'exports', '1000'), service('of-nothing', 'exports'));
      await fleet.waitForAvailable('crp/exports');
    });

    test('V1-5: Services of four types, budgets with and without spare Pods, and a definition are available as told', async () => {
      const objects = [
        namespace('mixed'),
        definition('example.com', 'Widget', 'v1'),
        deployment('spare', 'mixed', 2),
        deployment('tight', 'mixed', 2),
        budget('spare', 'mixed', 1),
        budget('tight', 'mixed', 2),
        service('cluster-ip', 'mixed', { type: 'ClusterIP' }),
        service('node-port', 'mixed', { type: 'NodePort' }),
        service('load-balancer', 'mixed', { type: 'LoadBalancer' }),
        service('external-name', 'mixed', { type: 'ExternalName', externalName: 'example.com' }),
      ];
      await place('mixed', objects);
      await fleet.waitForAvailable('crp/mixed');
      await untilOutcomes('mixed-work', {
        ...all(objects, AVAILABLE),
        'Service external-name': 'Available True NotTrackable',
      });

      const { conditions, placementStatuses } = await fleet.status('crp', 'mixed');
      expect(inShort(conditions)).toEqual(ALL_WELL);
      expect(inShort(placementStatuses?.[0]?.conditions)).toEqual([
        ...CLUSTER_WELL.slice(0, -1),
        'Available True NotAllWorkAreAvailabilityTrackable',
      ]);
      expect(messageOf(placementStatuses?.[0]?.conditions, 'Available')).toContain('mixed-work');
      // A real cluster's controller counts spare Pods a moment after they became healthy.
      const pdb = ['-n', 'mixed', 'wait', '--timeout=60s'];
      await fleet.on('cluster-1', [...pdb, '--for=jsonpath={.status.currentHealthy}=2', 'pdb/spare', 'pdb/tight']);
      const allowed = ['-n', 'mixed', 'get', 'pdb', '-o', 'jsonpath={.items[*].status.disruptionsAllowed}'];
      expect(await fleet.on('cluster-1', allowed)).toBe('1 0');
    });
  });
