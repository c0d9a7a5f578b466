import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { placeOf, someone, type TestCluster, testCluster } from '../builtin/cluster.testing.ts';
import { createRegistry } from '../live-registry.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { type Dependent, judge, type OwnerState } from './ownership.ts';
import { startHousekeeping } from './start.ts';

const NAMESPACE = 'team';

describe('the judgement of one object', () => {
  const object = (metadata: KubeObject['metadata'] = {}): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata });
  const deleted = (...finalizers: string[]) => object({ deletionTimestamp: 't', finalizers });
  const dependent = (blockOwnerDeletion: boolean, of = object()): Dependent => ({
    key: 'k',
    object: of,
    references: [{ apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u', blockOwnerDeletion }],
  });
  const owned = (...states: OwnerState[]) => states.map((state, index) => ({ uid: String(index), state }));

  test.each([
    { it: 'lets alone what has no owner', of: object(), owners: owned(), want: { do: 'nothing' } },
    { it: 'lets alone what has its owner', of: object(), owners: owned('present'), want: { do: 'nothing' } },
    {
      it: 'removes what lost its only owner',
      of: object(),
      owners: owned('gone'),
      want: { do: 'remove', propagation: 'Background', unblock: false },
    },
    {
      it: 'removes what lost all owners',
      of: object(),
      owners: owned('gone', 'gone'),
      want: { do: 'remove', propagation: 'Background', unblock: false },
    },
    {
      it: 'drops the reference while another owner is there',
      of: object(),
      owners: owned('gone', 'present'),
      want: { do: 'disown', uids: ['0'] },
    },
    {
      it: 'drops the reference to a waiting owner, too',
      of: object(),
      owners: owned('present', 'waiting'),
      want: { do: 'disown', uids: ['1'] },
    },
    { it: 'never deletes on a guess', of: object(), owners: owned('gone', 'unknown'), want: { do: 'nothing' } },
    { it: 'leaves what is already going', of: deleted('a/b'), owners: owned('gone'), want: { do: 'nothing' } },
    {
      it: 'keeps the policy that the object asks for',
      of: object({ finalizers: ['orphan'] }),
      owners: owned('gone'),
      want: { do: 'remove', propagation: 'Orphan', unblock: false },
    },
    {
      it: 'goes in the foreground if its owner waits and it has dependents itself',
      of: object(),
      owners: owned('waiting'),
      dependents: [dependent(true)],
      want: { do: 'remove', propagation: 'Foreground', unblock: false },
    },
    {
      it: 'breaks a circle of waiting owners',
      of: object(),
      owners: owned('waiting'),
      dependents: [dependent(true, deleted('foregroundDeletion'))],
      want: { do: 'remove', propagation: 'Foreground', unblock: true },
    },
    {
      it: 'holds a foreground deletion while a dependent blocks it',
      of: deleted('foregroundDeletion'),
      owners: owned(),
      dependents: [dependent(false), dependent(true)],
      want: { do: 'wait for dependents' },
    },
    {
      it: 'ends a foreground deletion that nothing blocks',
      of: deleted('foregroundDeletion'),
      owners: owned(),
      dependents: [dependent(false)],
      want: { do: 'release' },
    },
    { it: 'frees dependents', of: deleted('orphan'), owners: owned(), want: { do: 'orphan dependents' } },
  ])('$it', ({ of, owners, dependents = [], want }) => {
    expect(judge({ object: of, owners, dependents: () => dependents })).toEqual(want);
  });
});

interface Started {
  readonly cluster: TestCluster;
  settled(): Promise<void>;
  put(name: string, owners?: readonly OwnerReference[], finalizers?: readonly string[]): Promise<KubeObject>;
  drop(name: string, propagation?: 'Background' | 'Foreground' | 'Orphan'): Promise<void>;
  names(): readonly string[];
  ownersOf(name: string): readonly string[];
}

async function started(cluster = testCluster()): Promise<Started> {
  const errors: unknown[] = [];
  const { settled } = startHousekeeping(cluster, { remove, onError: (error) => void errors.push(error) });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  await create(cluster, placeOf(cluster, namespace), namespace, someone);
  await settled();
  const secret = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE },
  });
  return {
    cluster,
    async settled() {
      await settled();
      expect(errors).toEqual([]);
    },
    async put(name, ownerReferences = [], finalizers = []) {
      const metadata = { name, namespace: NAMESPACE, ownerReferences, finalizers };
      const object = { ...secret(name), metadata };
      return (await create(cluster, placeOf(cluster, object), object, someone)).stored.object();
    },
    async drop(name, propagation) {
      const options = propagation === undefined ? {} : { propagation };
      await remove(cluster, placeOf(cluster, secret(name)), options, someone);
    },
    names: () => cluster.store.range(`/secrets/${NAMESPACE}/`).items.map((stored) => stored.key.split('/')[3] ?? ''),
    ownersOf: (name) =>
      cluster.store
        .get(`/secrets/${NAMESPACE}/${name}`)
        ?.object()
        .metadata.ownerReferences?.map((each) => each.name) ?? [],
  };
}

const refer = (owner: KubeObject, blockOwnerDeletion?: boolean): OwnerReference => ({
  apiVersion: 'v1',
  kind: owner.kind,
  name: owner.metadata.name as string,
  uid: owner.metadata.uid as string,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});

describe('garbage collection', () => {
  test('takes a whole family in the background', async () => {
    const { put, drop, names, settled } = await started();
    const root = await put('root');
    const child = await put('child', [refer(root)]);
    await put('grandchild', [refer(child)]);
    await put('stranger');
    await drop('root', 'Background');
    await settled();
    expect(names()).toEqual(['stranger']);
  });

  test('takes children before their parents in the foreground', async () => {
    const { put, drop, names, settled, cluster } = await started();
    const root = await put('root');
    const child = await put('child', [refer(root, true)]);
    await put('grandchild', [refer(child, true)]);
    const before = cluster.store.head;
    await drop('root', 'Foreground');
    await settled();
    expect(names()).toEqual([]);
    const changes = cluster.store.since(before, '/secrets/');
    if (changes === 'compacted') throw new Error('the window is too small');
    const gone = changes.filter((each) => each.deleted).map((each) => each.key.split('/')[3]);
    expect(gone).toEqual(['grandchild', 'child', 'root']);
  });

  test('lets the owner wait for a blocking child with a finalizer, and only for such', async () => {
    const { put, drop, names, settled, cluster } = await started();
    const root = await put('root');
    await put('held', [refer(root, true)], ['a.io/x']);
    await drop('root', 'Foreground');
    await settled();
    expect(names()).toEqual(['held', 'root']);
    const stored = cluster.store.get(`/secrets/${NAMESPACE}/held`)!;
    cluster.store.commit({ key: stored.key, expect: stored.revision, value: undefined });
    await settled();
    expect(names()).toEqual([]);

    const other = await put('other');
    await put('lazy', [refer(other, false)], ['a.io/x']);
    await drop('other', 'Foreground');
    await settled();
    expect(names()).toEqual(['lazy']);
  });

  test('leaves orphans without their reference', async () => {
    const { put, drop, names, ownersOf, settled } = await started();
    const [root, other] = [await put('root'), await put('other')];
    await put('child', [refer(root), refer(other)]);
    await put('only', [refer(root)]);
    await drop('root', 'Orphan');
    await settled();
    expect(names()).toEqual(['child', 'only', 'other']);
    expect(ownersOf('child')).toEqual(['other']);
    expect(ownersOf('only')).toEqual([]);
  });

  test('a circle that is deleted in the foreground does not wait for itself', async () => {
    const { put, drop, names, settled, cluster } = await started();
    const a = await put('a');
    const b = await put('b', [refer(a, true)]);
    const stored = cluster.store.get(`/secrets/${NAMESPACE}/a`)!;
    const metadata = { ...stored.object().metadata, ownerReferences: [refer(b, true)] };
    cluster.store.commit({ key: stored.key, expect: stored.revision, value: { ...stored.object(), metadata } });
    await settled();
    await drop('a', 'Foreground');
    await settled();
    expect(names()).toEqual([]);
  });

  test('an owner that was never there, or is another object of the same name, counts as gone', async () => {
    const { put, names, settled } = await started();
    const owner = await put('owner');
    await put('impostor', [{ ...refer(owner), uid: 'another' }]);
    await put('lost', [{ ...refer(owner), name: 'nobody' }]);
    await put('fine', [refer(owner)]);
    await settled();
    expect(names()).toEqual(['fine', 'owner']);
  });

  test('owners of kinds that nobody serves keep their dependents until the kind comes', async () => {
    const all = testCluster();
    const registry = createRegistry(all.registry.all().filter((each) => each.kind !== 'PodTemplate'));
    const { put, names, settled, cluster } = await started({ ...all, registry });
    const owner: OwnerReference = { apiVersion: 'v1', kind: 'PodTemplate', name: 'x', uid: 'y' };
    await put('kept', [owner]);
    await settled();
    expect(names()).toEqual(['kept']);
    registry.setCustom(all.registry.all().filter((each) => each.kind === 'PodTemplate'));
    await put('wake');
    await settled();
    expect(names()).toEqual(['wake']);
    expect(cluster.registry.findKind('', 'PodTemplate')).toBeDefined();
  });

  test('a cluster-wide object with an owner in a namespace stays', async () => {
    const { put, drop, settled, cluster } = await started();
    const owner = await put('owner');
    const metadata = { name: 'wide', ownerReferences: [{ ...refer(owner) }] };
    const wide = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [] };
    await create(cluster, placeOf(cluster, wide), wide, someone);
    await drop('owner');
    await settled();
    expect(cluster.store.get('rbac.authorization.k8s.io/clusterroles//wide')).toBeDefined();
  });

  test('finds what was left behind before it started', async () => {
    const cluster = testCluster();
    const put = (object: KubeObject) => create(cluster, placeOf(cluster, object), object, someone);
    const lost: OwnerReference = { apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: 'gone' };
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const metadata = { name: 'left', namespace: NAMESPACE, ownerReferences: [lost] };
    await put({ apiVersion: 'v1', kind: 'Secret', metadata });
    const { settled } = startHousekeeping(cluster, { remove, onError: () => {} });
    await settled();
    expect(cluster.store.get(`/secrets/${NAMESPACE}/left`)).toBeUndefined();
  });
});

describe('random families', () => {
  const anyFamily = fc.record({
    // For each object its owners among the earlier objects, and whether each reference blocks.
    owners: fc.array(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 3 }), { minLength: 1, maxLength: 12 }),
    deletions: fc.array(fc.tuple(fc.nat(20), fc.constantFrom('Background', 'Foreground', 'Orphan', undefined)), {
      maxLength: 5,
    }),
    isHasty: fc.boolean(),
  });

  test('end as the rules say, whoever is deleted in whatever way', async () => {
    await fc.assert(
      fc.asyncProperty(anyFamily, async ({ owners, deletions, isHasty }) => {
        const { put, drop, names, ownersOf, settled, cluster } = await started();
        const made: KubeObject[] = [];
        const parents: Set<number>[] = [];
        for (const [index, list] of owners.entries()) {
          const chosen = index === 0 ? [] : list.map(([owner, block]) => [owner % index, block] as const);
          const unique = new Map(chosen);
          parents.push(new Set(unique.keys()));
          const references = [...unique].map(([owner, block]) => refer(made[owner] as KubeObject, block));
          made.push(await put(`o${index}`, references));
        }
        await settled();
        // The model: which objects exist, and which still reference which.
        const alive = new Set(made.keys());
        const orphanedFrom = new Set<number>();
        for (const [pick, propagation] of deletions) {
          const index = pick % made.length;
          // Whether a dependent is orphaned or collected depends on which owner is deleted first; only a fixed order
          // has one outcome.
          if (propagation === 'Orphan') await settled();
          if (!alive.has(index) || !names().includes(`o${index}`)) continue;
          await drop(`o${index}`, propagation);
          if (propagation === 'Orphan') {
            orphanedFrom.add(index);
            for (const each of parents) each.delete(index);
          }
          alive.delete(index);
          sweep(alive, parents);
          if (!isHasty || propagation === 'Orphan') await settled();
        }
        await settled();
        expect(names()).toEqual([...alive].map((index) => `o${index}`).sort());
        for (const index of alive) {
          expect([...ownersOf(`o${index}`)].sort()).toEqual(
            [...(parents[index] ?? [])]
              .filter((owner) => alive.has(owner))
              .map((owner) => `o${owner}`)
              .sort(),
          );
        }
        const head = cluster.store.head;
        await settled();
        expect(cluster.store.head).toBe(head);
      }),
      { numRuns: runs(150) },
    );
  });

  /**
   * Applies the rules of background deletion until nothing changes: an object that had owners and lost the last one is
   * deleted.
   */
  function sweep(alive: Set<number>, parents: readonly Set<number>[]): void {
    let isChanged = true;
    while (isChanged) {
      isChanged = false;
      for (const index of [...alive]) {
        const owners = parents[index] ?? new Set();
        if (owners.size === 0) continue;
        const left = [...owners].filter((owner) => alive.has(owner));
        if (left.length === 0) {
          alive.delete(index);
          isChanged = true;
        }
      }
    }
    // References to deleted owners are dropped while others remain.
    for (const index of alive) {
      for (const owner of [...(parents[index] ?? [])]) if (!alive.has(owner)) parents[index]?.delete(owner);
    }
  }
});
