// comparePatches against a real member: what a client changes there stays, costs no write of ours, and nothing fights over it.
import { describe, expect, test } from 'vitest';
import { annotations } from '../../api/names.ts';
import { aConfigMap, aNamespace, aRig, type Rig } from './applier.testing.ts';

const ofA = (patch: object, more: object = {}) =>
  ({
    applyStrategy: { ...more, comparePatches: [{ kind: 'ConfigMap', name: 'a', ...patch }] },
  }) as never;

const dataOf = async (rig: Rig) => (await rig.find('configmaps', 'shop', 'a'))?.['data'];
const drifts = async (rig: Rig) =>
  ((await rig.work('web-work')).status?.manifestConditions ?? []).flatMap(({ driftDetails }) =>
    (driftDetails?.observedDrifts ?? []).map(({ path }) => path),
  );
const DONE = 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable';

const forced = (type: string) => (type === 'ServerSideApply' ? { serverSideApplyConfig: { force: true } } : {});

describe.each([{ type: 'ClientSideApply' }, { type: 'ServerSideApply' }])('with $type', ({ type }) => {
  test('a field stays as others set it, the fields beside it are put back', async () => {
    await using rig = await aRig();
    await rig.start();
    const spec = ofA({ jsonPointers: ['/data/size'] }, { type, ...forced(type) });
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { size: '1', color: 'red' })], spec);
    await rig.settles();
    for (const size of ['2', '3', '4', '5']) {
      await rig.patch('configmaps', 'shop', 'a', { data: { size } });
      await rig.settles();
      expect(await dataOf(rig)).toEqual({ size, color: 'red' });
      // With server-side apply the first change of another client moves the ownership of the field.
      if (size === '2') rig.writes.splice(0);
    }
    expect(rig.writes).toEqual([]);
    await rig.patch('configmaps', 'shop', 'a', { data: { size: null } });
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ color: 'red' });
    await rig.pass(10_000);
    await rig.patch('configmaps', 'shop', 'a', { data: { size: '7', color: 'blue' } });
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ size: '7', color: 'red' });
    expect(await rig.verdict('web-work')).toBe(DONE);
    expect(await rig.messageOf('web-work', 1)).toBe('');

    // An agent that starts anew finds the same.
    await rig.stop();
    await rig.start();
    expect(await dataOf(rig)).toEqual({ size: '7', color: 'red' });
  });

  test('an edit that was reported is none any more as soon as the rule is there, and one again without it', async () => {
    await using rig = await aRig();
    await rig.start();
    const manifests = [aNamespace('shop'), aConfigMap('a', { size: '1', color: 'red' })];
    await rig.order('web-work', manifests, { applyStrategy: { type, whenToApply: 'OnRevision' } as never });
    await rig.settles();
    await rig.patch('configmaps', 'shop', 'a', { data: { size: '2', color: 'blue' } });
    await rig.settles();
    expect(await drifts(rig)).toEqual(['/data/color', '/data/size']);
    await rig.order(
      'web-work',
      manifests,
      ofA({ operations: [{ op: 'remove', path: '/data/size' }] }, { type, whenToApply: 'OnRevision' }),
    );
    await rig.settles();
    expect(await drifts(rig)).toEqual(['/data/color']);
    expect(await dataOf(rig)).toEqual({ size: '2', color: 'blue' });
    await rig.order('web-work', manifests, { applyStrategy: { type, comparePatches: null } as never });
    await rig.settles();
    expect(await drifts(rig)).toEqual(['/data/color', '/data/size']);
    expect(await rig.verdict('web-work')).toBe(DONE);
  });

  test('a new manifest is applied to an object whose fields were left', async () => {
    await using rig = await aRig();
    await rig.start();
    const spec = ofA({ jsonPointers: ['/data/size'] }, { type });
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { size: '1', color: 'red' })], spec);
    await rig.settles();
    await rig.patch('configmaps', 'shop', 'a', { data: { size: '2' } });
    await rig.settles();
    await rig.order('web-work', [aNamespace('shop'), aConfigMap('a', { size: '3', color: 'blue' })]);
    await rig.settles();
    // Without force the field belongs to whoever changed it.
    expect(await dataOf(rig)).toEqual({ size: type === 'ServerSideApply' ? '2' : '3', color: 'blue' });
    expect(await rig.verdict('web-work')).toBe(DONE);
  });
});

describe.each([{ type: 'ClientSideApply' }, { type: 'ServerSideApply' }])(
  'annotations of Kubernetes, with $type',
  ({ type }) => {
    const TARGET = 'nginx.ingress.kubernetes.io/rewrite-target';
    const manifests = (target: string) => [
      aNamespace('shop'),
      {
        ...aConfigMap('a', { size: '1' }),
        metadata: { name: 'a', namespace: 'shop', annotations: { [TARGET]: target } },
      },
    ];
    const targetOf = async (rig: Rig) => (await rig.find('configmaps', 'shop', 'a'))?.metadata.annotations?.[TARGET];
    const spec = ofA({ jsonPointers: ['/metadata/annotations', '/data/size'] }, { type, ...forced(type) });

    test('are written with a new manifest, and then left to the member', async () => {
      await using rig = await aRig();
      await rig.start();
      await rig.order('web-work', manifests('/v1'), spec);
      await rig.settles();
      await rig.order('web-work', manifests('/v2'));
      await rig.settles();
      expect(await targetOf(rig)).toBe('/v2');
      await rig.patch('configmaps', 'shop', 'a', {
        metadata: { annotations: { [TARGET]: '/mine' } },
        data: { size: '2' },
      });
      await rig.settles();
      await rig.stop();
      await rig.start();
      expect(await targetOf(rig)).toBe('/mine');
      expect(await dataOf(rig)).toEqual({ size: '2' });
      await rig.order('web-work', manifests('/v3'));
      await rig.settles();
      expect(await targetOf(rig)).toBe('/v3');
      expect(await rig.verdict('web-work')).toBe(DONE);
    });

    test('are written although the rule is as new as the manifest', async () => {
      await using rig = await aRig();
      await rig.start();
      await rig.order('web-work', manifests('/v1'), { applyStrategy: { type } as never });
      await rig.settles();
      await rig.order('web-work', manifests('/v2'), spec);
      await rig.settles();
      expect(await targetOf(rig)).toBe('/v2');
      await rig.patch('configmaps', 'shop', 'a', { metadata: { annotations: { [TARGET]: '/mine' } } });
      await rig.settles();
      expect(await targetOf(rig)).toBe('/mine');
      const marksOf = async () => Object.keys((await rig.find('configmaps', 'shop', 'a'))?.metadata.annotations ?? {});
      expect((await marksOf()).includes(annotations.metadataHash)).toBe(type === 'ServerSideApply');
      await rig.order('web-work', manifests('/v2'), { applyStrategy: { type, comparePatches: null } as never });
      await rig.settles();
      expect(await targetOf(rig)).toBe('/v2');
      expect(await marksOf()).not.toContain(annotations.metadataHash);
    });
  },
);

describe('an object that may be missing', () => {
  const MISSING = ofA({ operations: [{ op: 'ignore' }] });
  const manifests = (value: string) => [
    aNamespace('shop'),
    aConfigMap('a', { value }),
    aConfigMap('b', { value: '1' }),
  ];

  test('is created, stays deleted when it is deleted, and is created again with a new manifest', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', manifests('1'), MISSING);
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ value: '1' });
    for (const name of ['a', 'b']) await rig.remove('member', 'configmaps', 'shop', name);
    await rig.settles();
    expect(await dataOf(rig)).toBeUndefined();
    expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
    expect(await rig.verdict('web-work')).toBe(DONE);
    expect(await rig.messageOf('web-work', 1)).toBe(
      'ConfigMap "shop/a" was deleted on the member; comparePatches leave it deleted until its manifest changes',
    );

    await rig.stop();
    await rig.start();
    await rig.pass(20 * 60_000, 60_000);
    expect(await dataOf(rig)).toBeUndefined();

    await rig.order('web-work', manifests('2'));
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ value: '2' });
    await rig.remove('hub', 'works', 'fleet-member-east', 'web-work');
    await rig.settles();
    expect(await dataOf(rig)).toBeUndefined();
  });

  test('is created although a report named it before', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', [aNamespace('shop')], MISSING);
    await rig.settles();
    await rig.order('web-work', [aNamespace('shop')], { applyStrategy: { type: 'ReportDiff' } as never });
    await rig.order('web-work', manifests('1'));
    await rig.settles();
    expect(await dataOf(rig)).toBeUndefined();
    await rig.order('web-work', manifests('1'), { applyStrategy: { type: 'ClientSideApply' } as never });
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ value: '1' });
    expect(await rig.verdict('web-work')).toContain('Available=True/AllManifestsAvailable');
  });

  test('is created again without the rule', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', manifests('1'), MISSING);
    await rig.settles();
    await rig.remove('member', 'configmaps', 'shop', 'a');
    await rig.settles();
    expect(await dataOf(rig)).toBeUndefined();
    await rig.order('web-work', manifests('1'), { applyStrategy: { comparePatches: null } as never });
    await rig.settles();
    expect(await dataOf(rig)).toEqual({ value: '1' });
  });
});

describe('forceSyncGeneration', () => {
  const forced = (forceSyncGeneration: number) =>
    ({
      applyStrategy: {
        whenToApply: 'OnRevision',
        comparePatches: [{ jsonPointers: ['/data/size'] }, { name: 'b', operations: [{ op: 'ignore' }] }],
        ...(forceSyncGeneration === 0 ? {} : { forceSyncGeneration }),
      },
    }) as never;
  const manifests = [aNamespace('shop'), aConfigMap('a', { size: '1', color: 'red' }), aConfigMap('b', { value: '1' })];

  test('another number writes what was left to the member, once', async () => {
    await using rig = await aRig();
    await rig.start();
    await rig.order('web-work', manifests, forced(0));
    await rig.settles();
    const drift = async () => {
      await rig.patch('configmaps', 'shop', 'a', { data: { size: '2', color: 'blue' } });
      await rig.remove('member', 'configmaps', 'shop', 'b');
      await rig.settles();
      expect(await dataOf(rig)).toEqual({ size: '2', color: 'blue' });
      expect(await rig.find('configmaps', 'shop', 'b')).toBeUndefined();
    };
    for (const number of [1, 2]) {
      await drift();
      await rig.order('web-work', manifests, forced(number));
      await rig.settles();
      expect(await dataOf(rig)).toEqual({ size: '1', color: 'red' });
      expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
    }
    await drift();
    // An agent that starts anew knows that the number has been applied.
    await rig.stop();
    await rig.start();
    expect(await dataOf(rig)).toEqual({ size: '2', color: 'blue' });
    expect(await rig.find('configmaps', 'shop', 'b')).toBeUndefined();
    expect(await rig.verdict('web-work')).toBe(DONE);
  });
});
