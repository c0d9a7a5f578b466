import { describe, expect, test } from 'vitest';
import type { AppliedWork } from '../../api/applied-work.ts';
import { work } from '../../api/work.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import type { AgentWork } from '../sources.ts';
import { aConfigMap, aNamespace, aRig, aWidget, PLACE, type Rig, twoVersions } from './applier.testing.ts';
import { endWork } from './deletion.ts';
import { ownerReferenceTo } from './wanted.ts';

const NAME = 'web-work';

/** A Work that was applied and is being deleted, while its agent is stopped. */
async function aGoingWork(): Promise<Rig> {
  const rig = await aRig();
  await rig.start();
  await rig.order(NAME, [aNamespace('shop'), aConfigMap('a', {})]);
  await rig.settles();
  await rig.stop();
  await rig.remove('hub', 'works', PLACE, NAME);
  return rig;
}

/** The calls of an agent that knows only this AppliedWork of the member. */
async function ended(rig: Rig, record: AppliedWork | undefined) {
  const calls: string[] = [];
  const client: WorkerClient = {
    call(on, request) {
      calls.push(`${on} ${request.verb} ${request.at.resource.plural}`);
      return (on === 'hub' ? rig.hub : rig.member).call(request);
    },
    record: () => {},
    signal: new AbortController().signal,
  };
  const item = (await rig.hub.get(work.plural, PLACE, NAME)) as unknown as AgentWork;
  const { catalogue } = rig.member.running;
  const whole = () => Promise.resolve(undefined);
  const { because } = await endWork(client, { item, record, whole, catalogue, patienceMs: 1000, now: rig.clock.now() });
  await rig.settles();
  return { calls, because };
}

describe('an agent whose watch of the member is behind', () => {
  test('does not take a record for gone that it has not heard of', async () => {
    await using rig = await aGoingWork();
    const first = await ended(rig, undefined);
    const ofRecord = first.calls.filter((call) => call.endsWith(' appliedworks'));
    expect(ofRecord).toEqual(['member get appliedworks', 'member delete appliedworks']);
    expect(await rig.find('configmaps', 'shop', 'a')).toBeUndefined();
    await ended(rig, undefined);
    await expect(rig.work(NAME)).rejects.toThrow('not found');
  });

  test('keeps the Work as long as something is there', async () => {
    await using rig = await aGoingWork();
    await rig.patch('configmaps', 'shop', 'a', { metadata: { finalizers: ['example.com/wait'] } });
    expect((await ended(rig, undefined)).because).toBe('waits until all placed objects are deleted');
    expect((await ended(rig, undefined)).because).toBe('waits until all placed objects are deleted');
    expect((await rig.work(NAME)).metadata.finalizers).toHaveLength(1);
  });

  test.each(['known', 'not heard of yet'])('leaves the record of another hub alone, which is %s', async (how) => {
    await using rig = await aGoingWork();
    await rig.remove('member', 'appliedworks', undefined, NAME);
    await rig.settles();
    const foreign = await rig.member.create('appliedworks', undefined, {
      metadata: { name: NAME },
      spec: { workName: NAME, workNamespace: 'fleet-member-elsewhere' },
    });
    const { calls } = await ended(rig, how === 'known' ? (foreign as AppliedWork) : undefined);
    expect(calls).not.toContain('member delete appliedworks');
    expect((await rig.find('appliedworks', undefined, NAME))?.metadata.uid).toBe(foreign.metadata.uid);
    await expect(rig.work(NAME)).rejects.toThrow('not found');
  });
});

test('a deletion that is stuck is not held up by what others own too, in whatever version that is served by now', async () => {
  await using rig = await aRig();
  await rig.start();
  await rig.member.create('customresourcedefinitions', undefined, twoVersions(true));
  await rig.order(NAME, [aNamespace('shop'), aWidget]);
  await rig.settles();
  await rig.stop();
  await rig.patch('customresourcedefinitions', undefined, 'widgets.example.com', twoVersions(false));
  // The member's garbage collector is slow and has not deleted the widget yet.
  await rig.patch('appliedworks', undefined, NAME, { metadata: { finalizers: ['example.com/slow'] } });
  const other = await rig.member.create('configmaps', 'shop', { metadata: { name: 'other' } });
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other.metadata.uid ?? '' };
  await rig.patch('widgets', 'shop', 'w', { metadata: { ownerReferences: [theirs] } });
  await rig.remove('hub', 'works', PLACE, NAME);
  await rig.remove('member', 'appliedworks', undefined, NAME);
  await rig.settles();
  const record = (await rig.find('appliedworks', undefined, NAME)) as AppliedWork;
  const ours = ownerReferenceTo(NAME, record.metadata.uid ?? '');
  await rig.patch('widgets', 'shop', 'w', { metadata: { ownerReferences: [theirs, ours] } });
  await rig.pass(2000);
  expect((await ended(rig, record)).because).toBe('the deletion is stuck; 1 objects no longer block it');
  const { metadata } = (await rig.find('widgets', 'shop', 'w')) ?? {};
  expect(metadata?.ownerReferences).toEqual([theirs, { ...ours, blockOwnerDeletion: false }]);
});
