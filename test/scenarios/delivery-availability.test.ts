// When placed objects count as available, by kind, and what happens with kinds whose availability cannot be tracked.
import { describe, expect, test } from 'vitest';
import { clusterFamily, families } from '../../src/hub/families.ts';
import {
  aDelivery,
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  type Delivery,
  DONE,
  deployment,
  rolls,
  SHOP,
  scenario,
  selects,
} from '../delivery.ts';
import { widgetKind } from '../widgets.ts';

const metadata = (name: string) => ({ name, namespace: SHOP });
const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name),
  spec: { ports: [{ port: 80 }], ...spec },
});
const budget = (name: string, minAvailable: number) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadata(name),
  spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
});
const ingress = (host: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: metadata('front'),
  spec: { rules: [{ host }] },
});

/** The Available conditions in the member's Work, by `Kind name`. */
async function verdicts(it: Delivery, cluster = 'c1'): Promise<Readonly<Record<string, string>>> {
  const { status } = (await it.work(cluster)) ?? {};
  return Object.fromEntries(
    (status?.manifestConditions ?? []).map(({ identifier, conditions = [] }) => {
      const found = conditions.find(({ type }) => type === 'Available');
      return [`${identifier.kind} ${identifier.name}`, `${found?.status}/${found?.reason}`];
    }),
  );
}

const YES = 'True/Available';
const NOT_YET = 'False/ManifestNotAvailableYet';
const UNTRACKED = 'True/NotTrackable';

const placing = (it: Delivery, ...kinds: readonly object[]) =>
  it.namespace === undefined ? {} : { resourceSelectors: kinds };
const SERVICES = selects('', 'v1', 'Service');
const BUDGETS = selects('policy', 'v1', 'PodDisruptionBudget');
const INGRESSES = selects('networking.k8s.io', 'v1', 'Ingress');

describe('is available', () => {
  scenario.for(families)('a Service that can be reached', { members: 1 }, async (it) => {
    await it.give(
      service('inside', { type: 'ClusterIP' }),
      service('port', { type: 'NodePort' }),
      service('outside', { type: 'LoadBalancer' }),
      // Nothing here assigns an address to it.
      service('foreign', { type: 'LoadBalancer', loadBalancerClass: 'example.com/mine' }),
    );
    await it.place(placing(it, SERVICES));
    await it.runs();
    expect(await verdicts(it)).toMatchObject({
      'Service inside': YES,
      'Service port': YES,
      'Service outside': YES,
      'Service foreign': NOT_YET,
    });
    expect((await it.said())['Available']).toBe('False/ResourceNotAvailableYet');
    expect((await it.failedOn('c1')).join()).toMatch(/^Service foreign: .*no address yet/);
    await it.take('services', 'foreign');
    await it.runs();
    expect(await it.said()).toEqual(DONE);
  });

  scenario.for(families)(
    'a PodDisruptionBudget that knows its Pods, whether or not it lets any go',
    { members: 1 },
    async (it) => {
      await it.give(deployment('web:1', 2), budget('spare', 1), budget('tight', 2));
      await it.place(placing(it, DEPLOYMENTS, BUDGETS));
      await it.runs();
      expect(await verdicts(it)).toMatchObject({
        'Deployment web': YES,
        'PodDisruptionBudget spare': YES,
        'PodDisruptionBudget tight': YES,
      });
      expect(await it.said()).toEqual(DONE);
    },
  );

  scenario.for(families)('data, at once', { members: 1 }, async (it) => {
    await it.give(
      configMap('1'),
      { apiVersion: 'v1', kind: 'Secret', metadata: metadata('key'), data: { key: 'YQ==' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('robot') },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: metadata('reader'), rules: [] },
    );
    await it.place(
      placing(
        it,
        CONFIG_MAPS,
        selects('', 'v1', 'Secret'),
        selects('', 'v1', 'ServiceAccount', { name: 'robot' }),
        selects('rbac.authorization.k8s.io', 'v1', 'Role'),
      ),
    );
    await it.runs(1000);
    expect(new Set(Object.values(await verdicts(it)))).toEqual(new Set([YES]));
    expect(await it.said()).toEqual(DONE);
  });

  test('a kind that is served, and an object of it right after', async () => {
    await using it = await aDelivery(clusterFamily, { members: 1 });
    await it.give(widgetKind({ 'x-kubernetes-preserve-unknown-fields': true }));
    await it.give({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: metadata('one'), spec: { size: 1 } });
    const definition = selects('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', {
      name: 'widgets.example.com',
    });
    await it.place({ resourceSelectors: [definition, selects('', 'v1', 'Namespace', { name: SHOP })] });
    await it.runs();
    expect(await verdicts(it)).toMatchObject({
      'CustomResourceDefinition widgets.example.com': YES,
      'Widget one': UNTRACKED,
    });
    expect(await it.find('c1', 'widgets', 'one')).toMatchObject({ spec: { size: 1 } });
  });
});

describe('a Job', () => {
  const JOBS = selects('batch', 'v1', 'Job');
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata('once'),
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'once', image: 'once:1' }] } } },
  };

  scenario.for(families)('is waited for if its placement says so', { members: 1 }, async (it) => {
    const { plural } = it.family.placement;
    const say = (value: string | null) =>
      it.fleet.patch(plural, it.namespace, 'web', {
        metadata: { annotations: { 'flotilla.dev/track-availability': value } },
      });
    await it.give(job);
    await it.place({ ...placing(it, JOBS), ...rolls({ unavailablePeriodSeconds: 1 }) });
    await it.runs();
    expect(await verdicts(it)).toMatchObject({ 'Job once': UNTRACKED });
    await say('true');
    await it.runs(30_000);
    expect(await verdicts(it)).toMatchObject({ 'Job once': YES });
    expect(await it.saidOf('c1')).toMatchObject({ Available: 'True/AllWorkAreAvailable' });
    await say(null);
    await it.runs(30_000);
    expect(await verdicts(it)).toMatchObject({ 'Job once': UNTRACKED });
  });
});

describe('content of which nobody can tell', () => {
  scenario.for(families)('goes on after the time it is given, cluster by cluster', { members: 3 }, async (it) => {
    await it.give(ingress('one.example.com'));
    const limits = rolls({ maxUnavailable: 1, unavailablePeriodSeconds: 20 });
    await it.place({ ...placing(it, INGRESSES), ...limits });
    await it.runs(60_000);
    expect(await it.saidOf('c1')).toMatchObject({ Available: 'True/NotAllWorkAreAvailabilityTrackable' });
    const hosts = async () =>
      Promise.all(
        ['c1', 'c2', 'c3'].map(async (cluster) => {
          const found = (await it.find(cluster, 'ingresses', 'front')) as unknown as ReturnType<typeof ingress>;
          return found.spec.rules[0]?.host.split('.')[0];
        }),
      );
    await it.give(ingress('two.example.com'));
    await it.runs(15_000);
    expect(await hosts()).toEqual(['two', 'one', 'one']);
    expect(await it.holds()).toMatchObject([
      { code: 'BudgetUsed', on: { name: 'c1' }, clusters: ['c2', 'c3'] },
      { code: 'UntrackedPeriod', on: { name: 'c1' }, facts: { seconds: 20 }, until: expect.any(String) },
    ]);
    await it.runs(10_000);
    expect(await hosts()).toEqual(['two', 'two', 'one']);
    await it.runs(20_000);
    expect(await hosts()).toEqual(['two', 'two', 'two']);
    await it.runs(30_000);
    expect(await it.said()).toMatchObject({ RolloutStarted: DONE.RolloutStarted, Available: DONE.Available });
    expect(await it.holds()).toEqual([]);
  });

  scenario.for(families)(
    'is as old as it was where only the list of clusters has changed',
    { members: 3 },
    async (it) => {
      const fixed = (...clusterNames: readonly string[]) => ({ policy: { placementType: 'PickFixed', clusterNames } });
      await it.give(ingress('one.example.com'));
      const limits = rolls({ maxUnavailable: 1, unavailablePeriodSeconds: 20 });
      await it.place({ ...placing(it, INGRESSES), ...fixed('c1', 'c2', 'c3'), ...limits });
      await it.runs(90_000);
      const since = async () =>
        (await it.bindings())
          .filter(({ spec }) => spec.targetCluster !== 'c3')
          .map(({ status }) => status?.conditions?.find(({ type }) => type === 'Available')?.lastTransitionTime);
      const before = await since();
      await it.change(fixed('c1', 'c2'));
      await it.runs(3000);
      expect(await since()).toEqual(before);
      expect(await it.clusters()).toEqual(['c1', 'c2']);
      expect(await it.find('c3', 'ingresses', 'front')).toBeUndefined();
      expect(await it.holds()).toEqual([]);
    },
  );

  scenario.for(families)('does not slow data down that has none of it', { members: 3 }, async (it) => {
    await it.give(configMap('1'));
    await it.place(rolls({ maxUnavailable: 1, unavailablePeriodSeconds: 3600 }));
    await it.runs();
    await it.give(configMap('2'));
    await it.runs(1000);
    expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
    expect(await it.said()).toEqual(DONE);
  });
});
