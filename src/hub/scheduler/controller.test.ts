// The wiring on a real API server in memory: who is woken by what, and how many writes that costs.
import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../../test/cluster.ts';
import { counted } from '../../../test/runtime/counted.ts';
import { hubKinds } from '../../api/kinds.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { PolicySnapshotStatus } from '../../api/policy-snapshot.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { startManager } from '../../runtime/manager.ts';
import { clusterFamily, families, namespacedFamily, type PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { schedulerController } from './controller.ts';
import { STRANDED_MS } from './decide.ts';
import { successorName } from './names.ts';
import { aMember, type MemberSetup, MINUTE, specOf } from './scheduler.testing.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function aHub(family: PlacementFamily) {
  const hub = await aCluster({ kinds: hubKinds });
  const direct = hub.as(admin);
  let deafTo = '';
  const transport = counted({
    call: (request, signal) => direct.call(request, signal),
    async *watch(request, signal) {
      for await (const batch of direct.watch(request, signal)) {
        if (request.at.resource.plural !== deafTo) yield batch;
      }
    },
  });
  const manager = startManager(
    { clock: hub.clock, random: seededRandom(3), servers: { hub: transport }, log: silentLog },
    { controllers: [schedulerController(family)] },
  );
  const place = family.placement.namespaced ? 'ns' : undefined;
  const at = (plural: string, name: string) => hub.at(plural, plural === 'memberclusters' ? undefined : place, name);
  const patch = (plural: string, name: string, body: object, subresource?: 'status') =>
    hub.call({
      verb: 'patch',
      at: { ...at(plural, name), ...(subresource && { subresource }) },
      patch: { type: 'merge', body: body as never },
      manager: 'test',
    });
  const settles = async () => {
    for (let quiet = 0, round = 0; quiet < 5 && round < 500; round++) {
      await hub.settled();
      await turn();
      quiet = manager.idle() ? quiet + 1 : 0;
    }
    expect(manager.idle()).toBe(true);
  };
  const { plural: placements } = family.placement;
  const { plural: snapshots } = family.policySnapshot;
  const { plural: bindings } = family.binding;

  return {
    hub,
    settles,
    patch,
    /** From now on nothing is heard of what others do to these. */
    deafen(plural: string) {
      deafTo = plural;
    },
    /** What the scheduler has written since this was asked last, without names. */
    writes() {
      const found = transport.writes().map((each) => each.split(' ').slice(0, 2).join(' '));
      transport.calls.length = 0;
      return found.toSorted();
    },
    passes: () => manager.state().controllers.reduce((sum, { passes }) => sum + passes, 0),
    async member(name: string, setup: MemberSetup = {}) {
      const { metadata, spec, status } = aMember(name, { heartbeat: hub.clock.now(), ...setup }) as MemberCluster;
      await hub.create('memberclusters', undefined, { metadata: { name, labels: metadata.labels }, spec });
      await patch('memberclusters', name, { status }, 'status');
    },
    async placement(policy?: PlacementPolicy, n?: number) {
      if (place !== undefined) await hub.create('namespaces', undefined, { metadata: { name: place } });
      const selector =
        place === undefined
          ? { group: '', version: 'v1', kind: 'Namespace', name: 'shop' }
          : { group: '', version: 'v1', kind: 'ConfigMap', name: 'settings' };
      await hub.create(placements, place, {
        metadata: { name: 'web', finalizers: [finalizers.placementCleanup] },
        spec: {
          resourceSelectors: [selector],
          ...(policy && { policy: { ...policy, ...(n === undefined ? {} : { numberOfClusters: n }) } }),
        },
      });
      await hub.create(snapshots, place, {
        metadata: {
          name: 'web-0',
          labels: { [labels.parentPlacement]: 'web', [labels.isLatestSnapshot]: 'true', [labels.policyIndex]: '0' },
          annotations: {
            [annotations.placementGeneration]: '1',
            ...(n === undefined ? {} : { [annotations.numberOfClusters]: String(n) }),
          },
        },
        spec: { ...(policy && { policy }), policyHash: 'aGFzaA==' },
      });
    },
    annotate: (name: string, value: string) =>
      patch(snapshots, 'web-0', { metadata: { annotations: { [name]: value } } }),
    async bindings(): Promise<readonly KubeObject[]> {
      const { list } = await hub.call({ verb: 'list', at: hub.at(bindings, place) });
      return list?.items ?? [];
    },
    async clusters() {
      return (await this.bindings())
        .filter((each) => specOf(each).state !== 'Unscheduled' && each.metadata.deletionTimestamp === undefined)
        .map((each) => specOf(each).targetCluster)
        .toSorted();
    },
    async status() {
      return (await hub.get(snapshots, place, 'web-0')).status as PolicySnapshotStatus;
    },
    async remove(plural: string, name: string) {
      await hub.call({ verb: 'delete', at: at(plural, name) });
    },
    placements,
    snapshots,
    bindingsPlural: bindings,
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await (hub as TestCluster)[Symbol.asyncDispose]();
    },
  };
}

describe.each(families.map((family) => ({ family, kind: family.placement.kind })))('$kind', ({ family }) => {
  test('gets no second binding beside one that another hub has made when the predecessor was gone', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.placement({ placementType: 'PickAll' });
    await fleet.settles();
    const [{ metadata, spec }] = (await fleet.bindings()) as [KubeObject];
    const { name = '', namespace, labels: own } = metadata;
    const taints = [{ key: 'x', value: 'y', effect: 'NoSchedule' }];
    await fleet.patch('memberclusters', 'a', { spec: { taints } });
    await fleet.patch(fleet.bindingsPlural, name, { metadata: { finalizers: [finalizers.workCleanup] } });
    await fleet.remove(fleet.bindingsPlural, name);
    await fleet.settles();
    fleet.deafen(fleet.bindingsPlural);
    await fleet.patch(fleet.bindingsPlural, name, { metadata: { finalizers: null } });
    await fleet.hub.create(fleet.bindingsPlural, namespace, { metadata: { name, labels: own ?? {} }, spec });
    await fleet.patch('memberclusters', 'a', { spec: { taints: null } });
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
  });

  test('gets no second binding beside one that another hub has made while the predecessor was still going', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.placement({ placementType: 'PickAll' });
    await fleet.settles();
    const [{ metadata, spec }] = (await fleet.bindings()) as [KubeObject];
    const { name = '', namespace, labels: own, uid = '' } = metadata;
    const taints = [{ key: 'x', value: 'y', effect: 'NoSchedule' }];
    await fleet.patch('memberclusters', 'a', { spec: { taints } });
    await fleet.patch(fleet.bindingsPlural, name, { metadata: { finalizers: [finalizers.workCleanup] } });
    await fleet.remove(fleet.bindingsPlural, name);
    await fleet.settles();
    fleet.deafen(fleet.bindingsPlural);
    const placed = (await fleet.hub.get(fleet.placements, namespace, 'web')) as unknown as HubPlacement;
    const successor = { name: successorName(placed, 'a', uid), labels: own ?? {} };
    await fleet.hub.create(fleet.bindingsPlural, namespace, { metadata: successor, spec });
    await fleet.patch(fleet.bindingsPlural, name, { metadata: { finalizers: null } });
    await fleet.patch('memberclusters', 'a', { spec: { taints: null } });
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
  });

  test.each([
    { it: 'that is gone keeps no bindings for ever', isThere: false },
    { it: 'that only the watch does not know keeps its bindings', isThere: true },
  ])('$it', async ({ isThere }) => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    fleet.deafen(fleet.placements);
    await fleet.placement({ placementType: 'PickAll' });
    await fleet.hub.create(fleet.bindingsPlural, family.placement.namespaced ? 'ns' : undefined, {
      metadata: {
        name: 'web-a',
        labels: { [labels.parentPlacement]: 'web' },
        finalizers: [finalizers.schedulerBindingCleanup],
      },
      spec: {
        state: 'Scheduled',
        targetCluster: 'a',
        schedulingPolicySnapshotName: 'web-0',
        resourceSnapshotName: '',
        clusterDecision: { clusterName: 'a', selected: true, reason: 'test' },
      },
    });
    if (!isThere) {
      await fleet.patch(fleet.placements, 'web', { metadata: { finalizers: null } });
      await fleet.remove(fleet.placements, 'web');
    }
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
    fleet.hub.clock.advance(STRANDED_MS + MINUTE);
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(isThere ? ['a'] : []);
  });

  test('is scheduled in so many writes, follows its members, and an idle fleet writes nothing', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.member('b');
    await fleet.placement({ placementType: 'PickAll' });
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a', 'b']);
    expect(fleet.writes()).toEqual([
      `create ${fleet.bindingsPlural}`,
      `create ${fleet.bindingsPlural}`,
      `patch ${fleet.placements}`,
      `patch ${fleet.snapshots}`,
    ]);
    expect((await fleet.status()).conditions?.[0]).toMatchObject({
      status: 'True',
      reason: 'SchedulingPolicyFulfilled',
    });

    await fleet.member('c');
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a', 'b', 'c']);
    // Before it creates it makes sure, which changes nothing.
    expect(fleet.writes()).toEqual([
      `create ${fleet.bindingsPlural}`,
      `patch ${fleet.snapshots}`,
      `patch ${fleet.snapshots}`,
    ]);

    fleet.hub.clock.advance(30 * MINUTE);
    await fleet.settles();
    expect(fleet.writes()).toEqual([]);
  });

  test('is not looked at for a heartbeat, the start of a rollout or a status', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.placement({ placementType: 'PickAll' });
    await fleet.settles();
    fleet.writes();
    const before = fleet.passes();

    fleet.hub.clock.advance(MINUTE);
    const { status } = aMember('a', { heartbeat: fleet.hub.clock.now() });
    await fleet.patch('memberclusters', 'a', { status }, 'status');
    const [binding] = await fleet.bindings();
    const name = binding?.metadata.name ?? '';
    await fleet.patch(fleet.bindingsPlural, name, { spec: { state: 'Bound', resourceSnapshotName: 'web-0-snapshot' } });
    const condition = {
      type: 'Applied',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await fleet.patch(fleet.bindingsPlural, name, { status: { conditions: [condition] } }, 'status');
    await fleet.patch(fleet.placements, 'web', { status: { conditions: [condition] } }, 'status');
    await fleet.settles();
    expect(fleet.passes()).toBe(before);
    expect(fleet.writes()).toEqual([]);
  });

  test('takes its bindings along when it is deleted', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.placement();
    await fleet.settles();
    await fleet.remove(fleet.placements, 'web');
    await fleet.settles();
    expect(await fleet.bindings()).toEqual([]);
    const placement = await fleet.hub.get(fleet.placements, family.placement.namespaced ? 'ns' : undefined, 'web');
    expect(placement.metadata.finalizers).toEqual([finalizers.placementCleanup]);
  });

  test('gets no bindings when it uses what is not built yet', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    const preferred = [{ weight: 1, preference: {} }];
    const affinity = { clusterAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
    await fleet.placement({ placementType: 'PickN', affinity }, 1);
    await fleet.settles();
    expect(await fleet.bindings()).toEqual([]);
    expect(fleet.writes()).toEqual([]);
  });
});

describe('the scheduler is woken', () => {
  test('by a change of N, and only the status follows a new generation', async () => {
    await using fleet = await aHub(clusterFamily);
    for (const name of ['a', 'b', 'c']) await fleet.member(name);
    await fleet.placement({ placementType: 'PickN' }, 1);
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['c']);
    await fleet.annotate(annotations.numberOfClusters, '2');
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['b', 'c']);
    fleet.writes();
    await fleet.annotate(annotations.placementGeneration, '2');
    await fleet.settles();
    expect(fleet.writes()).toEqual([`patch ${fleet.snapshots}`]);
    expect((await fleet.status()).observedCRPGeneration).toBe(2);
  });

  test('by a member that speaks again after a silence', async () => {
    await using fleet = await aHub(clusterFamily);
    await fleet.member('a', { heartbeat: fleet.hub.clock.now() - 6 * MINUTE });
    await fleet.placement({ placementType: 'PickN' }, 1);
    await fleet.settles();
    expect(await fleet.clusters()).toEqual([]);
    expect((await fleet.status()).conditions?.[0]?.status).toBe('False');
    const { status } = aMember('a', { heartbeat: fleet.hub.clock.now() });
    await fleet.patch('memberclusters', 'a', { status }, 'status');
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
  });

  test('by a member that has gone: its place goes to the next', async () => {
    await using fleet = await aHub(clusterFamily);
    for (const name of ['a', 'b']) await fleet.member(name);
    await fleet.placement({ placementType: 'PickN' }, 1);
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['b']);
    await fleet.remove('memberclusters', 'b');
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
    expect(await fleet.bindings()).toHaveLength(2);
  });

  test('by an eviction, which does not keep the cluster from being picked again', async () => {
    await using fleet = await aHub(clusterFamily);
    await fleet.member('a');
    await fleet.placement();
    await fleet.settles();
    const [first] = await fleet.bindings();
    const name = first?.metadata.name ?? '';
    await fleet.patch(fleet.bindingsPlural, name, {
      metadata: { finalizers: [finalizers.schedulerBindingCleanup, finalizers.workCleanup] },
    });
    await fleet.remove(fleet.bindingsPlural, name);
    await fleet.settles();
    const standing = await fleet.bindings();
    expect(standing.map(({ metadata }) => metadata.finalizers)).toContainEqual([finalizers.workCleanup]);
    expect(standing).toHaveLength(2);
    expect(await fleet.clusters()).toEqual(['a']);
  });

  test('by a namespace that a member gets, in the family that lives in namespaces', async () => {
    await using fleet = await aHub(namespacedFamily);
    await fleet.member('a', { namespaces: ['other'] });
    await fleet.placement();
    await fleet.settles();
    expect(await fleet.clusters()).toEqual([]);
    const { status } = aMember('a', { heartbeat: fleet.hub.clock.now(), namespaces: ['other', 'ns'] });
    await fleet.patch('memberclusters', 'a', { status }, 'status');
    await fleet.settles();
    expect(await fleet.clusters()).toEqual(['a']);
  });
});
