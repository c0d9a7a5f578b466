import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../../test/cluster.ts';
import { counted } from '../../../test/runtime/counted.ts';
import { turns } from '../../../test/runtime/turns.ts';
import { hubKinds } from '../../api/kinds.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Placement, PlacementStatus } from '../../api/placement.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import type { Transport } from '../../api/transport.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { type Manager, startManager } from '../../runtime/manager.ts';
import { clusterFamily, families, namespacedFamily, type PlacementFamily } from '../families.ts';
import { createWatchPlan } from '../revisions/watch-plan.ts';
import { STATUS_INTERVAL_MS } from '../status/status-rule.ts';
import { type PlacementOptions, placementController } from './controller.ts';

interface Bench extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly manager: Manager;
  readonly family: PlacementFamily;
  writes(): readonly string[];
  requests(): number;
  forget(): void;
  /** The number of reconciles so far. */
  passes(): number;
  settle(): Promise<void>;
  advance(ms: number): Promise<void>;
  place(name: string, spec?: object, namespace?: string): Promise<void>;
  patch(plural: string, name: string, body: object, namespace?: string): Promise<void>;
  remove(plural: string, name: string, namespace?: string): Promise<void>;
  configMap(name: string, data: object, namespace?: string): Promise<void>;
  list(plural: string, namespace?: string): Promise<readonly KubeObject[]>;
  status(name?: string): Promise<PlacementStatus>;
}

const CONFIG_MAPS = { group: '', version: 'v1', kind: 'ConfigMap' };
/** As if placements read many namespaces: the watch brings metadata, and selected objects are fetched. */
const wide = () => createWatchPlan(0);
const namespaceTerm = (name: string) => ({ group: '', version: 'v1', kind: 'Namespace', name });

async function bench(
  family: PlacementFamily,
  options: Partial<PlacementOptions> = {},
  through: (transport: Transport) => Transport = (transport) => transport,
): Promise<Bench> {
  const cluster = await aCluster({ kinds: hubKinds });
  await cluster.create('namespaces', undefined, { metadata: { name: 'team' } });
  const asked = counted(through(cluster.as(admin)));
  const manager = startManager(
    { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log: silentLog },
    {
      controllers: [
        placementController(family, {
          catalogue: cluster.running.catalogue,
          ...options,
        }),
      ],
    },
  );
  const own = family.placement.namespaced ? 'team' : undefined;
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turns();
    expect(manager.idle()).toBe(true);
  };
  await settle();
  return {
    cluster,
    manager,
    family,
    writes: () => asked.writes().filter((write) => !write.includes('events')),
    requests: () => asked.calls.length,
    forget: () => void asked.calls.splice(0),
    passes: () => manager.state().controllers.reduce((sum, { passes }) => sum + passes, 0),
    settle,
    async advance(ms) {
      cluster.clock.advance(ms);
      await settle();
    },
    async place(name, spec = {}, namespace = own) {
      const selector = family.placement.namespaced ? CONFIG_MAPS : namespaceTerm('team');
      await cluster.create(family.placement.plural, namespace, {
        metadata: { name },
        spec: { resourceSelectors: [selector], ...spec },
      });
      await settle();
    },
    async patch(plural, name, body, namespace) {
      const at = cluster.at(plural, namespace, name);
      await cluster.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'test' });
      await settle();
    },
    async remove(plural, name, namespace) {
      await cluster.call({ verb: 'delete', at: cluster.at(plural, namespace, name) });
      await settle();
    },
    async configMap(name, data, namespace = 'team') {
      await cluster.create('configmaps', namespace, { metadata: { name }, data });
      await settle();
    },
    async list(plural, namespace = cluster.at(plural).resource.namespaced ? 'team' : undefined) {
      const { list } = await cluster.call({ verb: 'list', at: cluster.at(plural, namespace) });
      return (list?.items ?? []) as readonly KubeObject[];
    },
    async status(name = 'web') {
      const placement = (await cluster.get(family.placement.plural, own, name)) as Placement;
      return placement.status as PlacementStatus;
    },
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

const scheduled = ({ conditions = [] }: PlacementStatus) => {
  const found = conditions.find(({ type }) => type.endsWith('Scheduled'));
  return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
};

const contentOf = (snapshot: KubeObject | undefined) =>
  ((snapshot?.spec ?? { selectedResources: [] }) as { selectedResources: KubeObject[] }).selectedResources.map(
    ({ kind, metadata }) => `${kind} ${metadata.name}`,
  );

describe.each(families)('a new $placement.kind', (family) => {
  test('is guarded, then gets both snapshots, then a status: four writes, and then none', async () => {
    await using it = await bench(family);
    await it.configMap('app', { key: 'value' });
    await it.place('web', { policy: { placementType: 'PickN', numberOfClusters: 2 } });
    expect(it.writes().map((write) => write.split(' ').slice(0, 2).join(' '))).toEqual([
      `patch ${family.placement.plural}`,
      `create ${family.policySnapshot.plural}`,
      `create ${family.resourceSnapshot.plural}`,
      `patch ${family.placement.plural}`,
    ]);
    const [policy] = await it.list(family.policySnapshot.plural);
    expect(policy).toMatchObject({
      metadata: {
        name: 'web-0',
        labels: {
          [labels.parentPlacement]: 'web',
          [labels.isLatestSnapshot]: 'true',
          [labels.policyIndex]: '0',
        },
        annotations: { [annotations.placementGeneration]: '1', [annotations.numberOfClusters]: '2' },
        ownerReferences: [
          {
            apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
            kind: family.placement.kind,
            name: 'web',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        policy: { placementType: 'PickN' },
        policyHash: 'NDc5ZjQwNWViNzgwOGNmYzU4MzY2YjI2NDg2ODBhM2E4MTVlZjkxNGZlNjc1NmFlOGRmMGQ2Zjc0ODg1NDE2YQ==',
      },
    });
    expect(policy?.spec).toHaveProperty('policy');
    expect((policy as { spec: { policy: object } }).spec.policy).not.toHaveProperty('numberOfClusters');
    const [snapshot] = await it.list(family.resourceSnapshot.plural);
    expect(snapshot?.metadata).toMatchObject({
      name: 'web-0-snapshot',
      labels: { [labels.isLatestSnapshot]: 'true', [labels.resourceIndex]: '0', [labels.parentPlacement]: 'web' },
      annotations: {
        [annotations.numberOfResourceSnapshots]: '1',
        [annotations.numberOfEnvelopedObjects]: '0',
        [annotations.resourceHash]: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(contentOf(snapshot)).toEqual(
      family.placement.namespaced ? ['ConfigMap app'] : ['Namespace team', 'ConfigMap app'],
    );
    expect(scheduled(await it.status())).toMatchObject({ status: 'Unknown', reason: 'SchedulePending' });

    it.forget();
    await it.advance(60_000);
    expect(it.writes()).toEqual([]);
  });

  test('that changes N keeps its policy snapshot; one that picks otherwise gets another', async () => {
    await using it = await bench(family);
    await it.place('web', { policy: { placementType: 'PickN', numberOfClusters: 2 } });
    await it.advance(1000);
    const own = family.placement.namespaced ? 'team' : undefined;
    await it.patch(family.placement.plural, 'web', { spec: { policy: { numberOfClusters: 3 } } }, own);
    expect((await it.list(family.policySnapshot.plural)).map(({ metadata }) => metadata)).toMatchObject([
      { name: 'web-0', annotations: { [annotations.placementGeneration]: '2', [annotations.numberOfClusters]: '3' } },
    ]);
    const spread = { topologySpreadConstraints: [{ topologyKey: 'region' }] };
    await it.patch(family.placement.plural, 'web', { spec: { policy: spread } }, own);
    expect((await it.list(family.policySnapshot.plural)).map(({ metadata }) => metadata)).toMatchObject([
      { name: 'web-0', labels: { [labels.isLatestSnapshot]: 'false' } },
      { name: 'web-1', labels: { [labels.isLatestSnapshot]: 'true' } },
    ]);
  });

  test('that is deleted takes its snapshots with it, and then its finalizer', async () => {
    await using it = await bench(family);
    await it.place('web');
    const own = family.placement.namespaced ? 'team' : undefined;
    await it.remove(family.placement.plural, 'web', own);
    expect(await it.list(family.policySnapshot.plural)).toEqual([]);
    expect(await it.list(family.resourceSnapshot.plural)).toEqual([]);
    expect(await it.list(family.placement.plural)).toEqual([]);
    expect((await it.list('events', own ?? 'default')).map((event) => event['reason'])).toContain(
      'PlacementCleanupFinalizerRemoved',
    );
  });

  test('does not wait for other finalizers before it lets go of its own', async () => {
    await using it = await bench(family);
    await it.place('web');
    const own = family.placement.namespaced ? 'team' : undefined;
    const both = { metadata: { finalizers: [finalizers.placementCleanup, finalizers.schedulerCleanup] } };
    await it.patch(family.placement.plural, 'web', both, own);
    await it.remove(family.placement.plural, 'web', own);
    const [placement] = await it.list(family.placement.plural);
    expect(placement?.metadata.finalizers).toEqual([finalizers.schedulerCleanup]);
    expect(await it.list(family.resourceSnapshot.plural)).toEqual([]);
  });
});

describe('a change of what is selected', () => {
  test('becomes a revision 100 ms after the last change, and at most a second after the first', async () => {
    await using it = await bench(clusterFamily);
    await it.configMap('app', { key: '0' });
    await it.place('web');
    await it.advance(5000);
    const count = async () => (await it.list('clusterresourcesnapshots')).length;
    const change = (value: string) => it.patch('configmaps', 'app', { data: { key: value } }, 'team');
    await change('1');
    await it.advance(99);
    expect(await count()).toBe(1);
    await change('2');
    await it.advance(99);
    expect(await count()).toBe(1);
    await it.advance(1);
    expect(await count()).toBe(2);
    for (let i = 0; i < 12; i++) {
      await change(`burst ${i}`);
      await it.advance(90);
      expect(await count(), `${i}`).toBe(i < 11 ? 2 : 3);
    }
  });

  test('is told of while the hub collects changes for long, and changes nothing of what was scheduled', async () => {
    await using it = await bench(clusterFamily, { throttle: { collectionMs: 15_000 } });
    await it.configMap('app', { key: '0' });
    await it.place('web');
    await it.advance(5000);
    const before = scheduled(await it.status());
    const now = it.cluster.clock.now();
    await it.patch('configmaps', 'app', { data: { key: '1' } }, 'team');
    await it.advance(200);
    const { holds, observedResourceIndex } = await it.status();
    expect({ holds, observedResourceIndex }).toMatchObject({
      holds: [{ code: 'RevisionPending', until: kubeTime(now + 15_000) }],
      observedResourceIndex: '0',
    });
    expect(scheduled(await it.status())).toEqual(before);
    await it.advance(15_000);
    await it.advance(STATUS_INTERVAL_MS);
    expect(await it.status()).toMatchObject({ observedResourceIndex: '1' });
    expect((await it.status()).holds ?? []).toEqual([]);
  });

  test('is snapshotted at once without a debounce: two writes, and one for the status that shows the new index', async () => {
    await using it = await bench(clusterFamily, { throttle: { debounceMs: 0 } });
    await it.configMap('app', { key: '0' });
    await it.place('web');
    await it.advance(1000);
    it.forget();
    await it.patch('configmaps', 'app', { data: { key: '1' } }, 'team');
    const writes = () => it.writes().map((write) => write.split(' ').slice(0, 2).join(' '));
    const snapshots = ['create clusterresourcesnapshots', 'patch clusterresourcesnapshots'];
    expect(writes()).toEqual(snapshots);
    // Status writes wait for the controllers that cause the changes.
    await it.advance(99);
    expect(writes()).toEqual(snapshots);
    await it.advance(1);
    expect(writes()).toEqual([...snapshots, 'patch clusterresourceplacements']);
    expect((await it.list('clusterresourcesnapshots')).map(({ metadata }) => metadata)).toMatchObject([
      { name: 'web-0-snapshot', labels: { [labels.isLatestSnapshot]: 'false' } },
      { name: 'web-1-snapshot', labels: { [labels.isLatestSnapshot]: 'true' } },
    ]);
  });

  test('that is taken back in time, or changes nothing that is placed, costs no write', async () => {
    await using it = await bench(clusterFamily);
    await it.configMap('app', { key: '0' });
    await it.place('web');
    await it.advance(1000);
    it.forget();
    await it.patch('configmaps', 'app', { data: { key: '1' } }, 'team');
    await it.patch('configmaps', 'app', { data: { key: '0' } }, 'team');
    const note = { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x' } } };
    await it.patch('configmaps', 'app', note, 'team');
    await it.advance(5000);
    expect(it.writes()).toEqual([]);
  });

  test('wakes only those that look there', async () => {
    await using it = await bench(clusterFamily);
    await it.cluster.create('namespaces', undefined, { metadata: { name: 'other' } });
    await it.place('web');
    await it.place('far', { resourceSelectors: [namespaceTerm('other')] });
    await it.advance(5000);
    const before = it.passes();
    it.forget();
    await it.configMap('unseen', {}, 'default');
    await it.patch('namespaces', 'default', { metadata: { labels: { a: 'b' } } });
    expect(it.passes()).toBe(before);
    await it.configMap('app', {}, 'team');
    expect(it.passes()).toBe(before + 1);
    expect(it.writes()).toEqual([]);
  });

  test.each([
    { it: 'is brought by the watch of a namespace', plan: createWatchPlan, asked: 0 },
    { it: 'is asked for where one watch tells of all namespaces', plan: wide, asked: 1 },
  ])('new content $it', async ({ plan, asked }) => {
    let gets = 0;
    const options = { throttle: { debounceMs: 0 }, plan: plan() };
    await using it = await bench(namespacedFamily, options, (transport) => ({
      call(request, signal) {
        if (request.verb === 'get') gets++;
        return transport.call(request, signal);
      },
      watch: (request, signal) => transport.watch(request, signal),
    }));
    await it.configMap('app', { key: 'old' });
    await it.place('web');
    await it.advance(STATUS_INTERVAL_MS);
    gets = 0;
    await it.patch('configmaps', 'app', { data: { key: 'new' } }, 'team');
    await it.advance(STATUS_INTERVAL_MS);
    const [, newest] = await it.list('resourcesnapshots');
    expect(newest?.spec).toMatchObject({ selectedResources: [{ data: { key: 'new' } }] });
    expect(gets).toBe(asked);
  });

  test('above three namespaces one watch per kind takes the place of the narrow ones', async () => {
    const plan = createWatchPlan();
    await using it = await bench(clusterFamily, { plan });
    for (const name of ['n1', 'n2', 'n3', 'n4']) {
      await it.cluster.create('namespaces', undefined, { metadata: { name } });
      await it.configMap('app', {}, name);
      await it.place(name, { resourceSelectors: [namespaceTerm(name)] });
    }
    await it.advance(120_000);
    const watched = it.manager.state().sources.filter(({ name }) => name.includes('v1/configmaps'));
    expect(watched.map(({ name }) => name)).toEqual(['hub/v1/configmaps (metadata)']);
    await it.patch('configmaps', 'app', { data: { a: 'b' } }, 'n2');
    await it.advance(1000);
    expect((await it.list('clusterresourcesnapshots')).map(({ metadata }) => metadata.name)).toEqual([
      'n1-0-snapshot',
      'n2-0-snapshot',
      'n2-1-snapshot',
      'n3-0-snapshot',
      'n4-0-snapshot',
    ]);
    // A placement that reads another kind, or was deleted, does not count any more.
    for (const name of ['n2', 'n3', 'n4']) await it.remove('clusterresourceplacements', name);
    const role = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'viewers' };
    await it.patch('clusterresourceplacements', 'n1', { spec: { resourceSelectors: [role] } });
    expect(plan.size).toBe(1);
    await it.remove('clusterresourceplacements', 'n1');
    expect(plan.size).toBe(0);
  });
});

describe('what a placement cannot do', () => {
  test('selectors that make no sense are told in the status, and heal when the kind appears', async () => {
    await using it = await bench(clusterFamily);
    await it.place('web', {
      resourceSelectors: [{ group: 'shop.example', version: 'v1', kind: 'Till', name: 'one' }],
    });
    expect(scheduled(await it.status())).toMatchObject({
      status: 'False',
      reason: 'InvalidResourceSelectors',
      message: expect.stringContaining('Till'),
    });
    expect(await it.list('clusterresourcesnapshots')).toEqual([]);
    await it.advance(5000);
    await it.cluster.create('customresourcedefinitions', undefined, {
      metadata: { name: 'tills.shop.example' },
      spec: {
        group: 'shop.example',
        scope: 'Cluster',
        names: { kind: 'Till', plural: 'tills', singular: 'till', listKind: 'TillList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    await it.cluster.settled();
    await it.advance(5000);
    await it.advance(100);
    expect(scheduled(await it.status())?.reason).toBe('SchedulePending');
    expect(await it.list('clusterresourcesnapshots')).toHaveLength(1);
  });

  test('more than a snapshot holds becomes a group, and one again when it is less', async () => {
    await using it = await bench(clusterFamily);
    for (const name of ['a', 'b', 'c', 'd']) await it.configMap(name, { text: 'x'.repeat(800_000) });
    await it.place('web');
    const names = async () => (await it.list('clusterresourcesnapshots')).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(['web-0-0', 'web-0-1', 'web-0-2', 'web-0-snapshot']);
    for (const name of ['b', 'c', 'd']) await it.remove('configmaps', name, 'team');
    await it.advance(1000);
    expect(it.manager.holdsOf('web')).toEqual([]);
    expect((await names()).filter((name) => name?.startsWith('web-1'))).toEqual(['web-1-snapshot']);
  });

  test('a group that lacks a part gets it again, with what it had', async () => {
    await using it = await bench(clusterFamily);
    for (const name of ['a', 'b', 'c']) await it.configMap(name, { text: 'x'.repeat(500_000) });
    await it.place('web');
    const held = async (name: string) =>
      ((await it.list('clusterresourcesnapshots')) as ResourceSnapshot[])
        .filter(({ metadata }) => metadata.name === name)
        .map(({ spec }) => spec.selectedResources.map((each) => each.metadata.name).join(' '));
    const before = await held('web-0-0');
    expect(before).toHaveLength(1);
    await it.remove('clusterresourcesnapshots', 'web-0-0');
    await it.advance(1000);
    expect(await held('web-0-0')).toEqual(before);
  });

  test('it does not move while its spec cannot work', async () => {
    await using it = await bench(clusterFamily);
    await it.place('web', { strategy: { reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' } } });
    expect(await it.list('clusterresourcesnapshots')).toEqual([]);
    expect(await it.list('clusterschedulingpolicysnapshots')).toEqual([]);
    expect(scheduled(await it.status())).toMatchObject({ status: 'Unknown', reason: 'SchedulePending' });
    expect(it.manager.holdsOf('web')).toMatchObject([
      { code: 'SpecInvalid', facts: { message: expect.stringContaining('OriginalResource') } },
    ]);
    await it.patch('clusterresourceplacements', 'web', { spec: { strategy: { reportBackStrategy: null } } });
    await it.advance(1000);
    expect(it.manager.holdsOf('web')).toEqual([]);
    expect(await it.list('clusterresourcesnapshots')).toHaveLength(1);
  });
});

describe('the status', () => {
  const report = async (it: Bench, message: string) => {
    const at = {
      ...it.cluster.at('clusterschedulingpolicysnapshots', undefined, 'web-0'),
      subresource: 'status' as const,
    };
    const condition = {
      type: 'Scheduled',
      status: 'True',
      reason: 'SchedulingPolicyFulfilled',
      message,
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const body = { status: { observedCRPGeneration: 1, conditions: [condition], targetClusters: [] } };
    await it.cluster.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'test' });
    await it.settle();
  };

  test('is written at once, then at most every 100 ms, and the last word is not lost', async () => {
    await using it = await bench(clusterFamily);
    await it.place('web');
    await it.advance(1000);
    it.forget();
    await report(it, 'one');
    expect(it.writes()).toHaveLength(1);
    await report(it, 'two');
    await it.advance(50);
    await report(it, 'three');
    expect(it.writes()).toHaveLength(1);
    expect(scheduled(await it.status())?.message).toContain('one');
    await it.advance(50);
    expect(it.writes()).toHaveLength(2);
    expect(scheduled(await it.status())?.message).toContain('three');
  });

  test('of many clusters is written, and worked out, the less often the more they are', async () => {
    await using it = await bench(clusterFamily);
    await it.place('web');
    for (let index = 0; index < 150; index++) {
      await it.cluster.create('clusterresourcebindings', undefined, {
        metadata: { name: `web-c${index}-12345678`, labels: { [labels.parentPlacement]: 'web' } },
        spec: {
          state: 'Bound',
          targetCluster: `c${index}`,
          resourceSnapshotName: 'web-0-snapshot',
          schedulingPolicySnapshotName: 'web-0',
          clusterDecision: { clusterName: `c${index}`, selected: true, reason: 'test' },
        },
      });
    }
    await it.advance(1000);
    await it.advance(1000);
    it.forget();
    await report(it, 'one');
    await report(it, 'two');
    const before = it.passes();
    await it.patch('clusterresourcebindings', 'web-c7-12345678', { metadata: { annotations: { some: 'news' } } });
    await it.advance(149);
    expect({ writes: it.writes().length, passes: it.passes() - before }).toEqual({ writes: 1, passes: 0 });
    await it.advance(1);
    expect(it.writes()).toHaveLength(2);
    expect(scheduled(await it.status())?.message).toContain('two');
  });

  test('that somebody else wrote is put right', async () => {
    await using it = await bench(clusterFamily);
    await it.place('web');
    await report(it, 'one');
    await it.advance(1000);
    const at = { ...it.cluster.at('clusterresourceplacements', undefined, 'web'), subresource: 'status' as const };
    const body = { status: { conditions: [], observedResourceIndex: '99' } };
    await it.cluster.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
    await it.settle();
    await it.advance(1000);
    expect(scheduled(await it.status())).toMatchObject({ status: 'True' });
  });

  test('no heartbeat wakes a placement; a member that falls silent does', async () => {
    await using it = await bench(clusterFamily);
    await it.cluster.create('memberclusters', undefined, {
      metadata: { name: 'c1' },
      spec: { identity: { kind: 'User', name: 'c1' } },
    });
    await it.place('web');
    await it.cluster.create('clusterresourcebindings', undefined, {
      metadata: { name: 'web-c1-12345678', labels: { [labels.parentPlacement]: 'web' } },
      spec: {
        state: 'Scheduled',
        targetCluster: 'c1',
        resourceSnapshotName: '',
        schedulingPolicySnapshotName: 'web-0',
        clusterDecision: { clusterName: 'c1', selected: true, reason: 'test' },
      },
    });
    await it.advance(1000);
    const beat = async (reason: string, lastReceivedHeartbeat: string) => {
      const at = { ...it.cluster.at('memberclusters', undefined, 'c1'), subresource: 'status' as const };
      const status = {
        agentStatus: [{ type: 'MemberAgent', lastReceivedHeartbeat, conditions: [] }],
        conditions: [
          { type: 'Healthy', status: 'True', reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
      };
      await it.cluster.call({
        verb: 'patch',
        at,
        patch: { type: 'merge', body: { status } as never },
        manager: 'test',
      });
      await it.settle();
    };
    await beat('Fine', '2026-01-01T00:00:01Z');
    const before = it.passes();
    await beat('Fine', '2026-01-01T00:01:01Z');
    expect(it.passes()).toBe(before);
    await beat('MemberUnreachable', '2026-01-01T00:01:01Z');
    expect(it.passes()).toBe(before + 1);
  });
});

describe('what cannot be read', () => {
  test('is told in the status with the kind and the server’s words, and heals by itself', async () => {
    let isRefusing = true;
    await using it = await bench(namespacedFamily, {}, (transport) => ({
      async call(request, signal) {
        await turns(1);
        const isMeant = request.at.resource.plural === 'configmaps' && request.verb === 'list';
        if (isRefusing && isMeant) throw new ApiError(403, 'Forbidden', 'configmaps is forbidden');
        return transport.call(request, signal);
      },
      watch: (request, signal) => transport.watch(request, signal),
    }));
    await it.configMap('app', {});
    await it.place('web');
    expect(it.manager.holdsOf('team/web')).toMatchObject([
      { code: 'SelectionPending', facts: { kind: 'configmaps', message: expect.stringContaining('forbidden') } },
    ]);
    expect(scheduled(await it.status())).toMatchObject({ status: 'Unknown', reason: 'SchedulePending' });
    expect(await it.list('resourcesnapshots')).toEqual([]);
    isRefusing = false;
    await it.advance(300_000);
    expect(it.manager.holdsOf('team/web')).toEqual([]);
    expect(contentOf((await it.list('resourcesnapshots'))[0])).toEqual(['ConfigMap app']);
  });

  test('any more is told in the same way, though it is still listed and watched, and heals by itself', async () => {
    let refused = 0;
    let isRefusing = false;
    await using it = await bench(namespacedFamily, { throttle: { debounceMs: 0 }, plan: wide() }, (transport) => ({
      async call(request, signal) {
        await turns(1);
        if (isRefusing && request.at.resource.plural === 'configmaps' && request.verb === 'get') {
          refused++;
          throw new ApiError(403, 'Forbidden', `configmaps "${request.at.name}" is forbidden`);
        }
        return transport.call(request, signal);
      },
      watch: (request, signal) => transport.watch(request, signal),
    }));
    const names = Array.from({ length: 20 }, (_, index) => `app-${index}`);
    for (const name of names) await it.configMap(name, { key: 'old' });
    await it.place('web');
    await it.advance(STATUS_INTERVAL_MS);
    expect(it.manager.holdsOf('team/web')).toEqual([]);
    const before = (await it.status()).observedResourceIndex;

    /** Without `settle`: a refused reconcile waits for its retry. */
    const wait = async (ms: number) => {
      it.cluster.clock.advance(ms);
      for (let i = 0; i < 20; i++) await turns();
    };
    isRefusing = true;
    for (const name of names) {
      const at = it.cluster.at('configmaps', 'team', name);
      const patch = { type: 'merge', body: { data: { key: 'new' } } } as const;
      await it.cluster.call({ verb: 'patch', at, patch, manager: 'test' });
    }
    for (let second = 0; second < 5; second++) await wait(1000);
    expect(it.manager.holdsOf('team/web')).toMatchObject([
      { code: 'SelectionPending', facts: { kind: 'configmaps', message: expect.stringContaining('is forbidden') } },
    ]);
    expect(await it.status()).toMatchObject({ observedResourceIndex: before, holds: [{ code: 'SelectionPending' }] });
    expect(scheduled(await it.status())).toMatchObject({ status: 'Unknown', reason: 'SchedulePending' });
    expect(await it.list('resourcesnapshots')).toHaveLength(1);

    // It is retried with back-off, and not once per object.
    refused = 0;
    for (let minute = 0; minute < 10; minute++) await wait(60_000);
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(100);

    isRefusing = false;
    await wait(300_000);
    await it.advance(STATUS_INTERVAL_MS);
    expect(it.manager.holdsOf('team/web')).toEqual([]);
    expect((await it.status()).observedResourceIndex).not.toBe(before);
  });
});

describe('history', () => {
  test('keeps the limit, and what a binding names beyond it', async () => {
    await using it = await bench(namespacedFamily, { throttle: { debounceMs: 0 } });
    await it.configMap('app', { key: '0' });
    await it.place('web', { revisionHistoryLimit: 2 });
    await it.cluster.create('resourcebindings', 'team', {
      metadata: { name: 'web-c1-12345678', labels: { [labels.parentPlacement]: 'web' } },
      spec: {
        state: 'Bound',
        targetCluster: 'c1',
        resourceSnapshotName: 'web-0-snapshot',
        schedulingPolicySnapshotName: 'web-0',
        clusterDecision: { clusterName: 'c1', selected: true, reason: 'test' },
      },
    });
    await it.settle();
    for (const key of ['1', '2', '3']) await it.patch('configmaps', 'app', { data: { key } }, 'team');
    const names = async () => (await it.list('resourcesnapshots')).map(({ metadata }) => metadata.name);
    await it.advance(STATUS_INTERVAL_MS);
    expect(await names()).toEqual(['web-0-snapshot', 'web-2-snapshot', 'web-3-snapshot']);
    await it.patch('resourcebindings', 'web-c1-12345678', { spec: { resourceSnapshotName: 'web-3-snapshot' } }, 'team');
    await it.advance(STATUS_INTERVAL_MS);
    expect(await names()).toEqual(['web-2-snapshot', 'web-3-snapshot']);
    for (const name of ['web-2-snapshot', 'web-3-snapshot']) await it.remove('resourcesnapshots', name, 'team');
    await it.advance(1000);
    expect(await names()).toEqual([expect.stringMatching(/^web-\d+-snapshot$/)]);
  });
});
