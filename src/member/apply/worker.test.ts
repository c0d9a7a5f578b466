// The real applier with a real hub and a real member in memory.
import { describe, expect, test } from 'vitest';
import { finalizers, labels } from '../../api/names.ts';
import { AbortError, ApiError, LostError } from '../../base/errors.ts';
import {
  aConfigMap,
  aDeployment,
  aNamespace,
  aRig,
  aWidget,
  type Meddle,
  PLACE,
  type Rig,
  twoVersions,
  widgets,
} from './applier.testing.ts';

/** An object on the member that can be an owner. */
async function anOwner(rig: Rig) {
  const { metadata } = await rig.member.create('configmaps', 'shop', { metadata: { name: 'owner' } });
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' };
}

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
    // The watch event contained the full Work, so nothing was read from the hub.
    expect(rig.gets).toEqual(['member get configmaps']);
    expect((await rig.find('configmaps', 'shop', 'settings'))?.['data']).toEqual({ a: '2' });
    const { metadata, status } = await rig.work('web-work');
    expect(status?.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([
      metadata.generation,
      metadata.generation,
    ]);
  });

  test('that has one manifest in another order of keys has the same desired hash for it', async () => {
    await using rig = await aRig();
    await rig.start();
    const { metadata, ...rest } = aConfigMap('one', { a: '1', b: '2' });
    await rig.order('web-work', [aNamespace('shop'), { metadata, ...rest }, aConfigMap('two', { a: '1' })]);
    await rig.settles();
    rig.gets.length = 0;
    rig.writes.length = 0;
    const reordered = { ...rest, data: { b: '2', a: '1' }, metadata };
    await rig.order('web-work', [aNamespace('shop'), reordered, aConfigMap('two', { a: '2' })]);
    await rig.settles();
    expect(rig.gets).toEqual(['member get configmaps']);
    expect(rig.writes.filter((write) => write.startsWith('member'))).toEqual(['member patch configmaps']);
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

describe('what is no longer wanted', () => {
  test('goes, and only that', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    await rig.member.create('configmaps', 'shop', { metadata: { name: 'foreign' }, data: { x: '1' } });
    await rig.order('web-work', [aConfigMap('a', {}), aConfigMap('b', {}), aConfigMap('c', {})]);
    await rig.settles();
    const shared = await anOwner(rig);
    const c = await rig.find('configmaps', 'shop', 'c');
    await rig.patch('configmaps', 'shop', 'c', {
      metadata: { ownerReferences: [...(c?.metadata.ownerReferences ?? []), shared] },
    });
    rig.writes.length = 0;
    await rig.order('web-work', [aConfigMap('a', {})], { applyStrategy: { allowCoOwnership: true } as never });
    await rig.settles();
    expect(await rig.find('configmaps', 'shop', 'a')).toBeDefined();
    expect(await rig.find('configmaps', 'shop', 'b')).toBeUndefined();
    expect((await rig.find('configmaps', 'shop', 'c'))?.metadata.ownerReferences).toEqual([shared]);
    expect(await rig.find('configmaps', 'shop', 'foreign')).toBeDefined();
    expect(Object.keys(await rig.verdicts('web-work'))).toEqual(['ConfigMap shop/a']);
  });

  test('goes also where the member serves its kind in another version by now', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aWidget]);
    await rig.member.create('customresourcedefinitions', undefined, twoVersions(true));
    await rig.settles();
    expect(await rig.find('widgets', 'shop', 'w')).toBeDefined();
    await rig.patch('customresourcedefinitions', undefined, 'widgets.example.com', twoVersions(false));
    await rig.order('web-work', [aNamespace('shop')]);
    await rig.settles();
    expect(await rig.find('widgets', 'shop', 'w')).toBeUndefined();
    expect(Object.keys(await rig.verdicts('web-work'))).toEqual(['Namespace shop']);
  });

  test('is not what only cannot be read just now', async () => {
    await using rig = await aRig();
    const { catalogue } = rig.member.running;
    let isOut = false;
    const flaky = {
      ...catalogue,
      byKind: (apiVersion: string, kind: string) =>
        isOut && kind === 'ConfigMap' ? undefined : catalogue.byKind(apiVersion, kind),
    };
    await rig.start({ catalogue: flaky });
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {})]);
    await rig.settles();
    isOut = true;
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { b: '1' })]);
    await rig.settles();
    expect(await rig.find('configmaps', 'shop', 'a')).toBeDefined();
    expect(await rig.verdicts('web-work')).toMatchObject({ 'ConfigMap shop/a': 'Applied=False/DecodingErred' });
    isOut = false;
    await rig.pass(1_100_000, 100_000);
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ b: '1' });
  });

  test('is not forgotten while the API server of its kind does not answer', async () => {
    await using rig = await aRig();
    const { catalogue } = rig.member.running;
    let isSilent = false;
    const ofWidgets = ({ group }: { readonly group: string }) => group === 'example.com';
    await rig.start({
      catalogue: {
        ...catalogue,
        get preferred() {
          return catalogue.preferred.filter((each) => !isSilent || !ofWidgets(each));
        },
        byKind(apiVersion, kind) {
          const found = catalogue.byKind(apiVersion, kind);
          return isSilent && found !== undefined && ofWidgets(found) ? undefined : found;
        },
        get unknown() {
          return isSilent ? ['example.com/v1'] : [];
        },
      },
    });
    await rig.member.create('customresourcedefinitions', undefined, widgets);
    await rig.order('web-work', [aNamespace('shop'), aWidget]);
    await rig.settles();
    isSilent = true;
    await rig.order('web-work', [aNamespace('shop')]);
    await rig.settles();
    expect(await rig.find('widgets', 'shop', 'w')).toBeDefined();
    expect((await rig.verdicts('web-work'))['Widget shop/w']).toBe('Applied=False/ManifestApplyFailed');
    isSilent = false;
    await rig.pass(1_100_000, 100_000);
    expect(await rig.find('widgets', 'shop', 'w')).toBeUndefined();
    expect(Object.keys(await rig.verdicts('web-work'))).toEqual(['Namespace shop']);
  });

  test('is remembered by the member when the Work’s status was lost', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {}), aConfigMap('b', {})]);
    await rig.settles();
    await rig.stop();
    await rig.hub.call({
      verb: 'patch',
      at: { ...rig.hub.at('works', PLACE, 'web-work'), subresource: 'status' },
      patch: { type: 'merge', body: { status: { conditions: [], manifestConditions: null } } },
      manager: 'hand',
    });
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {})]);
    await rig.start();
    expect(await rig.find('configmaps', 'shop', 'b')).toBeUndefined();
  });

  test('and will not go is named, and tried again until it does', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {}), aConfigMap('b', {})]);
    await rig.settles();
    rig.meddle = (who, { verb, at }) =>
      who === 'member' && verb === 'delete' && at.name === 'b'
        ? { before: new ApiError(403, 'Forbidden', 'a policy says no') }
        : undefined;
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {})]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toBe('Applied=False/SomeManifestsAreNotApplied');
    expect(await rig.messageOf('web-work', 2)).toBe(
      'ConfigMap "shop/b" is no longer wanted and cannot be removed: a policy says no',
    );
    await rig.stop();
    await rig.start();
    rig.meddle = undefined;
    await rig.pass(60_000, 5000);
    expect(await rig.find('configmaps', 'shop', 'b')).toBeUndefined();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });
});

describe('an object of somebody else', () => {
  const cases = [
    { it: 'is taken over', isOwned: false, strategy: {}, applied: 'Applied', data: { a: '1', theirs: 'x' } },
    {
      it: 'is left alone if told Never',
      isOwned: false,
      strategy: { whenToTakeOver: 'Never' },
      applied: 'NotTakenOver',
      data: { a: '0', theirs: 'x' },
    },
    {
      it: 'is left alone if it has an owner',
      isOwned: true,
      strategy: {},
      applied: 'FailedToTakeOver',
      data: { a: '0', theirs: 'x' },
    },
    {
      it: 'is shared if that is allowed',
      isOwned: true,
      strategy: { allowCoOwnership: true },
      applied: 'Applied',
      data: { a: '1', theirs: 'x' },
    },
  ];
  test.each(cases)('$it', async ({ isOwned, strategy, applied, data }) => {
    await using rig = await aRig();
    await rig.start();
    await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    const owners = isOwned ? [await anOwner(rig)] : [];
    await rig.member.create('configmaps', 'shop', {
      metadata: { name: 'a', ownerReferences: owners },
      data: { a: '0', theirs: 'x' },
    });
    await rig.order('web-work', [aConfigMap('a', { a: '1' })], { applyStrategy: strategy as never });
    await rig.settles();
    expect((await rig.verdicts('web-work'))['ConfigMap shop/a']).toContain(`/${applied}`);
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual(data);
    const ours = applied === 'Applied';
    const owned = (await rig.find('configmaps', 'shop', 'a'))?.metadata.ownerReferences ?? [];
    expect(owned.map(({ kind }) => kind).sort()).toEqual([
      ...(ours ? ['AppliedWork'] : []),
      ...owners.map(({ kind }) => kind),
    ]);
    // After the Work is deleted, the object stays unless only we owned it.
    await rig.remove('hub', 'works', PLACE, 'web-work');
    await rig.settles();
    expect((await rig.find('configmaps', 'shop', 'a')) !== undefined).toBe(!(ours && owners.length === 0));
  });

  test('placed by another Work is never shared, and taken over when that Work is gone', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('one-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    await rig.order('two-work', [aConfigMap('a', { a: '2' })], { applyStrategy: { allowCoOwnership: true } as never });
    await rig.settles();
    expect(await rig.verdicts('two-work')).toEqual({ 'ConfigMap shop/a': 'Applied=False/FailedToTakeOver' });
    expect(await rig.messageOf('two-work', 0)).toBe(
      'ConfigMap "shop/a" is already placed by another placement (AppliedWork "one-work"): let only one of them select it',
    );
    await rig.order('one-work', [aNamespace('shop')]);
    await rig.settles();
    expect(await rig.verdict('two-work')).toContain('Applied=True');
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ a: '2' });
  });

  test('whose AppliedWork lost its Work while the member was away is adopted', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('one-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    await rig.stop();
    await rig.hub.call({
      verb: 'patch',
      at: rig.hub.at('works', PLACE, 'one-work'),
      patch: { type: 'merge', body: { metadata: { finalizers: null } } },
      manager: 'hub',
    });
    await rig.remove('hub', 'works', PLACE, 'one-work');
    await rig.order('two-work', [aNamespace('shop'), aConfigMap('a', { a: '2' })]);
    await rig.start();
    expect(await rig.verdict('two-work')).toContain('Applied=True');
    const live = await rig.find('configmaps', 'shop', 'a');
    expect(live?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['two-work']);
  });
});

describe('a Work that goes', () => {
  test('takes what it placed with it, and then lets go', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {}), aDeployment('web', 'web:1')]);
    await rig.settles();
    rig.writes.length = 0;
    await rig.remove('hub', 'works', PLACE, 'web-work');
    await rig.settles();
    expect(rig.writes).toEqual(['member delete appliedworks', 'hub patch works']);
    expect(await rig.find('configmaps', 'shop', 'a')).toBeUndefined();
    expect(await rig.find('appliedworks', undefined, 'web-work')).toBeUndefined();
    await expect(rig.work('web-work')).rejects.toThrow('not found');
  });

  test('waits for what does not want to go', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [
      aNamespace('shop'),
      { ...aConfigMap('a', {}), metadata: { name: 'a', namespace: 'shop', finalizers: ['example.com/wait'] } },
    ]);
    await rig.settles();
    await rig.remove('hub', 'works', PLACE, 'web-work');
    await rig.pass(700_000, 100_000);
    expect((await rig.work('web-work')).metadata.deletionTimestamp).toBeDefined();
    await rig.patch('configmaps', 'shop', 'a', { metadata: { finalizers: null } });
    await rig.settles();
    await expect(rig.work('web-work')).rejects.toThrow('not found');
  });

  test('leaves what another Work of its binding was given before, though the watch has not told yet', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    await rig.order('web-work', [aDeployment('moved', 'web:1')]);
    await rig.order('web-0', [aConfigMap('other', {})]);
    for (const name of ['web-work', 'web-0']) {
      const body = { metadata: { labels: { [labels.parentPlacement]: 'web', [labels.parentBinding]: 'web-1' } } };
      const at = rig.hub.at('works', PLACE, name);
      await rig.hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'test' });
    }
    await rig.settles();
    const uid = (await rig.find('deployments', 'shop', 'moved'))?.metadata.uid;
    expect(uid).toBeDefined();
    let release = () => {};
    rig.heldBack = new Promise((resolve) => {
      release = resolve;
    });
    await rig.order('web-0', [aConfigMap('other', {}), aDeployment('moved', 'web:1')]);
    await rig.remove('hub', 'works', PLACE, 'web-work');
    // The response to its status patch shows it that its Work is being deleted.
    await rig.patch('deployments', 'shop', 'moved', { status: READY }, 'status');
    await rig.settles();
    rig.heldBack = undefined;
    release();
    await rig.pass(60_000, 10_000);
    expect((await rig.find('deployments', 'shop', 'moved'))?.metadata.uid).toBe(uid);
    await expect(rig.work('web-work')).rejects.toThrow('not found');
  });

  test('leaves everything while the member leaves, and takes it up again when it is back', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    const state = async (value: string) => {
      await rig.hub.call({
        verb: 'patch',
        at: rig.hub.at('internalmemberclusters', PLACE, 'east'),
        patch: { type: 'merge', body: { spec: { state: value } } },
        manager: 'hub',
      });
      await rig.settles();
    };
    await state('Leave');
    rig.writes.length = 0;
    await rig.order('web-work', [aNamespace('shop')]);
    await rig.settles();
    expect(rig.writes).toEqual([]);
    expect(await rig.find('configmaps', 'shop', 'a')).toBeDefined();
    await state('Join');
    expect(await rig.find('configmaps', 'shop', 'a')).toBeUndefined();
  });
});

describe('trouble', () => {
  const noisy = (answer: ApiError | LostError, times = 1): Meddle => {
    let left = times;
    return (who, { verb, at }) =>
      who === 'member' && verb === 'create' && at.resource.plural === 'configmaps' && left-- > 0
        ? { before: answer }
        : undefined;
  };

  test('a namespace that is missing is named, and the object follows when it comes', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aConfigMap('a', {})]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toBe('Applied=False/SomeManifestsAreNotApplied');
    expect(await rig.messageOf('web-work', 0)).toBe(
      'cannot create ConfigMap "shop/a": the member has no namespace "shop": a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly brings it, and this follows by itself',
    );
    await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });

  test('a kind that is not served is named, and the object follows when its definition comes', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aWidget, aNamespace('shop')]);
    await rig.settles();
    expect(await rig.verdicts('web-work')).toEqual({
      'Widget shop/w': 'Applied=False/DecodingErred',
      'Namespace shop': 'Applied=True/Applied Available=True/Available',
    });
    await rig.member.create('customresourcedefinitions', undefined, { metadata: widgets.metadata, spec: widgets.spec });
    await rig.settles();
    expect(await rig.verdicts('web-work')).toMatchObject({
      'Widget shop/w': 'Applied=True/Applied Available=True/NotTrackable',
    });
    expect(await rig.verdict('web-work')).toContain('Available=True/WorkNotTrackable');
  });

  test('a definition and its objects come and go in one Work', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aWidget, aNamespace('shop'), widgets]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    await rig.order('web-work', [aNamespace('shop')]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Available=True/AllManifestsAvailable');
    expect(await rig.find('customresourcedefinitions', undefined, 'widgets.example.com')).toBeUndefined();
  });

  test('a field that cannot be changed is named, with what can be done', async () => {
    await using rig = await aRig();
    await rig.start();
    const web = aDeployment('web', 'web:1');
    await rig.order('web-work', [aNamespace('shop'), web, aConfigMap('a', {})]);
    await rig.settles();
    const labels = { app: 'other' };
    const changed = aDeployment('web', 'web:2', {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: web.spec.template.spec },
    });
    await rig.order('web-work', [aNamespace('shop'), changed, aConfigMap('a', { b: '1' })]);
    await rig.settles();
    expect(await rig.messageOf('web-work', 1)).toMatch(
      /^cannot change Deployment "shop\/web": spec.selector cannot be changed .* delete it on the member so that it is created again$/,
    );
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ b: '1' });
    await rig.remove('member', 'deployments', 'shop', 'web');
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });

  test('a lost answer is looked up at once and nobody hears of it', async () => {
    await using rig = await aRig();
    await rig.start();
    rig.meddle = noisy(new LostError('gone'));
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {})]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    expect(rig.writes.filter((what) => what === 'hub patch works/status')).toHaveLength(2);
  });

  test('a create that happened although its answer was lost is not made twice', async () => {
    await using rig = await aRig();
    await rig.start();
    let lost = 0;
    rig.meddle = (who, { verb, at }) =>
      who === 'member' && verb === 'create' && at.resource.plural === 'configmaps' && lost++ === 0
        ? { after: new LostError('gone') }
        : undefined;
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {})]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    expect(rig.writes.filter((what) => what === 'member create configmaps')).toHaveLength(1);
  });

  test('a refusal is reported in the words of the server and tried again, ever more seldom', async () => {
    await using rig = await aRig();
    await rig.start();
    rig.meddle = noisy(new ApiError(403, 'Forbidden', 'a policy says no'), 1000);
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', {}), aConfigMap('b', {}, 'elsewhere')]);
    await rig.settles();
    expect(await rig.messageOf('web-work', 1)).toBe('the member refused ConfigMap "shop/a": a policy says no');
    rig.writes.length = 0;
    await rig.pass(600_000, 5000);
    const tries = rig.writes.filter((what) => what === 'member create configmaps').length;
    expect(tries).toBeGreaterThan(8);
    expect(tries).toBeLessThan(30);
    expect(rig.writes.filter((what) => what.startsWith('hub'))).toEqual([]);
    rig.meddle = undefined;
    await rig.pass(900_000, 10_000);
    expect(await rig.find('configmaps', 'shop', 'a')).toBeDefined();
  });

  test('a write that was refused is not sent again because the object’s status has changed', async () => {
    await using rig = await aRig();
    await rig.start();
    const web = aDeployment('web', 'web:1');
    await rig.order('web-work', [aNamespace('shop'), web]);
    await rig.settles();
    const labels = { app: 'other' };
    const { spec } = web.spec.template;
    const changed = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } };
    await rig.order('web-work', [aNamespace('shop'), aDeployment('web', 'web:1', changed)]);
    await rig.settles();
    const told = await rig.messageOf('web-work', 1);
    expect(told).toContain('spec.selector cannot be changed');
    rig.writes.length = 0;
    for (let i = 0; i < 100; i++) {
      await rig.patch('deployments', 'shop', 'web', { status: { ...READY, availableReplicas: i % 3 } }, 'status');
      await rig.settles();
    }
    expect(rig.writes).toEqual([]);
    // Changes of other fields do not trigger a retry either, but the status must name the generation that it describes.
    const { metadata } = await rig.patch('deployments', 'shop', 'web', { spec: { minReadySeconds: 3 } });
    await rig.settles();
    expect(rig.writes).toEqual(['hub patch works/status']);
    expect(await rig.messageOf('web-work', 1)).toBe(told);
    const [, entry] = (await rig.work('web-work')).status?.manifestConditions ?? [];
    expect(entry?.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([metadata.generation]);
    // A field that the manifest sets has changed, so the API server may accept the write now.
    rig.writes.length = 0;
    await rig.patch('deployments', 'shop', 'web', { spec: { replicas: 5 } });
    await rig.settles();
    expect(rig.writes).toContain('member patch deployments');
    // It is retried when its back-off ends.
    rig.writes.length = 0;
    await rig.pass(600_000, 5000);
    const tries = rig.writes.filter((what) => what === 'member patch deployments').length;
    expect(tries).toBeGreaterThan(4);
    expect(tries).toBeLessThan(20);
    await rig.order('web-work', [aNamespace('shop'), web]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    expect((await rig.find('deployments', 'shop', 'web'))?.spec).toMatchObject({ replicas: 2 });
  });

  test('an agent that dies between two applies goes on where it was', async () => {
    await using rig = await aRig();
    await rig.start();
    const manifests = [aNamespace('shop'), aConfigMap('a', {}), aDeployment('web', 'web:1')];
    rig.meddle = (who, { verb, at }) =>
      who === 'member' && verb === 'create' && at.resource.plural === 'deployments'
        ? { before: new AbortError('killed') }
        : undefined;
    await rig.order('web-work', manifests);
    await rig.settles();
    await rig.stop();
    expect((await rig.verdicts('web-work'))['ConfigMap shop/a']).toBe('Applied=False/PreparingToProcess');
    rig.meddle = undefined;
    // An object placed before the restart and no longer in the Work is deleted.
    await rig.order('web-work', [manifests[0], manifests[2]] as object[]);
    await rig.start();
    expect(await rig.find('configmaps', 'shop', 'a')).toBeUndefined();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });

  test('what was changed or deleted on the member is put right', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { a: '1' }), aConfigMap('b', {})]);
    await rig.settles();
    await rig.patch('configmaps', 'shop', 'a', { data: { a: '2', c: '3' } });
    await rig.remove('member', 'configmaps', 'shop', 'b');
    await rig.settles();
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ a: '1', c: '3' });
    expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
  });

  test('somebody who insists on something else is met ever more seldom', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    rig.writes.length = 0;
    for (let i = 0; i < 300; i++) {
      await rig.patch('configmaps', 'shop', 'a', { data: { a: 'theirs' } });
      await rig.pass(2000, 2000);
    }
    const patches = rig.writes.filter((what) => what === 'member patch configmaps').length;
    expect(patches).toBeGreaterThan(4);
    expect(patches).toBeLessThan(16);
    // One report when the correction is postponed, one when it is made.
    expect(rig.writes.length - patches).toBeLessThanOrEqual(2 * patches);
    await rig.pass(1_000_000, 10_000);
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ a: '1' });
  });

  test('an AppliedWork that somebody deletes is made anew, with all it owned', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    await rig.remove('member', 'appliedworks', undefined, 'web-work');
    await rig.pass(120_000, 5000);
    const record = await rig.find('appliedworks', undefined, 'web-work');
    const live = await rig.find('configmaps', 'shop', 'a');
    expect(live?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([record?.metadata.uid]);
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });

  test('a member that is away for a moment is no news, one that stays away is', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { a: '1' })]);
    await rig.settles();
    rig.meddle = (who) =>
      who === 'member' ? { before: new ApiError(503, 'ServiceUnavailable', 'not now') } : undefined;
    await rig.patch('configmaps', 'shop', 'a', { data: { a: '2' } });
    await rig.pass(6000, 500);
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    await rig.pass(120_000, 2000);
    expect(await rig.verdicts('web-work')).toMatchObject({
      'ConfigMap shop/a': 'Applied=False/FailedToFindObjInMemberCluster',
    });
    rig.meddle = undefined;
    await rig.pass(120_000, 2000);
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    expect((await rig.find('configmaps', 'shop', 'a'))?.['data']).toEqual({ a: '1' });
  });

  test('a member that was away for long gets what it missed as soon as it is back', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('settings', { a: '1' })]);
    await rig.settles();
    rig.link.isAway = true;
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('settings', { a: '2' })]);
    await rig.pass(14_400_000, 10_000);
    expect(await rig.messageOf('web-work', 1)).toContain('ECONNREFUSED');
    rig.link.isAway = false;
    // No longer than until the next attempt to open a watch.
    await rig.pass(30_000);
    expect((await rig.find('configmaps', 'shop', 'settings'))?.['data']).toEqual({ a: '2' });
    expect(await rig.verdict('web-work')).toBe('Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable');
  });

  test('a status that somebody changed by hand is put right', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop')]);
    await rig.settles();
    const body = { status: { conditions: [], manifestConditions: [] } };
    const at = { ...rig.hub.at('works', PLACE, 'web-work'), subresource: 'status' as const };
    await rig.hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'hand' });
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
  });
});

const aPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'a', namespace: 'shop' },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
};

const tolerant = (...tolerations: readonly object[]) => {
  const { metadata, spec } = aDeployment('a', 'web:1').spec.template;
  return { template: { metadata, spec: { ...spec, tolerations } } };
};

const aWidgetOf = (...list: readonly object[]) => ({
  ...aWidget,
  metadata: { name: 'a', namespace: 'shop' },
  spec: { parts: list },
});

describe('what somebody put into an entry of a list', () => {
  const cases = [
    {
      what: 'a peer of a policy',
      plural: 'networkpolicies',
      manifest: aPolicy,
      body: { ingress: [{ from: [{ podSelector: {}, namespaceSelector: {} }], ports: [{ port: 80 }] }] },
    },
    {
      what: 'a port of a policy',
      plural: 'networkpolicies',
      manifest: aPolicy,
      body: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80, endPort: 90 }] }] },
    },
    {
      what: 'a toleration',
      plural: 'deployments',
      manifest: aDeployment('a', 'web:1', tolerant({ key: 'a', operator: 'Exists' })),
      body: tolerant({ key: 'a', operator: 'Exists', effect: 'NoExecute' }),
    },
    {
      what: 'a part of an object of a kind of the user',
      plural: 'widgets',
      manifest: aWidgetOf({ name: 'one', size: 2 }),
      body: { parts: [{ name: 'one', size: 2, color: 'red' }] },
    },
  ];

  test.each(cases)('is taken out, once: $what', async ({ plural, manifest, body }) => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), widgets, manifest]);
    await rig.settles();
    const before = await rig.find(plural, 'shop', 'a');
    rig.writes.length = 0;
    await rig.patch(plural, 'shop', 'a', { spec: body });
    expect((await rig.find(plural, 'shop', 'a'))?.spec).not.toEqual(before?.spec);
    await rig.settles();
    expect((await rig.find(plural, 'shop', 'a'))?.spec).toEqual(before?.spec);
    await rig.pass(1_200_000, 60_000);
    await rig.stop();
    await rig.start();
    expect(rig.writes.filter((write) => write.startsWith('member'))).toEqual([`member patch ${plural}`]);
  });

  test.each(cases)(
    'is taken out by an agent that was not there when it came: $what',
    async ({ plural, manifest, body }) => {
      await using rig = await aRig();
      await rig.start();
      await rig.order('web-work', [aNamespace('shop'), widgets, manifest]);
      await rig.settles();
      const before = await rig.find(plural, 'shop', 'a');
      await rig.stop();
      await rig.patch(plural, 'shop', 'a', { spec: body });
      await rig.start();
      expect((await rig.find(plural, 'shop', 'a'))?.spec).toEqual(before?.spec);
    },
  );
});

describe('what a definition of the user fills into an entry of a list', () => {
  async function placed(): Promise<Rig> {
    const rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), widgets, aWidgetOf({ name: 'one' })]);
    await rig.settles();
    rig.writes.length = 0;
    return rig;
  }
  const partsOf = async (rig: Rig) =>
    ((await rig.find('widgets', 'shop', 'a')) as unknown as { spec: { parts: object[] } }).spec.parts;
  const paint = (rig: Rig) => rig.patch('widgets', 'shop', 'a', { spec: { parts: [{ name: 'one', color: 'red' }] } });
  const FILLED = [{ name: 'one', size: 1 }];

  test('costs nothing while the agent lives, and one request that changes nothing when it starts anew', async () => {
    await using rig = await placed();
    expect(await partsOf(rig)).toEqual(FILLED);
    await rig.pass(1_200_000, 60_000);
    expect(rig.writes).toEqual([]);
    const { metadata } = (await rig.find('widgets', 'shop', 'a')) ?? {};
    await rig.stop();
    await rig.start();
    await rig.pass(1_200_000, 60_000);
    expect(rig.writes).toEqual(['member patch widgets']);
    expect((await rig.find('widgets', 'shop', 'a'))?.metadata.resourceVersion).toBe(metadata?.resourceVersion);
  });

  test('is not taken for somebody who insists: what people do there is put right at once', async () => {
    await using rig = await placed();
    await rig.stop();
    await rig.start();
    for (let time = 0; time < 2; time++) {
      await paint(rig);
      await rig.settles();
      expect(await partsOf(rig)).toEqual(FILLED);
    }
  });

  test('is no matter when others add what is theirs', async () => {
    await using rig = await placed();
    await rig.patch('widgets', 'shop', 'a', { metadata: { labels: { b: 'theirs' } }, spec: { size: 3 } });
    await rig.settles();
    expect(rig.writes).toEqual(['hub patch works/status']);
    expect((await rig.find('widgets', 'shop', 'a'))?.spec).toEqual({ parts: FILLED, size: 3 });
  });
});

describe('the watches of the applier', () => {
  test('miss nothing that happens while the first pass is still reporting', async () => {
    await using rig = await aRig();
    await rig.start();
    // Both kinds are watched already.
    await rig.order('other-work', [aNamespace('shop'), aDeployment('other', 'web:1')]);
    await rig.settles();
    let reports = 0;
    let held: Promise<void> = Promise.resolve();
    const becomesReady = async () => {
      await rig.patch('deployments', 'shop', 'web', { status: READY }, 'status');
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    rig.meddle = (who, { at }) => {
      if (who !== 'hub' || at.subresource !== 'status' || ++reports !== 2) return undefined;
      held = becomesReady();
      return { hold: held };
    };
    await rig.order('web-work', [aDeployment('web', 'web:1')]);
    await rig.settles();
    await held;
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Available=True');
  });

  test('are few: one per kind, only of metadata', async () => {
    await using rig = await aRig();
    const manager = await rig.start();
    await rig.order('one-work', [
      aNamespace('shop'),
      aConfigMap('a', {}),
      aConfigMap('b', {}, 'other'),
      aNamespace('other'),
    ]);
    await rig.order('two-work', [aConfigMap('c', {})]);
    await rig.settles();
    expect(
      manager
        .state()
        .sources.map(({ name }) => name)
        .filter((name) => name.startsWith('member')),
    ).toEqual([
      'member/placement.kubernetes-fleet.io/v1beta1/appliedworks',
      // Shared with the heartbeat; together with the unscheduled Pods they show why a workload does not start.
      'member/v1/pods where spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed',
      'member/v1/pods where spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed',
      'member/v1/namespaces (metadata)',
      'member/v1/configmaps (metadata)',
    ]);
  });

  test('where they are forbidden, objects are placed all the same and looked at now and then', async () => {
    await using rig = await aRig();
    rig.refuseLists = (plural) => (plural === 'deployments' ? new ApiError(403, 'Forbidden', 'no list') : undefined);
    await rig.start();
    await rig.order('web-work', [aNamespace('shop'), aDeployment('web', 'web:1')]);
    await rig.settles();
    expect(await rig.verdict('web-work')).toContain('Applied=True');
    await rig.patch('deployments', 'shop', 'web', { status: READY }, 'status');
    await rig.pass(60_000, 2000);
    expect(await rig.verdict('web-work')).toContain('Available=True');
  });
});

describe('a deletion that is stuck', () => {
  test('is no longer held up by what others own too', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
    const shared = await anOwner(rig);
    const held = {
      ...aConfigMap('held', {}),
      metadata: { name: 'held', namespace: 'shop', finalizers: ['example.com/wait'] },
    };
    await rig.order('web-work', [aConfigMap('a', {}), held], { applyStrategy: { allowCoOwnership: true } as never });
    await rig.settles();
    const live = await rig.find('configmaps', 'shop', 'held');
    await rig.patch('configmaps', 'shop', 'held', {
      metadata: { ownerReferences: [...(live?.metadata.ownerReferences ?? []), shared] },
    });
    await rig.settles();
    // The member's garbage collector is slow.
    await rig.patch('appliedworks', undefined, 'web-work', { metadata: { finalizers: ['example.com/slow'] } });
    await rig.remove('hub', 'works', PLACE, 'web-work');
    await rig.settles();
    const again = await rig.find('configmaps', 'shop', 'held');
    const record = await rig.find('appliedworks', undefined, 'web-work');
    const ours = {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'AppliedWork',
      name: 'web-work',
      uid: record?.metadata.uid,
      blockOwnerDeletion: true,
    };
    await rig.patch('configmaps', 'shop', 'held', {
      metadata: {
        ownerReferences: [
          ...(again?.metadata.ownerReferences ?? []).filter(({ kind }) => kind !== 'AppliedWork'),
          ours,
        ],
      },
    });
    rig.writes.length = 0;
    await rig.pass(290_000, 10_000);
    expect(rig.writes).toEqual([]);
    await rig.pass(20_000, 10_000);
    expect(rig.writes.length).toBeLessThanOrEqual(1);
    const after = (await rig.find('configmaps', 'shop', 'held'))?.metadata.ownerReferences ?? [];
    expect(after.some(({ kind, blockOwnerDeletion }) => kind === 'AppliedWork' && blockOwnerDeletion === true)).toBe(
      false,
    );
    expect(after.map(({ kind }) => kind)).toContain('ConfigMap');
  });
});
