// Objects that other clients changed or created before: drift, differences, take-over, and reports without a write.
import { describe, expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { families } from '../../src/hub/families.ts';
import type { TestCluster } from '../cluster.ts';
import { configMap, type Delivery, DONE, SHOP, scenario } from '../delivery.ts';

const MINUTE = 60_000;

const before = {
  members: 1,
  async prepare(member: TestCluster) {
    try {
      await member.create('namespaces', undefined, { metadata: { name: SHOP } });
    } catch {
      // It already exists in the namespaced family.
    }
    await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'before' } });
  },
};

const applying = (applyStrategy: object) => ({ strategy: { applyStrategy } });

const listsOf = async (it: Delivery, cluster = 'c1') => {
  const entry = (await it.status()).placementStatuses?.find(({ clusterName }) => clusterName === cluster);
  const fields = (list: readonly { readonly name: string; readonly path: string }[]) =>
    list.map(({ name, path }) => `${name} ${path}`);
  return {
    drifts: fields(
      (entry?.driftedPlacements ?? []).flatMap(({ name, observedDrifts = [] }) =>
        observedDrifts.map(({ path }) => ({ name, path })),
      ),
    ),
    diffs: fields(
      (entry?.diffedPlacements ?? []).flatMap(({ name, observedDiffs = [] }) =>
        observedDiffs.map(({ path }) => ({ name, path })),
      ),
    ),
    entry,
  };
};

/** The agent's writes to its own cluster. */
const atHome = (it: Delivery) =>
  Object.entries(it.writes())
    .filter(([write]) => write.startsWith('c1 at home'))
    .map(([write]) => write);

const owners = (object: KubeObject | undefined) => (object?.metadata.ownerReferences ?? []).map(({ kind }) => kind);

describe('whenToApply IfNotDrifted', () => {
  scenario.for(families)(
    'leaves what was changed on the member alone, says what and since when, and applies a new revision over it',
    { members: 1 },
    async (it) => {
      await it.give(configMap('one'));
      await it.place(applying({ whenToApply: 'IfNotDrifted' }));
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'edited', more: 'x' } });
      await it.runs(1000);
      expect(await it.values()).toEqual({ c1: 'edited' });
      expect((await it.saidOf('c1'))['Applied']).toBe('False/NotAllWorkHaveBeenApplied');
      const { drifts, entry } = await listsOf(it);
      expect(drifts).toEqual(['app /data/value']);
      expect(entry?.driftedPlacements?.[0]?.observedDrifts).toEqual([
        { path: '/data/value', valueInHub: 'one', valueInMember: 'edited' },
      ]);
      const first = entry?.driftedPlacements?.[0]?.firstDriftedObservedTime;

      it.forget();
      await it.runs(20 * MINUTE);
      expect(it.writes()).toEqual({});

      // Times have whole seconds: the third edit happens within the same second as the second one.
      let observed = Date.parse(first ?? '');
      for (const value of ['again', 'and again']) {
        await it.patchOn('c1', 'configmaps', 'app', { data: { value } });
        await it.runs(500);
        const drift = (await listsOf(it)).entry?.driftedPlacements?.[0];
        expect(drift?.observedDrifts?.[0]?.valueInMember).toBe(value);
        expect(drift?.firstDriftedObservedTime).toBe(first);
        const now = Date.parse(drift?.observationTime ?? '');
        expect(now - observed).toBeGreaterThanOrEqual(1000);
        observed = now;
      }

      await it.give(configMap('two'));
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'two' });
      expect(await it.said()).toEqual(DONE);
      expect((await listsOf(it)).drifts).toEqual([]);
    },
  );
});

describe('comparisonOption FullComparison', () => {
  scenario.for(families)(
    'reports what only the member has, and it is applied all the same',
    { members: 1 },
    async (it) => {
      await it.give(configMap('one'));
      await it.place(applying({ comparisonOption: 'FullComparison' }));
      await it.runs();
      await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'edited', more: 'x' } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'one' });
      expect(await it.said()).toEqual(DONE);
      const { drifts } = await listsOf(it);
      expect(drifts).toContain('app /data/more');
      expect(drifts).not.toContain('app /data/value');
      it.forget();
      await it.runs(20 * MINUTE);
      expect(it.writes()).toEqual({});
    },
  );
});

describe('whenToTakeOver', () => {
  scenario.for(families)(
    'IfNoDiff leaves an object that differs to its owner, and names the fields',
    before,
    async (it) => {
      await it.give(configMap('one'));
      await it.place(applying({ whenToTakeOver: 'IfNoDiff' }));
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'before' });
      expect((await it.saidOf('c1'))['Applied']).toBe('False/NotAllWorkHaveBeenApplied');
      expect((await listsOf(it)).diffs).toEqual(['app /data/value']);
      expect(owners(await it.find('c1', 'configmaps', 'app'))).toEqual([]);
      // Either side can be changed to make them equal.
      await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'one', own: 'x' } });
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(owners(await it.find('c1', 'configmaps', 'app'))).toEqual(['AppliedWork']);
      expect((await listsOf(it)).diffs).toEqual([]);
    },
  );
});

describe('ReportDiff', () => {
  const reported = { ...DONE } as Record<string, string>;
  delete reported['Applied'];
  delete reported['Available'];
  reported['DiffReported'] = 'True/DiffReportingCompleted';

  scenario.for(families)('writes nothing on the member and reports all the way up', before, async (it) => {
    await it.give(configMap('one'), configMap('two', 'other'));
    it.forget();
    await it.place(applying({ type: 'ReportDiff', whenToTakeOver: 'IfNoDiff' }));
    await it.runs();
    expect(atHome(it)).toEqual([]);
    expect(await it.said()).toEqual(reported);
    expect(await it.values()).toEqual({ c1: 'before' });
    expect((await listsOf(it)).diffs).toEqual(['app /data/value', 'other /']);
    await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'one' } });
    await it.runs();
    expect((await listsOf(it)).diffs).toEqual(['other /']);
    it.forget();
    await it.runs(20 * MINUTE);
    expect(it.writes()).toEqual({});
    await it.unplace();
    await it.runs();
    expect(atHome(it)).toEqual([]);
    expect(await it.values()).toEqual({ c1: 'one' });
  });

  scenario.for(families)(
    'can be entered and left again, with an object that is dropped meanwhile',
    { members: 1 },
    async (it) => {
      await it.give(configMap('one'), configMap('two', 'other'));
      await it.place();
      await it.runs();
      await it.change(applying({ type: 'ReportDiff' }));
      await it.runs();
      expect(await it.said()).toEqual(reported);
      await it.take('configmaps', 'other');
      await it.give(configMap('newer'));
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'one' });
      expect(await it.find('c1', 'configmaps', 'other')).toBeDefined();
      expect((await listsOf(it)).diffs).toEqual(['app /data/value']);
      await it.change(applying({ type: 'ClientSideApply' }));
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.values()).toEqual({ c1: 'newer' });
      expect(await it.find('c1', 'configmaps', 'other')).toBeUndefined();
    },
  );
});

describe('ServerSideApply', () => {
  const serverSide = (more: object = {}) => applying({ type: 'ServerSideApply', ...more });
  const recordsOf = (object: KubeObject | undefined) =>
    Object.keys(object?.metadata.annotations ?? {}).filter((key) => key.includes('last-applied'));

  scenario.for(families)(
    'removes dropped fields, keeps what others added, leaves no record and writes nothing when idle',
    { members: 1 },
    async (it) => {
      await it.give({ ...configMap('one'), data: { value: 'one', old: 'x' } });
      await it.place();
      await it.runs();
      expect(recordsOf(await it.find('c1', 'configmaps', 'app'))).toHaveLength(1);
      await it.patchOn('c1', 'configmaps', 'app', { data: { theirs: 'y' } });
      await it.change(serverSide());
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(recordsOf(await it.find('c1', 'configmaps', 'app'))).toEqual([]);
      await it.give({ ...configMap('two'), data: { value: 'two', old: null } });
      await it.runs();
      expect((await it.find('c1', 'configmaps', 'app'))?.['data']).toEqual({ value: 'two', theirs: 'y' });
      it.forget();
      await it.runs(20 * MINUTE);
      expect(it.writes()).toEqual({});
      await it.change(applying({ type: 'ClientSideApply' }));
      await it.give(configMap('three'));
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect(await it.values()).toEqual({ c1: 'three' });
      expect(recordsOf(await it.find('c1', 'configmaps', 'app'))).toHaveLength(1);
    },
  );

  scenario.for(families)(
    'stops at a field of another manager and names it, until force is set',
    { members: 1 },
    async (it) => {
      await it.give(configMap('one'));
      await it.place(serverSide());
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      await it.patchOn('c1', 'configmaps', 'app', { data: { value: 'edited' } });
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'edited' });
      const [failed] = (await listsOf(it)).entry?.failedPlacements ?? [];
      expect(failed?.cause).toEqual({ code: 'FieldConflict', by: '"somebody"' });
      expect(failed?.condition.reason).toBe('ManifestApplyFailed');
      await it.change(serverSide({ serverSideApplyConfig: { force: true } }));
      await it.runs();
      expect(await it.values()).toEqual({ c1: 'one' });
      expect(await it.said()).toEqual(DONE);
    },
  );

  scenario.for(families)('takes over what was there, and deletes it with the placement', before, async (it) => {
    await it.give(configMap('one'));
    await it.place(serverSide({ serverSideApplyConfig: { force: true } }));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect(owners(await it.find('c1', 'configmaps', 'app'))).toEqual(['AppliedWork']);
    await it.unplace();
    await it.runs();
    expect(await it.find('c1', 'configmaps', 'app')).toBeUndefined();
  });

  scenario.for(families)(
    'removes a field that is dropped together with the switch to it, and with the switch back',
    { members: 1 },
    async (it) => {
      await it.give({ ...configMap('one'), data: { value: 'one', first: 'x', second: 'y' } });
      await it.place();
      await it.runs();
      await it.change(serverSide());
      await it.give({ ...configMap('two'), data: { value: 'two', first: null } });
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect((await it.find('c1', 'configmaps', 'app'))?.['data']).toEqual({ value: 'two', second: 'y' });
      await it.patchOn('c1', 'configmaps', 'app', { data: { theirs: 'z' } });
      await it.change(applying({ type: 'ClientSideApply' }));
      await it.give({ ...configMap('three'), data: { value: 'three', second: null } });
      await it.runs();
      expect(await it.said()).toEqual(DONE);
      expect((await it.find('c1', 'configmaps', 'app'))?.['data']).toEqual({ value: 'three', theirs: 'z' });
    },
  );

  scenario.for(families)('is what an object above 256 KiB gets', { members: 1 }, async (it) => {
    const large = 'x'.repeat(300_000);
    await it.give(configMap('one'));
    await it.place();
    await it.runs();
    await it.give(configMap(large));
    await it.runs();
    expect(await it.said()).toEqual(DONE);
    expect((await it.values())['c1']).toHaveLength(large.length);
    expect(recordsOf(await it.find('c1', 'configmaps', 'app'))).toEqual([]);
    await it.give(configMap('small'));
    await it.runs();
    expect(await it.values()).toEqual({ c1: 'small' });
    expect(recordsOf(await it.find('c1', 'configmaps', 'app'))).toHaveLength(1);
  });
});
