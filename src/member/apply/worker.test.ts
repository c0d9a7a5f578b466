// The applier as it runs: a real hub and a real member in memory.
import { describe, expect, test } from 'vitest';
import { finalizers } from '../../api/names.ts';
import { aConfigMap, aDeployment, aNamespace, aRig, PLACE } from './applier.testing.ts';

const READY = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };

describe('an order to a member', () => {
  test('becomes objects with our marks, in so many writes', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aConfigMap('settings', { a: '1' }), aNamespace('shop')]);
    await rig.settles();
    expect(rig.writes).toEqual([
      'hub patch works',
      'member create appliedworks',
      'hub patch works/status',
      'member create namespaces',
      'member create configmaps',
      'hub patch works/status',
      'member patch appliedworks/status',
    ]);
    expect(await rig.verdict('web-work')).toBe('Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable');
    const record = await rig.find('appliedworks', undefined, 'web-work');
    const live = await rig.find('configmaps', 'shop', 'settings');
    expect(live?.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
        kind: 'AppliedWork',
        name: 'web-work',
        uid: record?.metadata.uid,
        blockOwnerDeletion: true,
      },
    ]);
    expect(Object.keys(live?.metadata.annotations ?? {}).sort()).toEqual([
      'kubernetes-fleet.io/last-applied-configuration',
      'kubernetes-fleet.io/spec-hash',
    ]);
    expect(record?.spec).toEqual({ workName: 'web-work', workNamespace: PLACE });
    expect(record?.status).toMatchObject({
      appliedResources: [{ kind: 'ConfigMap', uid: live?.metadata.uid }, { kind: 'Namespace' }],
    });
    expect((await rig.work('web-work')).metadata.finalizers).toEqual([finalizers.workCleanup]);
  });

  test('that changes data costs two writes of the status and one of the object', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('settings', { a: '1', b: '2' })]);
    await rig.settles();
    rig.writes.length = 0;
    rig.gets.length = 0;
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('settings', { a: '2' })]);
    await rig.settles();
    expect(rig.writes).toEqual(['hub patch works/status', 'member patch configmaps', 'hub patch works/status']);
    expect(rig.gets.filter((what) => what.startsWith('member'))).toEqual(['member get configmaps']);
    expect((await rig.find('configmaps', 'shop', 'settings'))?.['data']).toEqual({ a: '2' });
    const { metadata, status } = await rig.work('web-work');
    expect(status?.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([
      metadata.generation,
      metadata.generation,
    ]);
  });

  test('for a Deployment costs one more, when it has become available', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aDeployment('web', 'web:1')]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toBe(
      'Applied=True/AllManifestsApplied Available=False/SomeManifestsAreNotAvailable',
    );
    rig.writes.length = 0;
    rig.gets.length = 0;
    await rig.patch(
      'deployments',
      'shop',
      'web',
      { status: { ...READY, availableReplicas: 1, unavailableReplicas: 1 } },
      'status',
    );
    await rig.settles();
    expect(rig.writes).toEqual([]);
    await rig.patch('deployments', 'shop', 'web', { status: { ...READY, unavailableReplicas: null } }, 'status');
    await rig.settles();
    expect(rig.writes).toEqual(['hub patch works/status']);
    expect(rig.gets).toEqual(['member get deployments', 'member get deployments']);
    expect(await rig.verdict('web-work')).toBe('Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable');
  });

  test('that says the same again costs nothing, and neither does a restart or the safety look', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('settings', { a: '1' }), aDeployment('web', 'web:1')]);
    await rig.settles();
    rig.writes.length = 0;
    await rig.pass(1_200_000, 60_000);
    await rig.stop();
    await rig.start();
    expect(rig.writes).toEqual([]);
  });
});
