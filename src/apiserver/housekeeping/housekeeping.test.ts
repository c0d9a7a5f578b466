import { describe, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { mutableCopy } from '../../base/json.ts';
import { bootstrapObjects } from '../builtin/bootstrap.ts';
import { placeOf, someone, type TestCluster, testCluster } from '../builtin/cluster.testing.ts';
import { keyOf } from '../store/store.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';
import type { Housekeeping } from './loop.ts';
import { startHousekeeping } from './start.ts';

interface World extends Housekeeping {
  readonly cluster: TestCluster;
  readonly errors: unknown[];
  put(object: KubeObject): Promise<KubeObject>;
  change(object: KubeObject): Promise<void>;
  delete(object: KubeObject, options?: Parameters<typeof remove>[2]): Promise<void>;
  get(plural: string, namespace: string, name: string, group?: string): KubeObject | undefined;
  /** Writes since the last call. */
  writes(): number;
}

function world(): World {
  const cluster = testCluster();
  const errors: unknown[] = [];
  const housekeeping = startHousekeeping(cluster, { remove, onError: (error) => void errors.push(error) });
  let counted = cluster.store.head;
  return {
    ...housekeeping,
    cluster,
    errors,
    async put(object) {
      const written = await create(cluster, placeOf(cluster, object), mutableCopy(object), someone);
      await housekeeping.settled();
      return written.stored.object();
    },
    async change(object) {
      await update(cluster, placeOf(cluster, object), mutableCopy(object), someone);
      await housekeeping.settled();
    },
    async delete(object, options = {}) {
      await remove(cluster, placeOf(cluster, object), options, someone);
      await housekeeping.settled();
    },
    get: (plural, namespace, name, group = '') => cluster.store.get(keyOf(group, plural, namespace, name))?.object(),
    writes() {
      const since = cluster.store.head - counted;
      counted = cluster.store.head;
      return since;
    },
  };
}

const object = (kind: string, metadata: ObjectMeta, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...rest,
});
const namespace = (name: string) => object('Namespace', { name });
const configMap = (name: string, metadata: ObjectMeta = {}) =>
  object('ConfigMap', { name, namespace: 'team', ...metadata });
const ownedBy = (owner: KubeObject, blockOwnerDeletion = false) => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name as string,
  uid: owner.metadata.uid as string,
  ...(blockOwnerDeletion ? { blockOwnerDeletion } : {}),
});

describe('a namespace', () => {
  test('costs three writes: itself, its account, its copy of the CA', async () => {
    const { put, writes, get } = world();
    await put(namespace('team'));
    expect(writes()).toBe(3);
    expect(get('serviceaccounts', 'team', 'default')?.metadata).toMatchObject({ name: 'default', namespace: 'team' });
    expect(get('configmaps', 'team', 'kube-root-ca.crt')?.data).toEqual({ 'ca.crt': '-----BEGIN CERTIFICATE-----\n' });
  });

  test('takes its content with it, and nothing is written afterwards', async () => {
    const { put, delete: remove, writes, cluster, settled } = world();
    await put(namespace('team'));
    await put(namespace('other'));
    await put(configMap('a'));
    await put(object('Secret', { name: 'b', namespace: 'team' }));
    writes();
    await remove(namespace('team'));
    // The deletion mark, four objects, the namespace itself.
    expect(writes()).toBe(6);
    expect(cluster.store.range('').items.map((stored) => stored.key)).toEqual([
      '/configmaps/other/kube-root-ca.crt',
      '/namespaces//other',
      '/serviceaccounts/other/default',
    ]);
    await settled();
    cluster.clock.advance(3_600_000);
    await settled();
    expect(writes()).toBe(0);
  });

  test('waits for finalizers of its content and says so', async () => {
    const { put, change, delete: remove, get, cluster, errors } = world();
    await put(namespace('team'));
    const held = await put(configMap('held', { finalizers: ['a.io/x'] }));
    await put(configMap('free'));
    await remove(namespace('team'));
    expect(get('configmaps', 'team', 'free')).toBeUndefined();
    expect(get('namespaces', '', 'team')?.status).toEqual({
      phase: 'Terminating',
      conditions: [
        {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'False',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          reason: 'ResourcesDiscovered',
          message: 'All resources successfully discovered',
        },
        {
          type: 'NamespaceDeletionGroupVersionParsingFailure',
          status: 'False',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          reason: 'ParsedGroupVersions',
          message: 'All legacy kube types successfully parsed',
        },
        {
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        },
        {
          type: 'NamespaceContentRemaining',
          status: 'True',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: configmaps. has 1 resource instances',
        },
        {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          reason: 'SomeFinalizersRemain',
          message: 'Some content in the namespace has finalizers remaining: a.io/x in 1 resource instances',
        },
      ],
    });
    const { finalizers: _, ...metadata } = held.metadata;
    await change({ ...held, metadata: { ...metadata, resourceVersion: '' } });
    expect(get('namespaces', '', 'team')).toBeUndefined();
    expect(cluster.store.range('').items).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('keeps what Pods need until the last Pod is gone', async () => {
    const { put, delete: remove, get } = world();
    await put(namespace('team'));
    const pod = object(
      'Pod',
      { name: 'p', namespace: 'team' },
      { spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } },
    );
    await put(pod);
    await put(configMap('needed'));
    await remove(namespace('team'));
    expect(get('pods', 'team', 'p')?.metadata.deletionTimestamp).toBeDefined();
    expect(get('configmaps', 'team', 'needed')).toBeDefined();
    await remove(pod, { graceSeconds: 0 });
    expect(get('namespaces', '', 'team')).toBeUndefined();
  });

  test('that is its own finalizer waits for it after its content is gone', async () => {
    const { put, delete: remove, get } = world();
    await put(object('Namespace', { name: 'team', finalizers: ['a.io/x'] }));
    await remove(namespace('team'));
    expect(get('serviceaccounts', 'team', 'default')).toBeUndefined();
    expect(get('namespaces', '', 'team')?.spec).toEqual({});
  });
});

describe('what every namespace needs', () => {
  test('comes back when it is deleted or changed', async () => {
    const { put, delete: remove, change, get } = world();
    await put(namespace('team'));
    await remove(object('ServiceAccount', { name: 'default', namespace: 'team' }));
    expect(get('serviceaccounts', 'team', 'default')).toBeDefined();
    await remove(configMap('kube-root-ca.crt'));
    await change({ ...configMap('kube-root-ca.crt'), data: { 'ca.crt': 'forged', more: 'x' } });
    expect(get('configmaps', 'team', 'kube-root-ca.crt')?.data).toEqual({ 'ca.crt': '-----BEGIN CERTIFICATE-----\n' });
  });

  test('is there for namespaces that were there first', async () => {
    const cluster = testCluster();
    await create(cluster, placeOf(cluster, namespace('old')), namespace('old'), someone);
    const { settled } = startHousekeeping(cluster, { remove, onError: () => {} });
    await settled();
    expect(cluster.store.get('/serviceaccounts/old/default')).toBeDefined();
  });

  test('costs a fresh cluster two writes per namespace and then nothing', async () => {
    const { put, writes, settled, cluster } = world();
    for (const each of bootstrapObjects()) {
      if (each.kind === 'Namespace') continue;
      const found = cluster.registry.findKind(each.apiVersion.split('/').slice(0, -1).join('/'), each.kind);
      const { name = '', namespace: of = '' } = each.metadata;
      const key = keyOf(found?.resource.group ?? '', found?.resource.plural ?? '', of, name);
      cluster.store.commit({ key, expect: 'absent', value: each });
    }
    await settled();
    writes();
    for (const each of bootstrapObjects()) if (each.kind === 'Namespace') await put({ ...each });
    expect(writes()).toBe(4 * 3);
  });
});

describe('a token Secret', () => {
  const secret = object(
    'Secret',
    { name: 't', namespace: 'team', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    { type: 'kubernetes.io/service-account-token' },
  );
  const account = object('ServiceAccount', { name: 'robot', namespace: 'team' });

  test('is filled once and goes with its account', async () => {
    const { put, delete: remove, get, writes } = world();
    await put(namespace('team'));
    const { uid } = (await put(account)).metadata;
    writes();
    await put(secret);
    expect(writes()).toBe(2);
    const filled = get('secrets', 'team', 't');
    const text = (key: string) =>
      Buffer.from(((filled?.data ?? {}) as Record<string, string>)[key] ?? '', 'base64').toString();
    expect(text('token')).toBe(`team/robot/${uid}/t`);
    expect(text('namespace')).toBe('team');
    expect(text('ca.crt')).toContain('BEGIN CERTIFICATE');
    expect(filled?.metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(uid);
    await remove(account);
    expect(get('secrets', 'team', 't')).toBeUndefined();
  });

  test('of nobody is deleted', async () => {
    const { put, get } = world();
    await put(namespace('team'));
    await put(secret);
    expect(get('secrets', 'team', 't')).toBeUndefined();
  });
});

test('an aggregated ClusterRole follows the roles that it gathers, also through another one', async () => {
  const { put, delete: remove, get, writes } = world();
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  const gather = (label: string) => ({
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'yes' } }] },
  });
  await put({ ...rbac, metadata: { name: 'outer' }, ...gather('outer') });
  await put({ ...rbac, metadata: { name: 'inner', labels: { outer: 'yes' } }, ...gather('inner') });
  writes();
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  await put({ ...rbac, metadata: { name: 'part', labels: { inner: 'yes' } }, rules });
  expect(writes()).toBe(3);
  expect(get('clusterroles', '', 'outer', 'rbac.authorization.k8s.io')?.rules).toEqual(rules);
  await remove({ ...rbac, metadata: { name: 'part' } });
  expect(get('clusterroles', '', 'outer', 'rbac.authorization.k8s.io')?.rules).toEqual([]);
});

describe('a claim that is being deleted', () => {
  const claim = object(
    'PersistentVolumeClaim',
    { name: 'c', namespace: 'team' },
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  );

  test('goes at once if nobody mounts it', async () => {
    const { put, delete: remove, get } = world();
    await put(namespace('team'));
    await put(claim);
    await remove(claim);
    expect(get('persistentvolumeclaims', 'team', 'c')).toBeUndefined();
  });

  test('stays while a Pod mounts it', async () => {
    const { put, delete: remove, get } = world();
    await put(namespace('team'));
    await put(claim);
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const pod = object(
      'Pod',
      { name: 'p', namespace: 'team' },
      { spec: { volumes, containers: [{ name: 'c', image: 'i' }] } },
    );
    await put(pod);
    await remove(claim);
    expect(get('persistentvolumeclaims', 'team', 'c')).toBeDefined();
    await remove(pod);
    expect(get('persistentvolumeclaims', 'team', 'c')).toBeUndefined();
  });
});

describe('a loop that fails', () => {
  test('is reported, tried again later, and does not stop the others', async () => {
    const cluster = testCluster();
    const errors: string[] = [];
    let isBroken = true;
    const { settled } = startHousekeeping(cluster, {
      remove: async (...args) => {
        if (isBroken) throw new Error('the disk is on fire');
        return remove(...args);
      },
      onError: (error, what) => void errors.push(`${what}: ${(error as Error).message}`),
    });
    const put = async (each: KubeObject) => create(cluster, placeOf(cluster, each), each, someone);
    await put(namespace('team'));
    await settled();
    const owner = (await put(configMap('owner'))).stored.object();
    await put(configMap('owned', { ownerReferences: [ownedBy(owner)] }));
    await remove(cluster, placeOf(cluster, owner), {}, someone);
    await settled();
    expect(errors).toEqual(['garbage collector: /configmaps/team/owned: the disk is on fire']);
    await put(namespace('next'));
    await settled();
    expect(cluster.store.get('/serviceaccounts/next/default')).toBeDefined();
    isBroken = false;
    cluster.clock.advance(60_000);
    await settled();
    expect(cluster.store.get('/configmaps/team/owned')).toBeUndefined();
  });
});

test('stopped housekeeping does nothing more', async () => {
  const { put, stop, get, settled } = world();
  stop();
  await put(namespace('team'));
  await settled();
  expect(get('serviceaccounts', 'team', 'default')).toBeUndefined();
});
