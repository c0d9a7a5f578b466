// What happens within the time that a watch takes to tell of it.
import { describe, expect } from 'vitest';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, SHOP, scenario } from '../delivery.ts';
import { AT_ONCE, DONE_RUN, EVERYBODY, OF_FLEET, prepared } from '../staged.ts';

describe('a run without an index', () => {
  scenario.for(families)('takes what was made a moment ago, before its watch tells of it', {}, async (it) => {
    const run = await prepared(it, AT_ONCE);
    const resume = it.fleet.stall('configmaps');
    await it.give(configMap('1', 'late'));
    await run.run();
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    for (const cluster of ['c1', 'c2', 'c3']) expect(await it.find(cluster, 'configmaps', 'late')).toBeDefined();
    resume();
    await it.runs();
    expect(await run.snapshots()).toEqual(['web-0-snapshot']);
  });
});

/** One that matches what is placed. */
async function override(it: Delivery): Promise<string> {
  const { hub, settles } = it.fleet;
  const [plural, list, selector] =
    it.namespace === undefined
      ? ['clusterresourceoverrides', 'clusterResourceSelectors', { kind: 'Namespace', name: SHOP }]
      : ['resourceoverrides', 'resourceSelectors', { kind: 'ConfigMap', name: 'app' }];
  await hub.create(plural, it.namespace, {
    metadata: { name: 'o' },
    spec: {
      [list]: [{ group: '', version: 'v1', ...selector }],
      policy: { overrideRules: [{ clusterSelector: { clusterSelectorTerms: [] }, overrideType: 'Delete' }] },
    },
  });
  await settles();
  return plural;
}

describe('an override that matches what a run is about, and is not built yet', () => {
  scenario.for(families)('keeps a run with an index from beginning, until it is gone', {}, async (it) => {
    const run = await prepared(it, AT_ONCE);
    await run.run({}, 'first');
    await it.runs();
    await it.give(configMap('2'));
    await run.run({}, 'second');
    await it.runs();
    const plural = await override(it);
    await run.run({ resourceSnapshotIndex: '0' });
    await it.runs();
    expect(await run.said()).toEqual({ Initialized: 'Unknown/UpdateRunInitializationPending' });
    expect((await run.status()).holds).toMatchObject([{ code: 'NotSupportedYet' }]);
    expect(new Set(Object.values(await it.values()))).toEqual(new Set(['2']));
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at(plural, it.namespace, 'o') });
    await it.runs();
    expect(await run.said()).toEqual(DONE_RUN);
    expect(new Set(Object.values(await it.values()))).toEqual(new Set(['1']));
  });

  scenario.for(families)('keeps no run from stopping', OF_FLEET, async (it) => {
    const run = await prepared(it);
    await run.run();
    await it.runs(7000);
    await override(it);
    await it.runs(1000);
    expect((await run.status()).holds).toMatchObject([{ code: 'NotSupportedYet' }]);
    await run.state('Stop');
    await it.runs(1000);
    expect(await run.said()).toMatchObject({ Progressing: 'False/UpdateRunStopped' });
    expect((await run.status()).holds).toMatchObject([{ code: 'RunStopped' }]);
  });

  scenario.for(families)('keeps a run that is under way where it is, until it is gone', {}, async (it) => {
    const run = await prepared(it, [{ name: 'all', ...EVERYBODY }]);
    it.fleet.cut('c1', true);
    await run.run();
    await it.runs();
    const plural = await override(it);
    it.fleet.cut('c1', false);
    await it.runs(60_000);
    expect(await it.values()).toEqual({ c1: '1', c2: '-', c3: '-' });
    expect((await run.status()).holds).toMatchObject([{ code: 'NotSupportedYet' }]);
    await it.fleet.hub.call({ verb: 'delete', at: it.fleet.hub.at(plural, it.namespace, 'o') });
    await it.runs(10_000);
    expect(await run.said()).toEqual(DONE_RUN);
    expect(await it.values()).toEqual({ c1: '1', c2: '1', c3: '1' });
  });
});
