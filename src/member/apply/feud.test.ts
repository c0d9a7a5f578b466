// Somebody keeps deleting, replacing or changing what is placed: it is put right ever more seldom, all else goes on, and the status says why.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { aConfigMap, aNamespace, aRig, type Rig } from './applier.testing.ts';

const NAME = 'web-work';
const ALL = 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable';
const GONE =
  /^ConfigMap "shop\/a" is deleted on the member again and again; it is created anew at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const held = (data: Record<string, string>) => ({
  ...aConfigMap('a', data),
  metadata: { name: 'a', namespace: 'shop', finalizers: ['example.com/wait'] },
});

async function placed(...manifests: readonly object[]): Promise<Rig> {
  const rig = await aRig();
  await rig.start();
  await rig.order(NAME, [aNamespace('shop'), ...manifests]);
  await rig.settles();
  return rig;
}

const theMap = (rig: Rig) => rig.find('configmaps', 'shop', 'a');
const creates = (rig: Rig) => rig.writes.filter((what) => what === 'member create configmaps').length;

async function remove(rig: Rig): Promise<void> {
  await rig.remove('member', 'configmaps', 'shop', 'a');
  await rig.settles();
}

/** It is seen on its way out before it is gone. */
async function removeSlowly(rig: Rig): Promise<void> {
  await remove(rig);
  await rig.patch('configmaps', 'shop', 'a', { metadata: { finalizers: null } });
  await rig.settles();
}

const busy = (rig: Rig) => {
  rig.meddle = (who, { at }) =>
    who === 'member' && at.resource.plural === 'configmaps'
      ? { before: new ApiError(503, 'ServiceUnavailable', 'not now') }
      : undefined;
};

describe('what is deleted on the member', () => {
  test.each([
    { how: 'at once', manifest: aConfigMap('a', { a: '1' }), remove },
    { how: 'slowly', manifest: held({ a: '1' }), remove: removeSlowly },
  ])('again and again, $how, waits for its time and stops nothing else', async ({ manifest, remove }) => {
    await using rig = await placed(manifest, aConfigMap('b', { b: '1' }));
    await remove(rig);
    expect(await theMap(rig)).toBeDefined();
    await remove(rig);
    expect(await theMap(rig)).toBeUndefined();
    expect(await rig.messageOf(NAME, 1)).toMatch(GONE);
    expect(await rig.verdict(NAME)).toBe('Applied=False/SomeManifestsAreNotApplied');
    await rig.order(NAME, [aNamespace('shop'), manifest, aConfigMap('b', { b: '2' })]);
    await rig.settles();
    expect((await rig.find('configmaps', 'shop', 'b'))?.['data']).toEqual({ b: '2' });
    // Nothing happens there but the time.
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.verdict(NAME)).toBe(ALL);
  });

  test.each([
    { how: 'at once', manifest: aConfigMap('a', { a: '1' }), remove },
    { how: 'slowly', manifest: held({ a: '1' }), remove: removeSlowly },
  ])('by somebody who never tires, $how, comes back ever more seldom', async ({ manifest, remove }) => {
    await using rig = await placed(manifest);
    rig.writes.length = 0;
    for (let i = 0; i < 300; i++) {
      if ((await theMap(rig)) !== undefined) await remove(rig);
      await rig.pass(4000, 4000);
    }
    expect(creates(rig)).toBeGreaterThan(4);
    expect(creates(rig)).toBeLessThan(16);
    expect(await rig.messageOf(NAME, 1)).toMatch(GONE);
    // One for each time that it came and each time that it went.
    expect(rig.writes.filter((what) => what === 'hub patch works/status').length).toBeLessThan(50);
    await rig.pass(1_000_000, 10_000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
  });

  test('again and again is created at once if something else is wanted', async () => {
    await using rig = await placed(held({ a: '1' }));
    await removeSlowly(rig);
    await removeSlowly(rig);
    expect(await theMap(rig)).toBeUndefined();
    await rig.order(NAME, [aNamespace('shop'), held({ a: '2' })]);
    await rig.settles();
    expect((await theMap(rig))?.['data']).toEqual({ a: '2' });
    // And that has a history of its own.
    await removeSlowly(rig);
    expect((await theMap(rig))?.['data']).toEqual({ a: '2' });
  });

  test('again after a long peace is created at once', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    for (let i = 0; i < 2; i++) {
      await remove(rig);
      await rig.pass(10_000);
    }
    await rig.pass(2_000_000, 100_000);
    for (let i = 0; i < 2; i++) {
      await remove(rig);
      expect(await theMap(rig)).toBeDefined();
    }
  });

  test('again and again, and is made by somebody else in between, is no success of ours', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    await remove(rig);
    await remove(rig);
    await rig.member.create('configmaps', 'shop', { metadata: { name: 'a' }, data: { a: 'theirs' } });
    await rig.settles();
    expect((await theMap(rig))?.['data']).toEqual({ a: 'theirs' });
    expect(await rig.messageOf(NAME, 1)).toMatch(
      /^ConfigMap "shop\/a" is taken from us on the member again and again; it is taken over anew at .*Z$/,
    );
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.verdict(NAME)).toBe(ALL);
  });
});

describe('a member that has no time for a moment', () => {
  test('gets what it has lost as soon as it has', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    busy(rig);
    await rig.patch('configmaps', 'shop', 'a', { data: { a: '2' } });
    await rig.settles();
    rig.meddle = undefined;
    await remove(rig);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.verdict(NAME)).toBe(ALL);
  });

  test('gets what was changed there as soon as it has', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    busy(rig);
    await rig.patch('configmaps', 'shop', 'a', { data: { a: '2' } });
    await rig.settles();
    rig.meddle = undefined;
    await rig.patch('configmaps', 'shop', 'a', { data: { a: '3' } });
    await rig.settles();
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
  });

  test('does not end a quarrel by that', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    rig.writes.length = 0;
    for (let i = 0; i < 300; i++) {
      if (i % 5 === 0) busy(rig);
      await rig.patch('configmaps', 'shop', 'a', { data: { a: 'theirs' } });
      await rig.settles();
      rig.meddle = undefined;
      await rig.pass(2000, 2000);
    }
    const writes = rig.writes.filter((what) => what === 'member patch configmaps').length;
    expect(writes).toBeGreaterThan(4);
    expect(writes).toBeLessThan(16);
  });
});
