// Objects that are no longer placed, and that foreign finalizers keep on the member.
import { expect } from 'vitest';
import type { AppliedWork } from '../../src/api/applied-work.ts';
import { families } from '../../src/hub/families.ts';
import { changedAgainNotes } from '../../src/insight/explain/changed-again.ts';
import { configMap, type Delivery, DONE, scenario } from '../delivery.ts';

const MINUTE = 60_000;

const recorded = async (it: Delivery) => {
  const record = (await it.fleet.member('c1').get('appliedworks', undefined, it.workName())) as AppliedWork;
  return (record.status?.appliedResources ?? []).filter(({ kind }) => kind === 'ConfigMap').map(({ name }) => name);
};

scenario.for(families)(
  'an object that a foreign finalizer keeps stays on record, is named, and holds nothing up',
  { members: 1 },
  async (it) => {
    await it.give(configMap('one'), configMap('one', 'held'));
    await it.place();
    await it.runs();
    await it.patchOn('c1', 'configmaps', 'held', { metadata: { finalizers: ['example.com/backup'] } });
    await it.runs();
    await it.take('configmaps', 'held');
    await it.give(configMap('two'));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(await it.values()).toEqual({ c1: 'two' });
    expect((await it.find('c1', 'configmaps', 'held'))?.metadata.deletionTimestamp).toBeDefined();
    expect(await recorded(it)).toEqual(['app', 'held']);
    const notes = changedAgainNotes([await it.work('c1')].flatMap((each) => each ?? []));
    expect(notes).toEqual([
      'on cluster "c1": ConfigMap "shop/held" is no longer placed and is being deleted; it is kept by finalizer example.com/backup',
    ]);

    it.forget();
    await it.runs(20 * MINUTE);
    expect(it.writes()).toEqual({});

    // Once the finalizer is removed, no record of it remains.
    await it.patchOn('c1', 'configmaps', 'held', { metadata: { finalizers: null } });
    await it.runs();
    expect(await it.find('c1', 'configmaps', 'held')).toBeUndefined();
    expect(await recorded(it)).toEqual(['app']);
    expect(changedAgainNotes([await it.work('c1')].flatMap((each) => each ?? []))).toEqual([]);
  },
);

scenario.for(families)(
  'an object that a foreign finalizer keeps is placed again once it is gone',
  { members: 1 },
  async (it) => {
    await it.give(configMap('one'), configMap('one', 'held'));
    await it.place();
    await it.runs();
    await it.patchOn('c1', 'configmaps', 'held', { metadata: { finalizers: ['example.com/backup'] } });
    await it.take('configmaps', 'held');
    await it.runs();
    await it.give(configMap('two', 'held'));
    await it.runs();
    expect((await it.saidOf('c1'))['Applied']).toBe('False/NotAllWorkHaveBeenApplied');
    await it.patchOn('c1', 'configmaps', 'held', { metadata: { finalizers: null } });
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect((await it.find('c1', 'configmaps', 'held'))?.['data']).toEqual({ value: 'two' });
  },
);
