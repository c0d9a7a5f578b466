// Freezes in both families: nothing is updated or removed while they last, and everything moves afterwards.
import { describe, expect } from 'vitest';
import { kubeTime } from '../../src/base/clock.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, scenario } from '../delivery.ts';
import { AT_ONCE, DONE_RUN, EXTERNAL, staging } from '../staged.ts';

const freeze = (it: Delivery, spec: object = {}, name = 'incident') =>
  it.fleet.hub.create('freezes', undefined, {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Freeze',
    metadata: { name },
    spec: { reason: 'an incident', by: 'alice', ...spec },
  });
const unfreeze = (it: Delivery, name = 'incident') =>
  it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at('freezes', undefined, name) });
const frozen = {
  code: 'Frozen',
  on: { kind: 'Freeze', name: 'incident' },
  facts: { reason: 'an incident', by: 'alice' },
};
const picked = (...clusterNames: readonly string[]) => ({ policy: { placementType: 'PickFixed', clusterNames } });

async function installed(it: Delivery, spec: object): Promise<void> {
  await it.give(configMap('1'));
  await it.place(spec);
  await it.runs();
}

describe('a freeze', () => {
  scenario.for(families)('holds updates, new clusters and removals until it ends', { members: 3 }, async (it) => {
    await installed(it, picked('c1', 'c2'));
    await freeze(it);
    await it.give(configMap('2'));
    await it.change(picked('c2', 'c3'));
    await it.runs(300_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
    expect(await it.holds()).toMatchObject([{ ...frozen, clusters: ['c1', 'c2', 'c3'] }]);
    await unfreeze(it);
    await it.runs(300_000);
    expect(await it.values()).toEqual({ c1: '-', c2: '2', c3: '2' });
    expect(await it.holds()).toEqual([]);
  });

  scenario.for(families)('says nothing of a placement that has nothing to do', { members: 1 }, async (it) => {
    await installed(it, picked('c1'));
    await freeze(it);
    await it.runs();
    expect(await it.holds()).toEqual([]);
  });

  scenario.for(families)('ends by itself', { members: 1 }, async (it) => {
    await installed(it, picked('c1'));
    await freeze(it, { until: kubeTime(it.fleet.clock.now() + 600_000) });
    await it.give(configMap('2'));
    await it.runs(500_000);
    expect(await it.values()).toEqual({ c1: '1' });
    await it.runs(150_000);
    expect(await it.values()).toEqual({ c1: '2' });
  });

  scenario.for(families)(
    'of some clusters lets the others go on, whatever the budget',
    { members: { c1: { env: 'prod' }, c2: { env: 'prod' }, c3: {} } },
    async (it) => {
      await installed(it, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } });
      await freeze(it, { clusterSelector: { matchLabels: { env: 'prod' } } });
      await it.give(configMap('2'));
      await it.runs(300_000);
      expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '2' });
      expect(await it.holds()).toMatchObject([{ ...frozen, clusters: ['c1', 'c2'] }]);
    },
  );

  scenario.for(families)('of another placement holds nothing here', { members: 1 }, async (it) => {
    await installed(it, picked('c1'));
    await freeze(it, { placements: [{ name: 'another' }] });
    await it.give(configMap('2'));
    await it.runs();
    expect(await it.values()).toEqual({ c1: '2' });
  });

  scenario.for(families)('holds a new apply strategy', { members: 1 }, async (it) => {
    await installed(it, { ...picked('c1'), strategy: { type: 'RollingUpdate' } });
    const before = await it.bindings();
    await freeze(it);
    await it.change({ strategy: { applyStrategy: { whenToTakeOver: 'IfNoDiff' } } });
    await it.runs();
    const specOf = (bindings: typeof before) => bindings.map(({ spec }) => spec);
    expect(specOf(await it.bindings())).toEqual(specOf(before));
    await unfreeze(it);
    await it.runs();
    expect(specOf(await it.bindings())).not.toEqual(specOf(before));
  });
});

describe('a run', () => {
  scenario.for(families)('starts no cluster and removes none while it is frozen', { members: 3 }, async (it) => {
    const run = staging(it);
    await installed(it, { ...EXTERNAL, ...picked('c1', 'c2') });
    await run.strategy(AT_ONCE);
    await run.run();
    await it.runs();
    await it.give(configMap('2'));
    await it.change(picked('c2', 'c3'));
    await freeze(it);
    await run.run({}, 'second');
    await it.runs(300_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '-' });
    expect((await run.status('second')).holds).toMatchObject([frozen]);
    await unfreeze(it);
    await it.runs(300_000);
    expect(await run.said('second')).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '-', c2: '2', c3: '2' });
  });

  scenario.for(families)('removes nothing while the last stage is frozen', { members: 2 }, async (it) => {
    const run = staging(it);
    await installed(it, { ...EXTERNAL, ...picked('c1', 'c2') });
    await run.strategy(AT_ONCE);
    await run.run();
    await it.runs();
    await it.change(picked('c2'));
    await freeze(it);
    await run.run({}, 'second');
    await it.runs(300_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '1' });
    expect((await run.status('second')).holds).toMatchObject([frozen]);
    await unfreeze(it);
    await it.runs(300_000);
    expect(await run.said('second')).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '-', c2: '1' });
  });
});
