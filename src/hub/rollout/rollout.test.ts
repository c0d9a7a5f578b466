import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../../test/cluster.ts';
import { counted } from '../../../test/runtime/counted.ts';
import { turns } from '../../../test/runtime/turns.ts';
import { hubKinds } from '../../api/kinds.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import { keyOf } from '../../runtime/cache.ts';
import { silentLog } from '../../runtime/deps.ts';
import { type Manager, startManager } from '../../runtime/manager.ts';
import { families, type PlacementFamily } from '../families.ts';
import { rolloutController } from './controller.ts';

interface Bench extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly manager: Manager;
  writes(): readonly string[];
  forget(): void;
  placement(spec?: object): Promise<void>;
  edit(spec: object): Promise<void>;
  /** As the placement controller does. */
  says(...holds: readonly object[]): Promise<void>;
  snapshot(index: number): Promise<void>;
  /** Sets the is-latest label. */
  label(index: number, isLatest: 'true' | 'false'): Promise<void>;
  /** As another hub does. */
  move(cluster: string, snapshot: string): Promise<void>;
  /** From now on the watches of this resource are silent. */
  deafen(plural: string): void;
  schedule(cluster: string, as?: { name?: string; state?: string }): Promise<void>;
  /** As the scheduler does. */
  unschedule(cluster: string): Promise<void>;
  takeBack(cluster: string): Promise<void>;
  /** As the work generator does, for the present generation of the binding. */
  report(cluster: string, status: 'True' | 'False', reason?: string): Promise<void>;
  bindings(): Promise<readonly string[]>;
}

const NAMESPACE = 'team';
const inNamespace = (family: PlacementFamily) => (family.placement.namespaced ? NAMESPACE : undefined);

async function bench(family: PlacementFamily): Promise<Bench> {
  const cluster = await aCluster({ kinds: hubKinds });
  const namespace = inNamespace(family);
  if (namespace !== undefined) await cluster.create('namespaces', undefined, { metadata: { name: NAMESPACE } });
  for (const name of ['c1', 'c2', 'c3']) {
    const identity = { kind: 'User', name };
    await cluster.create('memberclusters', undefined, { metadata: { name }, spec: { identity } });
  }
  const direct = cluster.as(admin);
  let deafTo = '';
  const asked = counted({
    call: (request, signal) => direct.call(request, signal),
    async *watch(request, signal) {
      for await (const batch of direct.watch(request, signal)) if (request.at.resource.plural !== deafTo) yield batch;
    },
  });
  const manager = startManager(
    { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log: silentLog },
    { controllers: [rolloutController(family)] },
  );
  await turns();
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turns();
    expect(manager.idle()).toBe(true);
  };
  const nameOf = (on: string) => `web-${on}-12345678`;
  const bindingAt = (on: string) => cluster.at(family.binding.plural, namespace, nameOf(on));
  const patch = async (at: ReturnType<typeof bindingAt>, body: object, subresource?: 'status') => {
    const to = subresource === undefined ? at : { ...at, subresource };
    await cluster.call({ verb: 'patch', at: to, patch: { type: 'merge', body: body as never }, manager: 'test' });
    await settle();
  };
  const label = (index: number, isLatest: 'true' | 'false') =>
    patch(cluster.at(family.resourceSnapshot.plural, namespace, `web-${index}-snapshot`), {
      metadata: { labels: { [labels.isLatestSnapshot]: isLatest } },
    });
  return {
    cluster,
    manager,
    deafen(plural) {
      deafTo = plural;
    },
    writes: asked.writes,
    forget: () => void asked.calls.splice(0),
    async placement(spec = {}) {
      await cluster.create(family.placement.plural, namespace, {
        metadata: { name: 'web' },
        spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name: 'x' }], ...spec },
      });
      await settle();
    },
    edit: (spec) => patch(cluster.at(family.placement.plural, namespace, 'web'), { spec }),
    says: (...holds) => patch(cluster.at(family.placement.plural, namespace, 'web'), { status: { holds } }, 'status'),
    label,
    async snapshot(index) {
      if (index > 0) await label(index - 1, 'false');
      await cluster.create(family.resourceSnapshot.plural, namespace, {
        metadata: {
          name: `web-${index}-snapshot`,
          labels: {
            [labels.parentPlacement]: 'web',
            [labels.resourceIndex]: String(index),
            [labels.isLatestSnapshot]: 'true',
          },
          annotations: { [annotations.resourceHash]: 'x', [annotations.numberOfResourceSnapshots]: '1' },
        },
        spec: { selectedResources: [] },
      });
      await settle();
    },
    async schedule(on, { name = nameOf(on), state = 'Scheduled' } = {}) {
      await cluster.create(family.binding.plural, namespace, {
        metadata: {
          name,
          labels: { [labels.parentPlacement]: 'web' },
          finalizers: ['kubernetes-fleet.io/scheduler-crb-cleanup'],
        },
        spec: {
          state,
          targetCluster: on,
          resourceSnapshotName: '',
          schedulingPolicySnapshotName: 'web-0',
          clusterDecision: { clusterName: on, selected: true, reason: 'test' },
        },
      });
      await settle();
    },
    move: (on, resourceSnapshotName) => patch(bindingAt(on), { spec: { resourceSnapshotName } }),
    unschedule: (on) =>
      patch(bindingAt(on), {
        metadata: { annotations: { [annotations.previousBindingState]: 'Bound' } },
        spec: { state: 'Unscheduled' },
      }),
    takeBack: (on) => patch(bindingAt(on), { spec: { state: 'Bound' } }),
    async report(on, status, reason = status === 'True' ? 'AllWorkAreAvailable' : 'NotAllWorkAreAvailable') {
      const { object } = await cluster.call({ verb: 'get', at: bindingAt(on) });
      const { conditions = [] } = (object?.status ?? {}) as { conditions?: { type: string }[] };
      const available = {
        type: 'Available',
        status,
        reason,
        message: 'test',
        observedGeneration: object?.metadata.generation,
        lastTransitionTime: kubeTime(cluster.clock.now()),
      };
      const others = conditions.filter(({ type }) => type !== 'Available');
      await patch(bindingAt(on), { status: { conditions: [...others, available] } }, 'status');
    },
    async bindings() {
      const { list } = await cluster.call({ verb: 'list', at: cluster.at(family.binding.plural, namespace) });
      return (list?.items ?? []).map(told);
    },
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/**
 * `c1 Bound web-1 True`: cluster, state, snapshot, and the status of RolloutStarted or the state of the move, for its
 * present generation.
 */
function told({ metadata, spec, status }: KubeObject): string {
  const { state, targetCluster, resourceSnapshotName } = spec as Readonly<Record<string, string>>;
  const { conditions = [] } = (status ?? {}) as {
    conditions?: { type: string; status: string; observedGeneration: number }[];
  };
  const started = conditions.find(({ type }) => type === 'RolloutStarted');
  const byMove =
    metadata.annotations?.[annotations.releasedGeneration] === String(metadata.generation) ? 'True' : 'stale';
  const said = started?.observedGeneration === metadata.generation ? started?.status : byMove;
  const snapshot = resourceSnapshotName?.replace('-snapshot', '') || '-';
  return `${targetCluster} ${state} ${snapshot} ${metadata.deletionTimestamp ? 'deleting' : said}`;
}

describe.each(families.map((family) => ({ family, kind: family.placement.kind })))(
  'the rollout of a $kind',
  ({ family }) => {
    test('binds what is scheduled, and says so', async () => {
      await using it = await bench(family);
      await it.placement();
      await it.schedule('c1');
      expect(await it.bindings()).toEqual(['c1 Scheduled - stale']);
      await it.snapshot(0);
      expect(await it.bindings()).toEqual(['c1 Bound web-0 True']);
    });

    test('writes which bindings a batch has before more than the first of them moves', async () => {
      await using it = await bench(family);
      await it.placement({ strategy: { type: 'Partitioned', partitioned: { maxUnavailable: 1 } } });
      for (const on of ['c1', 'c2', 'c3']) await it.schedule(on);
      it.forget();
      await it.snapshot(0);
      const at = (on: string) =>
        it.cluster.get(family.binding.plural, inNamespace(family), `web-${on}-12345678`) as Promise<KubeObject>;
      const [c1, c2, c3] = await Promise.all(['c1', 'c2', 'c3'].map(at));
      expect(c1?.metadata.annotations?.[annotations.batch]).toBe(`${c2?.metadata.uid},${c3?.metadata.uid}`);
      expect(c2?.metadata.annotations).not.toHaveProperty([annotations.batch]);
      const revisions = [c1, c2, c3].map((each) => Number(each?.metadata.resourceVersion));
      expect(Math.min(...revisions)).toBe(revisions[0]);
    });

    test('does not look again because a revision that was overtaken is no longer called the latest', async () => {
      await using it = await bench(family);
      await it.placement();
      await it.snapshot(0);
      await it.schedule('c1');
      await it.snapshot(1);
      await it.label(0, 'true');
      const passes = () => it.manager.state().controllers[0]?.passes ?? 0;
      const before = passes();
      await it.label(0, 'false');
      expect(passes() - before).toBe(0);
      await it.label(1, 'false');
      expect(passes() - before).toBe(1);
      await it.label(1, 'true');
      expect(passes() - before).toBe(2);
    });

    test('goes no further while its spec cannot work', async () => {
      await using it = await bench(family);
      await it.placement({
        strategy: {
          rollingUpdate: { maxUnavailable: 1 },
          reportBackStrategy: { type: 'Mirror', destination: 'OriginalResource' },
        },
      });
      await it.snapshot(0);
      for (const on of ['c1', 'c2']) await it.schedule(on);
      expect(await it.bindings()).toEqual(['c1 Scheduled - stale', 'c2 Scheduled - stale']);
      expect(it.manager.holdsOf(family.placement.namespaced ? 'team/web' : 'web')).toMatchObject([
        { code: 'SpecInvalid', on: { kind: family.placement.kind } },
      ]);
      const passes = () => it.manager.state().controllers[0]?.passes;
      const before = passes();
      await it.says({ code: 'SpecInvalid' });
      expect(passes()).toBe(before);
      await it.edit({ strategy: { reportBackStrategy: { destination: 'WorkAPI' } } });
      expect((await it.bindings()).map((each) => each.split(' ')[1])).toContain('Bound');
    });

    test('moves one after the other within the budget, by what happens and not by the clock', async () => {
      await using it = await bench(family);
      await it.placement({ strategy: { rollingUpdate: { maxUnavailable: 1 } } });
      await it.snapshot(0);
      for (const on of ['c1', 'c2', 'c3']) {
        await it.schedule(on);
        await it.report(on, 'True');
      }
      await it.snapshot(1);
      expect(await it.bindings()).toEqual(['c1 Bound web-1 True', 'c2 Bound web-0 False', 'c3 Bound web-0 False']);
      await it.report('c1', 'False');
      expect(await it.bindings()).toEqual(['c1 Bound web-1 True', 'c2 Bound web-0 False', 'c3 Bound web-0 False']);
      expect(it.manager.holdsOf(family.placement.namespaced ? 'team/web' : 'web')).toMatchObject([
        { code: 'BudgetUsed', on: { name: 'c1' } },
        { code: 'BudgetUsed', on: { name: 'c1' } },
        { code: 'NotAvailable', on: { name: 'c1' } },
      ]);
      await it.snapshot(2); // the fix: an unavailable copy moves without using budget
      expect(await it.bindings()).toEqual(['c1 Bound web-2 True', 'c2 Bound web-0 False', 'c3 Bound web-0 False']);
      for (const on of ['c1', 'c2', 'c3']) await it.report(on, 'True');
      expect(await it.bindings()).toEqual(['c1 Bound web-2 True', 'c2 Bound web-2 True', 'c3 Bound web-2 True']);
    });

    test('costs a binding one write, and one more if it had to wait', async () => {
      await using it = await bench(family);
      await it.placement({ strategy: { rollingUpdate: { maxUnavailable: 1 } } });
      await it.snapshot(0);
      for (const on of ['c1', 'c2']) {
        await it.schedule(on);
        await it.report(on, 'True');
      }
      it.forget();
      await it.snapshot(1);
      await it.report('c1', 'True');
      await it.report('c2', 'True');
      const of = (on: string) => it.writes().filter((write) => write.includes(`web-${on}-`));
      expect({ c1: of('c1').length, c2: of('c2').length }, it.writes().join('\n')).toEqual({ c1: 1, c2: 2 });
      it.forget();
      await it.report('c1', 'True');
      expect(it.writes()).toEqual([]);
    });

    test('of many clusters looks at all of them once for the news of many', async () => {
      await using it = await bench(family);
      const many = Array.from({ length: 40 }, (_, index) => `c${index + 10}`);
      await it.placement({ strategy: { rollingUpdate: { maxUnavailable: '100%' } } });
      for (const on of many) await it.schedule(on);
      await it.snapshot(0);
      it.cluster.clock.advance(1000);
      await turns();
      const passes = () => it.manager.state().controllers[0]?.passes ?? 0;
      const before = passes();
      for (const on of many) await it.report(on, 'True');
      // Once at once for the first of them, and once more for the others.
      expect(passes() - before).toBe(1);
      it.cluster.clock.advance(1);
      for (let i = 0; i < 20; i++) await turns();
      expect({ passes: passes() - before, holds: it.manager.holdsOf(keyOf(inNamespace(family), 'web')) }).toEqual({
        passes: 2,
        holds: [],
      });
      // A later event is not delayed.
      it.cluster.clock.advance(1000);
      await it.report('c10', 'False');
      expect(passes() - before).toBe(3);
      const memories = () => it.manager.state().controllers[0]?.memories;
      expect(memories()).toBe(1);
      await it.edit({ strategy: { type: 'External', rollingUpdate: null } });
      expect(memories()).toBe(0);
    });

    test('notices at once that the limits were raised', async () => {
      await using it = await bench(family);
      await it.placement({ strategy: { rollingUpdate: { maxUnavailable: 1 } } });
      await it.snapshot(0);
      for (const on of ['c1', 'c2']) {
        await it.schedule(on);
        await it.report(on, 'True');
      }
      await it.snapshot(1);
      expect(await it.bindings()).toEqual(['c1 Bound web-1 True', 'c2 Bound web-0 False']);
      await it.edit({ strategy: { rollingUpdate: { maxUnavailable: 2 } } });
      expect(await it.bindings()).toEqual(['c1 Bound web-1 True', 'c2 Bound web-1 True']);
    });

    test('hands a new way of applying to every cluster at once, and moves nobody by it', async () => {
      await using it = await bench(family);
      await it.placement();
      await it.snapshot(0);
      for (const on of ['c1', 'c2']) {
        await it.schedule(on);
        await it.report(on, 'True');
      }
      await it.edit({ strategy: { applyStrategy: { whenToTakeOver: 'Never' } } });
      const { list } = await it.cluster.call({ verb: 'list', at: it.cluster.at(family.binding.plural) });
      const strategies = (list?.items ?? []).map(({ spec }) => (spec as { applyStrategy: object }).applyStrategy);
      expect(strategies).toMatchObject([{ whenToTakeOver: 'Never' }, { whenToTakeOver: 'Never' }]);
      expect(await it.bindings()).toEqual(['c1 Bound web-0 True', 'c2 Bound web-0 True']);
    });

    test('leaves a copy that waits for its successor as it is: while it is applied anew it would count as down, and go', async () => {
      await using it = await bench(family);
      const at = it.cluster.at(family.binding.plural, family.placement.namespaced ? NAMESPACE : undefined);
      const strategies = async () => {
        const { list } = await it.cluster.call({ verb: 'list', at });
        return (list?.items ?? []).map(({ spec }) => (spec as { applyStrategy: object }).applyStrategy);
      };
      await it.placement({
        policy: { placementType: 'PickN', numberOfClusters: 1 },
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      });
      await it.snapshot(0);
      await it.schedule('c1');
      await it.report('c1', 'True');
      await it.unschedule('c1');
      await it.report('c1', 'True');
      await it.schedule('c2');
      await it.edit({ strategy: { applyStrategy: { whenToTakeOver: 'Never' } } });
      expect(await strategies()).toMatchObject([{ whenToTakeOver: 'Always' }, { whenToTakeOver: 'Never' }]);
      expect(await it.bindings()).toEqual(['c1 Unscheduled web-0 stale', 'c2 Bound web-0 True']);
      await it.takeBack('c1');
      expect(await strategies()).toMatchObject([{ whenToTakeOver: 'Never' }, { whenToTakeOver: 'Never' }]);
    });

    test('deletes what is no longer wanted, within the budget', async () => {
      await using it = await bench(family);
      await it.placement({ policy: { placementType: 'PickN', numberOfClusters: 2 } });
      await it.snapshot(0);
      for (const on of ['c1', 'c2']) {
        await it.schedule(on);
        await it.report(on, 'True');
      }
      await it.unschedule('c1');
      await it.report('c1', 'True');
      expect(await it.bindings()).toEqual(['c1 Unscheduled web-0 deleting', 'c2 Bound web-0 True']);
      await it.unschedule('c2');
      await it.report('c2', 'True');
      expect(await it.bindings()).toEqual(['c1 Unscheduled web-0 deleting', 'c2 Unscheduled web-0 stale']);
    });

    test('takes away what was on a member that is gone, whatever the budget: nobody will ever report on it', async () => {
      await using it = await bench(family);
      await it.placement({
        policy: { placementType: 'PickN', numberOfClusters: 1 },
        strategy: { rollingUpdate: { maxUnavailable: 0 } },
      });
      await it.snapshot(0);
      await it.schedule('c1');
      await it.report('c1', 'True');
      await it.unschedule('c1');
      expect(await it.bindings()).toEqual(['c1 Unscheduled web-0 stale']);
      await it.cluster.call({ verb: 'delete', at: it.cluster.at('memberclusters', undefined, 'c1') });
      await it.edit({ revisionHistoryLimit: 5 });
      expect(await it.bindings()).toEqual(['c1 Unscheduled web-0 deleting']);
    });

    test('takes away what the scheduler has given up beside the binding that counts', async () => {
      await using it = await bench(family);
      await it.placement();
      await it.snapshot(0);
      await it.schedule('c1');
      await it.report('c1', 'True');
      await it.schedule('c1', { name: 'web-c1-twin', state: 'Unscheduled' });
      expect(await it.bindings()).toEqual([
        expect.stringContaining('Bound'),
        expect.stringMatching(/Unscheduled.*deleting/),
      ]);
    });

    test('moves nobody back who has a newer snapshot than it has heard of', async () => {
      await using it = await bench(family);
      await it.placement();
      await it.snapshot(0);
      await it.schedule('c1');
      await it.report('c1', 'True');
      it.deafen(family.resourceSnapshot.plural);
      await it.cluster.create(family.resourceSnapshot.plural, inNamespace(family), {
        metadata: {
          name: 'web-1-snapshot',
          labels: {
            [labels.parentPlacement]: 'web',
            [labels.resourceIndex]: '1',
            [labels.isLatestSnapshot]: 'true',
          },
          annotations: { [annotations.resourceHash]: 'x', [annotations.numberOfResourceSnapshots]: '1' },
        },
        spec: { selectedResources: [] },
      });
      await it.move('c1', 'web-1-snapshot');
      expect(await it.bindings()).toEqual(['c1 Bound web-1 True']);
    });

    test('leaves External placements alone', async () => {
      await using it = await bench(family);
      await it.placement({ strategy: { type: 'External' } });
      await it.snapshot(0);
      await it.schedule('c1');
      it.forget();
      expect(await it.bindings()).toEqual(['c1 Scheduled - stale']);
      expect(it.writes()).toEqual([]);
    });
  },
);
