import { describe, expect, test } from 'vitest';
import { aCluster, admin } from '../../../test/cluster.ts';
import { counted } from '../../../test/runtime/counted.ts';
import { turns } from '../../../test/runtime/turns.ts';
import { hubKinds } from '../../api/kinds.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { startManager } from '../../runtime/manager.ts';
import { ORPHAN_GRACE_MS } from '../bindings/orphan-grace.ts';
import { families, type PlacementFamily } from '../families.ts';
import { workGenerator } from './controller.ts';

const NAMESPACE = 'team';
const MEMBER = 'fleet-member-c1';
const NAME = 'web-c1-12345678';
const configMap = (name: string, data: object = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'app' },
  data,
});

async function bench(family: PlacementFamily) {
  const cluster = await aCluster({ kinds: hubKinds });
  const inNamespace = family.binding.namespaced ? NAMESPACE : undefined;
  for (const name of [NAMESPACE, MEMBER]) await cluster.create('namespaces', undefined, { metadata: { name } });
  await cluster.create('memberclusters', undefined, {
    metadata: { name: 'c1' },
    spec: { identity: { kind: 'User', name: 'c1' } },
  });
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
    { controllers: [workGenerator(family)] },
  );
  const settle = async () => {
    for (let i = 0; i < 12; i++) await turns();
    expect(manager.idle()).toBe(true);
  };
  await settle();
  const bindingAt = cluster.at(family.binding.plural, inNamespace, NAME);
  const patch = async (at: ReturnType<typeof cluster.at>, body: object, subresource?: 'status') => {
    const to = subresource === undefined ? at : { ...at, subresource };
    await cluster.call({ verb: 'patch', at: to, patch: { type: 'merge', body: body as never }, manager: 'test' });
    await settle();
  };
  const get = async (at: ReturnType<typeof cluster.at>) => {
    const { object } = await cluster.call({ verb: 'get', at });
    return object as KubeObject;
  };
  const base = family.binding.namespaced ? `${NAMESPACE}.web` : 'web';
  const workAt = cluster.at('works', MEMBER, `${base}-work`);
  const now = () => kubeTime(cluster.clock.now());
  return {
    cluster,
    settle,
    deafen(plural: string) {
      deafTo = plural;
    },
    bindingAt,
    workAt,
    patch,
    get,
    base,
    writes: asked.writes,
    passes: () => manager.state().controllers[0]?.passes ?? 0,
    forget: () => void asked.calls.splice(0),
    async snapshot(index: number, resources: readonly object[]) {
      await cluster.create(family.resourceSnapshot.plural, inNamespace, {
        metadata: {
          name: `web-${index}-snapshot`,
          labels: {
            [labels.parentPlacement]: 'web',
            [labels.resourceIndex]: String(index),
            [labels.isLatestSnapshot]: 'true',
          },
          annotations: { [annotations.resourceHash]: 'x', [annotations.numberOfResourceSnapshots]: '1' },
        },
        spec: { selectedResources: resources },
      });
      await settle();
    },
    async bind(index: number, spec: object = {}) {
      const body = {
        state: 'Bound',
        targetCluster: 'c1',
        resourceSnapshotName: `web-${index}-snapshot`,
        schedulingPolicySnapshotName: 'web-0',
        clusterDecision: { clusterName: 'c1', selected: true, reason: 'test' },
        applyStrategy: { type: 'ClientSideApply' },
        ...spec,
      };
      const known = await cluster.call({ verb: 'get', at: bindingAt }).catch(() => undefined);
      if (known === undefined) {
        await cluster.create(family.binding.plural, inNamespace, {
          metadata: { name: NAME, labels: { [labels.parentPlacement]: 'web' } },
          spec: body,
        });
        await settle();
      } else await patch(bindingAt, { spec: body });
      const { metadata, status } = await get(bindingAt);
      const { conditions = [] } = (status ?? {}) as { conditions?: { type: string }[] };
      const started = {
        type: 'RolloutStarted',
        status: 'True',
        reason: 'RolloutStarted',
        message: '',
        observedGeneration: metadata.generation,
        lastTransitionTime: now(),
      };
      await patch(
        bindingAt,
        { status: { conditions: [started, ...conditions.filter(({ type }) => type !== 'RolloutStarted')] } },
        'status',
      );
    },
    /** Another binding for the same cluster and snapshot; `first` runs before it is rolled out. */
    async beside(name: string, first: () => Promise<void>) {
      const { spec } = await get(bindingAt);
      await cluster.create(family.binding.plural, inNamespace, {
        metadata: { name, labels: { [labels.parentPlacement]: 'web' } },
        spec,
      });
      await settle();
      await first();
      const at = cluster.at(family.binding.plural, inNamespace, name);
      const started = { type: 'RolloutStarted', status: 'True', reason: 'RolloutStarted', message: '' };
      const said = { ...started, observedGeneration: 1, lastTransitionTime: now() };
      await patch(at, { status: { conditions: [said] } }, 'status');
      return at;
    },
    /** Time passes without an answer of the member. */
    async silence(ms = 500) {
      cluster.clock.advance(ms);
      await settle();
    },
    /** As the member does, for the present generation of the Work. */
    async report(said: Said, manifestConditions: readonly object[] = []) {
      const { generation } = (await get(workAt)).metadata;
      const conditions = Object.entries(said).map(([type, [status, reason]]) => ({
        type,
        status,
        reason,
        message: 'test',
        observedGeneration: generation,
        lastTransitionTime: now(),
      }));
      await patch(workAt, { status: { conditions, manifestConditions } }, 'status');
    },
    async conditions() {
      const { metadata, status } = await get(bindingAt);
      const { conditions = [] } = (status ?? {}) as {
        conditions?: { type: string; status: string; reason: string; observedGeneration: number }[];
      };
      return conditions
        .filter(({ observedGeneration }) => observedGeneration === metadata.generation)
        .map(({ type, status: said, reason }) => `${type} ${said} ${reason}`);
    },
    async manifests() {
      const { spec } = await get(workAt);
      return (spec as { workload: { manifests: readonly KubeObject[] } }).workload.manifests;
    },
    async [Symbol.asyncDispose]() {
      await manager.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

type Said = Readonly<Record<string, readonly [status: string, reason: string]>>;

interface Case {
  readonly it: string;
  readonly said: Said;
  readonly reports: readonly object[];
  readonly is: string;
  readonly failed: readonly object[] | undefined;
}

const DONE = { Applied: ['True', 'AllManifestsApplied'], Available: ['True', 'AllManifestsAvailable'] } as const;
const identifier = {
  ordinal: 0,
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'app',
  name: 'x',
};

describe.each(families.map((family) => ({ family, kind: family.binding.kind })))(
  'the Works of a $kind',
  ({ family }) => {
    test('lose the labels, owners and finalizers that the member has put there, and only those', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const { metadata } = await it.get(it.workAt);
      const ours = finalizers.workCleanup;
      const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: 'wrong' };
      await it.patch(it.workAt, { metadata: { finalizers: [ours, 'evil.io/never'], labels: { evil: 'yes' } } });
      const after = (await it.get(it.workAt)).metadata;
      expect(after.labels).toEqual(metadata.labels);
      expect(after.finalizers).toEqual([ours]);
      await it.patch(it.workAt, { metadata: { ownerReferences: [owner] } });
      const left = await it.get(it.workAt).catch(() => undefined);
      expect(left?.metadata.ownerReferences).toBeUndefined();
    });

    test('that are being deleted are held by nobody but the agent', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const { uid } = (await it.get(it.workAt)).metadata;
      const at = it.workAt;
      const finalizersOf = async () => (await it.get(at)).metadata.finalizers;
      await it.cluster.call({
        verb: 'patch',
        at,
        patch: { type: 'merge', body: { metadata: { finalizers: [finalizers.workCleanup, 'evil.io/never'] } } },
        manager: 'test',
      });
      await it.cluster.call({ verb: 'delete', at });
      await it.settle();
      expect(await finalizersOf()).toEqual([finalizers.workCleanup]);
      // The agent removes its finalizer: the Work is deleted and created again.
      await it.patch(at, { metadata: { finalizers: null } });
      expect((await it.get(at)).metadata.uid).not.toBe(uid);
    });

    test('are ordered when the rollout says so, with the names, labels and hashes that others know', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const { metadata } = await it.get(it.workAt);
      expect(metadata.labels).toEqual({
        [labels.parentBinding]: NAME,
        [labels.parentPlacement]: 'web',
        [labels.parentResourceSnapshotIndex]: '0',
        ...(family.binding.namespaced ? { [labels.parentPlacementNamespace]: NAMESPACE } : {}),
      });
      const none = '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b';
      expect(metadata.annotations).toEqual({
        [annotations.parentResourceSnapshotName]: 'web-0-snapshot',
        [annotations.parentResourceOverrideSnapshotHash]: none,
        [annotations.parentClusterResourceOverrideSnapshotHash]: none,
        [annotations.orderedBy]: `${(await it.get(it.bindingAt)).metadata.uid}/1/${it.cluster.clock.now()}`,
      });
      expect(await it.manifests()).toEqual([configMap('x')]);
      expect(await it.conditions()).toEqual(['RolloutStarted True RolloutStarted']);
      await it.silence();
      expect(await it.conditions()).toEqual([
        'RolloutStarted True RolloutStarted',
        'Overridden True NoOverrideSpecified',
        'WorkSynchronized True AllWorkSynced',
        'Applied False ApplyInProgress',
      ]);
    });

    test('are one even for nothing, so that the cluster can answer', async () => {
      await using it = await bench(family);
      await it.snapshot(0, []);
      await it.bind(0);
      expect(await it.manifests()).toEqual([]);
      await it.report(DONE);
      expect(await it.conditions()).toContain('Available True AllWorkAreAvailable');
    });

    test('cost one write, and one status write of the binding, per revision, and nothing when sent again', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.report(DONE);
      await it.snapshot(1, [configMap('x', { a: '2' })]);
      it.forget();
      await it.bind(1);
      // The status that the member writes before it applies: no binding write.
      await it.patch(it.workAt, { status: { manifestConditions: [{ identifier, conditions: [] }] } }, 'status');
      await it.report(DONE);
      expect(it.writes().map((write) => write.replace(/ .*\//, ' '))).toHaveLength(2);
      it.forget();
      await it.report(DONE);
      expect(it.writes()).toEqual([]);
    });

    test('cost one status write more where the member takes longer than half a second', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      it.forget();
      await it.silence(499);
      expect(it.writes()).toEqual([]);
      await it.silence(1);
      expect(await it.conditions()).toContain('Applied False ApplyInProgress');
      expect(it.writes()).toHaveLength(1);
      await it.silence(60_000);
      expect(it.writes()).toHaveLength(1);
      await it.report(DONE);
      expect(it.writes()).toHaveLength(2);
    });

    test('of a binding that its move has released report that with the rest', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0, { state: 'Scheduled' });
      const { generation = 0 } = (await it.get(it.bindingAt)).metadata;
      const released = { annotations: { [annotations.releasedGeneration]: String(generation + 1) } };
      it.forget();
      await it.patch(it.bindingAt, { metadata: released, spec: { state: 'Bound' } });
      await it.report(DONE);
      expect(await it.conditions()).toEqual([
        'RolloutStarted True RolloutStarted',
        'Overridden True NoOverrideSpecified',
        'WorkSynchronized True AllWorkSynced',
        'Applied True AllWorkHaveBeenApplied',
        'Available True AllWorkAreAvailable',
      ]);
      // It does not release another generation.
      await it.snapshot(1, [configMap('y')]);
      await it.patch(it.bindingAt, { spec: { resourceSnapshotName: 'web-1-snapshot' } });
      expect(await it.manifests()).toEqual([configMap('x')]);
    });

    test('are not thought of because a binding that must wait has moved, nor because its snapshot is not the latest any more', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('one')]);
      await it.bind(0);
      await it.patch(it.bindingAt, { status: { conditions: [] } }, 'status');
      await it.snapshot(1, [configMap('two')]);
      const before = it.passes();
      const first = it.cluster.at(family.resourceSnapshot.plural, it.bindingAt.namespace, 'web-0-snapshot');
      await it.patch(first, { metadata: { labels: { [labels.isLatestSnapshot]: 'false' } } });
      await it.patch(it.bindingAt, { spec: { resourceSnapshotName: 'web-1-snapshot' } });
      expect(it.passes()).toBe(before);
      await it.bind(1);
      expect(it.passes()).toBeGreaterThan(before);
    });

    test('are put right when somebody edits them', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.patch(it.workAt, { spec: { workload: { manifests: [configMap('evil')] } } });
      expect(await it.manifests()).toEqual([configMap('x')]);
      await it.cluster.call({ verb: 'delete', at: it.workAt });
      await it.settle();
      expect(await it.manifests()).toEqual([configMap('x')]);
      await it.patch(it.workAt, { metadata: { labels: { [labels.parentBinding]: null } } });
      expect((await it.get(it.workAt)).metadata.labels?.[labels.parentBinding]).toBe(NAME);
    });

    test('carry a new way of applying, and nothing of the old one', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0, { applyStrategy: { type: 'ServerSideApply', serverSideApplyConfig: { force: true } } });
      await it.bind(0, { applyStrategy: { type: 'ClientSideApply', serverSideApplyConfig: null } });
      const { spec } = await it.get(it.workAt);
      expect((spec as { applyStrategy: object }).applyStrategy).toMatchObject({ type: 'ClientSideApply' });
      expect((spec as { applyStrategy: object }).applyStrategy).not.toHaveProperty('serverSideApplyConfig');
    });

    const refused = {
      type: 'Applied',
      status: 'False',
      reason: 'ManifestApplyFailed',
      message: 'no such namespace',
      observedGeneration: 0,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    test.each<Case>([
      {
        it: 'refused',
        said: { Applied: ['False', 'SomeManifestsAreNotApplied'] },
        reports: [{ identifier, conditions: [refused] }],
        is: 'Applied False NotAllWorkHaveBeenApplied',
        failed: [{ version: 'v1', kind: 'ConfigMap', namespace: 'app', name: 'x', condition: refused }],
      },
      {
        it: 'not available',
        said: { Applied: ['True', 'AllManifestsApplied'], Available: ['False', 'SomeManifestsAreNotAvailable'] },
        reports: [{ identifier, conditions: [{ ...refused, type: 'Available', reason: 'ManifestNotAvailableYet' }] }],
        is: 'Available False NotAllWorkAreAvailable',
        failed: [{ name: 'x', condition: { reason: 'ManifestNotAvailableYet' } }],
      },
      {
        it: 'not starting',
        said: { Applied: ['True', 'AllManifestsApplied'], Available: ['False', 'SomeManifestsAreNotAvailable'] },
        reports: [
          {
            identifier,
            conditions: [{ ...refused, type: 'Available', reason: 'ManifestNotAvailableYet' }],
            cause: { code: 'ImagePullBackOff', message: 'no such image' },
          },
        ],
        is: 'Available False NotAllWorkAreAvailable',
        failed: [{ name: 'x', cause: { code: 'ImagePullBackOff', message: 'no such image' } }],
      },
      {
        it: 'untracked',
        said: { Applied: ['True', 'AllManifestsApplied'], Available: ['True', 'WorkNotTrackable'] },
        reports: [],
        is: 'Available True NotAllWorkAreAvailabilityTrackable',
        failed: undefined,
      },
    ])('tell of a manifest that is $it', async ({ said, reports, is, failed }) => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.report(said, reports);
      expect((await it.conditions()).at(-1)).toBe(is);
      const { status } = await it.get(it.bindingAt);
      const { failedPlacements } = status as { failedPlacements?: object };
      if (failed === undefined) expect(failedPlacements).toBeUndefined();
      else expect(failedPlacements).toMatchObject(failed);
      await it.report(DONE);
      expect((await it.conditions()).at(-1)).toBe('Available True AllWorkAreAvailable');
      expect(((await it.get(it.bindingAt)).status as { failedPlacements?: object }).failedPlacements).toBeUndefined();
    });

    test('say so when the snapshot is missing, and heal when it comes', async () => {
      await using it = await bench(family);
      await it.bind(7);
      expect((await it.conditions()).at(-1)).toBe('WorkSynchronized False SyncWorkFailed');
      await it.snapshot(7, [configMap('x')]);
      await it.silence();
      expect((await it.conditions()).at(-1)).toBe('Applied False ApplyInProgress');
    });

    test('are not counted on while somebody has them deleted, and are made anew', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.report(DONE);
      await it.patch(it.workAt, { metadata: { finalizers: ['kubernetes-fleet.io/work-cleanup'] } });
      await it.cluster.call({ verb: 'delete', at: it.workAt });
      await it.settle();
      expect((await it.conditions()).at(-1)).toBe('WorkSynchronized Unknown WorkSynchronizedUnknown');
      const { status } = await it.get(it.bindingAt);
      const message = `Work "${MEMBER}/${it.base}-work" is being deleted; it is created again when it is deleted`;
      expect(JSON.stringify(status)).toContain(JSON.stringify(message));
      await it.patch(it.workAt, { metadata: { finalizers: null } });
      await it.silence();
      expect((await it.conditions()).at(-1)).toBe('Applied False ApplyInProgress');
      await it.report(DONE);
      expect((await it.conditions()).at(-1)).toBe('Available True AllWorkAreAvailable');
    });

    test('get another way of applying also when their snapshot is gone', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.report(DONE);
      const snapshot = it.cluster.at(family.resourceSnapshot.plural, it.bindingAt.namespace, 'web-0-snapshot');
      await it.cluster.call({ verb: 'delete', at: snapshot });
      await it.bind(0, { applyStrategy: { type: 'ClientSideApply', allowCoOwnership: true } });
      expect((await it.get(it.workAt)).spec).toMatchObject({ applyStrategy: { allowCoOwnership: true } });
      await it.silence();
      expect((await it.conditions()).at(-1)).toBe('Applied False ApplyInProgress');
      await it.report(DONE);
      expect((await it.conditions()).at(-1)).toBe('Available True AllWorkAreAvailable');
    });

    test('are gone before the binding is let go', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.patch(it.workAt, { metadata: { finalizers: ['kubernetes-fleet.io/work-cleanup'] } });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeDefined();
      expect((await it.get(it.bindingAt)).metadata.deletionTimestamp).toBeDefined();
      await it.patch(it.workAt, { metadata: { finalizers: null } });
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
    });

    test('are gone before the binding is let go, even if another hub made them and the watch is behind', async () => {
      await using it = await bench(family);
      await it.bind(0);
      it.deafen('works');
      await it.cluster.create('works', MEMBER, {
        metadata: {
          name: `${it.base}-work`,
          finalizers: ['kubernetes-fleet.io/work-cleanup'],
          labels: {
            [labels.parentBinding]: NAME,
            [labels.parentPlacement]: 'web',
            ...(family.binding.namespaced ? { [labels.parentPlacementNamespace]: NAMESPACE } : {}),
          },
        },
        spec: { workload: { manifests: [] } },
      });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeDefined();
      expect((await it.get(it.bindingAt)).metadata.deletionTimestamp).toBeDefined();
    });

    test('are gone before the binding is let go, even if the watch still tells of those of its predecessor', async () => {
      await using it = await bench(family);
      const order = (parent: string) => ({
        metadata: {
          name: `${it.base}-work`,
          finalizers: ['kubernetes-fleet.io/work-cleanup'],
          labels: {
            [labels.parentBinding]: parent,
            [labels.parentPlacement]: 'web',
            ...(family.binding.namespaced ? { [labels.parentPlacementNamespace]: NAMESPACE } : {}),
          },
        },
        spec: { workload: { manifests: [] } },
      });
      await it.cluster.create('works', MEMBER, order('the-one-before'));
      await it.cluster.call({ verb: 'delete', at: it.workAt });
      await it.bind(0);
      it.deafen('works');
      await it.patch(it.workAt, { metadata: { finalizers: null } });
      await it.cluster.create('works', MEMBER, order(NAME));
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeDefined();
      expect((await it.get(it.bindingAt)).metadata.deletionTimestamp).toBeDefined();
    });

    test('are not made of what somebody else has ordered under their name, nor taken away with the binding', async () => {
      await using it = await bench(family);
      const theirs = { spec: { workload: { manifests: [configMap('theirs')] } } };
      await it.cluster.create('works', MEMBER, { metadata: { name: `${it.base}-work` }, ...theirs });
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      expect(await it.get(it.workAt)).toMatchObject(theirs);
      expect((await it.get(it.bindingAt)).status).toMatchObject({
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: 'WorkSynchronized',
            status: 'False',
            reason: 'WorkNotManaged',
            message: expect.stringMatching(/^Work ".*-work" exists and is not managed by Flotilla/),
          }),
        ]),
      });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
      expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeUndefined();
    });

    test('carry the nulls of what is placed, with the first order and with every later one', async () => {
      await using it = await bench(family);
      const withNull = (value: string) => ({ ...configMap(value), data: { value, nothing: null } });
      for (const index of [0, 1, 2]) {
        await it.snapshot(index, [withNull(String(index))]);
        await it.bind(index);
        expect((await it.get(it.workAt)).spec).toMatchObject({
          workload: { manifests: [{ data: { value: String(index), nothing: null } }] },
        });
      }
      it.forget();
      await it.settle();
      expect(it.writes()).toEqual([]);
    });

    test('with any of the names of the binding go with it, even those that have lost their labels', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const envelope = `${it.base}-work-envelope-0123456789abcdef`;
      const made = { [annotations.orderedBy]: 'uid/1' };
      await it.cluster.create('works', MEMBER, { metadata: { name: envelope, annotations: made }, spec: {} });
      await it.cluster.create('works', MEMBER, {
        metadata: { name: `${it.base}-x-work`, annotations: made },
        spec: {},
      });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
      await expect(it.get(it.cluster.at('works', MEMBER, envelope))).rejects.toThrow('not found');
      await expect(it.get(it.cluster.at('works', MEMBER, `${it.base}-x-work`))).resolves.toBeDefined();
    });

    test('that a stale cache does not know go with the binding, whatever they are called', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      it.deafen('works');
      const { labels: own } = (await it.get(it.workAt)).metadata;
      const metadata = { name: 'another', labels: own ?? {}, annotations: { [annotations.orderedBy]: 'uid/1' } };
      await it.cluster.create('works', MEMBER, { metadata, spec: {} });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.cluster.at('works', MEMBER, 'another'))).rejects.toThrow('not found');
    });

    test('are ordered as soon as what somebody else has ordered under their name is gone', async () => {
      await using it = await bench(family);
      await it.cluster.create('works', MEMBER, {
        metadata: { name: `${it.base}-work` },
        spec: { workload: { manifests: [] } },
      });
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.cluster.call({ verb: 'delete', at: it.workAt });
      await it.settle();
      expect((await it.get(it.workAt)).metadata.labels?.[labels.parentBinding]).toBe(NAME);
    });

    test('are still ours without any mark, also while their snapshot was missing, and go with the binding', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.bind(1);
      await it.patch(it.workAt, { metadata: { labels: null, annotations: null } });
      await it.snapshot(1, [configMap('y')]);
      expect((await it.get(it.workAt)).metadata.labels?.[labels.parentBinding]).toBe(NAME);
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.workAt)).rejects.toThrow('not found');
    });

    test('are gone before the binding is let go, even if somebody took their labels away', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.patch(it.workAt, { metadata: { finalizers: ['kubernetes-fleet.io/work-cleanup'] } });
      // While the rollout has not released the binding, no controller restores the labels.
      await it.patch(it.bindingAt, { spec: { state: 'Scheduled' } });
      await it.patch(it.workAt, { metadata: { labels: { [labels.parentBinding]: null } } });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeDefined();
      expect((await it.get(it.bindingAt)).metadata.deletionTimestamp).toBeDefined();
      await it.patch(it.workAt, { metadata: { finalizers: null } });
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
    });

    test("stay when a binding goes beside which another one has the orders, and are marked as that one's", async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const { uid } = (await it.get(it.workAt)).metadata;
      const survivor = await it.beside('survivor', () =>
        it.patch(it.bindingAt, { metadata: { annotations: { [annotations.twinOf]: 'survivor' } } }),
      );
      it.forget();
      // Whatever this binding asks for now, the Work is not its own any more.
      await it.snapshot(1, [configMap('x', { a: '2' })]);
      await it.bind(1);
      expect(it.writes().filter((each) => each.includes('works'))).toEqual([]);
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
      const { metadata } = await it.get(it.workAt);
      expect(metadata.uid).toBe(uid);
      expect(metadata.deletionTimestamp).toBeUndefined();
      expect(metadata.labels?.[labels.parentBinding]).toBe('survivor');
      await it.cluster.call({ verb: 'delete', at: survivor });
      await it.settle();
      await expect(it.get(it.workAt)).rejects.toThrow('not found');
    });

    test('are marked as those of the other one before the binding goes, also while that one may not order yet', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const survivor = await it.beside('survivor', () =>
        it.patch(it.bindingAt, { metadata: { annotations: { [annotations.twinOf]: 'survivor' } } }),
      );
      // The rollout has not released this generation.
      await it.patch(survivor, { spec: { clusterDecision: { reason: 'again' } } });
      await it.patch(it.workAt, { metadata: { labels: { [labels.parentBinding]: NAME } } });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
      expect((await it.get(it.workAt)).metadata.labels?.[labels.parentBinding]).toBe('survivor');
    });

    test('are handed to one that holds itself for them, though nothing was ordered of it yet', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      const { spec, metadata } = await it.get(it.bindingAt);
      await it.cluster.create(family.binding.plural, it.bindingAt.namespace, {
        metadata: { name: 'survivor', labels: metadata.labels ?? {} },
        spec: { ...(spec as object), state: 'Scheduled' },
      });
      await it.patch(it.bindingAt, { metadata: { annotations: { [annotations.twinOf]: 'survivor' } } });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
      expect((await it.get(it.workAt)).metadata.labels?.[labels.parentBinding]).toBe('survivor');
      await it.cluster.call({
        verb: 'delete',
        at: it.cluster.at(family.binding.plural, it.bindingAt.namespace, 'survivor'),
      });
      await it.settle();
      await expect(it.get(it.workAt)).rejects.toThrow('not found');
    });

    test('go with the last one, also if it was to leave them to one that is gone', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      await it.patch(it.bindingAt, { metadata: { annotations: { [annotations.twinOf]: 'survivor' } } });
      await it.cluster.call({ verb: 'delete', at: it.bindingAt });
      await it.settle();
      await expect(it.get(it.workAt)).rejects.toThrow('not found');
      await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
    });

    describe('that were ordered of a binding that is gone', () => {
      const gone = async () => {
        const it = await bench(family);
        await it.snapshot(0, [configMap('x')]);
        await it.bind(0);
        const { metadata, spec } = await it.get(it.workAt);
        await it.cluster.call({ verb: 'delete', at: it.bindingAt });
        await it.settle();
        await expect(it.get(it.workAt)).rejects.toThrow('not found');
        await expect(it.get(it.bindingAt)).rejects.toThrow('not found');
        const { name, labels: marks, annotations: notes } = metadata;
        /** A create request that was lost in transit and arrives late. */
        const arrives = async (written: object | undefined = notes) => {
          await it.cluster.create('works', MEMBER, { metadata: { name, labels: marks, annotations: written }, spec });
          await it.settle();
        };
        return { it, arrives };
      };

      test('are taken away after a while', async () => {
        const { it, arrives } = await gone();
        await using _ = it;
        await arrives();
        it.cluster.clock.advance(ORPHAN_GRACE_MS - 1);
        await it.settle();
        expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeUndefined();
        it.cluster.clock.advance(1);
        await it.settle();
        await expect(it.get(it.workAt)).rejects.toThrow('not found');
      });

      test('are taken away also if they came while another binding waited for its turn, and that one went, too', async () => {
        const { it, arrives } = await gone();
        await using _ = it;
        await it.cluster.create(family.binding.plural, it.bindingAt.namespace, {
          metadata: {
            name: 'the-next',
            labels: { [labels.parentPlacement]: 'web' },
            finalizers: ['kubernetes-fleet.io/work-cleanup'],
          },
          spec: {
            state: 'Scheduled',
            targetCluster: 'c1',
            resourceSnapshotName: '',
            schedulingPolicySnapshotName: 'web-0',
            clusterDecision: { clusterName: 'c1', selected: true, reason: '' },
          },
        });
        await arrives();
        await it.cluster.call({ verb: 'delete', at: { ...it.bindingAt, name: 'the-next' } });
        await it.settle();
        await expect(it.get({ ...it.bindingAt, name: 'the-next' })).rejects.toThrow('not found');
        it.cluster.clock.advance(ORPHAN_GRACE_MS);
        await it.settle();
        await expect(it.get(it.workAt)).rejects.toThrow('not found');
      });

      test('stay if somebody else made them', async () => {
        const { it, arrives } = await gone();
        await using _ = it;
        await arrives({});
        it.cluster.clock.advance(2 * ORPHAN_GRACE_MS);
        await it.settle();
        expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeUndefined();
      });

      test('are those of the next one', async () => {
        const { it, arrives } = await gone();
        await using _ = it;
        await arrives();
        const { uid } = (await it.get(it.workAt)).metadata;
        await it.bind(0);
        it.cluster.clock.advance(2 * ORPHAN_GRACE_MS);
        await it.settle();
        expect((await it.get(it.workAt)).metadata).toMatchObject({ uid });
      });

      test('stay if it is only the watch that does not know the binding', async () => {
        const { it, arrives } = await gone();
        await using _ = it;
        it.deafen(family.binding.plural);
        await it.cluster.create(family.binding.plural, it.bindingAt.namespace, {
          metadata: { name: NAME, labels: { [labels.parentPlacement]: 'web' } },
          spec: {
            state: 'Scheduled',
            targetCluster: 'c1',
            resourceSnapshotName: '',
            schedulingPolicySnapshotName: 'web-0',
            clusterDecision: { clusterName: 'c1', selected: true, reason: 'test' },
          },
        });
        await arrives();
        it.cluster.clock.advance(2 * ORPHAN_GRACE_MS);
        await it.settle();
        expect((await it.get(it.workAt)).metadata.deletionTimestamp).toBeUndefined();
      });
    });

    test('are not brought back to an order that has been replaced, by a hub that is behind', async () => {
      await using it = await bench(family);
      await it.snapshot(0, [configMap('x')]);
      await it.bind(0);
      // As a hub with a newer cache wrote it, for the next generation of this binding.
      const newer = { workload: { manifests: [configMap('x', { a: '2' })] } };
      const { uid } = (await it.get(it.bindingAt)).metadata;
      const mark = {
        [annotations.orderedBy]: `${uid}/2`,
        [annotations.parentResourceSnapshotName]: 'web-1-snapshot',
      };
      await it.patch(it.workAt, { metadata: { annotations: mark }, spec: newer });
      expect(await it.manifests()).toEqual([configMap('x', { a: '2' })]);
      await it.patch(it.bindingAt, { spec: { clusterDecision: { reason: 'again' } } });
      await it.bind(0);
      expect(await it.manifests()).toEqual([configMap('x')]);
    });
  },
);
