// The wiring on a real in-memory API server: which changes requeue a placement, and how many writes that costs.
import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../../test/cluster.ts';
import { counted } from '../../../test/runtime/counted.ts';
import { hubKinds } from '../../api/kinds.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { PolicySnapshotStatus } from '../../api/policy-snapshot.ts';
import { ApiError } from '../../base/errors.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { startManager } from '../../runtime/manager.ts';
import { ORPHAN_GRACE_MS } from '../bindings/orphan-grace.ts';
import { clusterFamily, families, namespacedFamily, type PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { schedulerController } from './controller.ts';
import { successorName } from './names.ts';
import { aMember, having, type MemberSetup, MINUTE, prefers, requires, sortedBy, specOf } from './scheduler.testing.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function aHub(family: PlacementFamily) {
  const hub = await aCluster({ kinds: hubKinds });
  const direct = hub.as(admin);
  let deafTo = '';
  let refused: { readonly plural: string; readonly reason: string } | undefined;
  const transport = counted({
    call(request, signal) {
      const isWrite = ['create', 'patch', 'delete'].includes(request.verb);
      if (!isWrite || request.at.resource.plural !== refused?.plural) return direct.call(request, signal);
      const { reason } = refused;
      refused = undefined;
      throw new ApiError(409, reason, 'refused by the test');
    },
    async *watch(request, signal) {
      for await (const batch of direct.watch(request, signal)) {
        if (request.at.resource.plural !== deafTo) yield batch;
      }
    },
  });
  const start = () =>
    startManager(
      { clock: hub.clock, random: seededRandom(3), servers: { hub: transport }, log: silentLog },
      { controllers: [schedulerController(family)] },
    );
  let manager = start();
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
    /** From now on the watches of this resource do not report changes of others. */
    deafen(plural: string) {
      deafTo = plural;
    },
    /** The next write to this resource fails. */
    refuse(plural: string, reason: string) {
      refused = { plural, reason };
    },
    /** Another scheduler without any memory takes over. */
    async restart() {
      await manager.stop();
      manager = start();
      await settles();
    },
    /** The writes of the scheduler since the last call, without names. */
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
    async placement(policy?: PlacementPolicy, n?: number, strategy?: object) {
      if (place !== undefined) await hub.create('namespaces', undefined, { metadata: { name: place } });
      const selector =
        place === undefined
          ? { group: '', version: 'v1', kind: 'Namespace', name: 'shop' }
          : { group: '', version: 'v1', kind: 'ConfigMap', name: 'settings' };
      await hub.create(placements, place, {
        metadata: { name: 'web', finalizers: [finalizers.placementCleanup] },
        spec: {
          resourceSelectors: [selector],
          ...(strategy && { strategy }),
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
    fleet.hub.clock.advance(ORPHAN_GRACE_MS + MINUTE);
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
    // A create is preceded by a conditional write that changes nothing.
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
    const [going] = await fleet.bindings();
    expect(going?.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: [finalizers.workCleanup],
    });
    // The work generator has removed its finalizer.
    await fleet.patch(fleet.bindingsPlural, going?.metadata.name ?? '', { metadata: { finalizers: null } });
    expect(await fleet.bindings()).toEqual([]);
    const placement = await fleet.hub.get(fleet.placements, family.placement.namespaced ? 'ns' : undefined, 'web');
    expect(placement.metadata.finalizers).toEqual([finalizers.placementCleanup]);
  });

  test('gets no bindings when its spec cannot work', async () => {
    await using fleet = await aHub(family);
    await fleet.member('a');
    await fleet.placement({ placementType: 'PickAll' }, undefined, {
      reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' },
    });
    await fleet.settles();
    expect(await fleet.bindings()).toEqual([]);
    expect(fleet.writes()).toEqual([]);
  });
});

describe.each(families.map((family) => ({ family, kind: family.placement.kind })))(
  'numbers of members, $kind',
  ({ family }) => {
    const cpu = (available: string) => ({ available: { cpu: available } });
    const roomy = requires(having('resources.kubernetes-fleet.io/available-cpu Ge 4'));

    async function beats(fleet: Awaited<ReturnType<typeof aHub>>, name: string, available: string) {
      const { status } = aMember(name, { heartbeat: fleet.hub.clock.now(), usage: cpu(available) });
      await fleet.patch('memberclusters', name, { status }, 'status');
    }

    test('wake only a placement whose terms name them, once for all that happens within a second', async () => {
      await using fleet = await aHub(family);
      const names = ['a', 'b', 'c', 'd'];
      for (const name of names) await fleet.member(name, { usage: cpu('1') });
      await fleet.placement({ placementType: 'PickAll', ...roomy });
      await fleet.settles();
      expect(await fleet.clusters()).toEqual([]);
      fleet.writes();
      const before = fleet.passes();

      for (const available of ['2', '3']) for (const name of names) await beats(fleet, name, available);
      await fleet.settles();
      fleet.hub.clock.advance(5_000);
      await fleet.settles();
      expect(fleet.passes()).toBe(before);

      for (const name of names) await beats(fleet, name, '4');
      // A number that flaps.
      for (let times = 0; times < 10; times++) for (const available of ['1', '5']) await beats(fleet, 'a', available);
      await fleet.settles();
      expect(fleet.passes()).toBe(before);
      fleet.hub.clock.advance(1_000);
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(names);
      // One that picks, and one that finds nothing to do.
      expect(fleet.passes() - before).toBeLessThanOrEqual(2);

      const after = fleet.passes();
      for (const available of ['1', '9', '1', '9']) await beats(fleet, 'a', available);
      fleet.hub.clock.advance(5_000);
      await fleet.settles();
      expect(fleet.passes()).toBe(after);
      expect(await fleet.clusters()).toEqual(names);
    });

    test.each<[string, PlacementPolicy, number | undefined]>([
      ['without terms', { placementType: 'PickAll' }, undefined],
      [
        'on another property',
        { placementType: 'PickAll', ...requires(having('kubernetes-fleet.io/node-count Ge 4')) },
        undefined,
      ],
      [
        'of PickN that has all, by a sorter',
        {
          placementType: 'PickN',
          ...prefers([100, sortedBy('resources.kubernetes-fleet.io/available-cpu', 'Descending')]),
        },
        1,
      ],
    ])('wake no placement %s', async (_it, policy, n) => {
      await using fleet = await aHub(family);
      for (const name of ['a', 'b']) await fleet.member(name, { usage: cpu('1') });
      await fleet.placement(policy, n);
      await fleet.settles();
      const [clusters, before] = [await fleet.clusters(), fleet.passes()];
      for (const available of ['2', '8']) for (const name of ['a', 'b']) await beats(fleet, name, available);
      fleet.hub.clock.advance(5_000);
      await fleet.settles();
      expect(fleet.passes()).toBe(before);
      expect(await fleet.clusters()).toEqual(clusters);
    });
  },
);

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

  describe('by a new generation', () => {
    const TAINT = { key: 'busy', effect: 'NoSchedule' };
    type Fleet = Awaited<ReturnType<typeof aHub>>;
    /** As the placement controller does after an edit that does not change the policy. */
    const edited = async (fleet: Fleet, to = '2') => {
      await fleet.patch(fleet.placements, 'web', { spec: { revisionHistoryLimit: Number(to) } });
      await fleet.annotate(annotations.placementGeneration, to);
    };
    const taints = (fleet: Fleet, name: string, list: readonly object[]) =>
      fleet.patch('memberclusters', name, { spec: { taints: list } });
    const three = async (policy: PlacementPolicy, n?: number) => {
      const fleet = await aHub(clusterFamily);
      for (const name of ['a', 'b', 'c']) await fleet.member(name);
      await fleet.placement(policy, n);
      await fleet.settles();
      return fleet;
    };

    test('a cluster that is leaving keeps its place until it is gone', async () => {
      await using fleet = await three({ placementType: 'PickN' }, 2);
      expect(await fleet.clusters()).toEqual(['b', 'c']);
      await fleet.patch('memberclusters', 'c', { metadata: { finalizers: ['test/held'] } });
      await fleet.remove('memberclusters', 'c');
      await fleet.settles();
      await edited(fleet);
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(['b', 'c']);
      expect((await fleet.status()).observedCRPGeneration).toBe(2);
      await fleet.patch('memberclusters', 'c', { metadata: { finalizers: null } });
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(['a', 'b']);
    });

    test('what was said of clusters stays as it was said', async () => {
      await using fleet = await aHub(clusterFamily);
      await fleet.member('a');
      await fleet.member('b', { taints: ['old'] });
      await fleet.placement({ placementType: 'PickAll' });
      await fleet.settles();
      const { targetClusters } = await fleet.status();
      expect(targetClusters).toMatchObject([{ clusterName: 'a' }, { reason: expect.stringContaining('old') }]);
      await taints(fleet, 'b', [
        { key: 'new', value: '', effect: 'NoSchedule' },
        { key: 'old', value: '', effect: 'NoSchedule' },
      ]);
      await fleet.settles();
      await edited(fleet);
      await fleet.settles();
      expect(await fleet.status()).toMatchObject({ observedCRPGeneration: 2, targetClusters });
    });

    test.each<[string, (fleet: Fleet) => Promise<unknown>, readonly string[]]>([
      ['a member that joins', (fleet) => fleet.member('d'), ['a', 'b', 'd']],
      ['a taint that is taken away', (fleet) => taints(fleet, 'c', []), ['a', 'b', 'c']],
      ['a member that has gone', (fleet) => fleet.remove('memberclusters', 'b'), ['a']],
    ])('%s in the same moment, or just before or after, is not missed', async (_name, happens, clusters) => {
      for (const order of ['before', 'after']) {
        await using fleet = await aHub(clusterFamily);
        for (const name of ['a', 'b', 'c']) await fleet.member(name, name === 'c' ? { taints: ['busy'] } : {});
        await fleet.placement({ placementType: 'PickAll' });
        await fleet.settles();
        expect(await fleet.clusters()).toEqual(['a', 'b']);
        if (order === 'before') await happens(fleet);
        await edited(fleet);
        if (order === 'after') await happens(fleet);
        await fleet.settles();
        expect(await fleet.clusters()).toEqual(clusters);
        expect((await fleet.status()).observedCRPGeneration).toBe(2);
      }
    });

    test('what happened while something was not supported is made up for', async () => {
      await using fleet = await three({ placementType: 'PickAll' });
      const reports = (type: string) =>
        fleet.patch(fleet.placements, 'web', {
          spec: { strategy: { reportBackStrategy: { type, destination: 'OriginalResource' } } },
        });
      await reports('Mirror');
      await fleet.settles();
      await fleet.member('d');
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(['a', 'b', 'c']);
      await reports('Disabled');
      await fleet.annotate(annotations.placementGeneration, '3');
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(['a', 'b', 'c', 'd']);
    });

    test('a run whose writes were refused is made again', async () => {
      await using fleet = await three({ placementType: 'PickAll' });
      fleet.refuse(fleet.bindingsPlural, 'Conflict');
      await fleet.member('d');
      await edited(fleet);
      await fleet.settles();
      expect(await fleet.clusters()).toEqual(['a', 'b', 'c', 'd']);
    });

    test('a scheduler that has just started makes a run', async () => {
      await using fleet = await three({ placementType: 'PickN' }, 2);
      await fleet.patch('memberclusters', 'c', { metadata: { finalizers: ['test/held'] } });
      await fleet.remove('memberclusters', 'c');
      await fleet.restart();
      expect(await fleet.clusters()).toEqual(['a', 'b']);
    });

    test.each(Array.from({ length: 12 }, (_, seed) => seed))(
      'whatever happens, in whatever order: nothing is left to do for a scheduler that knows nothing (seed %d)',
      async (seed) => {
        const random = seededRandom(seed);
        const below = (n: number) => Math.floor(random.next() * n);
        const isPickN = below(2) === 0;
        await using fleet = await three(
          isPickN ? { placementType: 'PickN' } : { placementType: 'PickAll' },
          isPickN ? 2 : undefined,
        );
        const names = ['a', 'b', 'c', 'd', 'e'];
        const there = new Set(['a', 'b', 'c']);
        let generation = 1;
        const happenings: readonly ((name: string) => Promise<unknown>)[] = [
          () => edited(fleet, String(++generation)),
          () => edited(fleet, String(++generation)),
          (name) => taints(fleet, name, below(2) === 0 ? [] : [TAINT]),
          (name) => fleet.patch('memberclusters', name, { metadata: { labels: { zone: String(below(2)) } } }),
          async (name) => {
            there.delete(name);
            await fleet.remove('memberclusters', name);
          },
          async () => isPickN && (await fleet.annotate(annotations.numberOfClusters, String(below(4)))),
          async () => {
            const found = await fleet.bindings();
            const one = found[below(found.length)]?.metadata.name;
            if (one !== undefined) await fleet.remove(fleet.bindingsPlural, one);
          },
          async () => fleet.refuse(fleet.bindingsPlural, 'Conflict'),
        ];
        for (let round = 0; round < 40; round++) {
          const name = names[below(names.length)] ?? 'a';
          if (!there.has(name)) {
            there.add(name);
            await fleet.member(name);
          } else await happenings[below(happenings.length)]?.(name);
          for (let turns = below(4); turns > 0; turns--) await turn();
          if (below(4) === 0) await fleet.settles();
        }
        await fleet.settles();
        expect((await fleet.status()).observedCRPGeneration).toBe(generation);
        const before = await fleet.bindings();
        await fleet.restart();
        expect(await fleet.bindings()).toEqual(before);
      },
    );
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
