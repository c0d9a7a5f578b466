// Another client keeps deleting, replacing or changing a placed object: the agent corrects it with increasing delays,
// continues with all other objects, and reports the reason in the status.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { aConfigMap, aNamespace, aRig, type Rig } from './applier.testing.ts';

const NAME = 'web-work';
const ALL = 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable';
const GONE =
  /^ConfigMap "shop\/a" is deleted on the member repeatedly; it is created again at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const CHANGED =
  /^ConfigMap "shop\/a" is changed on the member repeatedly(?: by "somebody")?; it is corrected at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

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

async function change(rig: Rig, a = 'theirs'): Promise<void> {
  await rig.patch('configmaps', 'shop', 'a', { data: { a } });
  await rig.settles();
}

const sinceWhen = async (rig: Rig) =>
  (await rig.work(NAME)).status?.manifestConditions?.[1]?.conditions.map((each) => each.lastTransitionTime);

/** The agent sees the deletionTimestamp before the object is deleted. */
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
    await rig.patch('configmaps', 'shop', 'b', { data: { b: 'theirs' } });
    await rig.settles();
    expect((await rig.find('configmaps', 'shop', 'b'))?.['data']).toEqual({ b: '1' });
    // Only time passes.
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
    // One write for each creation and each deletion.
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
    // The new manifest starts its own count.
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
      /^ConfigMap "shop\/a" loses our owner reference on the member repeatedly; it is taken over again at .*Z$/,
    );
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.verdict(NAME)).toBe(ALL);
  });
});

describe('what is changed on the member again and again', () => {
  test('is said to be, until it is put back', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    await change(rig);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.messageOf(NAME, 1)).toBe('');
    const since = await sinceWhen(rig);
    await rig.pass(2000);
    rig.writes.length = 0;
    await change(rig);
    expect((await theMap(rig))?.['data']).toEqual({ a: 'theirs' });
    expect(await rig.messageOf(NAME, 1)).toMatch(CHANGED);
    expect(await rig.verdict(NAME)).toBe(ALL);
    expect((await rig.work(NAME)).status?.conditions?.map(({ message }) => message)).toEqual(['', '']);
    // Further changes during the wait cause no report.
    await change(rig, 'yet others');
    expect(rig.writes).toEqual(['hub patch works/status']);
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.messageOf(NAME, 1)).toBe('');
    expect(await sinceWhen(rig)).toEqual(since);
    expect(rig.writes).toEqual(['hub patch works/status', 'member patch configmaps', 'hub patch works/status']);
  });

  test('names the manager that does it, also where the server records none of its own process', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    await change(rig);
    await change(rig);
    expect((await theMap(rig))?.metadata.managedFields).toBeUndefined();
    await rig.pass(10_000);
    await change(rig, 'yet others');
    expect(await rig.messageOf(NAME, 1)).toContain(
      'is changed on the member repeatedly by "somebody"; it is corrected',
    );
    // From then on server-side apply takes its own fields and those that no manager owns.
    await rig.order(NAME, [aNamespace('shop'), aConfigMap('a', { a: '1' })], {
      applyStrategy: { type: 'ServerSideApply' } as never,
    });
    await rig.settles();
    expect(await rig.messageOf(NAME, 1)).toContain('.data.a is managed by "somebody"');
    await change(rig, '1');
    await rig.pass(3_600_000, 60_000);
    expect(await rig.verdict(NAME)).toBe(ALL);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
  });

  test('names the manager that does it with server-side apply and force, and no manager that owns something else', async () => {
    await using rig = await aRig();
    await rig.start();
    const forced = { applyStrategy: { type: 'ServerSideApply', serverSideApplyConfig: { force: true } } as never };
    await rig.order(NAME, [aNamespace('shop'), aConfigMap('a', { a: '1', b: '1' })], forced);
    await rig.settles();
    // Owns one field together with us, and another one alone.
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: '1', c: '1' } };
    const at = rig.member.at('configmaps', 'shop', 'a');
    await rig.member.call({ verb: 'patch', at, patch: { type: 'apply', body }, manager: 'helper' });
    await rig.settles();
    for (let i = 0; i < 2; i++) await change(rig);
    expect((await theMap(rig))?.['data']).toEqual({ a: 'theirs', b: '1', c: '1' });
    expect(await rig.messageOf(NAME, 1)).toContain(
      'is changed on the member repeatedly by "somebody"; it is corrected at',
    );
    expect((await rig.work(NAME)).status?.manifestConditions?.[1]?.cause).toEqual({
      code: 'ChangedRepeatedly',
      by: '"somebody"',
    });
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1', b: '1', c: '1' });
    expect(await rig.messageOf(NAME, 1)).toBe('');
  });

  test('is no longer said to be when somebody has put it back', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    await change(rig);
    await change(rig);
    expect(await rig.messageOf(NAME, 1)).toMatch(CHANGED);
    await change(rig, '1');
    expect(await rig.messageOf(NAME, 1)).toBe('');
  });
});

describe('a new order', () => {
  const next = (rig: Rig, b: string) =>
    rig.order(NAME, [aNamespace('shop'), aConfigMap('a', { a: '1' }), aConfigMap('b', { b })]);

  test.each([
    { what: 'was deleted', undo: remove, written: 'member create configmaps' },
    { what: 'was changed', undo: change, written: 'member patch configmaps' },
  ])('puts right at once what $what again and again, and once only', async ({ undo, written }) => {
    await using rig = await placed(aConfigMap('a', { a: '1' }), aConfigMap('b', { b: '1' }));
    for (let i = 0; i < 2; i++) await undo(rig);
    expect((await theMap(rig))?.['data']).not.toEqual({ a: '1' });
    await next(rig, '2');
    await rig.settles();
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.verdict(NAME)).toBe(ALL);
    expect(await rig.messageOf(NAME, 1)).toBe('');
    // The delay continues to grow: this was the second time.
    rig.writes.length = 0;
    await undo(rig);
    await rig.pass(5000);
    expect(rig.writes).not.toContain(written);
    await rig.pass(6000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
  });

  test('writes nothing to what is as it should be, whatever was done to it before', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }), aConfigMap('b', { b: '1' }));
    await change(rig);
    rig.writes.length = 0;
    rig.gets.length = 0;
    await next(rig, '2');
    await rig.settles();
    expect(rig.writes.filter((what) => what.startsWith('member'))).toEqual(['member patch configmaps']);
    expect(rig.gets.filter((what) => what === 'member get configmaps')).toHaveLength(1);
  });

  test('to a member that has no time for a moment puts right as soon as it has', async () => {
    await using rig = await placed(aConfigMap('a', { a: '1' }));
    for (let i = 0; i < 4; i++) {
      await change(rig);
      await rig.pass(i * 10_000);
    }
    await change(rig);
    expect(await rig.messageOf(NAME, 1)).toMatch(CHANGED);
    busy(rig);
    rig.gets.length = 0;
    const shop = { ...aNamespace('shop'), metadata: { name: 'shop', labels: { team: 'web' } } };
    await rig.order(NAME, [shop, aConfigMap('a', { a: '1' })]);
    await rig.settles();
    expect(rig.gets.filter((what) => what === 'member get configmaps')).toHaveLength(1);
    expect(await rig.messageOf(NAME, 1)).toMatch(CHANGED);
    expect((await theMap(rig))?.['data']).toEqual({ a: 'theirs' });
    rig.meddle = undefined;
    await rig.pass(3000);
    expect((await theMap(rig))?.['data']).toEqual({ a: '1' });
    expect(await rig.messageOf(NAME, 1)).toBe('');
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
